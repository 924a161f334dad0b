"""Equal rows in several pieces, or in a table and its reference file: test rows among training rows, or no comparison.

Letters: n rows, f columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Column, Dataset
from picsc.phrases import share
from picsc.reports.common import Finding

_CHUNK = 1 << 16
"""Number of rows that are hashed at once, few enough for the processor's cache."""


def row_hashes(columns: Sequence[NDArray[np.generic]], n: int) -> NDArray[np.uint64]:
    """One 64-bit hash per row; equal rows have equal hashes.

    Each step is a bijection of the running hash, so rows that differ in one column never collide. Two different rows
    collide by chance with probability 2^-64; over a million rows, 3e-8 in all. NaN equals NaN, and 0 equals -0.

    Args:
        columns: float64 or integer arrays of shape (n,).
        n: number of rows.

    Returns:
        uint64 (n,), the same on every machine.
    """
    hashes = np.empty(n, dtype=np.uint64)
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        running = np.zeros(stop - start, dtype=np.uint64)
        for values in columns:
            running += np.uint64(0x9E3779B97F4A7C15)  # so that zeros change the hash, too
            running ^= _bits(values[start:stop])
            _mix(running)
        hashes[start:stop] = running
    return hashes


def tested_duplicates(
    dataset: Dataset, trained: NDArray[np.int64], tested: NDArray[np.int64], what: str
) -> list[Finding]:
    """Report test rows that have an equal row, covariates and target, among the training rows.

    Args:
        dataset: the table.
        trained: training rows.
        tested: rows that test.
        what: name of the rows that test, in one word, such as `target`.
    """
    if not dataset.columns or not len(tested):
        return []
    hashes = _hashes(dataset)
    found = int(np.isin(hashes[tested], hashes[trained]).sum())
    if not found:
        return []
    expected = 2 * found > len(tested) and all(_few_values(column, dataset.n) for column in dataset.columns)
    by_length = any(column.kind == "text" for column in dataset.columns)
    message = f"{share(found, len(tested))} {what} rows have an equal row among the training rows"
    message += _why(expected=expected, by_length=by_length)
    advice = "" if expected else "remove the duplicates: a model is right on them by having seen them"
    return [Finding("duplicate-rows", "note" if expected or by_length else "warning", message, advice)]


def _hashes(dataset: Dataset) -> NDArray[np.uint64]:
    """One hash per row of its covariates and target."""
    values: list[NDArray[np.generic]] = [column.values for column in dataset.columns]
    if dataset.target is not None:
        values.append(dataset.target.values)
    return row_hashes(values, dataset.n)


def _why(*, expected: bool, by_length: bool) -> str:
    """The end of a sentence on duplicates: reasons why they say less than they seem to."""
    words = "; expected here, where every column takes few values" if expected else ""
    return words + ("; text was compared by its length only" if by_length else "")


def duplicates_across(dataset: Dataset, piece: NDArray[np.int64], names: Sequence[str]) -> list[Finding]:
    """Report rows with equal covariates and target that lie in different pieces.

    If more than half of all rows have a duplicate because every column takes few values, duplicates are expected and
    the finding is a note.

    Args:
        dataset: the table. Text columns are compared by their length, as everywhere in the audit.
        piece: (n,) number of each row's piece, -1 for none.
        names: names of the pieces.
    """
    if not dataset.columns:
        return []
    rows = np.flatnonzero(piece >= 0)
    hashes = _hashes(dataset)[rows]
    order = np.argsort(hashes)
    hashes, rows = hashes[order], rows[order]
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])) if len(rows) else np.empty(0, dtype=np.int64)
    size = np.diff(np.append(starts, len(rows)))
    if (size < 2).all():
        return []
    where = piece[rows]
    across = np.minimum.reduceat(where, starts) < np.maximum.reduceat(where, starts)
    if not across.any():
        return []
    crossing, total = int(size[across].sum()), len(rows)
    expected = 2 * size[size > 1].sum() > total and all(_few_values(column, dataset.n) for column in dataset.columns)
    by_length = any(column.kind == "text" for column in dataset.columns)
    kinds = int(across.sum())
    message = (
        f"{crossing} of {total} rows ({100 * crossing / total:.1f} %) have an equal row in another piece "
        f"({kinds} distinct {'row' if kinds == 1 else 'rows'})"
    )
    message += _why(expected=expected, by_length=by_length)
    return [
        Finding(
            "duplicate-rows",
            "note" if expected or by_length else "warning",
            message,
            "" if expected else "remove the duplicates, or keep them together: --splitter group",
            tuple(names[i] for i in np.unique(where[np.repeat(across, size)])),
        )
    ]


def rows_in_both(both: Dataset, reference: Dataset, *, identical: bool) -> list[Finding]:
    """Report rows that stand in a table and in its reference file, beyond what coincidence explains.

    Rows of few values coincide. How often, the share of rows tells that have an equal one in their own table: of the
    two shares the larger is expected, and rows in both are reported above twice their expected number and three
    standard deviations.

    Args:
        both: the rows of the table, then those of its reference.
        reference: the m rows of the reference.
        identical: the two are the same bytes.
    """
    where = f"file {reference.name}"
    if identical:
        message = f"the data and {where} are the same bytes: a table that is compared with itself is never shifted"
        return [Finding("reference-is-data", "error", message, "name another file with --reference")]
    hashes = _hashes(both)
    rows = both.n - reference.n
    own, other = hashes[:rows], hashes[rows:]
    found = int(np.isin(own, other).sum())
    by_chance = rows * max(_repeated(own), _repeated(other))
    if found <= 2 * by_chance + 3 * math.sqrt(by_chance):
        return []
    message = f"{share(found, rows)} rows stand in {where} too, where {by_chance:.0f} at most would by coincidence"
    return [Finding("rows-in-reference", "warning", message, "take them out of one of the two: they hide a shift")]


def _repeated(hashes: NDArray[np.uint64]) -> float:
    """Share of rows that have an equal one among these."""
    size = np.unique(hashes, return_counts=True)[1]
    return float(size[size > 1].sum() / max(len(hashes), 1))


def _bits(values: NDArray[np.generic]) -> NDArray[np.uint64]:
    """The values as 64-bit patterns, equal for equal values."""
    if values.dtype.kind != "f":
        return values.astype(np.int64).view(np.uint64)
    plain = values.astype(np.float64) + 0.0  # -0.0 + 0.0 is 0.0
    plain[np.isnan(plain)] = np.nan  # one pattern for every NaN
    return plain.view(np.uint64)


def _mix(x: NDArray[np.uint64]) -> None:
    """Spread every bit over all bits, in place: three rounds of shift-xor around two odd multiplications."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)


def _few_values(column: Column, n: int) -> bool:
    """True for a column of levels, or of at most 20 different numbers with 10 rows or more each on average."""
    few = min(20, n // 10)
    return column.coded or all(len(np.unique(part)) <= few for part in (column.values[:1000], column.values))
