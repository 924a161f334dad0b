"""The columns of a table that are tested besides its covariates, as codes. Letters: n rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from picsc.auditing.ks_and_g_tests import Coded, code_levels, tell_kinds_apart
from picsc.auditing.other_columns.formats import format_codes

if TYPE_CHECKING:
    from picsc.datasets.columns.raw import Raw
    from picsc.datasets.table import Dataset, Target

MOST_LEVELS = 4_096
"""Most levels whose presence in the reference is asked; of a column with more, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class Beside:
    """One such column, of n rows."""

    coded: Coded
    test: Literal["missing", "format", "new levels"]
    """What is tested: the missing rate; the shares of formats; the share of rows whose level the reference lacks."""


def beside(dataset: Dataset, target: Target | None) -> tuple[Beside, ...]:
    """Code what is tested besides the covariates.

    They are the missing rate of the target and of every column that is left out, formats and new levels of columns of
    words that are left out as too many, and new levels of columns whose rare levels are pooled.

    Args:
        dataset: n rows.
        target: the target that models learn; None without one.
    """
    found = [] if target is None else [*_missing(target.name, target.missing, target)]
    for each in dataset.left_out:
        if each.raw is not None:
            found += _missing(each.name, each.raw.missing)
            if each.raw.coded and each.kind in ("categorical", "identifier"):
                found += [*_format(each.name, each.raw), *_levels(each.name, each.raw)]
    for column in dataset.columns:
        if column.raw is not None:
            found += _levels(column.name, column.raw)
    return tuple(found)


def _missing(name: str, missing: NDArray[np.bool_], target: Target | None = None) -> Iterator[Beside]:
    """The values as one level, missing where there is none; nothing where all are there, or none."""
    if missing.any() and not missing.all():
        coded = code_levels(name, np.where(missing, -1, 0), 1)
        yield Beside(tell_kinds_apart(coded, None if target is None else target.absent), "missing")


def _format(name: str, raw: Raw) -> Iterator[Beside]:
    codes = format_codes(raw.levels)
    if codes is not None:
        of_rows = np.append(codes, -1)[raw.data]
        yield Beside(_present(code_levels(name, of_rows, int(codes.max()) + 1)), "format")


def _levels(name: str, raw: Raw) -> Iterator[Beside]:
    """All levels, however rare; beyond the most, the rarest count as missing."""
    count = np.bincount(raw.data[raw.data >= 0], minlength=len(raw.levels))
    if len(count) > count.sum() / 2 and count.max(initial=0) < 2:
        return
    kept = np.argsort(-count, kind="stable")[:MOST_LEVELS]
    code = np.full(len(raw.levels) + 1, -1, np.int64)
    code[kept] = np.arange(len(kept))
    yield Beside(_present(code_levels(name, code[raw.data], len(kept))), "new levels")


def _present(coded: Coded) -> Coded:
    """The codes without a test of what is missing, which another one is about."""
    return Coded(coded.name, coded.test, coded.codes, coded.t, has_missing=False)
