"""Tables in Markdown, text from data that Markdown and HTML show as it is, and sections that reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from picsc_cli.console.printable import storable
from picsc_cli.console.safe import markdown, markdown_code
from picsc_cli.text import metric_rows
from picsc_cli.text.audit_words import finding_words

if TYPE_CHECKING:
    from picsc.reports.common import Finding
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedAuditReport, FedReport
    from picsc_cli.text.page import Page

plain = markdown
"""Text from data as Markdown and HTML show it as it is."""


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [_line(titles), _line(["---"] * len(titles)), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.strip() for cell in cells)} |"


def document(lines: Iterable[str]) -> str:
    """The lines as one text that UTF-8 can hold."""
    return storable("\n".join(lines))


def metrics(report: CvReport | CompareReport | FedReport, page: Page, base: str) -> Iterator[str]:
    """A section with a table for each metric that was asked for; nothing without any."""
    count = len(report.methods[0].metrics) if report.methods else 0
    for i in range(count):
        yield from (() if i else ("## Metrics",))
        yield ""
        titles = (report.methods[0].metrics[i].metric, *metric_rows.TITLES[1:])
        rows = [
            [plain(method.method), *(cell.plain for cell in metric_rows.cells(method.metrics[i], base, page))]
            for method in report.methods
        ]
        yield from (*grid(titles, rows), "", f"{plain(metric_rows.note(report, i, base))}.")
    if count:
        yield ""


def summary(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a report's summary as one paragraph with line breaks."""
    *first, last = map(plain, lines)
    yield from (*(f"{line}  " for line in first), last)


def findings(found: Sequence[Finding]) -> Iterator[str]:
    """The section of what a person should know of the data; nothing where there is nothing."""
    if found:
        yield from ("## Findings", "")
        yield from (f"- **{finding.severity}**: {plain(finding_words(finding))}" for finding in found)
        yield ""


def manifest(report: CompareReport | CvReport | FedReport | FedAuditReport) -> Iterator[str]:
    """The section with what the same numbers need: the data's digest, the settings and the versions."""
    yield from ("## Manifest", "")
    yield f"- {plain(report.data.name)}, sha256 {report.data.sha256}"
    yield from (f"- {name}: {markdown_code(str(value))}" for name, value in report.settings.items())
    yield ""
    yield from versions(report.manifest)


def versions(manifest: dict[str, object]) -> list[str]:
    """The paragraph of the versions that the numbers come from; no line where the manifest has none."""
    there = manifest.get("versions")
    if not isinstance(there, dict):
        return []
    return [f"Versions: {', '.join(f'{name} {version}' for name, version in there.items())}", ""]
