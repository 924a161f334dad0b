"""The three lines that come first: the verdict; the worst piece and why; what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from picsc.phrases import listed
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.fragments import Cut
    from picsc.reports.common import FragmentReport, Verdict
    from picsc.settings import AuditSettings


def summary(
    verdict: Verdict,
    fragments: tuple[FragmentReport, ...],
    findings: tuple[Finding, ...],
    pieces: Cut,
    reference: str,
    settings: AuditSettings,
) -> tuple[str, str, str]:
    """Say it in three lines.

    Args:
        verdict: of the whole table.
        fragments: judged pieces.
        findings: of the split validator and the reader.
        pieces: how the table was cut.
        reference: what the pieces were compared with.
        settings: of the audit.
    """
    shifted = [fragment for fragment in fragments if fragment.verdict == "shift"]
    total = len(fragments)
    if verdict == "shift":
        worst = min(shifted, key=lambda fragment: fragment.strength)
        first = f"shift: {len(shifted)} of {total} pieces ({pieces.words}) differ from {_against(reference)}"
        return (
            first,
            f"worst: {worst.in_words}",
            f"next: {_what_to_do(worst, shifted, findings, pieces)}",
        )
    if verdict == "inconclusive":
        first = f"inconclusive: none of {total} pieces ({pieces.words}) has the rows to tell"
        largest = max(fragments, key=lambda fragment: fragment.rows)
        return first, f"largest: {largest.name} - {largest.reason}", "next: cut into fewer pieces, or add rows"
    first = f"ok: no shift in {total} pieces ({pieces.words}) at level {settings.level:g}"
    second = f"closest: {min(fragments, key=lambda fragment: fragment.strength).in_words}"
    serious = [finding for finding in findings if finding.severity != "note" and finding.advice]
    if serious:
        return first, second, f"next: {serious[0].advice}"
    seen = [fragment.smallest_effect for fragment in fragments if fragment.smallest_effect is not None]
    if seen:
        return (
            first,
            second,
            f"next: nothing to do; a KS distance of {np.median(seen):.2f} in one column would have shown",
        )
    return first, second, "next: nothing to do"


def _against(reference: str) -> str:
    return {"rest": "the rest", "previous": "the piece before", "first": "the first piece"}.get(reference, reference)


def _what_to_do(
    worst: FragmentReport, shifted: list[FragmentReport], findings: tuple[Finding, ...], pieces: Cut
) -> str:
    by_class = [finding for finding in findings if finding.code == "rows-sorted-by-class"]
    if by_class:
        return by_class[0].advice
    folds = any(fragment.kind == "fold" for fragment in pieces.fragments)
    if folds and worst.cell == "model only":
        return (
            f"check the labels of {worst.name}: its covariates look like the rest, its labels do not follow from them"
        )
    if folds and pieces.contiguous:
        return "rows are not in random order: shuffle before cutting (--shuffle), and ask why the file is ordered"
    if folds and pieces.units is not None:
        return "whole groups differ: report scores per group, or correct the training for the shift"
    if worst.cell == "model only":
        return f"check the labels of {worst.name}, or whether the target means the same there"
    if len(shifted) * 2 > len(pieces.fragments):
        return "most pieces differ: do not score across them as if rows were exchangeable; correct for the shift"
    return f"look at {_columns(worst)} in {worst.name} before training or scoring on it"


def _columns(fragment: FragmentReport) -> str:
    # a column's values and its missing rate stand apart
    names = list(dict.fromkeys(column.name for column in fragment.columns if column.kind != "target"))[:3]
    return ", ".join(names) if names else "the columns"


def set_aside(names: Sequence[str], what: str) -> list[Finding]:
    """Tell which pieces are no part of the others' reference.

    Args:
        names: of those set aside.
        what: the pieces' word.
    """
    if not names:
        return []
    told = f"set aside: {listed(names)}; the other {what} are compared with one another only"
    return [Finding("set-aside", "note", told)]
