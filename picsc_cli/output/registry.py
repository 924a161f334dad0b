"""The writers of reports: one record per report, with the function of every format that it has.

Adding a format to a report is one entry in its record: `--output` and its messages read the names from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from picsc.reports import (
    AuditReport,
    AuditReports,
    CompareReport,
    CvReport,
    DataReport,
    FedAuditReport,
    FedReport,
    PredictReport,
    RecipeReport,
    Report,
)
from picsc.reports.shown import Drawn
from picsc_cli.console.safe import no_commands
from picsc_cli.formats.code_quality import report_code_quality
from picsc_cli.formats.csv.audit import audits_csv
from picsc_cli.formats.csv.compare import compare_csv
from picsc_cli.formats.csv.cv import cv_csv
from picsc_cli.formats.csv.fed import fed_audit_csv, fed_csv
from picsc_cli.formats.csv.predict import predict_csv
from picsc_cli.formats.csv.recipes import recipes_csv
from picsc_cli.formats.github import report_github
from picsc_cli.formats.html import report_html
from picsc_cli.formats.json import report_json
from picsc_cli.formats.junit import audits_junit
from picsc_cli.formats.junit_results import results_junit
from picsc_cli.formats.markdown.audit import audits_markdown
from picsc_cli.formats.markdown.compare import compare_markdown
from picsc_cli.formats.markdown.cv import cv_markdown
from picsc_cli.formats.markdown.fed import fed_audit_markdown, fed_markdown
from picsc_cli.formats.markdown.recipes import recipes_markdown
from picsc_cli.formats.plot import fed_svg
from picsc_cli.formats.sarif import report_sarif
from picsc_cli.formats.table.audit import audit_alone, audit_table, audits_summary, audits_table
from picsc_cli.formats.table.compare import compare_table
from picsc_cli.formats.table.cv import cv_summary, cv_table
from picsc_cli.formats.table.data import data_summary, data_table
from picsc_cli.formats.table.fed import fed_table
from picsc_cli.formats.table.fed_audit import fed_audit_summary, fed_audit_table
from picsc_cli.formats.table.predict import predict_summary, predict_table
from picsc_cli.formats.table.recipes import recipes_summary, recipes_table
from picsc_cli.gates import FailOn, Gate
from picsc_cli.output.destinations import BASELINE, PICTURES
from picsc_cli.text.sections import summary

if TYPE_CHECKING:
    from picsc_cli.text.page import Page


@dataclass(frozen=True, slots=True)
class Look:
    """Everything apart from the report that a text depends on."""

    page: Page
    """The page that it is written for."""
    verbose: bool = False
    """A table also holds the columns as understood, and the settings."""
    fail_on: FailOn = FailOn.SHIFT
    """The mildest verdict that an audit's formats for pipelines call a failure."""
    gate: Gate | None = None
    """The conditions that a comparison must meet; None for none."""


Writer = Callable[[Any, Look], str]


@dataclass(frozen=True, slots=True)
class Writers:
    """The functions that write one kind of report; all of them have JSON too."""

    summary: Callable[[Any, Page], str]
    """Writes what `--quiet` leaves of the table."""
    table: Callable[..., str]
    """Takes the report and the page; `verbose` by name."""
    formats: Mapping[str, Writer] = field(default_factory=dict)
    """The formats that `--output` offers apart from the table and JSON, in the order in which messages name them."""
    files: Mapping[str, Writer] = field(default_factory=dict)
    """The formats that other options write: `--plot`, `--write-baseline`; pictures of matplotlib are no texts."""

    @property
    def offered(self) -> tuple[str, ...]:
        """The names that `--output` takes."""
        return ("table", "json", *self.formats)

    def text(self, report: Report, name: str, look: Look) -> str:
        """The report in one format, named as in `as_text`."""
        if name == "summary":
            return no_commands(self.summary(report, look.page))
        if name == "table":
            return no_commands(self.table(report, look.page, verbose=look.verbose))
        if name == "json":
            return report_json(report, ascii_only=look.page.ascii_only)
        return {**self.formats, **self.files}[name](report, look)


def _plain(write: Callable[[Any], str]) -> Writer:
    """A writer whose text depends on the report alone."""
    return lambda report, _look: write(report)


def _junit(reports: AuditReports, look: Look) -> str:
    return audits_junit(reports, look.fail_on, ascii_only=look.page.ascii_only)


def _results_junit(report: Any, look: Look) -> str:
    return results_junit(report, look.fail_on, look.gate, ascii_only=look.page.ascii_only)


def _github(report: Any, look: Look) -> str:
    return report_github(report, look.fail_on, look.gate)


def _sarif(report: Any, look: Look) -> str:
    return report_sarif(report, look.fail_on, look.gate, ascii_only=look.page.ascii_only)


def _code_quality(report: Any, look: Look) -> str:
    return report_code_quality(report, look.fail_on, look.gate, ascii_only=look.page.ascii_only)


def _baseline(reports: AuditReports, look: Look) -> str:
    from picsc.auditing.baseline import baseline_text

    del look
    return baseline_text(reports.reports)


def _as_one_of_several(write: Writer) -> Writer:
    """A writer of one audit, which is written as the audits of several files are."""
    return lambda report, look: write(AuditReports((report,), ()), look)


def _formats(csv: Writer, markdown: Writer, junit: Writer = _results_junit) -> dict[str, Writer]:
    """The formats of every report that a pipeline may read."""
    return {
        "csv": csv,
        "markdown": markdown,
        "html": _plain(report_html),
        "junit": junit,
        "github": _github,
        "sarif": _sarif,
        "codequality": _code_quality,
    }


_OF_AUDITS = _formats(_plain(audits_csv), _plain(audits_markdown), _junit)

_WRITERS: dict[type[Report], Writers] = {
    AuditReport: Writers(
        audit_alone,
        audit_table,
        {name: _as_one_of_several(write) for name, write in _OF_AUDITS.items()},
        {BASELINE: _as_one_of_several(_baseline)},
    ),
    AuditReports: Writers(audits_summary, audits_table, _OF_AUDITS, {BASELINE: _baseline}),
    CvReport: Writers(cv_summary, cv_table, _formats(_plain(cv_csv), _plain(cv_markdown))),
    CompareReport: Writers(summary, compare_table, _formats(_plain(compare_csv), _plain(compare_markdown))),
    FedReport: Writers(summary, fed_table, _formats(_plain(fed_csv), _plain(fed_markdown)), {"svg": _plain(fed_svg)}),
    FedAuditReport: Writers(
        fed_audit_summary, fed_audit_table, _formats(_plain(fed_audit_csv), _plain(fed_audit_markdown))
    ),
    RecipeReport: Writers(recipes_summary, recipes_table, _formats(_plain(recipes_csv), _plain(recipes_markdown))),
    DataReport: Writers(data_summary, data_table),
    PredictReport: Writers(predict_summary, predict_table, {"csv": _plain(predict_csv)}),
}
"""By the class of the report."""


GLOSSARY = "terms: docs/glossary.md explains every word of this report"
"""Last line of a table on a terminal."""


def formats_of(kind: type[Report]) -> tuple[str, ...]:
    """The formats that `--output` offers for a kind of report, in the order in which messages name them."""
    return _WRITERS[kind].offered


def pictures_of(kind: type[Report]) -> tuple[str, ...]:
    """The formats that `--plot` offers for a kind of report, in the order in which messages name them."""
    if not issubclass(kind, Drawn):
        return ()
    return (*PICTURES, "html") if kind is FedReport else PICTURES


def drawn_by_matplotlib(kind: type[Report], name: str) -> bool:
    """True for a format of `--plot` that matplotlib draws; the curves of `picsc fed` as SVG need nothing."""
    return name in PICTURES and name not in _WRITERS[kind].files


def as_picture(report: Report, name: str) -> bytes:
    """The report's figure as a file.

    Args:
        report: the result of a verb.
        name: one of `PICTURES`.

    Raises:
        SettingsError: matplotlib is missing.
    """
    from picsc.notebooks.picture_files import picture  # loads matplotlib

    return picture(report, "png" if name == "png" else "svg")


def as_text(
    report: Report,
    name: str,
    page: Page,
    *,
    verbose: bool = False,
    fail_on: FailOn = FailOn.SHIFT,
    gate: Gate | None = None,
) -> str:
    """The report in one format.

    Args:
        report: the result of a verb.
        name: `summary`, `table`, or another format that `destinations.parse` let through for the verb.
        page: the page that it is written for.
        verbose: a table also holds the columns as understood, and the settings.
        fail_on: the mildest verdict that an audit's formats for pipelines call a failure.
        gate: the conditions that a comparison must meet; None for none.
    """
    text = _WRITERS[type(report)].text(report, name, Look(page, verbose, fail_on, gate))
    return f"{text}{GLOSSARY}\n" if name == "table" and page.on_terminal else text
