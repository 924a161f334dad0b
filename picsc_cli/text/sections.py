"""Sections that reports share: findings, the columns as they were understood, and the settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from picsc.reports.common import metric_word
from picsc_cli.text.numbers import decimals, percent
from picsc_cli.text.page import Page, drawn, one_line, paper_table, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.common import ColumnInfo, DataInfo, Finding
    from picsc.reports.compare import CompareMethodReport, CompareReport
    from picsc.reports.cv import CvReport, MethodReport
    from picsc.reports.fed import FedMethodReport, FedReport

VERDICT_STYLE = {
    "ok": "green",
    "equivalent": "bold green",
    "shift": "bold red",
    "inconclusive": "yellow",
    "not tested": "dim",
    "error": "bold magenta",
}
BESIDE_ACCURACY = ("bal.\nacc", "AUC")
_SEVERITY_STYLE = {"note": "cyan", "warning": "yellow", "error": "bold red"}


def three_lines(summary: tuple[str, ...], page: Page, style: str) -> str:
    """The lines of the summary, each on one line whatever its length."""
    first, *rest = summary
    return one_line(first, page, style) + "".join(one_line(line, page) for line in rest)


def summary(report: CvReport | CompareReport | FedReport, page: Page) -> str:
    """The three lines of a comparison's summary, each on one line whatever its length."""
    return three_lines(report.summary, page, "bold")


def findings(found: Sequence[Finding], page: Page) -> str:
    """Severity and message of every finding, with the advice beneath."""
    lines = []
    for finding in found:
        severity = (f"{finding.severity}: ", _SEVERITY_STYLE[finding.severity])
        lines.append(paragraph(Text.assemble(severity, words(finding.message, page)), page, hanging=2))
        if finding.advice:
            lines.append(paragraph(finding.advice, page, indent=2))
    return "".join(lines)


def columns(infos: Sequence[ColumnInfo], page: Page) -> str:
    """The columns as they were understood."""
    table = paper_table(page, 2)
    table.add_column("column", overflow="fold")
    table.add_column("kind", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("levels", justify="right", no_wrap=True)
    table.add_column("used", no_wrap=True)
    table.add_column("note", overflow="fold")
    for column in infos:
        levels = page.none if column.levels is None else str(column.levels)
        used = "yes" if column.used else "no"
        cells = (column.name, column.kind, str(column.missing), levels, used, column.note)
        table.add_row(*(Text(words(cell, page)) for cell in cells))
    return drawn(table, page)


def settings(values: dict[str, object], page: Page) -> str:
    """The settings as resolved, one a line; nested ones as `cut.folds`."""
    lines = ["settings\n"]
    for name, value in values.items():
        nested = {f"{name}.{key}": item for key, item in value.items()} if isinstance(value, dict) else {name: value}
        lines += [paragraph(f"{key} = {_value(item, page)}", page, indent=1, hanging=2) for key, item in nested.items()]
    return "".join(lines)


def versions(manifest: dict[str, object]) -> tuple[str, ...]:
    """The line of the versions that the numbers come from; none where the manifest has none."""
    there = manifest.get("versions")
    shown = [f"{name} {version}" for name, version in there.items()] if isinstance(there, dict) else []
    return (f"versions: {', '.join(shown)}",) if shown else ()


def question(data: DataInfo) -> str:
    """The prediction that the model makes, in words."""
    return {
        "classification": f"classification of {data.target} ({data.classes} classes)",
        "regression": f"regression of {data.target}",
        "unlabelled": "not asked (no target)",
    }[data.task]


def footer(report: CvReport | CompareReport) -> tuple[str, ...]:
    """The lines on how the numbers were reached: test, score, seed and versions."""
    return (
        f"test: {report.test}",
        f"score: {score(report.data)}, percent; seed {report.settings.get('seed')}",
        *versions(report.manifest),
    )


def score(data: DataInfo) -> str:
    """The score that methods are compared by, and the question that it is about."""
    return f"{metric(data)} of {question(data)}"


def metric(data: DataInfo) -> str:
    """The name of the score that methods are compared by, as tables and sentences show it."""
    return metric_word(data.metric)


def beside_accuracy(
    method: MethodReport | CompareMethodReport | FedMethodReport, data: DataInfo, page: Page
) -> list[Text]:
    """Cells of the columns `BESIDE_ACCURACY`; none for numbers."""
    if data.metric == "R2":
        return []
    return [Text(percent(method.balanced_accuracy, page)), Text(decimals(method.auc, 3, page))]


def beside_titles(data: DataInfo) -> tuple[str, ...]:
    """Titles of the columns that stand beside the accuracy: balanced accuracy and AUC; none for numbers."""
    return () if data.metric == "R2" else BESIDE_ACCURACY


def majority_row(report: CvReport | CompareReport | FedReport, columns: int, page: Page) -> list[list[Text]]:
    """A row of a table of so many columns whose second one is the accuracy: that of always saying the same class.

    Returns:
        One row, or none for numbers.
    """
    if report.majority is None:
        return []
    return [[Text("majority"), Text(percent(report.majority.share, page)), *[Text(page.none)] * (columns - 2)]]


def majority_note(report: CvReport | CompareReport | FedReport) -> str:
    """What the row `majority` is, to follow other notes; empty for numbers."""
    if report.majority is None:
        return ""
    return f"; bal.: accuracy in each class, mean over classes; majority: always saying {report.majority.name}"


def _value(value: object, page: Page) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(str(item) for item in value) or page.none
    return page.none if value is None else str(value)


def method_sections(
    report: CvReport | CompareReport | FedReport,
    sentences: Iterable[str],
    footer: Iterable[str],
    page: Page,
    *,
    verbose: bool,
) -> list[str]:
    """The sections below the tables of a comparison of methods.

    Args:
        report: the comparison.
        sentences: facts that the tables do not show.
        footer: lines on how the numbers were reached.
        page: the page to draw on.
        verbose: also describe the methods, the columns as understood and the settings.
    """
    parts = ["".join(paragraph(line, page, hanging=2) for line in sentences)]
    if report.findings:
        parts.append(findings(report.findings, page))
    if verbose:
        methods = [paragraph(f"{method.method}: {method.words}", page, hanging=2) for method in report.methods]
        understood = [columns(report.data.columns, page)] if report.data.columns else []
        parts += ["".join(methods), *understood, settings(report.settings, page)]
    parts.append("".join(paragraph(line, page, hanging=2) for line in footer))
    return [part for part in parts if part]
