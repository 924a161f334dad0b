"""Dependence of neighbouring rows: the integrated autocorrelation time of a series, and the test that there is any.

The variance of a mean of m dependent rows is that of m / IAT independent ones, with IAT = 1 + 2 (r_1 + r_2 + ..), the
integrated autocorrelation time: (1 + phi) / (1 - phi) for an autoregression of order one. A series is one number per
row, or per time where rows of equal time move together. It is laid out piece after piece and compared with itself
within pieces only, about the mean of the piece: a shift between pieces is what an audit looks for.

Letters: n numbers of a series, K pieces, W lags.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from picsc.datasets.table import Column, Target

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVEL = 0.05
"""Chance that independent rows are called dependent, over all columns."""
LEVELS = 8
"""Most levels of one column that are series of their own, the most frequent ones."""
TIMED = 50
"""Most series whose IAT is estimated, the most significant ones."""
CARRIERS = 4
"""The square of the effective number of rows behind a series' variance must be at least this many times n: two
outliers that happen to be neighbours are no evidence."""
WINDOW = 16
"""A test adds up at most this share of the lags that a piece has, so that its sum is close to normal."""
ORDER = 8
"""Fewest numbers in a piece for each order of an autoregression that is fitted to it."""
STEPS = 30
"""Most steps of the iteration that takes the bias of the pieces' own means out."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """The series whose neighbouring rows depend on each other the longest."""

    name: str
    """Name of the column."""
    of: str
    """Its series in words: `values`, `distance from the middle`, `level 'a'`, `missing values`."""
    time: float
    """IAT in units of the series: rows, or different times; at least 1."""
    columns: int
    """Number of columns with a dependence beyond chance."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of n rows in the series: piece after piece, and inside a piece in stream order."""

    rows: Ints
    """(n,) row number at each place."""
    piece: Ints
    """(n,) number of the piece at each place, from 0 without gaps, not decreasing."""
    tie: Ints | None = None
    """(n,) number of the time at each place, from 0 without gaps, not decreasing; None where every row counts by
    itself."""

    def sizes(self) -> Ints:
        """(K,) numbers of the series in each piece."""
        if self.tie is None:
            return np.bincount(self.piece)
        return np.bincount(self.piece[np.unique(self.tie, return_index=True)[1]])

    def series(self, x: Floats) -> Floats:
        """One number per row or per time: sums of equal times over the root of their number, so that they are alike."""
        if self.tie is None:
            return x
        rows = np.bincount(self.tie)
        return np.bincount(self.tie, weights=x) / np.sqrt(rows)


def dependence(columns: Sequence[Column | Target], layout: Layout) -> Dependence | None:
    """The column whose neighbouring rows depend on each other the longest.

    Args:
        columns: covariates and the target: ranks of numbers within their piece and how far they are from its middle,
            indicators of levels, and flags of missing values.
        layout: places of the rows.

    Returns:
        None where no dependence is beyond chance at `LEVEL` over all series.
    """
    sizes = layout.sizes()
    most = lags(sizes)
    if most < 1:
        return None
    found: list[tuple[float, str, str, Floats]] = []
    tests = 0
    for column in columns:
        for of, x in _series_of(column, layout):
            products = autocovariances(x, sizes, most)
            found.append((strongest(products, x, sizes), column.name, of, products))
            tests += 1
    beyond = NormalDist().inv_cdf(1 - LEVEL / max(1, tests * scales(sizes)))
    alike = sorted((each for each in found if each[0] > beyond), key=lambda each: -each[0])
    if not alike:
        return None
    times = [(integrated_time(products, sizes), name, of) for _, name, of, products in alike[:TIMED]]
    time, name, of = max(times, key=lambda each: each[0])
    return Dependence(name, of, time, len({each[1] for each in alike}))


def lags(sizes: Ints) -> int:
    """Number of lags W at which a series is compared with itself: half a piece at most."""
    typical = float(np.median(sizes))
    order = int(10 * math.log10(max(2, int(sizes.sum()))))
    return min(int(typical) // 2, max(order, int(typical) // WINDOW))


def scales(sizes: Ints) -> int:
    """Number of windows of a test: 1, 2, 4, .. lags."""
    return max(1, int(math.log2(max(1.0, float(np.median(sizes)) / WINDOW))) + 1)


def autocovariances(x: Floats, sizes: Ints, most: int) -> Floats:
    """Sums of products of numbers 0 .. `most` places apart within a piece, (W + 1,).

    Args:
        x: (n,) series about the mean of the piece, piece after piece.
        sizes: (K,) numbers in each piece.
        most: W.
    """
    apart = np.zeros(len(x) + most * len(sizes))  # `most` zeros after each piece: no product crosses its border
    apart[np.arange(len(x)) + most * np.repeat(np.arange(len(sizes)), sizes)] = x
    padded = fft.next_fast_len(len(apart), real=True)
    spectrum = fft.rfft(apart, padded)
    products: Floats = fft.irfft(spectrum.real**2 + spectrum.imag**2, padded)[: most + 1]
    return products


def strongest(products: Floats, x: Floats, sizes: Ints) -> float:
    """Largest sum of the first 1, 2, 4, .. autocovariances, in standard deviations under independence.

    Deviations from the mean of m numbers have a correlation of -1 / (m - 1) in whatever order they come, which is taken
    out.
    """
    squares = products[0]
    fourth = float((x**4).sum())
    if squares <= 0 or (squares * squares / fourth) ** 2 < CARRIERS * len(x):
        return 0.0
    pairs = _pairs(sizes, len(products) - 1)
    chance = (pairs / np.maximum(sizes - 1, 1)[:, None]).sum(0)
    variance = squares / len(x)
    standard, count = products / variance + chance, pairs.sum(0)
    ends = [min(1 << j, len(products) - 1) for j in range(scales(sizes))]
    sums, counts = np.cumsum(standard[1:]), np.cumsum(count[1:])
    return max(float(sums[end - 1]) / math.sqrt(max(1.0, float(counts[end - 1]))) for end in ends)


def integrated_time(products: Floats, sizes: Ints) -> float:
    """IAT of a series, at least 1: that of an autoregression that fits it.

    Source: spectral density at zero of an autoregression whose order has the smallest AIC, as in CODA (Plummer et al.,
        2006).
    Reading: deviations from a piece's own mean have autocovariances that are too small by the variance of that mean,
        which depends on the IAT; it is added, and the IAT is estimated again until both agree.

    Args:
        products: (W + 1,) sums of products by lag, see `autocovariances`.
        sizes: (K,) numbers in each piece.
    """
    n, typical = int(sizes.sum()), float(sizes.mean())
    # a high order in a short piece is fitted to what the mean of the piece has taken away
    most = max(1, min(len(products) - 1, int(10 * math.log10(max(2, n))), int(typical) // ORDER))
    raw = products[: most + 1] / np.maximum(_pairs(sizes, most).sum(0), 1)
    if raw[0] <= 0:
        return 1.0
    longrun = float(raw[0])
    covariance = raw
    for _ in range(STEPS):
        covariance = raw + longrun / typical
        found = min(_at_zero(covariance, n), float(covariance[0]) * typical)
        if abs(found - longrun) < 1e-6 * longrun:
            break
        longrun = 0.5 * (longrun + found)
    return max(1.0, longrun / float(covariance[0]))


def _at_zero(covariance: Floats, n: int) -> float:
    """Long-run variance of the autoregression of smallest AIC or of that of order one, whichever is larger.

    In short pieces, autocovariances add up to little whatever the dependence, since deviations from a mean add up to 0;
    that of the nearest neighbours is hurt the least.
    """
    coefficients, error = np.zeros(0), float(covariance[0])
    least, longrun, of_one = n * math.log(error), error, error
    for order in range(1, len(covariance)):
        explained = float(covariance[order] - coefficients @ covariance[order - 1 : 0 : -1]) if order > 1 else None
        partial = (float(covariance[1]) if explained is None else explained) / error
        partial = min(max(partial, -0.9999), 0.9999)
        coefficients = np.append(coefficients - partial * coefficients[::-1], partial)
        error *= 1 - partial * partial
        criterion = n * math.log(error) + 2 * order
        at_zero = error / max(1 - float(coefficients.sum()), 1e-3) ** 2
        of_one = at_zero if order == 1 else of_one
        if criterion < least:
            least, longrun = criterion, at_zero
    return max(longrun, of_one)


def _pairs(sizes: Ints, most: int) -> Floats:
    """Number of pairs 0 .. `most` places apart in each piece, (K, W + 1)."""
    pairs: Floats = np.maximum(sizes[:, None] - np.arange(most + 1), 0).astype(np.float64)
    return pairs


def _series_of(column: Column | Target, layout: Layout) -> Iterator[tuple[str, Floats]]:
    """Every series of a column, about the mean of the piece, with its words."""
    missing = column.missing[layout.rows]
    if column.kind == "classes" or (isinstance(column, Column) and column.coded):
        codes = column.values[layout.rows].astype(np.int64)
        count = np.bincount(codes[~missing], minlength=1)
        for code in levels_followed(count):
            if count[code] < len(codes):
                yield f"level {column.levels[code]!r}", layout.series(_about_mean(codes == code, ~missing, layout))
    elif not missing.all():
        ranks = _ranks(column.values[layout.rows].astype(np.float64), layout.piece)
        yield "values", layout.series(ranks)
        apart = np.abs(ranks)
        yield "distance from the middle", layout.series(_about_mean(apart, ~missing, layout))
    if missing.any() and not missing.all():
        yield "missing values", layout.series(_about_mean(missing, np.ones_like(missing), layout))


def levels_followed(count: Ints) -> list[int]:
    """Codes of the levels that are series of their own: the most frequent ones, or one of two, which tells all.

    Args:
        count: rows of each code, (t,).
    """
    most = 1 if np.count_nonzero(count) == 2 else LEVELS
    return [code for code in np.argsort(-count, kind="stable")[:most].tolist() if count[code]]


def _about_mean(x: NDArray[np.bool_] | Floats, present: NDArray[np.bool_], layout: Layout) -> Floats:
    """Deviations from the mean of the values present in the piece, 0 where there is none."""
    piece = layout.piece
    sums = np.bincount(piece, weights=np.where(present, x, 0.0))
    mean = sums / np.maximum(np.bincount(piece, weights=present), 1)
    return np.where(present, x - mean[piece], 0.0)


def _ranks(values: Floats, piece: Ints) -> Floats:
    """Ranks within the piece about their mean, in (-1/2, 1/2), ties shared; 0 where missing."""
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.lexsort((values[known], piece[known]))]
    inside, sorted_values = piece[order], values[order]
    start = np.flatnonzero(np.append(True, (inside[1:] != inside[:-1]) | (sorted_values[1:] != sorted_values[:-1])))
    run = np.diff(np.append(start, len(order)))
    first = np.searchsorted(inside, np.arange(int(piece.max()) + 1))
    count = np.bincount(inside, minlength=int(piece.max()) + 1)
    place = np.repeat(start + (run - 1) / 2, run) - first[inside]
    out = np.zeros(len(values))
    out[order] = (place + 0.5) / count[inside] - 0.5
    return out
