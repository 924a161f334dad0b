"""The report of an audit: its three summary lines, its findings, and everything needed to repeat it.

The summary comes first: the verdict; the worst piece and why; what to do next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.attribution.findings import groups_finding, set_aside_finding
from picsc.auditing.design import conservative
from picsc.auditing.effects.column_bounds import tested_names
from picsc.auditing.explanation.equivalence import summary_of_equivalence
from picsc.auditing.fold_balance import balance, more_balanced
from picsc.auditing.verdict import overall
from picsc.datasets.description import data_info, left_out, reading_doubts
from picsc.datasets.order_columns import order_left_out
from picsc.phrases import counted, listed
from picsc.reports.audit import SCHEMA_CODES, AuditReport, NullInfo
from picsc.reports.common import Finding
from picsc.reports.effects import reference_words
from picsc.runtime.versions import versions
from picsc.settings import REFERENCES
from picsc.training.own.named import own_model

if TYPE_CHECKING:
    from picsc.auditing.cutting import CutData
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import PieceTests
    from picsc.datasets.schema import Against
    from picsc.datasets.table import Column, Dataset, Target
    from picsc.fragments import Cut
    from picsc.reports.audit import Balance, FragmentReport
    from picsc.settings import AuditSettings


def audit_report(
    data: CutData, design: Design, tests: PieceTests, settings: AuditSettings, against: Against | None
) -> AuditReport:
    """Put the results of an audit together.

    Args:
        data: the data set in pieces.
        design: design of the comparison.
        tests: results of all pieces, after attribution.
        settings: settings of the audit.
        against: the table and the reference file that every piece was compared with; None when pieces are compared with
            pieces.
    """
    reference = None if against is None else against.reference
    balanced = balance(data.cut, tests.mean_kl, with_file=reference is not None)
    findings = _findings(data, (design, tests), settings, against, balanced)
    verdict = overall(tests.reports)
    return AuditReport(
        verdict=verdict,
        summary=_with_untested(_summary(tests, findings, data.cut, design.reference, settings), data.dataset, settings),
        level=settings.level,
        min_effect=settings.smallest.distance,
        min_effects=settings.smallest_among(tested_names(data.dataset)),
        reference=design.reference,
        pieces=data.cut.words,
        null=NullInfo(
            kind="permutation" if tests.rows_drawn == len(design.labels) else "permutation-subsampled",
            unit=design.unit,
            draws=tests.draws,
            rows=tests.rows_drawn,
        ),
        data=data_info(data.dataset),
        findings=findings,
        fragments=tests.reports,
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=_manifest(data.dataset, reference, settings, design) | _own(settings),
        balance=balanced,
    )


def _findings(
    data: CutData,
    tested: tuple[Design, PieceTests],
    settings: AuditSettings,
    against: Against | None,
    balanced: Balance | None,
) -> tuple[Finding, ...]:
    """All findings, in the order of the report."""
    design, tests = tested
    reference: Dataset | None = None
    of_columns: tuple[Finding, ...] = ()
    apart, of_cut = frozenset[str](), data.findings
    if against is not None:
        reference, of_columns, apart = against.reference, against.findings, against.apart
        of_cut = tuple(_without_shuffle(finding) for finding in data.findings)
    return (
        *of_columns,
        *of_cut,
        *design.stream.findings,
        *conservative(data.cut),
        *left_out(data.dataset, apart),
        *reading_doubts(data.dataset, reference),
        *([] if settings.gamma is None else [_raw_threshold(settings.gamma)]),
        *_attribution(tests),
        *tests.drift,
        *more_balanced(balanced, settings.level),
    )


def _attribution(tests: PieceTests) -> list[Finding]:
    """Pieces that are set aside, or groups of pieces where no majority agrees."""
    names = [report.name for report in tests.reports]
    if tests.set_aside:
        return set_aside_finding([names[k] for k in tests.set_aside], "pieces", agree=bool(tests.groups))
    return groups_finding([[names[k] for k in group] for group in tests.groups], len(names))


def _raw_threshold(gamma: float) -> Finding:
    return Finding(
        "raw-threshold",
        "warning",
        f"verdicts follow tau > gamma = {gamma:g}: tau falls with the number of rows, so one gamma has no error rate",
        "leave --gamma out to compare tau with its calibrated quantile",
    )


def _manifest(
    dataset: Dataset, reference: Dataset | None, settings: AuditSettings, design: Design
) -> dict[str, object]:
    """Everything it takes to get the same bytes again; no time and no machine name, so that equal runs are equal."""
    return {
        "versions": versions(),
        "seed": settings.seed,
        "data_sha256": dataset.sha256,
        "reference_sha256": None if reference is None else reference.sha256,
        "block": {
            "rows": design.stream.rows,
            "column": None if design.stream.dependence is None else design.stream.dependence.name,
            "excess": design.stream.excess,
            "autocorrelation_time": None if design.stream.dependence is None else design.stream.dependence.time,
        },
    }


def _own(settings: AuditSettings) -> dict[str, object]:
    """The user's model, by import path and version or by its file's digest; nothing for picsc's own."""
    own = own_model(settings)
    return {} if own is None else {"model": own.manifest}


def _without_shuffle(finding: Finding) -> Finding:
    """The finding for pieces that are compared with a file: where a cut follows the classes, cutting is not needed."""
    if finding.code != "rows-sorted-by-class":
        return finding
    return replace(finding, advice="compare all rows with the file as one piece (--folds 1)")


def _summary(
    tests: PieceTests,
    findings: tuple[Finding, ...],
    pieces: Cut,
    reference: str,
    settings: AuditSettings,
) -> tuple[str, str, str]:
    """The three lines that come first.

    Args:
        tests: verdict and statistics of each piece.
        findings: all findings of the audit.
        pieces: how the table was cut.
        reference: name of what the pieces were compared with.
        settings: settings of the audit.
    """
    fragments = tests.reports
    schema = [finding for finding in findings if finding.code in SCHEMA_CODES] if settings.strict_schema else []
    fails = f"; the columns differ from those of {reference}, which --strict-schema fails" if schema else ""
    verdict = overall(fragments)
    if verdict == "shift":
        shifted = [fragment for fragment in fragments if fragment.verdict == "shift"]
        worst = max(shifted, key=lambda fragment: fragment.size)
        next_step = _what_to_do(worst, shifted, findings, pieces, reference, settings.level)
        first = f"shift: {_some(len(shifted), pieces)} from {reference_words(reference)}"
        if all("trend" in fragment.statistics for fragment in shifted):
            first = f"shift: the data drift over {counted(len(fragments), 'piece')} ({pieces.words})"
        return f"{first}{fails}", f"worst: {worst.in_words}", f"next: {next_step}"
    tested = [fragment for fragment in fragments if fragment.verdict != "not tested"] or list(fragments)
    if settings.equivalence is not None:
        asked = f"are within {settings.equivalence:g} of their reference at level {settings.level:g}"
        return summary_of_equivalence(tested, verdict, f"({pieces.words}) {asked}{fails}")
    if verdict == "inconclusive":
        units = "groups" if pieces.units is not None and settings.block == "auto" else "blocks"
        lacks = units if tests.too_few_units else "rows"
        total = counted(len(fragments), "piece")
        first = f"inconclusive: none of {total} ({pieces.words}) has the {lacks} to tell{fails}"
        largest = max(tested, key=lambda fragment: fragment.rows)
        more = _more(pieces, settings, too_few_units=tests.too_few_units)
        return first, f"largest: {largest.name} - {largest.reason}", f"next: {more}"
    first = f"ok: no shift in {_tested_words(len(tested), len(fragments))} ({pieces.words})"
    first += f" at level {settings.level:g}"
    if pieces.whole:
        first = f"ok: all rows, as one piece, show no shift from {reference} at level {settings.level:g}"
    next_step = _nothing_shifted(tested, schema, findings)
    return f"{first}{fails}", f"closest: {_closest(tested).in_words}", f"next: {next_step}"


def _some(shifted: int, pieces: Cut) -> str:
    """The subject of the first line: the shifted pieces among all."""
    if pieces.whole:
        return "all rows, as one piece, differ"
    return f"{shifted} of {counted(len(pieces.fragments), 'piece')} ({pieces.words}) differ"


def _tested_words(tested: int, total: int) -> str:
    return counted(total, "piece") if tested == total else f"the {tested} of {counted(total, 'piece')} that are tested"


def _closest(tested: list[FragmentReport]) -> FragmentReport:
    """The piece that is nearest to a shift, of those with a verdict if there are any."""
    decided = [fragment for fragment in tested if fragment.verdict == "ok"] or tested
    return min(decided, key=lambda fragment: fragment.strength)


def _more(pieces: Cut, settings: AuditSettings, *, too_few_units: bool) -> str:
    """The next step where no piece has enough for a verdict: what there is too little of."""
    if too_few_units and settings.block != "auto" and settings.block > 1:
        return "use shorter blocks (--block), or more rows"
    if too_few_units and pieces.units is not None:
        return f"more groups of {settings.cut.group} are needed; more rows of the same groups do not help"
    return "add rows" if pieces.whole else "cut into fewer pieces, or add rows"


def _nothing_shifted(tested: list[FragmentReport], schema: list[Finding], findings: tuple[Finding, ...]) -> str:
    """The next step where no piece is shifted: the most serious finding, or nothing."""
    serious = [finding for finding in (*schema, *findings) if finding.severity != "note" and finding.advice]
    if serious:
        return serious[0].advice
    seen = [fragment.smallest_effect for fragment in tested if fragment.smallest_effect is not None]
    if not seen:
        return "nothing to do"
    return f"nothing to do; a KS distance of {np.median(seen):.2f} in one column would have shown"


def _with_untested(summary: tuple[str, str, str], dataset: Dataset, settings: AuditSettings) -> tuple[str, str, str]:
    """The three lines with the columns that were not tested, and the words among numbers, in the first of them.

    Columns that the user drops, and those without two different values, have nothing to hide.
    """
    alone = [each.name for each in dataset.left_out if each.orders or each.kind in ("constant", "empty")]
    silent = {*settings.read.drop, *alone}
    untested = [each.name for each in dataset.left_out if each.name not in silent]
    every: list[Column | Target] = [*dataset.columns, *([] if dataset.target is None else [dataset.target])]
    words = [
        f"{column.name} ({int(np.count_nonzero(column.absent.codes >= 0))})"
        for column in every
        if column.absent is not None
    ]
    parts = [f"left out: {listed(untested, 3)}"] if untested else []
    parts += [f"words among numbers count as missing: {listed(words, 3)}"] if words else []
    parts += [each.message for each in dataset.findings if each.code in ("numbers-as-words", "decimal-in-doubt")]
    order = order_left_out(dataset)
    verb = "orders" if len(order) == 1 else "order"
    parts += [f"not tested: {listed(list(order))}, which {verb} the rows"] if order else []
    return "; ".join([summary[0], *parts]), summary[1], summary[2]


def _what_to_do(
    worst: FragmentReport,
    shifted: list[FragmentReport],
    findings: tuple[Finding, ...],
    pieces: Cut,
    reference: str,
    level: float,
) -> str:
    """The next step after a shift.

    Shuffling is named only where the order of one table's rows made the pieces, and not for what a fault makes: values
    that are missing, new, or out of reach of all others.
    """
    by_class = [finding for finding in findings if finding.code == "rows-sorted-by-class"]
    if by_class:  # then the order is known to explain the shift, also of values that come in one class only
        return by_class[0].advice
    drift = [finding for finding in findings if finding.code == "drift"]
    if drift and "trend" in worst.statistics:
        return drift[0].advice
    fault = _fault(worst, level)
    if fault:
        return fault
    if reference not in REFERENCES:
        return _against_file(worst, shifted, pieces, reference, level)
    folds = any(fragment.kind == "fold" for fragment in pieces.fragments)
    if folds and worst.cell == "model only" and not worst.significant("data", level):
        return (
            f"check the labels of {worst.name}: its covariates look like the rest, its labels do not follow from them"
        )
    if folds and pieces.contiguous:
        only_if = "shuffle before cutting (--shuffle) only if the order of the rows explains the shift"
        return f"look at {_columns(worst, level)} in {worst.name}; {only_if}"
    if folds and pieces.units is not None:
        return "whole groups differ: report scores per group, or correct the training for the shift"
    if worst.cell == "model only":
        return f"check the labels of {worst.name}, or whether the target means the same there"
    if len(shifted) * 2 > len(pieces.fragments):
        return "most pieces differ: do not score across them as if rows were exchangeable; correct for the shift"
    return f"look at {_columns(worst, level)} in {worst.name} before training or scoring on it"


def _against_file(
    worst: FragmentReport, shifted: list[FragmentReport], pieces: Cut, reference: str, level: float
) -> str:
    """The next step where pieces differ from a file."""
    if worst.cell == "model only":
        return f"check the labels, or whether the target means the same here as in {reference}"
    here = "" if pieces.whole else f" in {worst.name}"
    if not pieces.whole and len(shifted) * 2 > len(pieces.fragments):
        here = " in most pieces"
    return f"look at {_columns(worst, level)}{here} before a model of {reference} is used on these rows"


def _fault(worst: FragmentReport, level: float) -> str:
    """The next step where the strongest difference is one that a fault makes; empty for others."""
    column = next(iter(worst.moved(level)), None)
    if column is None or worst.cell == "model only":
        return ""
    if column.kind == "missing":
        return f"find out why values of {column.name} are missing, or are not, in {worst.name}"
    if column.note.startswith(("new category", "no overlap", "no values")):
        return f"find out why {column.name} has other values in {worst.name}: {column.note}"
    return ""


def _columns(fragment: FragmentReport, level: float) -> str:
    """The columns that moved; where none did by itself, what their joint distribution is known to rest on."""
    # a column's values and its missing rate are two entries
    names = list(dict.fromkeys(column.name for column in fragment.moved(level)))[:3]
    if names:
        return ", ".join(names)
    if len(fragment.classifier_columns) > 1:
        return f"how {', '.join(fragment.classifier_columns)} go together"
    if fragment.classifier_columns:
        return f"how {fragment.classifier_columns[0]} goes with the other columns"
    return "how the columns go together"
