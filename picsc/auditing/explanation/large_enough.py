"""Effects compared with the smallest ones that count, each with the bound of its own kind.

Letters: K pieces; `k` is the position of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.auditing.explanation.reasons import Subject
    from picsc.auditing.two_questions import ShiftTest
    from picsc.auditing.verdict import Rule
    from picsc.reports.columns import ColumnShift
    from picsc.reports.effects import EffectKind

_OF_COLUMNS = ("columns", "covariate KL")
"""Statistics of the data question whose effects are those of single columns; all others are of columns together."""


def large_data(k: int, test: ShiftTest, columns: Sequence[ColumnShift], rule: Rule) -> bool:
    """True if the data question is significant and an effect reaches the bound of its kind.

    The effects are those of the statistics and columns that are significant by themselves; where none is, that of the
    statistic with the most evidence.

    Args:
        k: a tested piece.
        test: statistics of all pieces.
        columns: the piece's columns, all significant ones among them.
        rule: level and smallest effects.
    """
    data, level = test.data, rule.level
    if data.p_adjusted[k] > level:
        return False
    effects: list[tuple[float, float]] = []  # each with its bound
    for name, own in data.statistics.items():
        if own.p_adjusted[k] > level:
            continue
        by_kl = name == "covariate KL"
        moved = [each for each in columns if each.kind != "target" and each.moved(level) and each.by_kl(level) == by_kl]
        if name in _OF_COLUMNS and moved:
            effects += [(each.effect(level), rule.smallest.of_column(each.name, each.kind)) for each in moved]
        else:
            effects.append((float(own.effect[k]), _bound_without_column(name, columns, rule)))
    if not effects:
        effects = [(float(data.effect[k]), _bound_without_column(data.leader[k], columns, rule))]
    return any(effect >= bound for effect, bound in effects)


def large_model(k: int, test: ShiftTest, rule: Rule) -> bool:
    """True if the model question is significant and an effect reaches the bound of its kind.

    Args:
        k: a tested piece.
        test: statistics of all pieces.
        rule: level and smallest effects.
    """
    model = test.model
    if model is None or model.p_adjusted[k] > rule.level:
        return False
    own = model.statistics
    names = [name for name, each in own.items() if each.p_adjusted[k] <= rule.level] or [model.leader[k]]
    return any(own[name].effect[k] >= rule.smallest.of(kind_of_model(name)) for name in names)


def kind_of_model(statistic: str) -> EffectKind:
    """The kind of effect of a statistic of the model question: the target's is a distance."""
    return "distance" if statistic == "target" else "model"


def bound_of_data(subject: Subject) -> str:
    """The option and the value that what moved in the data falls short of: `--min-effect 0.05`."""
    moved = subject.moved
    if moved:
        return subject.rule.smallest.option_of_column(moved[0].name, moved[0].kind)
    return subject.rule.smallest.option(_kind_of_data(subject.test.data.leader[subject.k]))


def bound_of_model(subject: Subject) -> str:
    """The option and the value that the effect on the model falls short of."""
    model = subject.test.model
    leader = "score" if model is None else model.leader[subject.k]
    return subject.rule.smallest.option(kind_of_model(leader))


def _bound_without_column(statistic: str, columns: Sequence[ColumnShift], rule: Rule) -> float:
    """The bound of a statistic that no column explains by itself; its effect is that of the leading column."""
    leading = next((each for each in columns if each.kind != "target"), None)
    if statistic in _OF_COLUMNS and leading is not None:
        return rule.smallest.of_column(leading.name, leading.kind)
    return rule.smallest.of(_kind_of_data(statistic))


def _kind_of_data(statistic: str) -> EffectKind:
    return "distance" if statistic in _OF_COLUMNS else "joint"
