"""Reports as SARIF 2.1.0, which code scanning of GitHub, Azure and others shows: one result for each issue.

A result is an error if the command fails for it, and stands at a relative URI and a line of at least 1: for data that
came from no file, such as standard input, the URI is the name of the data. Equal runs give equal bytes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from picsc.reports.audit import AuditReports
from picsc_cli.console.safe import json_document
from picsc_cli.formats.issues.any_report import Judged, issues, verb
from picsc_cli.formats.issues.issue import Issue, fingerprints
from picsc_cli.formats.issues.rules import rule_words

if TYPE_CHECKING:
    from picsc_cli.gates import FailOn, Gate

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "notice": "note"}


def report_sarif(report: Judged, fail_on: FailOn, gate: Gate | None = None, *, ascii_only: bool = False) -> str:
    """The log with one run.

    Args:
        report: the result of a verb.
        fail_on: the mildest verdict that fails an audit.
        gate: the conditions that a comparison must meet; None for none.
        ascii_only: escape every character beyond ASCII; the values stay the same.
    """
    found = issues(report, fail_on, gate)
    rules = sorted({issue.rule for issue in found})
    driver = {
        "name": "picsc",
        "rules": [{"id": rule, "shortDescription": {"text": rule_words(rule)}} for rule in rules],
        **_version(report),
    }
    prints = fingerprints(found)
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"picsc/{verb(report)}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(issue, rules.index(issue.rule), mark) for issue, mark in zip(found, prints, strict=True)],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    text = json.dumps(log, allow_nan=False, indent=2, ensure_ascii=ascii_only)
    return json_document(text) + "\n"


def _version(report: Judged) -> dict[str, str]:
    """The version of picsc that made the report, where it says so."""
    first = next(iter(report.reports), None) if isinstance(report, AuditReports) else report
    versions = None if first is None else first.manifest.get("versions")
    return {"version": str(versions["picsc"])} if isinstance(versions, dict) and "picsc" in versions else {}


def _result(issue: Issue, index: int, mark: str) -> dict[str, object]:
    place = {
        "artifactLocation": {"uri": uri(issue), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": max(1, issue.line)},
    }
    return {
        "ruleId": issue.rule,
        "ruleIndex": index,
        "level": _LEVELS[issue.level],
        "message": {"text": issue.sentence},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"picsc/v1": mark},
    }


def uri(issue: Issue) -> str:
    """A relative URI of the file, or of the name of data that came from none; never empty."""
    path = issue.file or issue.source or "data"
    if Path(path).is_absolute():
        path = os.path.relpath(path).replace(os.sep, "/")
    return quote(path.encode("utf-8", "surrogateescape"), safe="/") or "data"
