from __future__ import annotations

import json

import pytest

from picsc_cli.formats.code_quality import report_code_quality
from picsc_cli.gates import FailOn
from tests.cli.formats.issues.test_any_report import REPORTS
from tests.hostile import check_json


@pytest.mark.parametrize("name", REPORTS)
def test_every_issue_has_what_gitlab_asks_for(name: str) -> None:
    text = report_code_quality(REPORTS[name], FailOn.SHIFT)  # type: ignore[arg-type]
    check_json(text)
    found = json.loads(text)
    for issue in found:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["path"]
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["description"]
    assert len({issue["fingerprint"] for issue in found}) == len(found)
    assert report_code_quality(REPORTS[name], FailOn.SHIFT) == text  # type: ignore[arg-type]


def test_nothing_to_say_is_an_empty_list() -> None:
    assert json.loads(report_code_quality(REPORTS["ok"], FailOn.SHIFT)) == []  # type: ignore[arg-type]
