"""Notes on columns, where a distance says too little: a new category, no overlap, a piece without values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from picsc.datasets.table import POOLED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from picsc.auditing.design import Design
    from picsc.auditing.exchangeability import Contrast, Ints
    from picsc.datasets.table import Column, Dataset

Notes = dict[tuple[str, int], str]
"""From (column name, position of the piece) to a note."""


def column_notes(dataset: Dataset, design: Design) -> Notes:
    """Note values that are new, gone or apart, column by column and piece by piece.

    Args:
        dataset: n rows.
        design: design of these rows.
    """
    labels, contrast = design.labels, design.contrast
    notes: Notes = {}
    for column in dataset.columns:
        found = _levels(column, labels, contrast) if column.coded else _range(column, labels, contrast)
        notes.update({(column.name, k): note for k, note in found if note})
    return notes


def _levels(column: Column, labels: Ints, contrast: Contrast) -> Iterable[tuple[int, str]]:
    t = len(column.levels)
    present = ~column.missing
    flat = labels[present] * t + column.values[present].astype(np.int64)
    counts = np.bincount(flat, minlength=contrast.labels * t).reshape(contrast.labels, t)
    for k, piece, reference in _pairs(counts, contrast):
        total = piece.sum()
        if total == 0:
            yield k, "no values"
            continue
        new = [i for i in np.flatnonzero((piece > 0) & (reference == 0)) if column.levels[i] != POOLED]
        gone = [i for i in np.flatnonzero((piece == 0) & (reference > 0)) if column.levels[i] != POOLED]
        notes = [f"new category {column.levels[i]!r} ({100 * piece[i] / total:.1f} % of rows)" for i in new[:3]]
        notes += [f"{len(new) - 3} more new"] if len(new) > 3 else []
        # a level that is expected fewer than five times in a piece of this size may be absent by chance
        expected = reference * total / max(reference.sum(), 1)
        notes += [f"no {column.levels[i]!r}" for i in gone if expected[i] >= 5][:2]
        yield k, ", ".join(notes)


def _pairs(
    per_label: NDArray[np.int64], contrast: Contrast
) -> Iterable[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    total = per_label.sum(0)
    for k, label in enumerate(contrast.pieces):
        reference = total - per_label[label] if contrast.reference == "rest" else per_label[contrast.reference[k]]
        yield k, per_label[label], reference


def _range(column: Column, labels: Ints, contrast: Contrast) -> Iterable[tuple[int, str]]:
    low, high = np.full(contrast.labels, np.inf), np.full(contrast.labels, -np.inf)
    present = ~column.missing
    np.minimum.at(low, labels[present], column.values[present])
    np.maximum.at(high, labels[present], column.values[present])
    for k, label in enumerate(contrast.pieces):
        if low[label] > high[label]:
            yield k, "no values"
            continue
        if contrast.reference == "rest":
            others = np.arange(contrast.labels) != label
            reference_low, reference_high = low[others].min(), high[others].max()
        else:
            reference_low, reference_high = low[contrast.reference[k]], high[contrast.reference[k]]
        if reference_low > reference_high:
            yield k, "the reference has no values"
        elif low[label] > reference_high or high[label] < reference_low:
            yield k, "no overlap with the reference"
