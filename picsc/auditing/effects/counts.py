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

AT_ONCE = 32_768
"""Rows that are counted at a time."""


def columns_and_target(rows: Dataset) -> dict[str, Column | Target]:
    """The columns by name, with the target if there is one."""
    found: dict[str, Column | Target] = {column.name: column for column in rows.columns}
    if rows.target is not None:
        found[rows.target.name] = rows.target
    return found


def counts_by_label(codes: NDArray[np.integer], bins: int, design: Design, *, with_missing: bool = False) -> Ints:
    """Rows by label and code, (L, bins), from codes (n,), -1 where missing; the missing ones in one more column."""
    width = bins + 1
    total = design.contrast.labels
    table: Ints = np.zeros(total * width, np.int64)
    for start in range(0, len(codes), AT_ONCE):  # rows that stay in the cache
        part = codes[start : start + AT_ONCE]
        place = design.labels[start : start + AT_ONCE] * np.int64(width)
        place += np.where(part < 0, bins, part)
        table += np.bincount(place, minlength=total * width)
    table = table.reshape(total, width)
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
