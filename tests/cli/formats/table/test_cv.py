"""Cross-validation and recipes as text: the paper's columns, the comparison, what failed, and the machine formats."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from rich.text import Text

from picsc.reports.cv import CvReport, Loss, MethodReport, Unit
from picsc.reports.recipes import RecipeReport
from picsc_cli.formats.table.cv import cv_table
from picsc_cli.formats.table.recipes import recipes_summary, recipes_table
from picsc_cli.output.registry import as_text
from picsc_cli.text.numbers import signed, span
from picsc_cli.text.page import Page, figures
from picsc_cli.text.sections import summary
from tests.factories.audit import audit_report
from tests.factories.cv import DIVERGED, cv_report, method_report, unit
from tests.factories.recipes import recipe_report, recipe_row

GOLDEN = Path(__file__).parents[3] / "golden"
ESC = "\x1b"
REPORTS = {"cv": cv_report, "recipes": recipe_report}


def header_of(text: str) -> list[str]:
    """Titles of the first table, of one line each."""
    lines = text.splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith(" ─")) + 1].split()


def report_of(method: MethodReport) -> CvReport:
    """A report of one method alone."""
    names = tuple(f"batch {i + 1}" for i in range(len(method.fragments)))
    return cv_report(fragments=names, methods=(method,))


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


@pytest.mark.parametrize(
    ("name", "format_", "suffix"),
    [
        ("cv", "json", "json"),
        ("cv", "csv", "csv"),
        ("recipes", "json", "json"),
        ("recipes", "csv", "csv"),
        ("recipes", "markdown", "md"),
    ],
)
def test_machine_formats_are_the_golden_ones(name: str, format_: str, suffix: str) -> None:
    assert as_text(REPORTS[name](), format_, Page()).encode("utf-8") == (GOLDEN / f"{name}.{suffix}").read_bytes()


@pytest.mark.parametrize("name", ["cv", "recipes"])
def test_tables_are_the_golden_ones(name: str) -> None:
    expected = (GOLDEN / f"{name}-table.txt").read_text(encoding="utf-8")
    assert as_text(REPORTS[name](), "table", Page(), verbose=True) == expected
    plain = as_text(REPORTS[name](), "table", Page(ascii_only=True))
    assert plain.encode("ascii", "replace") == (GOLDEN / f"{name}-table-ascii.txt").read_bytes()


@pytest.mark.parametrize("name", ["cv", "recipes"])
def test_tables_fit_80_columns(name: str) -> None:
    text = as_text(REPORTS[name](), "table", Page(), verbose=True)
    assert max(map(len, text.splitlines()[3:])) <= 80


@pytest.mark.parametrize(
    ("n", "labels", "first_row"),
    [
        (2, ["k_1", "k_2"], ["90.0", "91.0"]),
        (3, ["k_1", "k_2", "k_3"], ["90.0", "91.0", "92.0"]),
        (5, ["k_1", "k_2", "k_n/2", "k_n-1", "k_n"], ["90.0", "91.0", "92.0", "93.0", "94.0"]),
        (10, ["k_1", "k_2", "k_n/2", "k_n-1", "k_n"], ["90.0", "91.0", "94.0", "98.0", "99.0"]),
    ],
)
def test_columns_are_the_papers(n: int, labels: list[str], first_row: list[str]) -> None:
    accuracies = tuple(0.9 + i / 100 for i in range(n))
    names = tuple(f"fold {i + 1}" for i in range(n))
    report = cv_report(protocol="foldwise", fragments=names, methods=(method_report("st-cv", accuracies),))
    text = cv_table(report, Page())
    assert header_of(text) == ["method", "whole", *labels, "mean", "var", "Δ"]
    assert line_of(text, " st-cv").split()[2:-3] == first_row


def test_pieces_with_names_of_their_own_are_named_beneath() -> None:
    report = cv_report(fragments=("site=A", f"site={ESC}[31mB"), methods=(method_report("st-cv", (0.5, 0.6)),))
    assert "\n B_1 site=A, B_2 site=\\x1b[31mB\n" in cv_table(report, Page())
    assert "B_1 batch 1" not in cv_table(cv_report(), Page())


@pytest.mark.parametrize(
    ("variance", "shown"),
    [(0.001, "0.00"), (9.994, "9.99"), (9.996, "10.0"), (99.96, "100"), (707.3, "707"), (None, "–")],  # noqa: RUF001
)
def test_variance_has_the_papers_digits(variance: float | None, shown: str) -> None:
    report = report_of(method_report("st-cv", (0.5, 0.6), variance=variance))
    assert line_of(cv_table(report, Page()), " st-cv").split()[-2] == shown


def test_p_of_picsc_stands_in_the_row_it_is_against() -> None:
    rows = [line for line in cv_table(cv_report(), Page()).splitlines() if line.startswith(" carried ")]
    assert " ".join(rows[1].split()) == "carried 89.0 [88.0, 90.1] 87.5 0.970 0.312 +0.100"
    assert " ".join(rows[2].split()) == "carried 0.500 1.000 0.500 1.000 0.250 0.750 0.250 0.750"


def test_numbers_that_do_not_exist_are_dashes() -> None:
    method = method_report(
        "st-cv",
        (None, 0.5),
        whole=None,
        mean=None,
        variance=None,
        interval=None,
        log_loss=None,
        differences=(),
        balanced_accuracy=None,
        auc=None,
    )
    rows = [line.split() for line in cv_table(report_of(method), Page(ascii_only=True)).splitlines()]
    assert ["st-cv", "-", "-", "50.0", "-", "-", "-"] in rows
    assert ["st-cv", *"-----"] in rows


def test_gains_are_green_and_losses_red_unless_they_round_to_nothing() -> None:
    assert (signed(0.04, 1, Page(), more="green").plain, signed(-0.04, 1, Page(), less="red").style) == ("0.0", "")
    assert (signed(1.25, 1, Page(), more="green").style, signed(-3, 1, Page(), less="red").plain) == ("green", "−3.0")  # noqa: RUF001
    coloured = cv_table(cv_report(), Page(colours="standard"))
    assert f"{ESC}[32m+1.2" in coloured
    assert f"{ESC}[31m−2.0" in coloured  # noqa: RUF001
    assert ESC not in cv_table(cv_report(), Page())


def test_the_first_failures_are_told_with_their_reasons() -> None:
    failed = tuple(unit(1, f"batch {i + 1}", None, reason=f"diverged at epoch {i}") for i in range(7))
    report = report_of(method_report("st-cv", (0.5,) * 7, failed=7, units=failed))
    text = cv_table(report, Page())
    assert "without a number: 7 of 7 models; the first are\n" in text
    assert "  st-cv, batch 5, repeat 1: diverged at epoch 4\n" in text
    assert "diverged at epoch 5" not in text
    assert report.failed == 7


def test_the_loss_is_split_in_one_sentence() -> None:
    text = " ".join(cv_table(cv_report(), Page()).split())
    assert "pieces cost st-cv: 3.1 points, 2.6 by the smaller sample and 0.5 [−0.1, 1.1] by shift" in text  # noqa: RUF001
    assert "cost st-cv" not in cv_table(cv_report(loss=None), Page())
    three = Loss(0.127, 0.041, -0.001, None, 0.087)
    text = " ".join(cv_table(cv_report(loss=three), Page()).split())
    parts = "12.7 points, 4.1 by the smaller sample, 8.7 by fewer updates (see --steps) and −0.1 by shift"  # noqa: RUF001
    assert f"pieces cost st-cv: {parts}" in text


def test_both_scores_are_shown_when_rows_have_weights() -> None:
    method = method_report("st-cv", (0.5, 0.6), weighted_accuracy=0.654)
    assert "weighted by row: st-cv 65.4\n" in cv_table(report_of(method), Page())


def test_summaries_are_lines_of_their_own() -> None:
    long = ("picsc: " + "x" * 300, "strongest", f"next: {ESC}[31m")
    assert summary(cv_report(summary=long), Page()).splitlines() == [long[0], "strongest", "next: \\x1b[31m"]
    assert recipes_summary(recipe_report(), Page(400)).splitlines() == [
        f"e4-tables.yaml: {pieces} pieces, mean accuracy over 3 sets: st-cv 80.0, picsc 81.2, weight-decay 80.6, "
        "carried 80.4, average 80.3, subsample 80.2; E4, fold-wise: picsc 81.7"
        for pieces in (5, 10)
    ]


def test_an_interval_has_the_minus_sign_of_its_page() -> None:
    [interval] = [method.interval for method in cv_report().methods[:1]]
    assert span(interval, 1, Page(), scale=-100) == "[−88.0, −90.1]"  # noqa: RUF001
    assert span(interval, 1, Page(ascii_only=True), scale=-100) == "[-88.0, -90.1]"
    assert span(None, 1, Page()) == ""


# Machine formats


def test_csv_has_one_row_per_model_and_every_field() -> None:
    text = as_text(cv_report(), "csv", Page())
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.count("\r\n") == len(rows) + 1
    assert (
        list(rows[0]) == ["dataset", "method", *(field.name for field in fields(Unit))][:-2]
    )  # metrics have a column each
    assert len(rows) == sum(len(method.units) for method in cv_report().methods)
    [failed] = [row for row in rows if row["reason"]]
    assert (failed["method"], failed["accuracy"], failed["reason"]) == ("weight-decay", "", DIVERGED.reason)
    assert [row["flagged"] for row in rows if row["method"] == "picsc"][16:20] == ["false", "false", "true", "true"]


def test_csv_quotes_what_would_break_a_row() -> None:
    hostile = unit(1, 'a,"b"\r\nc', 0.5, reason="=1+1")
    text = as_text(cv_report(methods=(method_report("st-cv", (0.5,), units=(hostile,)),)), "csv", Page())
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["fragment"], row["reason"]) == (r'a,"b"\r\nc', "'=1+1")


def test_json_names_its_layout_and_keeps_every_number() -> None:
    body = json.loads(as_text(cv_report(), "json", Page()))
    assert body["schema"] == "picsc.cv/1"
    assert body["methods"][1]["differences"][0] == {
        "against": "st-cv",
        "accuracy": 0.0123,
        "accuracy_interval": {"low": pytest.approx(0.0023), "high": pytest.approx(0.0223)},
        "accuracy_p": 0.0312,
        "log_loss": -0.3912,
        "log_loss_p": 0.0312,
        "accuracy_p_holm": pytest.approx(4 * 0.0312),
        "log_loss_p_holm": pytest.approx(4 * 0.0312),
    }
    assert json.loads(as_text(recipe_report(), "json", Page()))["schema"] == "picsc.recipes/1"


def test_markdown_shows_hostile_names_as_they_are() -> None:
    [table] = recipe_report().tables
    row = recipe_row("a|b<script>_x_", 5, 0.0, reason="*r*\n")
    text = as_text(recipe_report(tables=(replace_rows(table, (row,)),)), "markdown", Page())
    assert "| a\\|b&lt;script>\\_x\\_ |" in text
    assert "| \\*r\\*\\\\n |" in text


# Recipes


def replace_rows(table: object, rows: tuple[object, ...]) -> object:
    return replace(table, rows=rows, over_sets=())


def test_a_row_that_does_not_count_is_marked_and_its_reason_told_once() -> None:
    text = recipes_table(recipe_report(), Page())
    assert [line.split()[0] for line in text.splitlines() if line.startswith(" bupa")] == ["bupa*", "bupa*"]
    assert text.count("the paper's version of this data set is not known") == 1
    assert "not run: a_very_long_name_of_data: there is no data set of that name\n" in text
    assert "mean, 3 sets" in text


def test_the_difference_to_the_paper_is_coloured() -> None:
    assert f"{ESC}[31m−0.5" in recipes_table(recipe_report(), Page(colours="standard"))  # noqa: RUF001


def test_a_recipe_without_paper_has_no_column_for_it() -> None:
    [table] = recipe_report().tables
    text = recipes_table(RecipeReport((replace(table, paper="", method=""),), "", {}), Page())
    assert "paper" not in text.splitlines()[3]


def test_failed_counts_models_and_data_sets_without_a_result() -> None:
    assert recipe_report().failed == 2 + 1


def test_an_audit_in_a_recipe_is_a_row_with_its_verdict() -> None:
    [table] = recipe_report().tables
    row = recipe_row("wdbc", 10, 0.0, scores=(), printed=None, difference=None, verdict="shift", shifted=3)
    audited = replace(table, verb="audit", rows=(row,), over_sets=(), paper="", method="")
    text = recipes_table(recipe_report(tables=(audited,)), Page())
    assert line_of(text, " wdbc").split() == ["wdbc", "1000", "10", "3", "shift"]
    assert recipes_summary(recipe_report(tables=(audited,)), Page()) == "e4-tables.yaml: 1 of 1 data sets were run\n"


def test_an_audit_report_is_still_written_by_its_own_renderer() -> None:
    first, *others = audit_report().summary
    assert as_text(audit_report(), "summary", Page()).splitlines() == [f"tumours.csv: {first}", *others]


@pytest.mark.parametrize("room", range(20, 40))
def test_a_table_takes_no_more_than_the_page_where_it_can(room: int) -> None:
    cells = [[Text("a"), *[Text("1" * ((room - 8) // 3))] * 3]]
    text = figures(("m", "x", "y", "z"), [cells], Page(room))
    assert max(map(len, text.splitlines())) <= room


def test_numbers_have_r2_by_its_name_and_no_scores_of_classes() -> None:
    data = replace(cv_report().data, task="regression", classes=None)
    text = cv_table(cv_report(data=data, majority=None, pooled=True), Page(ascii_only=True))
    assert "accuracy" not in text.partition("\n\n")[2].partition("score:")[0]
    assert "R^2 that pieces cost st-cv: 3.1 points" in text
    assert "R^2 is that of the predictions of all pieces together" in text
    assert " AUC" not in text
    assert "majority" not in text


def test_the_majority_class_is_a_row_beside_the_methods() -> None:
    rows = [line.split() for line in cv_table(cv_report(), Page(ascii_only=True)).splitlines()]
    assert ["majority", "62.7", *"----"] in rows
