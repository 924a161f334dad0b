"""The JSON report: strict, stable, and the same values in any encoding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picsc_cli.formats.json import report_json
from tests.factories.audit import audit_report, fragment

GOLDEN = Path(__file__).parents[2] / "golden" / "audit.json"


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_json_is_the_golden_one() -> None:
    assert report_json(audit_report()) == GOLDEN.read_text(encoding="utf-8")


def test_numbers_that_do_not_exist_are_null() -> None:
    piece = fragment("a", kl=float("nan"), fisher_gap=float("inf"), tau=None)
    body = json.loads(report_json(audit_report(piece)), parse_constant=refuse)
    assert [body["fragments"][0][key] for key in ("kl", "fisher_gap", "tau")] == [None, None, None]
    assert body["manifest"]["loss"] is None


def test_every_field_is_there_and_the_layout_is_named() -> None:
    body = json.loads(report_json(audit_report()))
    assert body["schema"] == "picsc.audit/1"
    assert [piece["verdict"] for piece in body["fragments"]] == ["ok", "ok", "shift", "shift", "inconclusive"]
    assert body["fragments"][2]["columns"][1]["name"] == "β→γ"  # noqa: RUF001 - Greek is meant
    assert body["settings"]["read"]["drop"] == []


def test_ascii_json_holds_the_same_values() -> None:
    text = report_json(audit_report(), ascii_only=True)
    assert text.isascii()
    assert json.loads(text) == json.loads(report_json(audit_report()))


def test_names_that_are_not_unicode_survive() -> None:
    text = report_json(audit_report(fragment("fold \udcff")))
    assert json.loads(text.encode("utf-8"))["fragments"][0]["name"] == "fold \udcff"


def test_text_ends_in_one_newline() -> None:
    assert report_json(audit_report()).endswith("}\n")


def test_a_report_that_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        report_json(audit_report(manifest={"started": object()}))
