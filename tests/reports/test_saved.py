from __future__ import annotations

import json
from pathlib import Path

import pytest

from picsc.errors import DataError
from picsc.reports import Report, load_report
from picsc.reports.saved import parse_report
from tests.reports.pages.test_write import REPORTS

OTHER_VERSION = (
    "r.json: its schema picsc.audit/9 is none that this version reads (picsc.audit/1, picsc.audits/1, picsc.cv/1, "
    "picsc.compare/1, picsc.fed/1, picsc.fed-audit/1, picsc.recipes/1, picsc.data/1); run the command again with this "
    "version of picsc"
)


def saved(name: str) -> str:
    report: Report = REPORTS[name]()
    return json.dumps(report.as_dict(), allow_nan=False)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_comes_back_as_it_was(name: str) -> None:
    again = parse_report(saved(name), "r.json")
    assert type(again) is type(REPORTS[name]())
    assert json.dumps(again.as_dict()) == saved(name)


def test_a_file_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "r.json").write_text(saved("audit"), encoding=encoding)
        assert json.dumps(load_report(tmp_path / "r.json").as_dict()) == saved("audit")


def without(name: str, *path: str | int) -> str:
    values = json.loads(saved(name))
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return json.dumps(values)


def changed(name: str, value: object, *path: str | int) -> str:
    values = json.loads(saved(name))
    inner = values
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(values)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "r.json: is no JSON (Expecting value: line 1 column 1 (char 0)); give a file of --output json:FILE"),
        ("{", "r.json: is no JSON"),
        ("[" * 100_000, "r.json: is no JSON"),
        ('{"schema": NaN}', "r.json: is no JSON (NaN is no number of JSON)"),
        ("[1]", "r.json: is JSON without a schema, so it is no report; give a file of --output json:FILE"),
        ('{"schema": 3}', "r.json: is JSON without a schema"),
        ('{"schema": "\\u001b[31mcyclonedx"}', r"r.json: its schema \x1b[31mcyclonedx is none that this version reads"),
        (
            '{"schema": "picsc.audit/9"}',
            OTHER_VERSION,
        ),
        ('{"schema": "sarif/2"}', "give a report of picsc"),
        (without("audit", "summary"), "r.json: summary is missing; it is from another version of picsc"),
        (without("audit", "fragments", 2, "tau"), "r.json: fragments.2.tau is missing"),
        (changed("audit", "x", "fragments", 0, "rows"), "r.json: fragments.0.rows is not as expected"),
        (changed("cv", "1", "methods", 0, "mean"), "r.json: methods.0.mean is not as expected"),
        (changed("audit", "great", "verdict"), "r.json: verdict is not as expected"),
    ],
)  # fmt: skip
def test_what_is_no_report_of_this_version_is_said_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(DataError) as error:
        parse_report(text, "r.json")
    assert str(error.value).startswith(sentence) or sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*none.json: No such file"):
        load_report(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"schema": "\xe9"}')
    with pytest.raises(DataError, match="is not UTF-8"):
        load_report(tmp_path / "latin.json")


def test_keys_of_a_later_version_are_passed_over() -> None:
    assert parse_report(changed("audit", 1, "brand_new"), "r.json").schema == "picsc.audit/1"


def test_a_report_from_before_the_distributions_can_be_shown() -> None:
    values = json.loads(saved("audit"))
    del values["distributions"], values["column_effects"]
    assert parse_report(json.dumps(values), "r.json").as_dict()["distributions"] == []
