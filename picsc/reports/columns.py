"""Columns of a piece compared with its reference: tests, sizes in units that people know, and both in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from picsc.reports.common import Interval
from picsc.reports.effects import signed, within


def kl_distance(kl: float) -> float:
    """KS distance, in [0, 1], of two normal distributions of one variance that have this KL divergence, in nats.

    So a KL, which has no upper bound, is compared with the same smallest effect as differences of probability are.
    """
    return math.erf(math.sqrt(max(kl, 0.0)) / 2)


MEASURES = {"numeric": "KS", "datetime": "KS", "text": "KS of length", "missing": "difference"}
"""Name of the statistic of a kind of column; total variation (TV) for all others."""
SIDES = {"missing": "missing rate of ", "format": "format of "}
"""Words before the name of a column whose values are not what is compared."""


@dataclass(frozen=True, slots=True)
class ColumnShift:
    """One column of one piece compared with its reference."""

    name: str
    """Name of the column."""
    kind: str
    """Side of the column that is compared: numeric, categorical, boolean, datetime or text for its values, missing for
    its missing rate, target for the target's values, format for which characters of its words are letters and digits,
    new levels for rows whose level the reference does not have."""
    statistic: float | None
    """Size of the difference, in [0, 1]: KS distance for numbers, total variation distance for levels and formats,
    difference of rates for missing, share of rows in excess of chance for new levels. None where it could not be
    computed."""
    p_adjusted: float | None
    """Permutation p-value in (0, 1], corrected over all columns and pieces of this audit by the maximum statistic; None
    where there is no test."""
    kl: float | None
    """KL(piece || reference) of this column, in nats; None where it could not be computed."""
    note: str = ""
    """The difference in words: `new category 'z' (15.0 % of rows)`, `no overlap with the reference`; empty where the
    statistic says it all."""
    p_kl: float | None = None
    """Permutation p-value in (0, 1] of this column's KL, corrected over all columns and pieces of this audit by the
    maximum statistic: of a mean or a spread that a few rows move, which `statistic` does not show. None unless the
    covariate KL of the piece, over all columns, is significant."""
    interval: Interval | None = None
    """95 % interval of `statistic`, in [0, 1]. This and all that follows is None unless the column moved, where it does
    not apply, and where there are too few rows, groups or blocks for it."""
    mean_difference: float | None = None
    """Mean of the piece minus that of its reference, in the column's own unit: seconds for dates, characters for
    texts."""
    mean_interval: Interval | None = None
    """95 % interval of `mean_difference`."""
    effect_in_sd: float | None = None
    """`mean_difference` in standard deviations of the reference."""
    effect_in_sd_interval: Interval | None = None
    """95 % interval of `effect_in_sd`, with the reference's standard deviation taken as known."""
    sd_ratio: float | None = None
    """Standard deviation of the piece over that of its reference."""
    sd_ratio_interval: Interval | None = None
    """95 % interval of `sd_ratio`."""
    level: str | None = None
    """The level whose share changed most."""
    points: float | None = None
    """Change of the share of `level`, or of the missing rate, in percentage points of the reference's to the
    piece's."""
    points_interval: Interval | None = None
    """95 % interval of `points`."""

    def by_statistic(self, level: float) -> bool:
        """True if the column moved by its own test: KS, G, or the missing rate."""
        return self.p_adjusted is not None and self.p_adjusted <= level

    def moved(self, level: float) -> bool:
        """True if the column moved, by its own test or by its KL."""
        return self.by_statistic(level) or (self.p_kl is not None and self.p_kl <= level)

    def by_kl(self, level: float) -> bool:
        """True if the KL alone shows that the column moved."""
        return self.moved(level) and not self.by_statistic(level)

    def effect(self, level: float) -> float:
        """Size of the difference by which the column moved: `statistic`, or the distance of a number's KL."""
        levels = self.kind in ("categorical", "boolean")  # a new level has a large KL however rare it is
        return kl_distance(self.kl or 0.0) if self.by_kl(level) and not levels else self.statistic or 0.0

    def p(self, level: float) -> float | None:
        """The p-value of the test by which the column moved."""
        return self.p_kl if self.by_kl(level) else self.p_adjusted

    @property
    def sized(self) -> bool:
        """True if the difference is known in units that people know, or has an interval."""
        return self.points is not None or self.mean_difference is not None or self.interval is not None

    def in_words(self, level: float, name: str = "") -> str:
        """How far the column moved: `mean of age 0.5 sd higher (KS 0.20 [0.15, 0.25])`.

        Args:
            level: family-wise level of the tests.
            name: the column's name as it is shown; empty for the name itself.
        """
        return size_in_words(self, level, name or self.name)


def size_in_words(column: ColumnShift, level: float, name: str) -> str:
    """How far a column moved, in units that people know first; see `ColumnShift.in_words`."""
    if column.kind == "new levels":
        share = f"in {100 * (column.statistic or 0.0):.0f} % of rows more than by chance"
        return f"{name}: levels that the reference does not have {share}"
    if column.kind == "missing" and column.points is not None:
        points = f"{signed(column.points)} points{within(column.points_interval, form='.1f')}"
        several = "" if column.interval is not None or not column.note else f" (difference {column.statistic or 0:.2f})"
        return f"missing rate of {name} {points}{several}"
    measure = f"{MEASURES.get(column.kind, 'KS' if column.mean_difference is not None else 'TV')} "
    measure += f"{column.statistic or 0.0:.2f}{within(column.interval)}"
    if column.by_kl(level):
        measure = f"KL {column.kl or 0.0:.3g} nats, {measure}"
    if column.level is not None and column.points is not None:
        points = f"{signed(column.points)} points{within(column.points_interval, form='.1f')}"
        return f"{name}: level {column.level} {points} ({measure})"
    what = _moment(column, name) or f"{SIDES.get(column.kind, '')}{name} moved"
    return f"{what} ({measure})"


def _moment(column: ColumnShift, name: str) -> str:
    """What of a column of numbers moved, its mean or its spread; "" where neither explains its KS distance.

    Two normal distributions whose means are d apart, in standard deviations, have a KS distance of 0.4 d for small d,
    and two of one mean whose standard deviations have the ratio r, one of 0.24 |log r|.
    """
    d, ratio = column.effect_in_sd or 0.0, column.sd_ratio or 1.0
    of_mean = 0.4 * abs(d) if _excludes(column.mean_interval, 0.0) else 0.0
    of_spread = 0.24 * abs(math.log(ratio)) if _excludes(column.sd_ratio_interval, 1.0) else 0.0
    if max(of_mean, of_spread) < min((column.statistic or 0.0) / 3, 0.3):
        return ""
    if of_mean >= of_spread:
        more, less = {"datetime": ("later", "earlier"), "text": ("longer", "shorter")}.get(
            column.kind, ("higher", "lower")
        )
        return f"mean of {name} {_two_digits(abs(d))} sd {more if d > 0 else less}" if of_mean else ""
    return f"spread of {name} {_two_digits(ratio)} times that of the reference"


def _excludes(interval: Interval | None, value: float) -> bool:
    return interval is not None and not interval.low <= value <= interval.high


def _two_digits(value: float) -> str:
    """A size in two digits, or as a whole number."""
    return f"{value:.2g}" if value < 100 else f"{value:.3g}"
