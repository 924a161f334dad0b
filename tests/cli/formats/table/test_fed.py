"""Federations as text and pictures: the tables, the notes beneath them, the machine formats, and the curves."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import fields, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from picsc.reports.fed import ClientAudit, FedMethodReport
from picsc.reports.metrics import MetricScore
from picsc_cli.formats import plot
from picsc_cli.formats.table.fed import fed_table
from picsc_cli.formats.table.fed_audit import fed_audit_summary, fed_audit_table
from picsc_cli.output.registry import as_text
from picsc_cli.text.numbers import data_size
from picsc_cli.text.page import Page
from picsc_cli.text.sections import summary
from tests.factories.fed import (
    CLIENTS,
    FAILED,
    PICSC,
    client,
    client_audit,
    curve,
    fed_audit_report,
    fed_method,
    fed_report,
)

GOLDEN = Path(__file__).parents[3] / "golden"
ESC = "\x1b"
HOSTILE = f'<b>&"x"{ESC}[31m]]>'
REPORTS = {"fed": fed_report, "fed-audit": fed_audit_report}
SVG = "{http://www.w3.org/2000/svg}"


def rows_of(text: str, start: str) -> list[list[str]]:
    """Cells of the rows that start so, in every table."""
    return [line.split() for line in text.splitlines() if line.startswith(f" {start} ")]


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "format_", "suffix"),
    [
        ("fed", "json", "json"),
        ("fed", "csv", "csv"),
        ("fed", "markdown", "md"),
        ("fed", "svg", "svg"),
        ("fed-audit", "json", "json"),
        ("fed-audit", "csv", "csv"),
        ("fed-audit", "markdown", "md"),
    ],
)
def test_machine_formats_are_the_golden_ones(name: str, format_: str, suffix: str) -> None:
    assert as_text(REPORTS[name](), format_, Page()).encode("utf-8") == (GOLDEN / f"{name}.{suffix}").read_bytes()


@pytest.mark.parametrize("name", ["fed", "fed-audit"])
def test_tables_are_the_golden_ones(name: str) -> None:
    expected = (GOLDEN / f"{name}-table.txt").read_text(encoding="utf-8")
    assert as_text(REPORTS[name](), "table", Page(), verbose=True) == expected
    plain = as_text(REPORTS[name](), "table", Page(ascii_only=True))
    assert plain.encode("ascii", "replace") == (GOLDEN / f"{name}-table-ascii.txt").read_bytes()


@pytest.mark.parametrize("name", ["fed", "fed-audit"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_tables_fit_their_page(name: str, ascii_only: bool) -> None:
    text = as_text(REPORTS[name](), "table", Page(ascii_only=ascii_only), verbose=True)
    assert max(map(len, text.splitlines()[3:])) <= (100 if name == "fed" else 80)


@pytest.mark.parametrize("name", ["fed", "fed-audit"])
def test_the_summary_is_its_three_lines(name: str) -> None:
    hostile = ("a" * 200, f"b{ESC}[31m", "c")
    text = as_text(REPORTS[name](summary=hostile), "summary", Page())
    assert text.splitlines() == ["a" * 200, "b\\x1b[31m", "c"]


def test_colours_are_for_terminals_alone() -> None:
    coloured = fed_table(fed_report(), Page(colours="standard"))
    assert f"{ESC}[1;31mshift" in coloured
    assert re.search(rf"{ESC}\[32m *\+5\.1", coloured)
    assert ESC not in fed_table(fed_report(), Page())
    assert f"{ESC}[1;31mshift" in fed_audit_summary(fed_audit_report(), Page(colours="standard"))


# Clients


def test_few_clients_are_all_shown_with_our_accuracy_on_each() -> None:
    text = fed_table(fed_report(), Page())
    assert [row[-1] for row in rows_of(text, "client")] == [
        "picsc", "98.4", "96.8", "95.2", "93.7", "92.1", "90.5", "89.0", "87.4", "84.3", "n_min"
    ]  # fmt: skip
    assert " client 10: n=8 < n_min\n" in text


def test_of_many_clients_the_most_shifted_are_shown() -> None:
    clients = (
        *(client(f"c{k}", rows=20 + k, covariate_kl=k / 100) for k in range(30)),
        client("labels", labels_shifted=True, label_kl=0.4),
        *(client(f"moved{k}", covariates="shift", covariate_kl=0.001) for k in range(12)),
    )
    text = fed_table(fed_report(clients=clients, methods=(fed_method("fedavg", 0.5, clients=(0.5,) * 43),)), Page())
    assert text.count("\n moved") == 12
    assert rows_of(text, "c29") == []
    rest = (
        "and 31 more clients of 20 to 180 rows, labels shifted in 1 and covariates in 0; --output json has all of them"
    )
    assert rest in flat(text)


def test_clients_that_nobody_looked_at_have_dashes() -> None:
    unknown = client("a", label_kl=None, label_p=None, covariates=None, covariate_kl=None, reason="not audited")
    text = fed_table(fed_report(clients=(unknown,) * 10), Page(ascii_only=True))
    assert rows_of(text, "a")[0] == ["a", "180", "-", "-", "-", "-", "98.4"]


# Methods


def test_accuracies_are_percent_and_spread_is_told_twice() -> None:
    methods, *_ = rows_of(fed_table(fed_report(), Page()), "scaffold")
    assert " ".join(methods) == "scaffold 90.5 [89.5, 91.7] 81.2 0.910 5.1 0.7 90.8 11 82.5 0.312"


def test_the_comparison_has_tests_and_costs() -> None:
    text = fed_table(fed_report(), Page(ascii_only=True))
    assert " ".join(rows_of(text, "picsc")[1]) == "picsc +5.1 4.0 702 kB 1.2 MB 123 GB 0.03-0.1"
    assert rows_of(text, "picsc")[2] == ["picsc", "0.031", "0.156", *"------"]
    assert " ".join(rows_of(text, "fedprox")[1]) == "fedprox 0.0 11.5 702 kB 9.6 kB 9.6 kB 0.1"
    assert rows_of(text, "fedprox")[2] == ["fedprox", "0.250", "1.000", "-", "-", "<0.001", "0.002", "-", "-"]
    assert "target: an accuracy of 87.0" in flat(text)
    assert "target:" not in fed_table(fed_report(target=None), Page())


def test_numbers_that_do_not_exist_are_dashes() -> None:
    nothing = FedMethodReport(
        "fedavg", "", (), None, None, (), None, None, None, None, None, (), None, "", None, None, None, 0, 0, 0, (), (),
        (), (), (),
    )  # fmt: skip
    text = fed_table(fed_report(methods=(nothing,)), Page(ascii_only=True))
    assert rows_of(text, "fedavg") == [["fedavg", *"---------"], ["fedavg", *"---", "0", "B", "0", "B", "-"]]
    assert "worst client:" not in text


def test_methods_with_the_same_worst_client_are_told_together() -> None:
    methods = (fed_method("fedavg", 0.5), fed_method("scaffold", 0.6), PICSC)
    text = flat(fed_table(fed_report(methods=methods), Page(200)))
    assert "worst client: client 10 (fedavg, scaffold), ward [red]9[/red], a na… (picsc)" in text


def test_the_trigger_is_told_by_rounds_and_by_client() -> None:
    text = flat(fed_table(fed_report(), Page()))
    assert "trigger of picsc: clients flagged, of 10: 2.8 in round 1, 2.0 in round 6, 1.0 in round 12" in text
    assert "largest τ of picsc in the last round: client 8 1.52e4, flagged in 75 % of rounds; client 7 0.0700" in text
    assert "trigger" not in fed_table(fed_report(methods=(fed_method("fedavg", 0.5),)), Page())


def test_the_first_failures_are_told_with_their_reasons() -> None:
    failures = tuple(replace(FAILED, round=k, client="") for k in range(7))
    report = fed_report(methods=(fed_method("fedavg", 0.5, failures=failures),))
    text = flat(fed_table(report, Page()))
    assert "without a result: 7 runs or clients; the first are" in text
    assert "fedavg, seed 2, round 4: left the finite numbers" in text
    assert "round 5: left" not in text
    assert report.failed == 7


def test_participants_and_counts_of_one_are_words() -> None:
    one = fed_report(participants=3, rounds=1, repeats=1)
    assert "; 1 round of 3 of 10 clients, 1 seed\n" in fed_table(one, Page(200))


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9951, "10 kB"),
        (999_499, "999 kB"),
        (999_501, "1.0 MB"),
        (4.2e12, "4.2 TB"),
        (4.2e16, "42000 TB"),
        (None, "-"),
    ],
)
def test_sizes_have_three_digits_and_a_unit(count: float | None, shown: str) -> None:
    assert data_size(count, Page(ascii_only=True)) == shown


# Audit


def test_an_audit_tells_every_client_that_is_not_ok() -> None:
    clients = (*(client_audit(f"ok{k}") for k in range(60)), client_audit("moved", "shift"))
    text = fed_audit_table(fed_audit_report(*clients), Page())
    assert len(rows_of(text, "moved")) == 1
    assert text.count("\n ok") == 39
    assert "not shown, being ok: 21 of 61 clients; --output json has all of them\n" in text


def test_a_narrow_page_goes_without_the_columns_that_say_least() -> None:
    wide = fed_audit_table(fed_audit_report(), Page(120))
    narrow = fed_audit_table(fed_audit_report(), Page())
    assert "rel." in wide
    assert "a name longer than" not in narrow
    assert "rel." not in narrow
    assert fed_audit_report().verdict == "shift"
    assert fed_audit_summary(fed_audit_report(), Page()).splitlines() == list(fed_audit_report().summary)


# Machine formats


def test_csv_has_a_row_for_each_method_and_for_each_of_its_clients() -> None:
    report = fed_report()
    text = as_text(report, "csv", Page())
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.count("\r\n") == len(rows) + 1 == len(report.methods) * (1 + len(CLIENTS)) + 1
    [ours] = [row for row in rows if (row["method"], row["client"]) == ("picsc", "")]
    assert (ours["accuracy"], ours["lr"], ours["difference"], ours["rows"]) == ("0.921", "0.03 0.1", "0.051", "")
    [moved] = [row for row in rows if (row["method"], row["client"]) == ("picsc", "client 8")]
    assert (moved["tau"], moved["flagged"], moved["covariates"], moved["memory"]) == ("15240.7", "0.75", "shift", "")
    [stopped] = [row for row in rows if row["failures"] == "1"]
    assert (stopped["method"], stopped["seeds"], stopped["accuracy"]) == ("fedcurv", "0.84 -", "")


def test_csv_of_an_audit_has_every_field() -> None:
    rows = list(csv.DictReader(io.StringIO(as_text(fed_audit_report(), "csv", Page()), newline="")))
    assert list(rows[0]) == ["dataset", *(field.name for field in fields(ClientAudit))]
    assert [row["verdict"] for row in rows] == ["ok", "shift", "shift", "inconclusive"]


def test_json_names_its_layout_and_keeps_every_number() -> None:
    body = json.loads(as_text(fed_report(), "json", Page()))
    assert (body["schema"], body["failed"]) == ("picsc.fed/1", 1)
    assert body["methods"][-1]["tau"][7] == 15240.7
    audit = json.loads(as_text(fed_audit_report(), "json", Page()))
    assert (audit["schema"], audit["verdict"], audit["manifest"]["loss"]) == ("picsc.fed-audit/1", "shift", None)


@pytest.mark.parametrize("name", ["markdown", "html", "svg"])
def test_hostile_names_are_shown_as_they_are(name: str) -> None:
    data = replace(fed_report().data, name=HOSTILE)
    report = fed_report(data=data, partition=HOSTILE, summary=(HOSTILE,) * 3, clients=(client(HOSTILE),))
    text = as_text(report, name, Page())
    assert "<b>" not in text
    assert ESC not in text
    assert "&lt;b>" in text or "&lt;b&gt;" in text


# Curves


def svg_of(report: object) -> ET.Element:
    return ET.fromstring(as_text(report, "svg", Page()))  # noqa: S314 - our own


def labels_of(root: ET.Element) -> list[str]:
    return [str(text.text) for text in root.iter(f"{SVG}text")]


def test_every_method_has_a_line_and_a_name() -> None:
    root = svg_of(fed_report())
    titles = [line.findtext(f"{SVG}title") for line in root.iter(f"{SVG}polyline")]
    assert titles == [method.method for method in fed_report().methods]
    assert {"picsc 92.1", "fedcurv 83.0, round 6", "target 87.0", "round"} <= set(labels_of(root))
    assert "fedcurv 83.0 % in round 6" in str(root.findtext(f"{SVG}desc"))


def test_lines_differ_without_colour() -> None:
    styles = [
        (line.get("stroke-dasharray"), line.get("stroke-width")) for line in svg_of(fed_report()).iter(f"{SVG}polyline")
    ]
    assert len(set(styles)) == len(styles) == 7


def test_colours_are_read_on_white() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    colours = set(re.findall(r'<text [^>]*fill="(#\w+)"', as_text(fed_report(), "svg", Page())))
    assert len(colours) == 9 - 1  # of 7 methods and the grey; fedavg's is that of the title
    assert all(1.05 / (luminance(colour) + 0.05) >= 4.5 for colour in colours)


def test_everything_stands_within_the_picture() -> None:
    root = svg_of(fed_report())
    lines = [line.get("points", "") for line in root.iter(f"{SVG}polyline")]
    points = [tuple(map(float, point.split(","))) for line in lines for point in line.split()]
    assert all(64 <= x <= 640 and 64 <= y <= 404 for x, y in points)
    assert max(x for x, _ in points) == 640
    assert all(0 <= float(text.get("y", "")) <= plot.HEIGHT for text in root.iter(f"{SVG}text"))


def test_a_line_is_cut_where_a_round_has_no_accuracy() -> None:
    points = curve(0.2, 0.9, 7)
    gap = (*points[:3], replace(points[3], accuracy=None), *points[4:5], replace(points[5], accuracy=None), points[6])
    root = svg_of(fed_report(methods=(fed_method("scaffold", 0.9, curve=gap),)))
    assert (len(list(root.iter(f"{SVG}polyline"))), len(list(root.iter(f"{SVG}circle")))) == (1, 2)


@pytest.mark.parametrize("points", [(), curve(0.5, 0.5, 1), curve(0.5, 0.5, 3), curve(-3.0, -2.0, 3)])
def test_curves_that_hardly_are_some_are_drawn(points: tuple[object, ...]) -> None:
    report = fed_report(methods=(fed_method("a method of tomorrow", 0.5, curve=points),), target=None)
    assert "round" in labels_of(svg_of(report))


def test_a_run_without_accuracies_says_so() -> None:
    assert "no round has an accuracy" in labels_of(svg_of(fed_report(methods=(fed_method("fedavg", 0.5, curve=()),))))


def test_names_are_moved_apart_as_little_as_need_be() -> None:
    assert plot.apart([10.0, 10.0, 10.0], 5, 0, 100) == [5, 10, 15]
    assert plot.apart([1.0, 2.0, 50.0], 5, 0, 100) == [0, 5, 50]
    assert plot.apart([98.0, 99.0, 100.0], 5, 0, 100) == [90, 95, 100]
    assert plot.apart([1.0, 2.0, 3.0], 5, 0, 4) == [0, 5, 10]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (50, 92, [50, 60, 70, 80, 90, 100]),
        (-300, 20, [-300, -200, -100, 0, 100]),
        (86.5, 87.5, [86.4, 86.6, 86.8, 87, 87.2, 87.4, 87.6]),
    ],
)
def test_ticks_are_round_numbers_around_the_values(low: float, high: float, expected: list[float]) -> None:
    assert plot.ticks(low, high, most=7) == expected


def test_a_page_of_its_own_holds_the_summary_and_the_picture() -> None:
    text = as_text(fed_report(), "html", Page())
    assert text.startswith("<!doctype html>\n")
    assert "<li>picsc: 92.1 % on average over clients" in text
    assert text.count("<svg ") == text.count("</svg>") > 1
    assert "<?xml" not in text


def test_the_summary_of_a_federation_is_bold() -> None:
    assert summary(fed_report(), Page(colours="standard")).startswith(f"{ESC}[1mpicsc: 92.1")


def test_metrics_by_name_in_every_format() -> None:
    score = MetricScore("roc_auc", True, 0.912, None, (0.9, None, 0.95), (), 4, "no roc_auc: one class only")
    plain, page = fed_report(), Page(width=100)
    report = replace(plain, methods=tuple(replace(method, metrics=(score,)) for method in plain.methods))
    table = " ".join(fed_table(report, page).split())
    assert "without 4 clients and seeds: no roc_auc: one class only" in table
    assert "Δ: against fedavg" in table
    assert "| fedavg | 0.912 |" in as_text(report, "markdown", page)
    assert "roc_auc (higher is better): picsc 0.912 against 0.912 of fedavg" in as_text(report, "html", page)
    assert json.loads(as_text(report, "json", page))["methods"][0]["metrics"][0]["pieces"] == [0.9, None, 0.95]
    rows = list(csv.DictReader(io.StringIO(as_text(report, "csv", page))))
    assert [(row["metric roc_auc"], row["metric reasons"]) for row in rows[:4]] == [
        ("0.912", ""),
        ("0.9", ""),
        ("", "no roc_auc: one class only"),
        ("0.95", ""),
    ]
    assert "metric roc_auc" not in as_text(plain, "csv", page)
