"""The reason of a verdict in words: what the statistic that speaks has seen, with its own effect and p-value.

Letters: K pieces; `k` is the position of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from picsc.reports.common import finite

if TYPE_CHECKING:
    from picsc.auditing.two_questions import Question, ShiftTest
    from picsc.auditing.verdict import Rule
    from picsc.reports.audit import ColumnShift

_MEASURE = {"numeric": "KS", "datetime": "KS", "text": "KS of length", "missing": "difference"}


def why_moved(k: int, test: ShiftTest, columns: Sequence[ColumnShift], rule: Rule) -> str:
    """The columns that moved, or what else shows that the data moved: `age and 2 more moved, KS 0.31, p 0.001`.

    Args:
        k: a piece whose data question is significant.
        test: statistics of all pieces.
        columns: the piece's columns, in the order of its report.
        rule: level and smallest effect.
    """
    moved = [column for column in columns if column.kind != "target" and column.moved(rule.level)]
    if moved:
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        return _one_column(moved[0], rule.level, more)
    own, together = test.data.statistics, f"p {test.data.p_adjusted[k]:.3g}"
    classifier, kl = own["domain classifier"], own["covariate KL"]
    if classifier.p_adjusted[k] <= rule.level:
        relies = (test.classifier_columns or {}).get(k, ())
        on = f"; it relies most on {', '.join(relies)}" if relies else ""
        return (
            f"the joint distribution moved: a classifier tells the piece from its reference with AUC "
            f"{test.domain_auc[k]:.2f}, p {classifier.p_adjusted[k]:.3g}, no single column does{on}"
        )
    if kl.p_adjusted[k] <= rule.level:
        total = f"covariate KL {test.kl[k]:.3g} nats, p {kl.p_adjusted[k]:.3g}"
        return f"the columns moved together: {total}, no single column does"
    return f"the data moved a little in several ways: only all statistics together are beyond chance, {together}"


def _one_column(column: ColumnShift, level: float, more: str) -> str:
    """One column that moved, how far, by its own p-value, and what happened to it."""
    if column.kind == "new levels":
        share = f"in {100 * (column.statistic or 0.0):.0f} % of rows more than by chance"
        return f"{column.name}{more} moved: levels that the reference does not have {share}, p {column.p(level):.3g}"
    what = {"missing": "missing rate of ", "format": "format of "}.get(column.kind, "")
    p = "" if column.p(level) is None else f", p {column.p(level):.3g}"
    measure = f"{_MEASURE.get(column.kind, 'TV')} {column.statistic or 0.0:.2f}"
    note = f" ({column.note})" if column.note else ""
    if column.by_kl(level):
        side = "" if measure.startswith("TV") else " in mean or spread"
        kl = f"KL {column.kl or 0.0:.3g} nats"
        return f"{what}{column.name}{more} moved{side}, {kl}{p}, which its {measure} does not show"
    return f"{what}{column.name}{more} moved, {measure}{p}{note}"


def why_model(k: int, test: ShiftTest, columns: Sequence[ColumnShift], rule: Rule) -> str:
    """What the model would notice: other labels, other parameters, or another relation of labels and covariates.

    "The covariates agree" is said only where the data question is not significant, however small its effect.

    Args:
        k: a piece whose model question is significant.
        test: statistics of all pieces.
        columns: the piece's columns, in the order of its report.
        rule: level and smallest effect.
    """
    model, target = test.model, test.target
    if model is None:
        return ""
    if target is not None and target.p_adjusted[k] <= rule.level and target.effect[k] >= rule.min_effect:
        return f"label shift: P({target.name}) differs by {target.effect[k]:.2f}, p {target.p_adjusted[k]:.3g}"
    seen = _model_statistic(model, k, rule)
    if test.data.p_adjusted[k] > rule.level:
        return f"labels or concept: the covariates agree, but not what the model learns from them ({seen})"
    if test.data.effect[k] >= rule.min_effect:
        return f"the model cares ({seen})"
    small = f"by less than --min-effect {rule.min_effect:g}: {why_moved(k, test, columns, rule)}"
    return f"the model cares ({seen}); the covariates differ, too, but {small}"


def _model_statistic(model: Question, k: int, rule: Rule) -> str:
    """The model statistic that speaks, its effect and its p-value.

    It is the one with the most evidence among those that are significant and large enough; else the leader.
    """
    significant = [name for name, each in model.statistics.items() if each.p_adjusted[k] <= rule.level]
    large = [name for name in significant if model.statistics[name].effect[k] >= rule.min_effect]
    name = model.leader[k]
    if large and name not in large:
        name = min(large, key=lambda each: model.statistics[each].p_adjusted[k])
    own = model.statistics[name]
    p = own.p_adjusted[k] if name in significant else model.p_adjusted[k]
    return f"{name}, effect {own.effect[k]:.2f}, p {p:.3g}"


def only_above(seen: float) -> str:
    """The smallest distance that would have been found, to follow a reason; "" without a numeric column."""
    return "" if finite(seen) is None else f"; only a KS distance above {seen:.2f} would show"
