"""Verdicts: from p-values and effects to a verdict for each piece, with its reason in words.

A piece is `shift` when a question is significant at the family-wise level and its effect reaches --min-effect;
`inconclusive` when it has too few rows for a verdict; else `ok`. Effects are differences of probability for the data
(KS distance, total variation, difference of missing rates, 2 AUC - 1) and, for the model, changes relative to the
reference in excess of what the null shows (Fisher gap over norm; mean gradient in units of its root mean square).

Letters: K pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.reports.audit import Cell, ColumnShift, FragmentReport
from picsc.reports.common import Verdict, finite

if TYPE_CHECKING:
    from picsc.auditing.column_notes import Notes
    from picsc.auditing.design import Piece
    from picsc.auditing.null_statistics import ColumnTest
    from picsc.auditing.two_questions import Question, ShiftTest

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
    min_effect: float
    """Smallest effect that counts as a shift."""
    gamma: float | None
    """Raw threshold of tau; None for the calibrated test."""
    kinds: dict[str, str]
    """Kind of each column, by name."""


def verdicts(pieces: tuple[Piece, ...], test: ShiftTest, rule: Rule, notes: Notes) -> tuple[FragmentReport, ...]:
    """Verdict and statistics of every piece.

    Args:
        pieces: in the order of the report.
        test: statistics of the K tested pieces.
        rule: level, smallest effect worth a verdict, raw threshold.
        notes: on what happened to a column in a piece.
    """
    return tuple(_untested(piece) if piece.position is None else _tested(piece, test, rule, notes) for piece in pieces)


def overall(fragments: tuple[FragmentReport, ...]) -> Verdict:
    """The worst verdict of all; inconclusive only when every tested piece is."""
    found = {fragment.verdict for fragment in fragments}
    tested = {fragment.verdict for fragment in fragments if fragment.p_data is not None}
    return "shift" if "shift" in found else "inconclusive" if tested == {"inconclusive"} else "ok"


def _untested(piece: Piece) -> FragmentReport:
    verdict: Verdict = "ok" if piece.rows else "inconclusive"
    unknown = {field.name: None for field in fields(FragmentReport) if "None" in str(field.type)}
    blank = FragmentReport(
        name=piece.name, rows=piece.rows, verdict=verdict, reason=piece.why_untested, columns=(), **unknown
    )
    return replace(blank, first_row=piece.first_row)


def _tested(piece: Piece, test: ShiftTest, rule: Rule, notes: Notes) -> FragmentReport:
    k = piece.position
    assert k is not None  # noqa: S101 - the caller has tested pieces only
    columns = _columns(k, test, rule, notes)
    moved = _significant(test.data, k, rule)
    cares = test.model is not None and _significant(test.model, k, rule)
    verdict, reason = _decide(piece, k, test, rule, columns, moved=moved, cares=cares)
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
    )


def _significant(question: Question, k: int, rule: Rule) -> bool:
    """True when the question is significant in piece k and its effect is large enough to matter."""
    return bool(question.p_adjusted[k] <= rule.level and question.effect[k] >= rule.min_effect)


def _cell(*, moved: bool, cares: bool) -> Cell:
    return "both" if moved and cares else "data only" if moved else "model only" if cares else "neither"


def _decide(
    piece: Piece, k: int, test: ShiftTest, rule: Rule, columns: tuple[ColumnShift, ...], *, moved: bool, cares: bool
) -> tuple[Verdict, str]:
    """Verdict of one tested piece, and the reason in one line."""
    seen = test.smallest_effect[k]
    only_above = f"; only a KS distance above {seen:.2f} would show" if np.isfinite(seen) else ""
    if all(np.isnan(column.effect[k]) for column in test.columns if column.test == "values"):
        return "inconclusive", "no values in any column"
    if piece.rows < N_MIN:
        return "inconclusive", f"n = {piece.rows} < {N_MIN} rows{only_above}"
    if rule.gamma is not None and test.tau is not None:
        tau = test.tau[k]
        if tau > rule.gamma:
            return "shift", f"tau {tau:.3g} > gamma {rule.gamma:g} (raw threshold, no error rate)"
        return "ok", f"tau {tau:.3g} <= gamma {rule.gamma:g} (raw threshold, no error rate)"
    if moved or cares:
        reasons = [_why_moved(k, test, columns, rule)] if moved else []
        reasons += [_why_cares(k, test, rule, moved=moved)] if cares else []
        return "shift", "; ".join(reasons)
    significant = [q for q in (test.data, test.model) if q is not None and q.p_adjusted[k] <= rule.level]
    if significant:
        largest = max(float(question.effect[k]) for question in significant)
        return "ok", f"real but small: effect {largest:.3g} < --min-effect {rule.min_effect:g}"
    if np.isfinite(seen) and seen > BLIND:
        return "inconclusive", f"n = {piece.rows} is too few here{only_above}"
    return "ok", ""


def _why_moved(k: int, test: ShiftTest, columns: tuple[ColumnShift, ...], rule: Rule) -> str:
    strong = [column for column in columns if column.p_adjusted is not None and column.p_adjusted <= rule.level]
    if test.data.leader[k] == "domain classifier" and not strong:
        return (
            f"the joint distribution moved: a classifier tells the piece from its reference with AUC "
            f"{test.domain_auc[k]:.2f}, no single column does"
        )
    named = (strong or list(columns))[:1]
    if not named:
        return "the data moved"
    column = named[0]
    what = "missing rate of " if column.kind == "missing" else ""
    measure = _MEASURE.get(column.kind, "TV")
    more = f" and {len(strong) - 1} more" if len(strong) > 1 else ""
    note = f" ({column.note})" if column.note else ""
    distance = "" if column.statistic is None else f", {measure} {column.statistic:.2f}"
    return f"{what}{column.name}{more} moved{distance}{note}"


_MEASURE = {"numeric": "KS", "datetime": "KS", "text": "KS of length", "missing": "difference"}


def _why_cares(k: int, test: ShiftTest, rule: Rule, *, moved: bool) -> str:
    target = test.target
    if target is not None and target.p_adjusted[k] <= rule.level and target.effect[k] >= rule.min_effect:
        return f"label shift: P({target.name}) differs by {target.effect[k]:.2f}"
    leader = test.model.leader[k] if test.model is not None else ""
    if moved:
        return f"the model cares ({leader})"
    return f"labels or concept: the covariates agree, but not what the model learns from them ({leader})"


def _columns(k: int, test: ShiftTest, rule: Rule, notes: Notes) -> tuple[ColumnShift, ...]:
    """The strongest columns of one piece, the target's distribution among them."""
    tests: list[ColumnTest] = [*test.columns, *([] if test.target is None else [test.target])]
    ranked = sorted(tests, key=lambda each: -each.evidence[k])
    shown = [each for i, each in enumerate(ranked) if i < COLUMNS_SHOWN or each.p_adjusted[k] <= rule.level]
    return tuple(
        ColumnShift(
            name=each.name,
            kind=rule.kinds[each.name] if each.test == "values" else each.test,
            statistic=finite(each.effect[k]),
            p_adjusted=finite(each.p_adjusted[k]) if np.isfinite(each.effect[k]) else None,
            kl=finite(each.kl[k]) if np.isfinite(each.effect[k]) else None,
            note=notes.get((each.name, each.test, k), ""),
        )
        for each in shown
    )
