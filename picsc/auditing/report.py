"""The report of an audit: its three summary lines, its findings, and everything needed to repeat it.

The summary comes first: the verdict; the worst piece and why; what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.attribution import set_aside_finding
from picsc.auditing.design import conservative
from picsc.auditing.fold_balance import balance, more_balanced
from picsc.auditing.verdict import overall
from picsc.datasets.description import data_info, encoding_guessed, left_out
from picsc.reports.audit import AuditReport, NullInfo
from picsc.reports.common import Finding
from picsc.runtime.versions import versions

if TYPE_CHECKING:
    from picsc.auditing.cutting import CutData
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import PieceTests
    from picsc.datasets.table import Dataset
    from picsc.fragments import Cut
    from picsc.reports.audit import Balance, FragmentReport
    from picsc.settings import AuditSettings


def audit_report(
    data: CutData, design: Design, tests: PieceTests, settings: AuditSettings, reference: Dataset | None
) -> AuditReport:
    """Put the results of an audit together.

    Args:
        data: the data set in pieces.
        design: design of the comparison.
        tests: results of all pieces, after attribution.
        settings: settings of the audit.
        reference: rows that every piece was compared with; None when pieces are compared with pieces.
    """
    balanced = balance(data.cut, tests.mean_kl, with_file=reference is not None)
    findings = _findings(data, tests, settings, reference, balanced)
    verdict = overall(tests.reports)
    return AuditReport(
        verdict=verdict,
        summary=_summary(tests.reports, findings, data.cut, design.reference, settings),
        level=settings.level,
        min_effect=settings.min_effect,
        reference=design.reference,
        pieces=data.cut.words,
        null=NullInfo(
            kind="permutation" if tests.rows_drawn == len(design.labels) else "permutation-subsampled",
            unit=design.unit,
            draws=settings.draws,
            rows=tests.rows_drawn,
        ),
        data=data_info(data.dataset),
        findings=findings,
        fragments=tests.reports,
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=_manifest(data.dataset, reference, settings),
        balance=balanced,
    )


def _findings(
    data: CutData, tests: PieceTests, settings: AuditSettings, reference: Dataset | None, balanced: Balance | None
) -> tuple[Finding, ...]:
    """All findings, in the order of the report."""
    return (
        *data.findings,
        *conservative(data.cut),
        *left_out(data.dataset),
        *encoding_guessed(data.dataset, reference),
        *([] if settings.gamma is None else [_raw_threshold(settings.gamma)]),
        *set_aside_finding([tests.reports[k].name for k in tests.set_aside], "pieces"),
        *more_balanced(balanced, settings.level),
    )


def _raw_threshold(gamma: float) -> Finding:
    return Finding(
        "raw-threshold",
        "warning",
        f"verdicts follow tau > gamma = {gamma:g}: tau falls with the number of rows, so one gamma has no error rate",
        "leave --gamma out to compare tau with its calibrated quantile",
    )


def _manifest(dataset: Dataset, reference: Dataset | None, settings: AuditSettings) -> dict[str, object]:
    """Everything it takes to get the same bytes again; no time and no machine name, so that equal runs are equal."""
    return {
        "versions": versions(),
        "seed": settings.seed,
        "data_sha256": dataset.sha256,
        "reference_sha256": None if reference is None else reference.sha256,
    }


def _summary(
    fragments: tuple[FragmentReport, ...],
    findings: tuple[Finding, ...],
    pieces: Cut,
    reference: str,
    settings: AuditSettings,
) -> tuple[str, str, str]:
    """The three lines that come first.

    Args:
        fragments: verdict and statistics of each piece.
        findings: all findings of the audit.
        pieces: how the table was cut.
        reference: name of what the pieces were compared with.
        settings: settings of the audit.
    """
    verdict, total = overall(fragments), len(fragments)
    shifted = [fragment for fragment in fragments if fragment.verdict == "shift"]
    if verdict == "shift":
        worst = min(shifted, key=lambda fragment: fragment.strength)
        first = f"shift: {len(shifted)} of {total} pieces ({pieces.words}) differ from {_reference_words(reference)}"
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


def _reference_words(reference: str) -> str:
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
    # a column's values and its missing rate are two entries
    names = list(dict.fromkeys(column.name for column in fragment.columns if column.kind != "target"))[:3]
    return ", ".join(names) if names else "the columns"
