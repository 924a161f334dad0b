from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from picsc.reports.common import ColumnInfo, Finding
from picsc.reports.pages.write import body_html, page_html
from tests.factories.audit import SHIFTED, audit_report, audit_reports, column_shift, fragment
from tests.factories.compare import compare_report
from tests.factories.compare_recipes import compare_recipe_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_audit_report, fed_report
from tests.factories.fed_recipes import fed_recipe_report
from tests.factories.recipes import recipe_report
from tests.hostile import HOSTILE, check_html

REPORTS = {
    "audit": audit_report,
    "audits": audit_reports,
    "cv": cv_report,
    "compare": compare_report,
    "recipes": recipe_report,
    "fed-recipes": fed_recipe_report,
    "compare-recipes": compare_recipe_report,
    "fed": fed_report,
    "fed-audit": fed_audit_report,
}
_EMPTY = {"meta", "rect", "line", "circle", "polyline", "br"}


class _Document(HTMLParser):
    """Tags that close in the order in which they open, the words outside the style sheet, and regions' names."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.labels: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"href", "src", "srcset", "onload", "onclick"}
        named = dict(attrs)
        if named.get("role") in ("region", "img"):
            assert named["aria-label"]
            self.labels += [named["aria-label"]] if named["role"] == "region" else []
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _EMPTY

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def read(text: str) -> _Document:
    document = _Document()
    document.feed(text)
    assert not document.open
    return document


def words(text: str) -> str:
    return " ".join(" ".join(read(text).words).split())


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_is_whole_and_needs_nothing_else(name: str) -> None:
    text = page_html(REPORTS[name]())
    check_html(text)
    document = read(text)
    assert len(set(document.labels)) == len(document.labels)
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert page_html(REPORTS[name]()) == text


@pytest.mark.parametrize("name", REPORTS)
def test_a_notebook_gets_the_same_article_without_a_document_around_it(name: str) -> None:
    text = body_html(REPORTS[name]())
    read(text)
    assert text.startswith('<div class="picsc-page">')
    assert "<h1" not in text


def test_the_verdict_stands_before_everything_else() -> None:
    shown = words(page_html(audit_report()))
    first, _, rest = shown.partition("Pieces Every piece against the rest")
    assert "▲ shift" in first
    assert "next: shuffle before cutting" in first
    assert "Which columns moved in which pieces" in rest


def test_a_failing_piece_is_named_with_its_numbers() -> None:
    shown = words(page_html(audit_report()))
    assert "mean of worst concave points 0.93 sd higher (KS 0.52 [0.40, 0.61])" in shown
    assert "<0.001*" in shown


def test_every_method_of_a_comparison_has_its_interval_in_words_too() -> None:
    report = compare_report()
    text = page_html(report)
    for method in report.methods:
        if method.interval is not None and method.accuracy is not None:
            low, high = (f"{100 * end:.1f}" for end in (method.interval.low, method.interval.high))
            assert f"{100 * method.accuracy:.1f} [{low}, {high}]" in text


def test_curves_are_there_and_said_in_words() -> None:
    text = page_html(fed_report())
    assert "Learning curves" in text
    assert re.search(r'aria-label="Mean accuracy over clients after each round, in percent. At the end: ', text)


def test_what_the_same_numbers_need_is_folded_away() -> None:
    for made in (audit_report, cv_report, compare_report, fed_report):
        text = page_html(made())
        folded = "".join(re.findall(r"<details>.*?</details>", text, re.DOTALL))
        assert made().data.sha256 in folded
        assert made().data.sha256 not in re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)


def test_hostile_names_stay_text() -> None:
    columns = tuple(column_shift(name, 0.3) for name in HOSTILE)
    pieces = [fragment(name, "shift", columns=columns, reason=name) for name in HOSTILE[:8]]
    text = page_html(audit_report(*pieces))
    check_html(text)
    read(text)
    assert len(text) < 700_000


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_words_of_a_report_stay_text(name: str) -> None:
    report = audit_report()
    report = replace(
        report,
        summary=(name, name, name),
        pieces=name,
        reference=name,
        data=replace(report.data, name=name, source=name, columns=(ColumnInfo(name, name, 0, None, True, name),)),
        findings=(Finding("x", "warning", name, name),),
        settings={name: name, "nested": {name: [name]}},
        manifest={name: name},
        baseline=name,
    )
    for text in (page_html(report), body_html(report)):
        check_html(text)
        read(text)


def test_a_name_of_ten_thousand_letters_is_cut() -> None:
    text = page_html(audit_report(fragment("x" * 10_000, "shift", columns=SHIFTED.columns)))
    assert len(text) < 60_000


@pytest.mark.parametrize(("columns", "pieces", "most"), [(30, 10, 500_000), (1_000, 10, 2_000_000)])
def test_a_page_stays_small(columns: int, pieces: int, most: int) -> None:
    told = tuple(column_shift(f"column number {i}", 0.3) for i in range(columns))
    report = audit_report(*(fragment(f"fold {k}", "shift", columns=told) for k in range(pieces)))
    text = page_html(report)
    assert len(text.encode()) < most
    assert f"column number {columns - 1}" in text
