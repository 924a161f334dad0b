"""Sizes of what moved in a column, in units that people know, with 95 % intervals.

A KS distance is a difference of two rates: of the rows up to the place where the distribution functions are farthest
apart. So is a total variation distance: of the rows whose level is more frequent in the piece. Their intervals are
those of such a difference. That is right for distances that are not near 0 (Raghavachari, 1973), and so for columns
that moved. The place, or the set of levels, is the one in which these rows differ most, which chance has a share in:
the lower end is lowered by this share, which halves of the rows show.

Letters: n rows, L labels, K pieces, t codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from picsc.auditing.effects.intervals import FEWEST_UNITS, Rate, of_difference, of_rates, scaled
from picsc.auditing.effects.sums import Cells, Side, cells_of, sides_of, split
from picsc.reports.common import Interval, finite

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.exchangeability import Ints
    from picsc.auditing.ks_and_g_tests import Coded
    from picsc.auditing.long_tables.whole_counts import WholeCounts
    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Column, Dataset, Target

Floats = NDArray[np.float64]
FURTHEST_LOG = 46.0
"""Largest logarithm of a ratio of deviations whose interval is given."""
HALVINGS = 20
"""Random halvings of the rows that show how much of a distance is chance."""
Sizes = Callable[[str, str, int], dict[str, Any]]
"""From a column's name, the side of it that is compared and the position of a piece to fields of `ColumnShift`."""


@dataclass(slots=True)
class _Work:
    """The rows, and what was computed of them so far: only columns that moved cost anything."""

    design: Design
    cells: Cells | None
    coded: dict[tuple[str, str], Coded]
    """Codes by name and side."""
    columns: dict[tuple[str, str], Column | Target]
    """The values themselves, by name and side, where there are any."""
    counts: dict[tuple[str, str], tuple[Floats, Floats]] = field(default_factory=dict)
    """Rows by code of each piece and of its reference, (K, t)."""
    moments: dict[tuple[str, str], tuple[Side, Side, float]] = field(default_factory=dict)
    """Sums of each piece and of its reference, and the unit that the values are in."""

    def counted(self, key: tuple[str, str]) -> tuple[Floats, Floats]:
        """Rows by code."""
        if key not in self.counts:
            coded, contrast = self.coded[key], self.design.contrast
            flat = self.design.labels * coded.t + coded.codes
            per_label = np.bincount(flat, minlength=contrast.labels * coded.t).reshape(contrast.labels, coded.t)
            self.counts[key] = split(per_label.astype(np.float64), contrast)
        return self.counts[key]

    def summed(self, key: tuple[str, str]) -> tuple[Side, Side, float]:
        """Sums of the values in units of their standard deviation."""
        if key not in self.moments:
            values = cast("Floats", self.columns[key].values.astype(np.float64))
            centre, unit = float(np.nanmean(values)), float(np.nanstd(values)) or 1.0
            self.moments[key] = *sides_of((values - centre) / unit, self.design, self.cells), unit
        return self.moments[key]

    def difference(self, key: tuple[str, str], event: NDArray[np.bool_], k: int) -> tuple[float, Interval | None]:
        """Difference of the shares of rows whose code is in an event, of the rows whose code it knows.

        Args:
            key: name and side of the column.
            event: (t',) True for codes of the event; rows with codes beyond these do not count.
            k: the piece.
        """
        piece, reference = (side[k, : len(event)] for side in self.counted(key))
        rates = [Rate(float(side[event].sum()), float(side.sum())) for side in (piece, reference)]
        if min(rate.of for rate in rates) < 1:
            return math.nan, None
        if self.cells is None:
            interval: Interval | None = of_rates(*rates)
        else:
            codes = self.coded[key].codes.astype(np.int64)
            known = np.append(event.astype(np.float64), np.full(self.coded[key].t - len(event), np.nan))
            sides = sides_of(known[codes], self.design, self.cells)
            interval = of_difference(sides[0].mean, sides[1].mean, k, fewest=FEWEST_UNITS)
        return rates[0].value - rates[1].value, interval


def column_sizes(dataset: Dataset, inputs: TestInputs, design: Design, whole: WholeCounts | None = None) -> Sizes:
    """Prepare the sizes of all columns, each of which is computed when it is first asked for.

    Args:
        dataset: n rows.
        inputs: the same rows as the tests see them.
        design: design of these rows.
        whole: counts of the table of which these rows are a sample; None where they are the table.
    """
    coded: dict[tuple[str, str], Coded] = {}
    values: dict[tuple[str, str], Column | Target] = {}
    for column, codes in zip(dataset.columns, inputs.columns, strict=True):
        coded |= {(column.name, "values"): codes, (column.name, "missing"): codes}
        values[column.name, "values"] = column
    coded |= {(each.coded.name, each.test): each.coded for each in inputs.beside}
    if inputs.target is not None and dataset.target is not None:
        coded[inputs.target.name, "target"] = inputs.target
        values[inputs.target.name, "target"] = dataset.target
    work = _Work(design, cells_of(design), coded, values)
    if whole is not None:
        of_covariates = [(column.name, side) for column in dataset.columns for side in ("values", "missing")]
        for key in (*of_covariates, *((name, side) for name, side in values if side == "target")):
            work.counts[key] = split(whole.counts[key[0]].astype(np.float64), design.contrast)

    def sizes(name: str, test: str, k: int) -> dict[str, Any]:
        key = (name, test)
        if test == "missing":
            return _missing(work, key, k)
        if test == "new levels":  # its statistic is an excess over chance, and no difference of two rates
            return {}
        if coded[key].test == "ks":
            return _distance(work, key, k) | _moments(work, key, k)
        return _variation(work, key, k)

    return sizes


def _missing(work: _Work, key: tuple[str, str], k: int) -> dict[str, Any]:
    """Change of the missing rate, in percentage points."""
    coded = work.coded[key]
    gone = np.arange(coded.t) >= coded.t - coded.absent
    rate, interval = work.difference(key, gone, k)
    one = coded.absent == 1  # of several kinds of missing values, the statistic is a distance over all of them
    return {
        "points": finite(100 * rate),
        "points_interval": scaled(interval, 100),
        "interval": _of_size(interval) if one else None,
    }


def _distance(work: _Work, key: tuple[str, str], k: int) -> dict[str, Any]:
    """Interval of the KS distance, at the place where the distribution functions are farthest apart."""
    top = work.coded[key].t - work.coded[key].absent
    piece, reference = (side[k, :top].cumsum() for side in work.counted(key))
    if min(piece[-1], reference[-1]) < 1:
        return {}
    place = int(np.argmax(np.abs(piece / piece[-1] - reference / reference[-1])))
    _, interval = work.difference(key, np.arange(top) <= place, k)
    counts = (side[k, :top] for side in work.counted(key))
    return {"interval": _of_size(interval, chance=_chance(*counts, ordered=True))}


def _variation(work: _Work, key: tuple[str, str], k: int) -> dict[str, Any]:
    """Interval of the total variation distance, and the level that changed most, in percentage points."""
    top = work.coded[key].t - work.coded[key].absent
    piece, reference = (side[k, :top] for side in work.counted(key))
    if min(piece.sum(), reference.sum()) < 1:
        return {}
    change = piece / piece.sum() - reference / reference.sum()
    _, interval = work.difference(key, change > 0, k)
    found: dict[str, Any] = {"interval": _of_size(interval, chance=_chance(piece, reference, ordered=False))}
    levels = work.columns[key].levels if key in work.columns else ()
    if levels:
        most = int(np.argmax(np.abs(change)))
        rate, interval = work.difference(key, np.arange(top) == most, k)
        found |= {"level": levels[most], "points": 100 * rate, "points_interval": scaled(interval, 100)}
    return found


def _chance(piece: Floats, reference: Floats, *, ordered: bool) -> float:
    """How much of a distance is chance: that of the event being the one in which these rows differ most.

    The rows are halved at random; the event in which one half differs most is looked at in the other half, where it is
    no more likely to be large than any other.

    Args:
        piece: counts by code, (t,).
        reference: the same of the reference.
        ordered: True for a KS distance, False for a total variation distance.
    """
    rng = np.random.default_rng(0)
    sides = [np.asarray(side, np.int64) for side in (piece, reference)]
    halves = [rng.binomial(side, 0.5, (HALVINGS, len(side))) for side in sides]
    others = [side - half for side, half in zip(sides, halves, strict=True)]
    if min(each.sum(1).min() for each in (*halves, *others)) < 1:
        return 0.0
    here, there = (_changes(*pair, ordered=ordered) for pair in (halves, others))
    whole = _changes(*(side[None] for side in sides), ordered=ordered)
    again = [_seen_again(*pair, ordered=ordered) for pair in ((here, there), (there, here))]
    return max(float(_seen_again(whole, whole, ordered=ordered).mean() - np.mean(again)), 0.0)


def _changes(piece: Ints, reference: Ints, *, ordered: bool) -> Floats:
    """Differences of distribution functions, or of shares of levels, (S, t), from counts (S, t)."""
    change = piece / piece.sum(1, keepdims=True) - reference / reference.sum(1, keepdims=True)
    return np.asarray(change.cumsum(1) if ordered else change, np.float64)


def _seen_again(chosen: Floats, seen: Floats, *, ordered: bool) -> Floats:
    """Distances, (S,), of the events in which `chosen` differs most, as `seen` has them."""
    if not ordered:
        return np.asarray(np.where(chosen > 0, seen, 0.0).sum(1), np.float64)
    place = np.abs(chosen).argmax(1)[:, None]
    there = [np.take_along_axis(each, place, 1)[:, 0] for each in (chosen, seen)]
    return np.asarray(np.sign(there[0]) * there[1], np.float64)


def _moments(work: _Work, key: tuple[str, str], k: int) -> dict[str, Any]:
    """Differences of means, in the column's unit and in standard deviations of the reference, and ratio of deviations.

    The interval in standard deviations takes the reference's as known.
    """
    piece, reference, unit = work.summed(key)
    here, there = piece.mean, reference.mean
    difference, fewest = float(here.value[k] - there.value[k]), 2 if work.cells is None else FEWEST_UNITS
    if not math.isfinite(difference):
        return {}
    interval = of_difference(here, there, k, fewest=fewest)
    found: dict[str, Any] = {"mean_difference": difference * unit, "mean_interval": scaled(interval, unit)}
    own, others = float(piece.deviation[k]), float(reference.deviation[k])
    if others > 1e-12:  # else the reference has one value
        found |= {"effect_in_sd": difference / others, "effect_in_sd_interval": scaled(interval, 1 / others)}
    if min(own, others) > 1e-12:
        logs = of_difference(piece.log_deviation, reference.log_deviation, k, fewest=fewest)
        found["sd_ratio"] = own / others
        # a few rows of heavy tails: an interval over twenty powers of ten says nothing
        known = logs is not None and max(abs(logs.low), abs(logs.high)) < FURTHEST_LOG
        found["sd_ratio_interval"] = Interval(math.exp(logs.low), math.exp(logs.high)) if logs and known else None
    return found


def _of_size(interval: Interval | None, *, chance: float = 0.0) -> Interval | None:
    """Interval of a difference's absolute value, in [0, 1]; the lower end is lowered by what chance adds."""
    if interval is None:
        return None
    low, high = sorted((abs(interval.low), abs(interval.high)))
    if interval.low <= 0 <= interval.high:
        low = 0.0
    return Interval(max(low - chance, 0.0), min(high, 1.0))
