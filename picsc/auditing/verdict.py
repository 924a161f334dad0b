"""Verdicts: from p-values and effects to a verdict for each piece, with its reason in words.

A piece is `shift` when a question is significant at the family-wise level and an effect reaches the smallest one of its
kind (--min-effect and its like);
`inconclusive` when it has too few rows, or the table too few groups, for a verdict; `not tested` when it has no
reference; else `ok`. Effects are differences of probability for the data
(KS distance, total variation, difference of missing rates, 2 AUC - 1) and, for the model, changes relative to the
reference in excess of what the null shows (Fisher gap over norm; mean gradient in units of its root mean square).

Letters: K pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from picsc.auditing.explanation.equivalence import equivalent
from picsc.auditing.explanation.large_enough import bound_of_data, bound_of_model, large_data, large_model
from picsc.auditing.explanation.reasons import Subject, only_above, why_model, why_moved
from picsc.reports.audit import Cell, FragmentReport
from picsc.reports.columns import ColumnShift
from picsc.reports.common import Verdict, finite

if TYPE_CHECKING:
    from picsc.auditing.column_notes import Notes
    from picsc.auditing.design import Piece
    from picsc.auditing.effects.columns import Sizes
    from picsc.auditing.null_statistics import ColumnTest
    from picsc.auditing.two_questions import ShiftTest
    from picsc.reports.effects import ModelFit, SmallestEffects

N_MIN = 20
"""Fewest rows for a verdict: with fewer, one or two repeated values make any distribution function jump by a tenth."""
BLIND = 0.5
"""A piece that would show no KS distance below this is inconclusive instead of ok."""
COLUMNS_SHOWN = 10
"""Columns reported per piece, strongest first, in addition to all significant ones."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The settings that decide a verdict."""

    level: float
    """Family-wise error rate."""
    smallest: SmallestEffects
    """Smallest effects that count as a shift, by kind."""
    gamma: float | None
    """Raw threshold of tau; None for the calibrated test."""
    kinds: dict[str, str]
    """Kind of each column, by name."""
    lacking: Mapping[int, str] = field(default_factory=dict)
    """Reason why no p-value of a piece can be small however many rows it has, too few groups or blocks to deal out, by
    the piece's position; pieces that may get small ones are left out."""
    reference: str = "rest"
    """Name of what the pieces are compared with: rest, previous, first, or `file` and its name."""
    too_short: str = ""
    """Reason why p-values say nothing of any piece: a stream without enough blocks; empty where they do."""
    equivalence: float | None = None
    """The effect that every column is to be shown to be below; None where that was not asked."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the report says of pieces besides their tests."""

    notes: Notes = field(default_factory=dict)
    """Notes on what happened to a column in a piece."""
    sizes: Sizes | None = None
    """Sizes of what moved; None where columns are not in their own units."""
    fits: tuple[ModelFit | None, ...] | None = None
    """Fit of the reference model by the piece's position; None for no piece."""

    def fit(self, k: int) -> ModelFit | None:
        """Fit of the reference model of one piece."""
        return None if self.fits is None else self.fits[k]


def verdicts(pieces: tuple[Piece, ...], test: ShiftTest, rule: Rule, known: Known) -> tuple[FragmentReport, ...]:
    """Verdict and statistics of every piece.

    Args:
        pieces: in the order of the report.
        test: statistics of the K tested pieces.
        rule: level, smallest effects worth a verdict, raw threshold.
        known: notes on columns, sizes of what moved, and the fit of the reference model.
    """
    return tuple(_untested(piece) if piece.position is None else _tested(piece, test, rule, known) for piece in pieces)


def overall(fragments: tuple[FragmentReport, ...]) -> Verdict:
    """The worst verdict of all; inconclusive only when every tested piece is, or where some are equivalent."""
    found = {fragment.verdict for fragment in fragments}
    tested = {fragment.verdict for fragment in fragments if fragment.p_data is not None}
    if "shift" in found:
        return "shift"
    if "equivalent" in found:
        return "equivalent" if tested == {"equivalent"} else "inconclusive"
    return "inconclusive" if tested == {"inconclusive"} else "ok"


def _untested(piece: Piece) -> FragmentReport:
    verdict: Verdict = "not tested" if piece.rows else "inconclusive"
    unknown: dict[str, Any] = {each.name: None for each in fields(FragmentReport) if "None" in str(each.type)}
    blank = FragmentReport(
        name=piece.name, rows=piece.rows, verdict=verdict, reason=piece.why_untested, columns=(), **unknown
    )
    return replace(blank, first_row=piece.first_row)


def _tested(piece: Piece, test: ShiftTest, rule: Rule, known: Known) -> FragmentReport:
    k = piece.position
    assert k is not None  # noqa: S101 - the caller has tested pieces only
    columns = _columns(k, test, rule, known)
    moved = large_data(k, test, columns, rule)
    cares = large_model(k, test, rule)
    subject = Subject(k, test, columns, rule, known.fit(k))
    verdict, reason = _decide(piece, subject, moved=moved, cares=cares)
    fisher, model = test.fisher, test.model
    adjusted = min(float(question.p_adjusted[k]) for question in (test.data, model) if question is not None)
    return FragmentReport(
        name=piece.name,
        rows=piece.rows,
        verdict=verdict,
        reason=reason,
        cell=None if verdict == "inconclusive" else _cell(moved=moved, cares=cares),
        fisher_gap=None if fisher is None else finite(fisher.gap[k].item()),
        fisher_gap_relative=None if fisher is None else finite((fisher.gap[k] / fisher.reference_norm[k]).item()),
        fisher_kl=None if fisher is None else finite(fisher.kl[k].item()),
        score=None if fisher is None else finite(fisher.score[k].item()),
        kl=finite(test.kl[k]),
        label_kl=None if test.target is None else finite(test.target.kl[k]),
        missing_kl=finite(test.missing_kl[k]),
        tau=None if test.tau is None else finite(test.tau[k]),
        tau_quantile=None if test.tau_quantile is None else finite(test.tau_quantile[k]),
        domain_auc=finite(test.domain_auc[k]),
        p_data=finite(test.data.p[k]),
        p_model=None if model is None else finite(model.p[k]),
        p_adjusted=adjusted,
        effect_data=finite(test.data.effect[k]),
        effect_model=None if model is None else finite(model.effect[k]),
        smallest_effect=finite(test.smallest_effect[k]),
        columns=columns,
        first_row=piece.first_row,
        noise_data=finite(test.data.noise[k]),
        noise_model=None if model is None else finite(model.noise[k]),
        p_data_adjusted=finite(test.data.p_adjusted[k]),
        p_model_adjusted=None if model is None else finite(model.p_adjusted[k]),
        statistic_data=test.data.leader[k],
        statistic_model=None if model is None else model.leader[k],
        classifier_columns=(test.classifier_columns or {}).get(k, ()),
        model_fit=known.fit(k),
    )


def _cell(*, moved: bool, cares: bool) -> Cell:
    return "both" if moved and cares else "data only" if moved else "model only" if cares else "neither"


def _decide(piece: Piece, subject: Subject, *, moved: bool, cares: bool) -> tuple[Verdict, str]:
    """Verdict of one tested piece, and the reason in one line."""
    k, test, rule = subject.k, subject.test, subject.rule
    if all(np.isnan(column.effect[k]) for column in test.columns if column.test == "values"):
        return "inconclusive", "no values in any column"
    if piece.rows < N_MIN:
        return "inconclusive", f"n = {piece.rows} < {N_MIN} rows{only_above(test.smallest_effect[k])}"
    if rule.gamma is not None and test.tau is not None:
        tau = test.tau[k]
        if tau > rule.gamma:
            return "shift", f"tau {tau:.3g} > gamma {rule.gamma:g} (raw threshold, no error rate)"
        return "ok", f"tau {tau:.3g} <= gamma {rule.gamma:g} (raw threshold, no error rate)"
    if rule.too_short:
        return "inconclusive", rule.too_short
    if moved or cares:
        reasons = [why_moved(subject)] if moved else []
        reasons += [why_model(subject, moved=moved)] if cares else []
        return "shift", "; ".join(reasons)
    if rule.equivalence is not None:
        return ("inconclusive", rule.lacking[k]) if k in rule.lacking else equivalent(subject, piece.rows)
    if test.data.p_adjusted[k] <= rule.level and subject.moved and rule.smallest.monitors(subject.moved[0].name):
        return "ok", f"only columns that --monitor names moved: {why_moved(subject)}"
    if test.data.p_adjusted[k] <= rule.level:
        return "ok", f"real but small, below {bound_of_data(subject)}: {why_moved(subject)}"
    if test.model is not None and test.model.p_adjusted[k] <= rule.level:
        return "ok", f"real but small, below {bound_of_model(subject)}: {why_model(subject, moved=False)}"
    if k in rule.lacking:
        return "inconclusive", rule.lacking[k]
    if test.smallest_effect[k] > BLIND:  # NaN is not
        return "inconclusive", f"n = {piece.rows} is too few here{only_above(test.smallest_effect[k])}"
    return "ok", ""


def _columns(k: int, test: ShiftTest, rule: Rule, known: Known) -> tuple[ColumnShift, ...]:
    """The strongest columns of one piece, the target's distribution among them."""
    tests: list[ColumnTest] = [*test.columns, *([] if test.target is None else [test.target])]
    by_kl = test.data.statistics["covariate KL"].p_adjusted[k] <= rule.level
    tests.sort(key=lambda each: -_evidence(each, k, by_kl=by_kl))
    shown = [
        each
        for i, each in enumerate(tests)
        if i < COLUMNS_SHOWN
        or each.p_adjusted[k] <= rule.level
        or (by_kl and each.of_kl is not None and each.of_kl.p_adjusted[k] <= rule.level)
    ]

    def rank(column: ColumnShift) -> int:
        if not column.moved(rule.level):
            return 2
        return 0 if column.effect(rule.level) >= rule.smallest.of_column(column.name, column.kind) else 1

    return tuple(sorted((_column(each, k, rule, known, by_kl=by_kl) for each in shown), key=rank))


def _evidence(each: ColumnTest, k: int, *, by_kl: bool) -> float:
    """Evidence of a column's own test, or of its KL where that is asked for and stronger."""
    own = float(each.evidence[k])
    return max(own, float(each.of_kl.evidence[k])) if by_kl and each.of_kl is not None else own


def _column(each: ColumnTest, k: int, rule: Rule, known: Known, *, by_kl: bool) -> ColumnShift:
    there = bool(np.isfinite(each.effect[k]))
    column = ColumnShift(
        name=each.name,
        kind=rule.kinds[each.name] if each.test == "values" else each.test,
        statistic=finite(each.effect[k]),
        p_adjusted=finite(each.p_adjusted[k]) if there else None,
        kl=finite(each.kl[k]) if there else None,
        note=known.notes.get((each.name, each.test, k), ""),
        p_kl=finite(each.of_kl.p_adjusted[k]) if there and by_kl and each.of_kl is not None else None,
    )
    if known.sizes is None or not column.moved(rule.level):
        return column
    return replace(column, **known.sizes(each.name, each.test, k))
