"""Sizes of effects: the smallest ones that count as a shift, and the fit of the reference model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from picsc.phrases import counted
from picsc.reports.common import Interval

_OWN = ("its", "their")
EffectKind = Literal["distance", "missing", "joint", "model"]
"""The scales of effects: KS and total variation distances, differences of missing rates, the joint distribution of all
columns, and relative changes for a model."""


@dataclass(frozen=True, slots=True)
class SmallestEffects:
    """The smallest effects that count as a shift, by kind."""

    distance: float = 0.05
    """KS or total variation distance of a column or of the target, in [0, 1): 0.05 is about a mean that is 0.125
    standard deviations higher."""
    missing: float = 0.02
    """Difference of missing rates, in [0, 1): a process that broke shows in few rows first."""
    joint: float = 0.05
    """Effect on the joint distribution of all columns, in [0, 1)."""
    model: float = 0.1
    """Effect on a model, relative to the reference, at least 0: parameters have no unit of their own, and the score is
    about a mean in standard deviations, of which 0.125 make a distance of 0.05."""

    columns: Mapping[str, float] = field(default_factory=dict)
    """The bounds of single columns, by name, in place of those of the kinds; infinite for columns that are monitored,
    and never make a verdict."""

    def of(self, kind: EffectKind) -> float:
        """The smallest effect of a kind."""
        return {"distance": self.distance, "missing": self.missing, "joint": self.joint, "model": self.model}[kind]

    def of_column(self, name: str, kind: str) -> float:
        """The smallest effect of a column, by its name and the side of it that is compared."""
        own = None if kind == "target" else self.columns.get(name)
        return self.of("missing" if kind == "missing" else "distance") if own is None else own

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; the bound of a column that is monitored is None, and `columns` is left out where empty."""
        kinds = {name: getattr(self, name) for name in ("distance", "missing", "joint", "model")}
        columns = {name: None if self.monitors(name) else bound for name, bound in self.columns.items()}
        return {**kinds, "columns": columns} if columns else kinds

    def tolerates(self, name: str) -> bool:
        """True if a column has a larger bound of its own than the joint distribution of all columns has."""
        return self.columns.get(name, 0.0) > self.joint

    def monitors(self, name: str) -> bool:
        """True if a column is tested and reported, and never makes a verdict."""
        return self.columns.get(name) == math.inf

    def option_of_column(self, name: str, kind: str) -> str:
        """The option that sets the bound of a column, and its value: `--min-effect-of age=0.2`."""
        if kind != "target" and name in self.columns:
            return f"--min-effect-of {name}={self.columns[name]:g}"
        return self.option("missing" if kind == "missing" else "distance")

    def option(self, kind: EffectKind) -> str:
        """The option that sets the bound of a kind, and its value: `--min-effect-missing 0.02`."""
        bound = self.of(kind)
        own = "" if kind == "distance" or bound == self.distance else f"-{kind}"
        return f"--min-effect{own} {bound:g}"

    @property
    def words(self) -> str:
        """All bounds: `0.05 (missing 0.02, model 0.1)`."""
        kinds: tuple[EffectKind, ...] = ("missing", "joint", "model")
        other = [f"{kind} {self.of(kind):g}" for kind in kinds if self.of(kind) != self.distance]
        if self.columns:
            other.append(f"{counted(len(self.columns), 'column')} with a bound of {_OWN[len(self.columns) > 1]} own")
        return f"{self.distance:g}" + (f" ({', '.join(other)})" if other else "")


@dataclass(frozen=True, slots=True)
class ModelFit:
    """The reference model's predictions of a piece and of its reference, all from one model of all rows.

    The model has learned from the piece as well, so a difference is rather understated than overstated.
    """

    metric: Literal["accuracy", "mean absolute error"]
    """The score: the share of rows whose class is right, in [0, 1], or the mean absolute error in the target's own
    unit."""
    piece: float
    """Score of the piece's rows that have a label."""
    reference: float
    """Score of the reference's rows that have a label."""
    difference: float
    """`piece` minus `reference`."""
    interval: Interval | None
    """95 % interval of `difference`; None where there are too few rows, groups or blocks for one."""
    loss_difference: float
    """Mean log-loss of the piece minus that of the reference, in nats per row; of numbers, half the squared error in
    units of the target's variance."""
    loss_interval: Interval | None
    """95 % interval of `loss_difference`; None as for `interval`."""

    def in_words(self, here: str, there: str) -> str:
        """The two scores and their difference, in a sentence.

        Args:
            here: the piece, as `this piece`.
            there: its reference, as `the rest`.
        """
        if self.metric == "accuracy":
            ends = "" if self.interval is None else f" {_span(self.interval, 100, '.1f')}"
            scores = f"right in {100 * self.piece:.1f} % of {here} and in {100 * self.reference:.1f} % of {there}"
            return f"the reference model is {scores} ({signed(100 * self.difference)} points{ends})"
        ends = "" if self.interval is None else f" {_span(self.interval, 1, '.3g')}"
        scores = f"off by {self.piece:.3g} on average in {here} and by {self.reference:.3g} in {there}"
        return f"the reference model is {scores} ({self.difference:+.3g}{ends})"


def signed(points: float) -> str:
    """Percentage points with their sign: `+3.0`, `-7.2`, and `0.0` for what rounds to zero."""
    return "0.0" if round(points, 1) == 0 else f"{points:+.1f}"


def _span(interval: Interval, scale: float, form: str) -> str:
    return f"[{scale * interval.low:{form}}, {scale * interval.high:{form}}]"


def within(interval: Interval | None, *, scale: float = 1.0, form: str = ".2f") -> str:
    """An interval to follow its number, as ` [0.15, 0.25]`; "" for None."""
    return "" if interval is None else f" {_span(interval, scale, form)}"


def reference_words(reference: str) -> str:
    """What the pieces are compared with, in words: `the rest`, `the piece before`, or the file."""
    return {"rest": "the rest", "previous": "the piece before", "first": "the first piece"}.get(reference, reference)
