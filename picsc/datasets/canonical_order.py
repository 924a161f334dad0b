"""Canonical order: rows and levels in an order that hangs on what they hold, not on where they stood in a file.

An audit draws random numbers row by row and adds up row by row. In canonical order the same rows give the same bytes,
in whatever order a file has them. How levels are spelt changes nothing either, except between levels that nothing else
tells apart.

Letters: n rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.row_hashes import row_hashes
from picsc.datasets.rows import Part, left_out_of_rows, of_rows
from picsc.datasets.table import POOLED, Column, Dataset, Target

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

SIGNED_BITS = 24
"""Bits of a row's hash that are added up for the signature of a level: sums of 2^29 rows are exact in float64."""
ROUNDS = 2
"""Number of times that levels are told apart by the other columns: the second time, by their levels as well."""


def canonical(dataset: Dataset, labels: Ints, units: Ints | None) -> tuple[Dataset, Ints]:
    """Put rows and levels in canonical order.

    Args:
        dataset: n rows.
        labels: (n,) piece of each row, which orders rows that are equal in every column.
        units: (n,) id of the unit that each row moves with, by whose rows such rows are ordered next; None where every
            row moves alone.

    Returns:
        The table in that order, without its keys and times, and the number that each of its rows had before, (n,).
    """
    parts: tuple[Column | Target, ...] = (*dataset.columns, *(() if dataset.target is None else (dataset.target,)))
    numbers = [cast("NDArray[np.float64]", part.ordered) for part in parts if not _coded(part)]
    # at the precision of float32, so that a difference in the last bits does not move a row; exact values break ties
    coarse = [*(_single(values) for values in numbers), *_words_among_numbers(parts)]
    rows = of_coarse = row_hashes(coarse, dataset.n)
    coded = [part for part in parts if _coded(part)]
    places: list[Ints] = []
    for _ in range(ROUNDS):
        places = [_place_of_levels(part, rows) for part in coded]
        levels = [_moved(part, place) for part, place in zip(coded, places, strict=True)]
        rows = row_hashes(levels, dataset.n, begun=of_coarse)
    ties = [labels] if units is None else [_signatures(units, rows)[units], labels]
    order = np.lexsort((*ties, row_hashes(numbers, dataset.n), rows)).astype(np.int64)
    settled = iter(places)
    columns = tuple(_reordered(column, order, settled) for column in dataset.columns)
    target = None if dataset.target is None else _reordered(dataset.target, order, settled)
    settled_table = replace(
        dataset, columns=columns, target=target, left_out=left_out_of_rows(dataset.left_out, order), keys={}, times={}
    )
    return settled_table, order


def renumbered(ids: Ints) -> Ints:
    """The ids (n,), numbered from 0 in order of first appearance."""
    _, first, place = np.unique(ids, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[place.reshape(-1)]


def _coded(part: Column | Target) -> bool:
    return part.kind == "classes" if isinstance(part, Target) else part.coded


def _single(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


def _place_of_levels(part: Column | Target, rows: Hashes) -> Ints:
    """Code that each level gets: the frequent ones first, and of equally frequent ones by the rows that have them."""
    codes = part.values.astype(np.int64)
    there = codes >= 0
    count = np.bincount(codes[there], minlength=len(part.levels))
    signature = np.zeros(len(part.levels))
    found = _signatures(codes[there], rows[there])
    signature[: len(found)] = found
    spelling = np.argsort(np.argsort(np.array(part.levels, dtype=object), kind="stable"))
    pooled = np.array([level == POOLED for level in part.levels], dtype=np.bool_)  # stays the last one
    place = np.empty(len(part.levels), np.int64)
    place[np.lexsort((spelling, signature, -count, pooled))] = np.arange(len(part.levels))
    return place


def _signatures(ids: Ints, rows: Hashes) -> NDArray[np.float64]:
    """Sum of part of the hashes of the rows of each id, whole numbers that do not depend on the order of rows."""
    low = (rows & np.uint64((1 << SIGNED_BITS) - 1)).astype(np.float64)
    return np.bincount(ids, low).astype(np.float64, copy=False)


def _moved(part: Column | Target, place: Ints) -> Ints:
    """Codes of the rows after their levels have moved, (n,); -1 stays -1."""
    return np.append(place, -1)[part.values.astype(np.int64)]


def _words_among_numbers(parts: Sequence[Column | Target]) -> list[Ints]:
    """Codes of the words that stand where values should, in order of their spelling; (n,) each, -1 for none."""
    found = [part.absent for part in parts if part.absent is not None]
    return [np.append(np.argsort(np.argsort(each.words)), -1)[each.codes] for each in found]


def _reordered(part: Part, order: Ints, places: Iterator[Ints]) -> Part:
    moved = of_rows(part, order)
    if not _coded(part):
        return moved
    place = next(places)
    levels = tuple(part.levels[i] for i in np.argsort(place))
    return replace(moved, levels=levels, values=cast("Any", _moved(moved, place).astype(part.values.dtype)))
