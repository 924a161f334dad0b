"""A comparison as text: the paper's table, points apart from relative differences, weights, risks, what was refused."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from picsc.reports.compare import CompareReport, CompareUnit, Risk, Weights
from picsc.settings import PAPERS_METHODS
from picsc_cli.formats.table.compare import MOST_TARGETS, compare_table, megabytes
from picsc_cli.output.registry import as_text
from picsc_cli.text.method_names import PAPERS_NAMES
from picsc_cli.text.page import Page
from picsc_cli.text.sections import summary
from tests.factories.compare import (
    REFUSED,
    TARGETS,
    above,
    compare_method,
    compare_report,
    compare_unit,
    one_target,
    timed,
)

GOLDEN = Path(__file__).parents[3] / "golden"
ESC = "\x1b"


def rows_of(text: str, name: str) -> list[list[str]]:
    """Words of the table rows that start with a name."""
    return [line.split() for line in text.splitlines() if line.startswith(f" {name} ")]


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def of_targets(n: int) -> CompareReport:
    """As many targets."""
    targets = tuple(replace(TARGETS[0], name=f"site={i}") for i in range(n))
    base = compare_method("st-cv", (0.5,) * 3)
    ours = compare_method("picsc", (0.6,) * 3)
    return compare_report(targets=targets, methods=tuple(replace(m, targets=(0.5,) * n) for m in (base, ours)))


# Golden files


@pytest.mark.parametrize(("format_", "suffix"), [("json", "json"), ("csv", "csv"), ("markdown", "md")])
def test_machine_formats_are_the_golden_ones(format_: str, suffix: str) -> None:
    text = as_text(compare_report(), format_, Page())
    assert text.encode("utf-8") == (GOLDEN / f"compare.{suffix}").read_bytes()


def test_tables_are_the_golden_ones() -> None:
    expected = (GOLDEN / "compare-table.txt").read_text(encoding="utf-8")
    assert as_text(compare_report(), "table", Page(), verbose=True) == expected
    plain = as_text(compare_report(), "table", Page(ascii_only=True))
    assert plain.encode("ascii", "replace") == (GOLDEN / "compare-table-ascii.txt").read_bytes()


@pytest.mark.parametrize("report", [compare_report(), timed(compare_report()), timed(one_target()), of_targets(30)])
def test_tables_fit_100_columns(report: CompareReport) -> None:
    text = compare_table(report, Page(), verbose=True)
    assert max(map(len, text.splitlines()[3:])) <= 100


# The paper's table


def test_columns_are_the_papers_in_its_order() -> None:
    assert tuple(PAPERS_NAMES) == PAPERS_METHODS
    [header] = rows_of(compare_table(compare_report(), Page()), "target")[:1]
    assert header == ["target", "st-CV", "IW", "IWCV", "KMM", "DIW", "PIcsC", "Δ1", "Δ2"]


def test_each_target_has_its_differences_in_points_and_the_mean_is_bold() -> None:
    text = compare_table(compare_report(), Page())
    assert rows_of(text, "site=cleveland")[0][1:] == ["81.2", "82.5", "80.0", "–", "80.0", "83.5", "+2.3", "+3.5"]  # noqa: RUF001
    assert rows_of(text, "mean")[0][1:] == ["78.8", "80.0", "78.0", "75.1*", "76.7", "80.6", "+1.8", "+4.0"]
    assert f"{ESC}[1mmean{ESC}" in compare_table(compare_report(), Page(colours="standard"))


def test_a_mean_over_other_targets_is_marked() -> None:
    expected = "* without the targets on which there is no result"
    assert expected in in_one_line(compare_table(compare_report(), Page()))
    assert expected not in in_one_line(compare_table(of_targets(3), Page()))


def test_relative_differences_stand_in_a_sentence_with_what_they_divide_by() -> None:
    text = in_one_line(compare_table(compare_report(), Page()))
    assert "relative, as the paper prints it: Δ1 +2.2 % of picsc's accuracy, Δ2 +5.1 % of diw's accuracy" in text
    assert "Δ1: points that picsc is above st-cv; Δ2: points that picsc is above diw" in text
    assert "relative" not in compare_table(one_target(), Page())


def test_one_target_has_no_mean_and_a_sentence_for_its_rows() -> None:
    text = compare_table(one_target(), Page())
    assert rows_of(text, "mean") == []
    assert rows_of(text, "random")[0][2:] == ["95.1", "96.3", "+1.2"]
    expected = "random part: 455 rows learn, 57 of the target are looked at (10 with labels), 57 judge; separation 0.51"
    assert expected in in_one_line(text)
    alone = replace(one_target().targets[0], separation=None, labelled=0)
    text = in_one_line(compare_table(one_target(targets=(alone,)), Page()))
    assert "random part: 455 rows learn, 57 of the target are looked at, 57 judge test:" in text


def test_of_many_targets_the_first_have_a_row() -> None:
    text = compare_table(of_targets(MOST_TARGETS + 2), Page())
    assert len(rows_of(text, "site=11")) == 2
    assert rows_of(text, "site=12") == []
    assert "and 2 more targets, which the mean has too; --output json has all of them" in text
    assert "more targets" not in compare_table(of_targets(MOST_TARGETS), Page())


def test_hostile_names_are_shown_as_they_are_and_cut() -> None:
    hostile = replace(TARGETS[0], name=f"{ESC}[31m[bold]a\nb")
    text = compare_table(one_target(targets=(hostile,)), Page(colours="standard"))
    assert "\\x1b[31m[bold]a\\nb" in text


# Methods


def test_every_method_has_its_interval_tests_weights_and_memory() -> None:
    text = compare_table(compare_report(), Page())
    iw, tests = rows_of(text, "iw")[:2]
    assert " ".join(iw) == "iw 80.0 [78.1, 82.1] 77.5 0.870 0.412 +1.2 41.2 23.5 1.2"
    assert " ".join(tests) == "iw 0.031 0.094 0.031 0.094 0.250 0.750 0.250 0.750"
    kmm, _ = rows_of(text, "kmm")
    assert " ".join(kmm) == "kmm 75.1 [73.2, 77.2] 77.5 0.870 0.412 −2.5 7.1 988 1949"  # noqa: RUF001
    ours, tests = rows_of(text, "picsc")
    assert ours[-4:] == ["+1.8", "–", "–", "–"]  # noqa: RUF001
    assert tests[1:] == ["<0.001", "0.002", "<0.001", "0.002", *"––––"]  # noqa: RUF001


def test_numbers_that_do_not_exist_are_dashes() -> None:
    differences = (above("st-cv", None, None, None),)
    nothing = compare_method(
        "kmm", (None,), log_loss=None, differences=differences, failed=2, balanced_accuracy=None, auc=None
    )
    text = compare_table(one_target(methods=(nothing,), deltas=()), Page(ascii_only=True))
    assert rows_of(text, "kmm") == [["kmm", *"--------"]]
    assert rows_of(text, "random") == [["random", "part", "-"]]


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "–"), (12, "<0.1"), (50_000, "0.1"), (99_949_999, "99.9"), (2_000_000_000, "2000")],  # noqa: RUF001
)
def test_memory_is_in_megabytes(size: int, shown: str) -> None:
    assert megabytes(size, Page()) == shown


def test_a_largest_weight_keeps_its_width() -> None:
    heavy = compare_method("kmm", (0.5,), weights=Weights(1.0, 1.0, 1000.0))
    [row] = rows_of(compare_table(one_target(methods=(heavy,)), Page()), "kmm")
    assert row[-3:] == ["100", "1000", "–"]  # noqa: RUF001


def test_seconds_are_there_only_where_they_were_measured() -> None:
    text = compare_table(timed(compare_report()), Page())
    assert rows_of(text, "iw")[0][-1] == "12.3"
    assert "s: seconds of all its models" in in_one_line(text)
    assert "seconds" not in compare_table(compare_report(), Page())


# Risks and failures


def test_what_cross_validation_foretells_stands_beside_how_far_it_is_off() -> None:
    text = compare_table(compare_report(), Page())
    assert rows_of(text, "unweighted") == [["unweighted", "88.1", "9.3", "0.301", "0.111"]]
    assert rows_of(text, "iw")[2] == ["iw", "82.1", "3.4", "–", "–"]  # noqa: RUF001
    assert "mean distance from the 78.8 and 0.412 that come out on the target" in in_one_line(text)
    assert "foretold" not in compare_table(compare_report(risks=()), Page())


def test_risks_are_told_without_the_plain_model() -> None:
    risk = Risk("unweighted", 0.9, 0.3, 0.01, 0.1, 0.01, 0.1)
    text = compare_table(one_target(risks=(risk,), methods=(compare_method("picsc", (0.9,)),)), Page())
    assert "mean distance from what comes out on the target" in in_one_line(text)


def test_a_refusal_is_told_once_per_method_and_target() -> None:
    text = in_one_line(compare_table(compare_report(), Page()))
    assert "without a result: 3 of 43 models kmm, site=cleveland, every repeat: refused: the effective" in text
    assert "weight-decay, site=switzerland, repeat 2: diverged at epoch 3" in text
    assert compare_report().failed == 3


def test_the_first_failures_are_told_with_their_reasons() -> None:
    units = tuple(compare_unit(r, f"site={i}", None, reason=REFUSED) for i in range(7) for r in (1, 2))
    report = one_target(methods=(compare_method("kmm", (0.5,), failed=14, units=units),), repeats=3)
    text = in_one_line(compare_table(report, Page()))
    assert "without a result: 14 of 14 models; the first are kmm, site=0, 2 of 3 repeats: refused:" in text
    assert "kmm, site=4, " in text
    assert "kmm, site=5, " not in text


def test_what_was_chosen_is_told() -> None:
    text = in_one_line(compare_table(compare_report(), Page()))
    assert "λ or weight decay that was used: picsc 0.01–0.1, weight-decay 0.01, picsc-random 0.1" in text  # noqa: RUF001
    assert "power of the weights that was chosen: iwcv 0.25–1" in text  # noqa: RUF001
    assert "that was" not in compare_table(one_target(), Page())


def test_verbose_says_what_methods_are() -> None:
    assert "\nkmm: what kmm is\n" in compare_table(compare_report(), Page(), verbose=True)
    assert "what kmm is" not in compare_table(compare_report(), Page())


def test_the_summary_is_three_lines() -> None:
    long = ("picsc: " + "x" * 300, "strongest", f"next: {ESC}[31m")
    assert summary(compare_report(summary=long), Page()).splitlines() == [long[0], long[1], "next: \\x1b[31m"]


# Machine formats


def test_csv_has_one_row_per_model_and_every_field() -> None:
    text = as_text(compare_report(), "csv", Page())
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert (
        list(rows[0]) == ["dataset", "method", *(field.name for field in fields(CompareUnit))][:-2]
    )  # metrics have a column each
    assert len(rows) == sum(len(method.units) for method in compare_report().methods)
    refused = [row for row in rows if row["reason"] == REFUSED]
    assert [(row["method"], row["accuracy"], row["repeat"]) for row in refused] == [("kmm", "", "1"), ("kmm", "", "2")]


def test_json_names_its_layout_and_keeps_timings_only_where_they_are() -> None:
    body = json.loads(as_text(compare_report(), "json", Page()))
    assert (body["schema"], body["failed"], body["measured"]) == ("picsc.compare/1", 3, [])
    assert body["deltas"][0] == {
        "name": "Δ1",
        "ours": "picsc",
        "against": "st-cv",
        "points": 0.0179,
        "relative": 0.0222,
        "base": "picsc",
    }
    measured = json.loads(as_text(timed(compare_report()), "json", Page()))["measured"]
    assert measured[0] == {"method": "st-cv", "seconds": 0.3142}


def test_markdown_has_intervals_every_target_and_relative_differences_apart() -> None:
    text = as_text(of_targets(30), "markdown", Page())
    assert text.count("| site=") == 30
    text = as_text(compare_report(), "markdown", Page())
    assert "| kmm | 75.1 [73.2, 77.2] | 77.5 | 0.870 | 0.412 | −2.5 [−4.6, −0.4] | 0.012 | 0.049 | 0.731 |" in text  # noqa: RUF001
    assert "- Δ2: picsc against diw, +4.0 points; relative, as the paper prints it, +5.1 % of diw's accuracy" in text
    assert "| site=\\[red\\]veterans\\[/red\\]\\_long\\_beach |" in text
    assert "seconds" not in text
    assert "| seconds |" in as_text(timed(compare_report()), "markdown", Page())


def test_a_gain_on_a_target_needs_both_methods() -> None:
    report = compare_report()
    first, second = report.deltas
    assert report.gain(first, 0) == pytest.approx(0.8351 - 0.8123)
    assert report.gain(replace(second, against="kmm"), 0) is None
    assert report.gain(replace(second, against="ulsif"), 0) is None
