"""The reason of a verdict in words: how large the difference is that the statistic has seen, and how sure it is.

Letters: K pieces; `k` is the position of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from picsc.auditing.explanation.large_enough import bound_of_data, kind_of_model
from picsc.phrases import listed
from picsc.reports.columns import MEASURES, SIDES
from picsc.reports.common import finite
from picsc.reports.effects import reference_words

if TYPE_CHECKING:
    from picsc.auditing.two_questions import ShiftTest
    from picsc.auditing.verdict import Rule
    from picsc.reports.columns import ColumnShift
    from picsc.reports.effects import ModelFit


@dataclass(frozen=True, slots=True)
class Subject:
    """One tested piece, and everything that can be said of it."""

    k: int
    """Position of the piece."""
    test: ShiftTest
    """Statistics of all pieces."""
    columns: tuple[ColumnShift, ...]
    """The piece's columns, in the order of its report."""
    rule: Rule
    """Level and smallest effects."""
    fit: ModelFit | None = None
    """Fit of the reference model; None where it is not known."""

    @property
    def moved(self) -> list[ColumnShift]:
        """The covariates that moved, those that moved enough first."""
        return [each for each in self.columns if each.kind != "target" and each.moved(self.rule.level)]


def why_moved(subject: Subject) -> str:
    """The columns that moved, or what else shows that the data moved.

    `mean of age 0.5 sd higher (KS 0.20 [0.15, 0.25]), p 0.001; 2 more moved`.

    Args:
        subject: a piece whose data question is significant.
    """
    k, test, rule, moved = subject.k, subject.test, subject.rule, subject.moved
    if moved:
        return _one_column(moved[0], rule.level, len(moved) - 1)
    own, together = test.data.statistics, f"p {test.data.p_adjusted[k]:.3g}"
    jointly, kl = own["joint distribution"], own["covariate KL"]
    if jointly.p_adjusted[k] <= rule.level:
        leading = (test.classifier_columns or {}).get(k, ())
        most = f"; {listed(leading)} matter{'s' if len(leading) == 1 else ''} most" if leading else ""
        return (
            f"columns go together in another way, though no single one moved: rows of the piece are told from its "
            f"reference with AUC {test.domain_auc[k]:.2f}, p {jointly.p_adjusted[k]:.3g}{most}"
        )
    if kl.p_adjusted[k] <= rule.level:
        total = f"covariate KL {test.kl[k]:.3g} nats, p {kl.p_adjusted[k]:.3g}"
        return f"the columns moved together: {total}, no single column does"
    return f"the data moved a little in several ways: only all statistics together are beyond chance, {together}"


def _one_column(column: ColumnShift, level: float, more: int) -> str:
    """One column that moved, how far, by its own p-value, and what happened to it."""
    p = "" if column.p(level) is None else f", p {column.p(level):.3g}"
    note = f" ({column.note})" if column.note else ""
    if column.sized or column.kind == "new levels":
        others = f"; {more} more moved" if more else ""
        return f"{column.in_words(level)}{p}{note}{others}"
    others = f" and {more} more" if more else ""
    what = SIDES.get(column.kind, "")
    measure = f"{MEASURES.get(column.kind, 'TV')} {column.statistic or 0.0:.2f}"
    if column.by_kl(level):
        side = "" if measure.startswith("TV") else " in mean or spread"
        kl = f"KL {column.kl or 0.0:.3g} nats"
        return f"{what}{column.name}{others} moved{side}, {kl}{p}, which its {measure} does not show"
    return f"{what}{column.name}{others} moved, {measure}{p}{note}"


def why_model(subject: Subject, *, moved: bool) -> str:
    """What the model would notice: other labels, other parameters, or another relation of labels and covariates.

    "The covariates agree" is said only where the data question is not significant, however small its effect; and
    another distribution of the target is called a label shift only where no covariate moved that may explain it.

    Args:
        subject: a piece whose model question is significant.
        moved: the data question is significant, and its effect is large enough.
    """
    seen, also = _seen_by_model(subject, moved=moved)
    if also:
        seen += f"; the covariates differ, too, but by less than {bound_of_data(subject)}: {why_moved(subject)}"
    if subject.fit is None:
        return seen
    return f"{seen}; {subject.fit.in_words('this piece', reference_words(subject.rule.reference))}"


def _seen_by_model(subject: Subject, *, moved: bool) -> tuple[str, bool]:
    """What the model question has seen, and True if a small difference of the covariates is to be told besides."""
    k, test, rule = subject.k, subject.test, subject.rule
    target, agree = test.target, bool(test.data.p_adjusted[k] > rule.level)
    if target is not None and target.p_adjusted[k] <= rule.level and target.effect[k] >= rule.smallest.distance:
        shown = next((each for each in subject.columns if each.kind == "target" and each.sized), None)
        words = f"P({target.name}) differs by {target.effect[k]:.2f}" if shown is None else shown.in_words(rule.level)
        words += f", p {target.p_adjusted[k]:.3g}"
        if moved:
            return f"the target moved: {words}; the covariates moved as well and may explain it", False
        return f"label shift: {words}", not agree
    seen = _model_statistic(subject)
    if agree:
        return f"labels or concept: the covariates agree, but not what the model learns from them ({seen})", False
    return f"the model cares ({seen})", not moved


def _model_statistic(subject: Subject) -> str:
    """The model statistic that speaks, its effect and its p-value.

    It is the one with the most evidence among those that are significant and large enough; else the leader.
    """
    model, k, rule = subject.test.model, subject.k, subject.rule
    if model is None:
        return ""
    significant = [name for name, each in model.statistics.items() if each.p_adjusted[k] <= rule.level]
    large = [name for name in significant if model.statistics[name].effect[k] >= rule.smallest.of(kind_of_model(name))]
    name = model.leader[k]
    if large and name not in large:
        name = min(large, key=lambda each: model.statistics[each].p_adjusted[k])
    own = model.statistics[name]
    p = own.p_adjusted[k] if name in significant else model.p_adjusted[k]
    return f"{name}, effect {own.effect[k]:.2f}, p {p:.3g}"


def only_above(seen: float) -> str:
    """The smallest distance that would have been found, to follow a reason; "" without a numeric column."""
    return "" if finite(seen) is None else f"; only a KS distance above {seen:.2f} would show"
