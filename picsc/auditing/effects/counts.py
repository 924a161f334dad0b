"""Rows counted by label and by bin or level, in a piece and in its reference. Letters: n rows, L labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import PieceTests
    from picsc.datasets.table import Column, Dataset, Target

Ints = NDArray[np.int64]


def columns_and_target(rows: Dataset) -> dict[str, Column | Target]:
    """The columns by name, with the target if there is one."""
    found: dict[str, Column | Target] = {column.name: column for column in rows.columns}
    if rows.target is not None:
        found[rows.target.name] = rows.target
    return found


def counts_by_label(codes: Ints, bins: int, design: Design, *, with_missing: bool = False) -> Ints:
    """Rows by label and code, (L, bins), from codes (n,), -1 where missing; the missing ones in one more column."""
    width = bins + 1
    slot = np.where(codes < 0, bins, codes)
    total = design.contrast.labels
    table: Ints = np.bincount(design.labels.astype(np.int64) * width + slot, minlength=total * width)
    table = table[: total * width].reshape(total, width)
    return table if with_missing else table[:, :-1]


def reference_counts(table: Ints, k: int, design: Design, tests: PieceTests) -> Ints:
    """Rows by bin of the reference of one piece, without the pieces that are set aside.

    Args:
        table: rows by label and bin.
        k: position of the piece.
        design: design of the rows.
        tests: results of all pieces.
    """
    contrast = design.contrast
    if contrast.reference != "rest":
        same: Ints = table[contrast.reference[k]]
        return same
    without = {contrast.pieces[k], *(contrast.pieces[each] for each in tests.set_aside)}
    kept = [label for label in range(contrast.labels) if label not in without]
    found: Ints = table[kept].sum(0)
    return found
