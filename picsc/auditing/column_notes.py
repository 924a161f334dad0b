"""Notes on columns, where a distance says too little: a new category, no overlap, words instead of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from picsc.datasets.table import POOLED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from picsc.auditing.design import Design
    from picsc.auditing.exchangeability import Contrast, Ints
    from picsc.datasets.columns.exact import Absent
    from picsc.datasets.table import Column, Dataset, Target

Notes = dict[tuple[str, str, int], str]
"""From (column name, `values` or `missing`, position of the piece) to a note."""


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
        notes.update({(column.name, "values", k): note for k, note in found if note})
    every: list[Column | Target] = [*dataset.columns, *([] if dataset.target is None else [dataset.target])]
    for each in every:
        if each.absent is not None:
            words = _words(each.absent, labels, contrast)
            notes.update({(each.name, "missing", k): note for k, note in words if note})
    return notes


def _words(absent: Absent, labels: Ints, contrast: Contrast) -> Iterable[tuple[int, str]]:
    """The word among numbers whose share differs most, in the piece and in its reference."""
    kinds = len(absent.words) + 1  # the last kind is everything else
    flat = labels * kinds + np.where(absent.codes < 0, kinds - 1, absent.codes)
    counts = np.bincount(flat, minlength=contrast.labels * kinds).reshape(contrast.labels, kinds)
    for k, piece, reference in _pairs(counts, contrast):
        if piece.sum() and reference.sum():
            here, there = 100 * piece[:-1] / piece.sum(), 100 * reference[:-1] / reference.sum()
            most = int(np.argmax(np.abs(here - there)))
            if here[most] != there[most]:
                yield k, f"{absent.words[most]!r} in {here[most]:.1f} % of rows, {there[most]:.1f} % in the reference"


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
    values = column.ordered[present]
    np.minimum.at(low, labels[present], values)
    np.maximum.at(high, labels[present], values)
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
