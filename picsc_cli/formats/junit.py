"""Audits as JUnit XML: one suite per file, one test case per piece, and under `--strict-schema` one of the columns.

Equal runs give equal bytes: no time, no host.

A case fails if its piece makes the command exit with 1: a shift, unless the baseline knows it or `--fail-on never`
lets it pass, and under `--fail-on inconclusive` an inconclusive piece of an inconclusive table. Otherwise an
inconclusive piece is skipped, and so is one that is not tested. A piece without a result is an error or skipped in the
same way, and a file that could not be audited is an error. `--exit-zero` changes nothing.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from picsc_cli import gates
from picsc_cli.console.printable import printable
from picsc_cli.console.safe import xml_document
from picsc_cli.text.audit_words import chance, finding_words, how_far, moved, standing
from picsc_cli.text.numbers import number
from picsc_cli.text.page import Page

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport, Unaudited

_PAGE = Page()
_MOST_COLUMNS = 20
"""Columns named per piece."""
_KINDS = ("failure", "error", "skipped")
_PLURAL = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def audits_junit(reports: AuditReports, fail_on: gates.FailOn, *, ascii_only: bool = False) -> str:
    r"""The suites; what XML 1.0 cannot hold is shown escaped, as `\x1b`.

    Args:
        reports: what the audits found.
        fail_on: the mildest verdict that is a failure.
        ascii_only: character references for all beyond ASCII, for streams that are not UTF-8; the values stay the same.
    """
    root = ET.Element("testsuites", name="picsc audit")
    root.extend(_suite(report, fail_on) for report in reports.reports)
    root.extend(_without(file, skipped=False) for file in reports.unaudited)
    root.extend(_without(file, skipped=True) for file in reports.skipped)
    return document(root, ascii_only=ascii_only)


def document(root: ET.Element, *, ascii_only: bool) -> str:
    """The text of suites, with the numbers of their cases.

    Args:
        root: the element `testsuites`.
        ascii_only: character references for all beyond ASCII.
    """
    for suite in root:
        _count(suite)
    _count(root)
    ET.indent(root)
    encoding = "us-ascii" if ascii_only else "utf-8"
    text: bytes = ET.tostring(root, encoding=encoding, xml_declaration=True)
    return xml_document(text.decode(encoding)) + "\n"


def _count(element: ET.Element) -> None:
    """Set the numbers of cases in an element, in all and by how they ended."""
    element.set("tests", str(sum(1 for _ in element.iter("testcase"))))
    for kind in _KINDS:
        element.set(_PLURAL[kind], str(sum(1 for _ in element.iter(kind))))
    element.set("time", "0")


def _suite(report: AuditReport, fail_on: gates.FailOn) -> ET.Element:
    name = printable(report.data.source)
    suite = ET.Element("testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(report).items():
        ET.SubElement(properties, "property", name=printable(key), value=printable(value))
    failing = {piece.name for piece in gates.failing(report, fail_on)}
    for piece in report.fragments:
        case = ET.SubElement(suite, "testcase", name=printable(piece.name), classname=name, time="0")
        _end(case, piece, report, fails=piece.name in failing)
    if report.settings.get("strict_schema"):
        case = ET.SubElement(suite, "testcase", name="schema", classname=name, time="0")
        changes = [finding_words(finding) for finding in report.schema_failures]
        if changes:
            _text(ET.SubElement(case, "failure", type="schema", message=printable(changes[0])), changes)
    if report.findings:
        findings = [f"{finding.severity}: {finding_words(finding)}" for finding in report.findings]
        _text(ET.SubElement(suite, "system-out"), findings)
    return suite


def _properties(report: AuditReport) -> dict[str, str]:
    versions = report.manifest.get("versions")
    return {
        "seed": str(report.settings.get("seed")),
        "level": f"{report.level:g}",
        "min-effect": report.min_effects.words,
        "pieces": report.pieces,
        "reference": report.reference,
        "verdict": report.verdict,
        "data-sha256": report.data.sha256,
        **({"baseline": report.baseline} if report.baseline is not None else {}),
        **({f"version-{name}": str(each) for name, each in versions.items()} if isinstance(versions, dict) else {}),
    }


def _end(case: ET.Element, piece: FragmentReport, report: AuditReport, *, fails: bool) -> None:
    """Add the result of a piece to its case."""
    if piece.verdict == "error":
        ET.SubElement(case, "error" if fails else "skipped", type="error", message=printable(piece.reason))
    elif fails:
        failure = ET.SubElement(case, "failure", type=piece.verdict, message=printable(piece.reason))
        _text(failure, _details(piece, report))
    elif piece.verdict in ("inconclusive", "not tested"):
        ET.SubElement(case, "skipped", message=printable(piece.reason))
    elif piece.verdict == "shift":
        why = f"as {report.baseline} has it" if piece.standing == "known" else "which --fail-on never lets pass"
        _text(ET.SubElement(case, "system-out"), [f"shift, {why}: {piece.reason}", *_details(piece, report)])
    elif piece.reason:
        _text(ET.SubElement(case, "system-out"), [piece.reason])


def _details(piece: FragmentReport, report: AuditReport) -> list[str]:
    numbers = {"rows": str(piece.rows)}
    numbers["p data"] = chance(piece.p_data_adjusted, report, _PAGE)
    numbers["p model"] = chance(piece.p_model_adjusted, report, _PAGE)
    for name in ("effect_data", "effect_model", "fisher_gap", "kl", "tau"):
        numbers[name.replace("_", " ")] = number(getattr(piece, name), _PAGE)
    found = moved(piece, report.level)
    columns = [f"{how_far(each, report.level, _PAGE)} {each.note}" for each in found[:_MOST_COLUMNS]]
    more = [f"and {len(found) - _MOST_COLUMNS} more columns"] if len(found) > _MOST_COLUMNS else []
    return [standing(piece), ", ".join(f"{name} {value}" for name, value in numbers.items()), *columns, *more]


def _text(element: ET.Element, lines: list[str]) -> None:
    element.text = "\n".join(printable(line).rstrip() for line in lines)


def _without(file: Unaudited, *, skipped: bool) -> ET.Element:
    """The suite of a file that was not audited: its one case is skipped, or an error."""
    name = printable(file.source)
    suite = ET.Element("testsuite", name=name)
    case = ET.SubElement(suite, "testcase", name="audit", classname=name, time="0")
    if skipped:
        ET.SubElement(case, "skipped", message=printable(file.reason))
    else:
        ET.SubElement(case, "error", type="unusable", message=printable(file.reason))
    return suite
