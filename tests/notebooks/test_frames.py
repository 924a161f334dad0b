from __future__ import annotations

import json

import pandas as pd
import pytest

from picsc.errors import SettingsError
from picsc.notebooks.frames import _TABLES
from picsc.notebooks.records import flat
from tests.factories.audit import SHIFTED, audit_report, audit_reports
from tests.factories.compare import compare_report
from tests.factories.cv import cv_report
from tests.factories.fed import fed_report
from tests.reports.pages.test_write import REPORTS

EVERY = [(name, table) for name in REPORTS for table in _TABLES[REPORTS[name]().schema.partition("/")[0]]]


@pytest.mark.parametrize(("name", "table"), EVERY)
def test_every_table_has_rows_of_plain_values(name: str, table: str) -> None:
    frame = REPORTS[name]().to_frame(table)
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) or table == "findings"
    json.dumps(frame.to_dict("records"))


def test_the_pieces_of_an_audit_are_its_fields_with_intervals_in_two_columns() -> None:
    frame = audit_report().to_frame()
    assert list(frame["name"]) == [piece.name for piece in audit_report().fragments]
    shifted = frame.set_index("name").loc["fold 3"]
    assert shifted["verdict"] == "shift"
    assert shifted["p_data_adjusted"] == SHIFTED.p_data_adjusted
    assert shifted["model_fit_interval_low"] == -0.188
    assert "columns" not in frame


def test_columns_say_piece_and_whether_they_moved() -> None:
    frame = audit_report().to_frame("columns")
    assert len(frame) == sum(len(piece.columns) for piece in audit_report().fragments)
    moved = frame[(frame["piece"] == "fold 3") & frame["moved"]]
    assert list(moved["name"]) == [column.name for column in SHIFTED.columns if column.moved(0.05)]
    assert moved["interval_low"].iloc[0] == 0.402


def test_several_files_have_a_column_for_the_file() -> None:
    frame = audit_reports().to_frame("pieces")
    assert list(frame.columns[:2]) == ["file", "name"]
    assert set(frame["file"]) == {"data/tumours.csv", "data/odd.csv.gz"}


def test_methods_models_targets_clients_and_rounds() -> None:
    assert list(cv_report().to_frame()["method"]) == [method.method for method in cv_report().methods]
    assert len(cv_report().to_frame("models")) == sum(len(method.units) for method in cv_report().methods)
    targets = compare_report().to_frame("targets")
    assert list(targets["picsc"]) == list(compare_report().method("picsc").targets)  # type: ignore[union-attr]
    rounds = fed_report().to_frame("rounds")
    assert len(rounds) == sum(len(method.curve) for method in fed_report().methods)


def test_a_table_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match="this report has 'pieces' and 'columns' and 'findings'"):
        audit_report().to_frame("rounds")


def test_nested_values_are_flat() -> None:
    assert flat(SHIFTED.columns[0])["effect_in_sd_interval_high"] == 1.206
