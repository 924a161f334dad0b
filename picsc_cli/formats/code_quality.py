"""Reports as GitLab's code quality: a list of issues with a severity, a fingerprint and a place in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from picsc.phrases import printable
from picsc_cli.console.safe import json_document
from picsc_cli.formats.issues.any_report import Judged, issues
from picsc_cli.formats.issues.issue import fingerprints

if TYPE_CHECKING:
    from picsc_cli.gates import FailOn, Gate

_SEVERITIES = {"error": "major", "warning": "minor", "notice": "info"}


def report_code_quality(report: Judged, fail_on: FailOn, gate: Gate | None = None, *, ascii_only: bool = False) -> str:
    """The list; what the command fails for is `major`.

    Args:
        report: the result of a verb.
        fail_on: the mildest verdict that fails an audit.
        gate: the conditions that a comparison must meet; None for none.
        ascii_only: escape every character beyond ASCII; the values stay the same.
    """
    found = issues(report, fail_on, gate)
    entries = [
        {
            "description": issue.sentence,
            "check_name": f"picsc/{issue.rule}",
            "fingerprint": mark,
            "severity": _SEVERITIES[issue.level],
            "location": {
                "path": printable(issue.file or issue.source or "data"),
                "lines": {"begin": max(1, issue.line)},
            },
        }
        for issue, mark in zip(found, fingerprints(found), strict=True)
    ]
    return json_document(json.dumps(entries, allow_nan=False, indent=2, ensure_ascii=ascii_only)) + "\n"
