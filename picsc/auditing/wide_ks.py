"""KS distances of many numeric columns: one scan of each column's sorted rows serves all draws at once.

The counting of `picsc.auditing.ks_and_g_tests` costs draws times codes, and a short table has nearly as many codes as
rows. Here a step is one addition and two comparisons of small integers, of which a processor does sixteen at a time:
more than ten times as fast for 200 rows. Distances are exact fractions.

Letters: n rows, C draws, K pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.ks_and_g_tests import ColumnShiftTest, missing_shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.auditing.exchangeability import Contrast, Ints
    from picsc.auditing.ks_and_g_tests import Coded

Steps = NDArray[np.int16] | NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SortedScan:
    """Labels of every draw, prepared for the scan of any column. Arrays (n, C, K)."""

    piece: NDArray[np.bool_]
    """True for rows of the piece."""
    reference: NDArray[np.bool_]
    """True for rows of the piece's reference."""
    steps: Steps
    """Step that a row adds to the difference of the distribution functions, for a column without missing values."""
    sizes: tuple[NDArray[np.int64], NDArray[np.int64]]
    """Number of rows of piece and reference, (C, K) each."""


def sorted_scan(labels: NDArray[np.integer], contrast: Contrast) -> SortedScan:
    """Prepare the labels of C draws for the scan of any column.

    Args:
        labels: (C, n) label of each row in each draw; n * n must stay below 2^31.
        contrast: label of each piece and of its reference.
    """
    along = np.ascontiguousarray(labels.T)[:, :, None]  # all that follows keeps this layout: a row is one run of memory
    piece = along == np.asarray(contrast.pieces)
    reference = ~piece if contrast.reference == "rest" else along == np.asarray(contrast.reference)
    sizes = piece.sum(0, dtype=np.int64), reference.sum(0, dtype=np.int64)
    return SortedScan(piece, reference, _steps(piece, reference, *sizes), sizes)


def _steps(
    piece: NDArray[np.bool_], reference: NDArray[np.bool_], size: NDArray[np.int64], size_r: NDArray[np.int64]
) -> Steps:
    """Steps, (n, C, K): a row of the piece adds the reference's size, one of the reference subtracts the piece's."""
    small = int((size * size_r).max(initial=0)) <= np.iinfo(np.int16).max
    kind = np.dtype(np.int16 if small else np.int32)
    steps: Steps = piece * size_r.astype(kind) - reference * size.astype(kind)
    return steps


def untied_distances(codes: Sequence[Ints | NDArray[np.int16]], scan: SortedScan) -> Tensor:
    """KS distances of several columns at a time, without missing values or ties, (columns, C, K).

    A step of one column is so short that the call takes longer than its numbers.

    Args:
        codes: (n,) ordered codes of each column.
        scan: the labels of C draws.
    """
    orders = np.argsort(np.stack(codes), axis=1, kind="stable")
    size, size_r = scan.sizes
    flat = scan.steps.reshape(len(scan.steps), size.size)
    at = np.zeros((len(codes), size.size), flat.dtype)
    step, highest, lowest = np.empty_like(at), np.zeros_like(at), np.zeros_like(at)
    for rows in np.ascontiguousarray(orders.T):
        np.take(flat, rows, axis=0, out=step, mode="clip")  # with the default mode, numpy would copy `step`
        at += step
        np.maximum(highest, at, out=highest)
        np.minimum(lowest, at, out=lowest)
    furthest = np.maximum(highest, -lowest).reshape(len(codes), *size.shape)
    with np.errstate(invalid="ignore"):
        return torch.from_numpy(furthest / (size * size_r))  # 0 / 0 is NaN


def ks_distances(
    codes: Ints | NDArray[np.int16], missing: int | None, scan: SortedScan
) -> tuple[Tensor, Tensor, Tensor]:
    """KS distance of one column: the largest difference of the distribution functions of piece and reference.

    Args:
        codes: (n,) ordered codes of the column.
        missing: the first code that means "missing"; None for a column without missing values.
        scan: the labels of C draws.

    Returns:
        The distance, NaN where a side has no value; the number of values of piece and reference: all (C, K) float64.
    """
    order = np.argsort(codes, kind="stable")
    steps, (size, size_r) = scan.steps, scan.sizes
    if missing is not None:
        order = order[: int((codes < missing).sum())]  # "missing" comes last
        piece, reference = scan.piece[order], scan.reference[order]
        size, size_r = piece.sum(0, dtype=np.int64), reference.sum(0, dtype=np.int64)
        steps, rows = _steps(piece, reference, size, size_r), np.arange(len(order))
    else:
        rows = order
    ordered = codes[order]
    last = np.append(ordered[1:] != ordered[:-1], True) if len(order) else np.empty(0, bool)
    at = np.zeros(size.size, steps.dtype)
    highest, lowest = np.zeros_like(at), np.zeros_like(at)
    flat = steps.reshape(len(steps), at.size)
    for row, stop in zip(rows.tolist(), last.tolist(), strict=True):
        at += flat[row]
        if stop:  # rows with equal values are one step
            np.maximum(highest, at, out=highest)
            np.minimum(lowest, at, out=lowest)
    furthest = np.maximum(highest, -lowest).reshape(size.shape)
    with np.errstate(invalid="ignore"):
        distance = furthest / (size * size_r)  # 0 / 0 is NaN
    return torch.from_numpy(distance), torch.from_numpy(size.astype(float)), torch.from_numpy(size_r.astype(float))


def scan_columns(columns: Sequence[Coded], scan: SortedScan) -> dict[int, ColumnShiftTest]:
    """All draws of the KS columns among a few columns.

    Args:
        columns: coded columns of n rows.
        scan: the labels of C draws.

    Returns:
        From the position of each KS column to its statistics.
    """
    untied = [i for i, c in enumerate(columns) if c.test == "ks" and not c.has_missing and c.t == len(c.codes) + 1]
    drawn: dict[int, ColumnShiftTest] = {}
    if untied:
        distances = untied_distances([columns[i].codes for i in untied], scan)
        n, n_r = (torch.from_numpy(size).double() for size in scan.sizes)
        none = torch.zeros_like(n)
        statistics = (distances.square() / (1 / n + 1 / n_r)).nan_to_num(0.0)
        pairs = zip(statistics, distances, strict=True)
        drawn = {i: ColumnShiftTest(*pair, none, none, none, none) for i, pair in zip(untied, pairs, strict=True)}
    tied = {i: _scanned(c, scan) for i, c in enumerate(columns) if c.test == "ks" and i not in drawn}
    return drawn | tied


def _scanned(column: Coded, scan: SortedScan) -> ColumnShiftTest:
    """All draws of one KS column that has ties or missing values."""
    distance, n, n_r = ks_distances(column.codes, column.t - column.absent if column.has_missing else None, scan)
    none = torch.zeros_like(n)
    missing = none, none, none
    if column.has_missing:
        kinds = range(column.t - column.absent, column.t)
        absent, absent_r = (
            torch.from_numpy(np.stack([side[column.codes == kind].sum(0) for kind in kinds], -1)).double()
            for side in (scan.piece, scan.reference)
        )
        missing = missing_shift(absent, n, absent_r, n_r)
    return ColumnShiftTest((distance.square() / (1 / n + 1 / n_r)).nan_to_num(0.0), distance, *missing, none)
