"""Reports in which every text is hostile: no format of any of them has anything that a reader obeys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import cycle, islice
from typing import Any

import pytest

from picsc.reports import DataReport, PredictReport, Report
from picsc.reports.common import Finding
from picsc.reports.data import ClassRows
from picsc.reports.predict import ColumnShift
from picsc_cli.output.registry import _WRITERS, as_text
from picsc_cli.text.page import Page
from tests.factories.audit import audit_report, audit_reports
from tests.factories.compare import compare_report
from tests.factories.compare_recipes import compare_recipe_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_audit_report, fed_report
from tests.factories.fed_recipes import fed_recipe_report
from tests.factories.recipes import recipe_report
from tests.hostile import CHECKS, HOSTILE

OURS = {
    "method", "against", "verb", "code", "severity", "verdict", "standing", "format", "compression", "sha256", "ours",
    "base", "by", "statistic_data", "statistic_model", "unit", "setting", "measure", "task", "metric", "protocol",
    "cell", "covariates", "question", "manifest", "kind",
}  # fmt: skip
"""Fields that hold words of picsc's own, by which formats decide what they show."""


def hostile(value: Any, names: Iterator[str], name: str = "") -> Any:
    """The value with a hostile name in place of every text."""
    if name in OURS:
        return value
    if isinstance(value, str):
        return next(names)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            each.name: hostile(getattr(value, each.name), names, each.name)
            for each in fields(value)
            if each.init and not (each.name == "name" and type(value).__name__ in ("Delta", "Choice"))
        }
        return replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(hostile(each, names) for each in value)
    if isinstance(value, dict):
        return {key: hostile(each, names, key) for key, each in value.items()}
    return value


def data_report() -> DataReport:
    return DataReport(audit_report().data, (ClassRows("x", 3), ClassRows("y", 4)), 2, 1, "no column is named target")


def predict_report() -> PredictReport:
    found = Finding("unknown-levels", "warning", "levels that the model does not know", "train on rows that have them")
    moved = ColumnShift("x", 40, 0.001, 0.002, 0.3, None, 0.0, 0.1, "'a': 1.0 % in training, 31.0 % here", "shift")
    return PredictReport(
        "model", "0", "new.csv", "1", "y", ("a", "b"), ("a", "b"), ((0.9, 0.1), (0.2, 0.8)), (found,), (moved,)
    )


REPORTS = {
    "audit": audit_report(),
    "audits": audit_reports(),
    "cv": cv_report(),
    "compare": compare_report(),
    "fed": fed_report(),
    "fed-audit": fed_audit_report(),
    "recipes": recipe_report(),
    "compare-recipes": compare_recipe_report(),
    "fed-recipes": fed_recipe_report(),
    "data": data_report(),
    "predict": predict_report(),
}


def test_there_are_enough_names_and_every_report_is_tried() -> None:
    assert len(set(HOSTILE)) >= 100
    assert {type(report) for report in REPORTS.values()} == set(_WRITERS)


@pytest.mark.parametrize("start", range(0, len(HOSTILE), 17))
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_obeyed(name: str, start: int) -> None:
    report: Report = hostile(REPORTS[name], islice(cycle(HOSTILE), start, None))
    writers = _WRITERS[type(report)]
    for format_ in ("summary", *writers.offered, *writers.files):
        if format_ not in CHECKS:  # a baseline, which a program reads
            continue
        for page in (Page(), Page(width=40, ascii_only=True)):
            CHECKS[format_](as_text(report, format_, page, verbose=True))


def test_json_holds_the_names_themselves() -> None:
    names = iter(HOSTILE)
    report = hostile(data_report(), names)
    body = json.loads(as_text(report, "json", Page()))
    assert [column["name"] for column in body["data"]["columns"]] == [column.name for column in report.data.columns]
    assert body["data"]["name"] == report.data.name
