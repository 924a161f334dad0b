"""Cross-validations, comparisons, federations, audits of clients and recipes as JUnit XML.

One test case for each method, client or data set, and for each condition of a comparison. A case fails, or is an error
where it has no result, exactly if the command exits with 1 for it; what is undecided is skipped.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from picsc.phrases import printable
from picsc.reports.recipes import RecipeReport
from picsc_cli.formats.issues.any_report import Judged, issues, summary, verb
from picsc_cli.formats.junit import document

if TYPE_CHECKING:
    from picsc_cli.formats.issues.issue import Issue
    from picsc_cli.gates import FailOn, Gate

_SKIPPED = ("inconclusive", "not-tested", "not-counted", "error")
"""Rules of cases that are neither fine nor a failure, unless they are errors."""


def results_junit(report: Judged, fail_on: FailOn, gate: Gate | None = None, *, ascii_only: bool = False) -> str:
    """The suites: one, and of recipes one for each.

    Args:
        report: the result of a verb.
        fail_on: the mildest verdict that fails an audit.
        gate: the conditions that a comparison must meet; None for none.
        ascii_only: character references for all beyond ASCII; the values stay the same.
    """
    root = ET.Element("testsuites", name=f"picsc {verb(report)}")
    suites: dict[str, list[Issue]] = {}
    for issue in issues(report, fail_on, gate, all_well=True):
        suites.setdefault(issue.source if isinstance(report, RecipeReport) else "", []).append(issue)
    name = "recipes" if isinstance(report, RecipeReport) else report_name(report)
    for source, found in suites.items() or [("", [])]:
        _suite(root, source or name, found, report)
    return document(root, ascii_only=ascii_only)


def report_name(report: Judged) -> str:
    """Path or name of the data."""
    data = getattr(report, "data", None)
    return data.source if data is not None else "data"


def _suite(root: ET.Element, name: str, found: list[Issue], report: Judged) -> None:
    suite = ET.SubElement(root, "testsuite", name=printable(name))
    for issue in found:
        if issue.subject:
            _case(suite, issue, printable(name))
    findings = [f"{issue.level}: {issue.message}" for issue in found if not issue.subject]
    out = ET.SubElement(suite, "system-out")
    out.text = "\n".join(printable(line).rstrip() for line in [summary(report), *findings])


def _case(suite: ET.Element, issue: Issue, name: str) -> None:
    label = f"{issue.subject}, gate" if issue.rule == "gate" else issue.subject
    case = ET.SubElement(suite, "testcase", name=printable(label), classname=name, time="0")
    message = printable(issue.message)
    if issue.level == "error":
        ET.SubElement(case, "error" if issue.rule == "no-result" else "failure", type=issue.rule, message=message)
    elif issue.level != "none" and issue.rule in _SKIPPED:
        ET.SubElement(case, "skipped", message=message)
    else:
        ET.SubElement(case, "system-out").text = message
