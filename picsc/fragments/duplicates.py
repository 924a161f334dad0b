"""Equal rows in several pieces, or in a table and its reference file: test rows among training rows, or no comparison.

Letters: n rows, f columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.row_hashes import row_hashes
from picsc.datasets.table import Dataset
from picsc.fragments.coincidences import EqualPairs, equal_pairs
from picsc.phrases import share
from picsc.reports.common import Finding

WORTH_SAYING = 0.1
"""Smallest share of coincidences among equal pairs that the report says."""


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
    values = _values(dataset)
    hashes = row_hashes(values, dataset.n)
    found = int(np.isin(hashes[tested], hashes[trained]).sum())
    if not found:
        return []
    equal = equal_pairs(values)
    by_length = any(column.kind == "text" for column in dataset.columns)
    message = f"{share(found, len(tested))} {what} rows have an equal row among the training rows"
    message += _explained(equal, by_length=by_length)
    advice = "remove the duplicates: a model is right on them by having seen them" if equal.copies else ""
    return [Finding("duplicate-rows", "warning" if equal.copies and not by_length else "note", message, advice)]


def _explained(found: EqualPairs, *, by_length: bool) -> str:
    """The end of a sentence on equal rows: reasons why they say less than they seem to."""
    words = ""
    if not found.copies:
        words = "; expected here: as many rows coincide as these values explain"
    elif found.share_explained >= WORTH_SAYING:
        words = f"; coincidence explains {100 * found.share_explained:.0f} % of the equal pairs"
    return words + ("; text was compared by its length only" if by_length else "")


def duplicates_across(dataset: Dataset, piece: NDArray[np.int64], names: Sequence[str]) -> list[Finding]:
    """Report rows with equal covariates and target that lie in different pieces.

    Where coincidences of the columns' values explain them, or text was compared by its length only, that is a note.

    Args:
        dataset: the table. Text columns are compared by their length, as everywhere in the audit.
        piece: (n,) number of each row's piece, -1 for none.
        names: names of the pieces.
    """
    rows = np.flatnonzero(piece >= 0)
    if not dataset.columns or not len(rows):
        return []
    values = [part[rows] for part in _values(dataset)]
    hashes = row_hashes(values, len(rows))
    ordered = np.sort(hashes)
    if bool((ordered[1:] != ordered[:-1]).all()):  # sorting values alone is several times as fast
        return []
    order = np.argsort(hashes)
    hashes, where = hashes[order], piece[rows][order]
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
    size = np.diff(np.append(starts, len(rows)))
    across = np.minimum.reduceat(where, starts) < np.maximum.reduceat(where, starts)
    if not across.any():
        return []
    crossing, total = int(size[across].sum()), len(rows)
    found = equal_pairs(values)
    by_length = any(column.kind == "text" for column in dataset.columns)
    kinds = int(across.sum())
    message = (
        f"{crossing} of {total} rows ({100 * crossing / total:.1f} %) have an equal row in another piece "
        f"({kinds} distinct {'row' if kinds == 1 else 'rows'})"
    )
    message += _explained(found, by_length=by_length)
    return [
        Finding(
            "duplicate-rows",
            "warning" if found.copies and not by_length else "note",
            message,
            "remove the duplicates, or keep them together: --splitter group" if found.copies else "",
            tuple(names[i] for i in np.unique(where[np.repeat(across, size)])),
        )
    ]


def conflicting_labels(dataset: Dataset) -> list[Finding]:
    """Report rows that equal another row in every covariate and have another class, where the rows are copies.

    Rows that coincide because their columns take few values may well differ in class, and are no finding.

    Args:
        dataset: the table.
    """
    target = dataset.target
    if target is None or target.kind != "classes" or not dataset.columns:
        return []
    rows = np.flatnonzero(~target.missing)
    values = [column.values[rows] for column in dataset.columns]
    if len(rows) < 2:
        return []
    hashes = row_hashes(values, len(rows))
    ordered = np.sort(hashes)
    if bool((ordered[1:] != ordered[:-1]).all()):
        return []
    _, group = np.unique(hashes, return_inverse=True)
    group = group.reshape(-1)
    labels = target.values[rows]
    low, high = np.full(group.max() + 1, len(target.levels)), np.full(group.max() + 1, -1)
    np.minimum.at(low, group, labels)
    np.maximum.at(high, group, labels)
    torn = int((low < high)[group].sum())
    if not torn or any(column.kind == "text" for column in dataset.columns) or not equal_pairs(values).copies:
        return []
    message = f"{share(torn, len(rows))} rows equal another row in every covariate but differ in {target.name}"
    advice = "check their labels: no model can predict both, and cross-validation cannot tell which one is right"
    return [Finding("conflicting-labels", "warning", message, advice)]


def rows_in_both(both: Dataset, reference: Dataset) -> list[Finding]:
    """Report rows that stand in a table and in its reference file, beyond what coincidence explains.

    Rows of few values coincide. How often, the share of rows tells that have an equal one in their own table: of the
    two shares the larger is expected, and rows in both are reported above twice their expected number and three
    standard deviations.

    Args:
        both: the rows of the table, then those of its reference.
        reference: the m rows of the reference.
    """
    where = f"file {reference.name}"
    hashes = row_hashes(_values(both), both.n)
    rows = both.n - reference.n
    own, other = hashes[:rows], hashes[rows:]
    found = int(np.isin(own, other).sum())
    by_chance = rows * max(_repeated(own), _repeated(other))
    if found <= 2 * by_chance + 3 * math.sqrt(by_chance):
        return []
    message = f"{share(found, rows)} rows stand in {where} too, where {by_chance:.0f} at most would by coincidence"
    return [Finding("rows-in-reference", "warning", message, "take them out of one of the two: they hide a shift")]


def _values(dataset: Dataset) -> list[NDArray[np.generic]]:
    """The columns that two rows must agree in: covariates, times that order the rows, and the target."""
    order = [dataset.times[column.name] for column in dataset.left_out if column.name in dataset.times]
    target = [] if dataset.target is None else [dataset.target.values]
    return [*(column.values for column in dataset.columns), *order, *target]


def _repeated(hashes: NDArray[np.uint64]) -> float:
    """Share of rows that have an equal one among these."""
    size = np.unique(hashes, return_counts=True)[1]
    return float(size[size > 1].sum() / max(len(hashes), 1))
