"""Tests of one column: KS for numbers, G-test for levels and for missing values, all from one table of counts.

A column becomes small integer codes once; under any relabelling of the rows its statistics follow from the counts per
(label, code), so that a draw of the null costs one pass over n small integers.

Letters: n rows, C draws, L labels, K pieces, t codes. The last code means "missing"; where words stand among numbers,
the last few codes mean that, one for an empty cell and one for each word.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.auditing.long_tables.places import places
from picsc.equations.divergence import categorical_kl

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Contrast, Ints
    from picsc.auditing.model_tests import Labels
    from picsc.datasets.columns.exact import Absent

THRESHOLDS = 256
"""Values at which a numeric column's distribution functions are compared. With more distinct values than that, KS is
taken over quantiles and is at most 1/256 below the exact distance."""


CACHE_NUMBERS = 32_768
"""Most numbers counted at a time, about."""


@dataclass(frozen=True, slots=True)
class Coded:
    """One column as codes of its values, and further codes where missing."""

    name: str
    test: Literal["ks", "g"]
    """Test of the values: KS for ordered codes, G for levels."""
    codes: NDArray[np.int16]
    """Code of each row, (n,)."""
    t: int
    """Number of codes, those for "missing" included."""
    has_missing: bool
    absent: int = 1
    """Number of codes, the last ones, that mean "missing", one for each kind of missing value."""
    upper: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    """Of numbers, the largest value of each code but the last one, which has all above; None for levels."""


Missing = tuple[Tensor, Tensor, Tensor]
"""G of the missing rate, absolute difference of rates, and Bernoulli KL, (C, K) each; with several kinds of missing
values, G, total variation and discrete KL over the kinds and all values together."""


class ColumnShiftTest(NamedTuple):
    """Statistics of one column, per (draw, piece): all (C, K), float64."""

    statistic: Tensor
    """n_eff D^2 for KS, G for levels; about free of the piece's size."""
    effect: Tensor
    """KS distance, or total variation distance, in [0, 1]; NaN when a side has no value."""
    missing_statistic: Tensor
    """G of the missing rate."""
    missing_effect: Tensor
    """Absolute difference of missing rates; total variation distance over several kinds of missing values."""
    missing_kl: Tensor
    """Bernoulli KL, or discrete KL over several kinds of missing values, nats."""
    level_kl: Tensor
    """Discrete KL over levels, nats; 0 for numbers, whose KL comes from moments."""


def code_numbers(name: str, values: NDArray[np.float64], *, thresholds: int = THRESHOLDS) -> Coded:
    """Code a numeric column by the pooled quantiles it lies between; distinct values keep their own code if they fit.

    Args:
        name: name of the column.
        values: (n,), NaN where missing.
        thresholds: most codes besides the one for "missing".
    """
    missing = np.isnan(values)
    some = bool(missing.any())
    present = values[~missing] if some else values
    sample = np.sort(present if len(present) <= 200_000 else present[:: len(present) // 100_000])
    upper = sample[np.append(True, sample[1:] != sample[:-1])] if len(sample) else sample
    if len(upper) > thresholds:
        quantiles = np.quantile(sample, np.arange(1, thresholds + 1) / thresholds, method="inverted_cdf")
        upper = np.unique(quantiles)
    top = max(len(upper), 1)  # a column without values has one code, which no row has
    found = Coded(name, "ks", np.zeros(0, np.int16), top + 1, some, upper=upper)
    return replace(found, codes=coded_alike(values, found))


def code_levels(name: str, codes: NDArray[np.int32] | NDArray[np.int64], levels: int) -> Coded:
    """Code a categorical column; -1 is missing.

    Args:
        name: name of the column.
        codes: (n,) in [-1, levels).
        levels: number of levels.
    """
    missing = codes < 0
    return Coded(name, "g", np.where(missing, levels, codes).astype(np.int16), levels + 1, bool(missing.any()))


def coded_alike(values: NDArray[Any], column: Coded) -> NDArray[np.int16]:
    """Codes of other values of the same column, (n,).

    Args:
        values: (n,) numbers, NaN where missing; or codes of levels, -1 where missing.
        column: the column, with its values coded.
    """
    if column.upper is None:
        found: NDArray[np.int16] = np.where(values < 0, column.t - 1, values).astype(np.int16)
        return found
    top = column.t - 1
    codes: NDArray[np.int16] = np.minimum(places(column.upper, values), top - 1, dtype=np.int16, casting="same_kind")
    missing = np.isnan(values)
    if missing.any():
        codes[missing] = top
    return codes


def tell_kinds_apart(column: Coded, absent: Absent | None) -> Coded:
    """The column with a code of its own for each word that stands where a value should.

    Args:
        column: n rows; rows with such a word are missing there.
        absent: these words; None for none.
    """
    if absent is None:
        return column
    there = absent.codes >= 0
    empty = int(bool((column.codes[~there] == column.t - 1).any()))
    codes = column.codes.copy()
    codes[there] = column.t - 1 + empty + absent.codes[there]
    kinds = empty + len(absent.words)
    return replace(column, codes=codes, t=column.t - 1 + kinds, absent=kinds)


def count(column: Coded, labels: Labels, contrast: Contrast, rows: Ints | slice = slice(None)) -> Tensor:
    """Rows per (draw, label, code).

    Args:
        column: coded column of n rows.
        labels: (C, m) label of each of the m chosen rows in each draw.
        contrast: number of labels.
        rows: row numbers of the m chosen rows.

    Returns:
        (C, L, t) int64.
    """
    draws, m = labels.shape
    cells = contrast.labels * column.t
    together = max(1, CACHE_NUMBERS // m)
    kind = np.min_scalar_type(-together * cells)  # the smallest signed type that holds every place
    codes = column.codes[rows].astype(kind)
    codes *= contrast.labels
    counts = torch.empty((draws, contrast.labels, column.t), dtype=torch.int64)
    for start in range(0, draws, together):
        # a few draws at a time, and small numbers: several times as fast as all at once, which leaves the cache
        place = labels[start : start + together].astype(kind)
        place += codes
        if len(place) > 1:
            place += (np.arange(len(place)) * cells).astype(kind)[:, None]
        found = torch.bincount(torch.from_numpy(place.reshape(-1)), minlength=len(place) * cells)
        counts[start : start + together] = found.reshape(-1, column.t, contrast.labels).transpose(1, 2)
    return counts


def shift(column: Coded, counts: Tensor, contrast: Contrast) -> ColumnShiftTest:
    """All statistics of one column from its counts.

    Args:
        column: column whose codes were counted.
        counts: (C, L, t).
        contrast: label of each piece and of its reference.
    """
    values = counts[..., : -column.absent]
    present = values.sum(-1).double()
    piece_n, reference_n = contrast.split(present)
    if column.test == "ks":
        effect = _ks_distance(values, present, contrast)
        statistic = effect.square() / (1 / piece_n + 1 / reference_n)
        level_kl = torch.zeros_like(piece_n)
    else:
        piece, reference = contrast.split(values.double())
        effect = 0.5 * (piece / piece_n[..., None] - reference / reference_n[..., None]).abs().sum(-1)
        statistic = g_statistic(piece, reference)
        level_kl = categorical_kl(piece, reference)
    if column.has_missing:
        absent, absent_reference = contrast.split(counts[..., -column.absent :].double())
        missing = missing_shift(absent, piece_n, absent_reference, reference_n)
    else:
        none = torch.zeros_like(piece_n)
        missing = none, none, none
    return ColumnShiftTest(statistic.nan_to_num(0.0), effect, *missing, level_kl)


def missing_shift(absent: Tensor, present: Tensor, absent_r: Tensor, present_r: Tensor) -> Missing:
    """Compare the missing rates, from the counts of missing and present values in piece and reference.

    Args:
        absent: (C, K, kinds) missing values of the piece, by kind.
        present: (C, K) values of the piece.
        absent_r: the same of its reference.
        present_r: the same of its reference.
    """
    gone = torch.cat([absent, present[..., None]], -1), torch.cat([absent_r, present_r[..., None]], -1)
    rates = gone[0] / gone[0].sum(-1, keepdim=True) - gone[1] / gone[1].sum(-1, keepdim=True)
    one_kind = absent.shape[-1] == 1
    distance = rates[..., 0].abs() if one_kind else 0.5 * rates.abs().sum(-1)
    return g_statistic(*gone), distance, categorical_kl(*gone)


def _ks_distance(counts: Tensor, present: Tensor, contrast: Contrast) -> Tensor:
    """Largest difference of two distribution functions, (C, K); NaN when a side is empty.

    Float32 holds counts up to 2^24 exactly, and the draws repeat this step over and over: half the memory takes half
    the time.
    """
    below = counts.to(torch.float32).cumsum(-1)
    n = present.to(torch.float32)[..., None]
    if contrast.reference == "rest":
        # the rest's function follows from the piece's and the pooled one, which no permutation changes
        pooled = below.sum(1, keepdim=True) / n.sum(1, keepdim=True)
        piece, piece_n = below[:, list(contrast.pieces)], n[:, list(contrast.pieces)]
        furthest = (piece.addcmul_(piece_n, pooled, value=-1)).abs_().amax(-1)
        total = n.sum(1)
        return (furthest / piece_n[..., 0] * total / (total - piece_n[..., 0])).double()
    function = below / n
    piece, reference = contrast.split(function)
    return (piece - reference).abs().amax(-1).double()


def g_statistic(piece: Tensor, reference: Tensor) -> Tensor:
    """Likelihood-ratio statistic of a 2 x t table; empty cells count 0, an empty side gives 0.

    Args:
        piece: counts (..., t).
        reference: counts (..., t).

    Returns:
        (...), non-negative.
    """
    both = piece + reference
    total_p, total_q = piece.sum(-1, keepdim=True), reference.sum(-1, keepdim=True)
    total = total_p + total_q
    expected_p, expected_q = both * total_p / total, both * total_q / total
    terms = torch.special.xlogy(piece, piece / expected_p) + torch.special.xlogy(reference, reference / expected_q)
    statistic: Tensor = 2 * terms.nan_to_num(0.0).sum(-1)
    return statistic.clamp(min=0)
