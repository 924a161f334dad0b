"""The Python verbs take what Python users have: frames of any library, (X, y), names that are numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import picsc
from tests.datasets.test_memory import Stream

QUICK: dict[Callable[..., Any], dict[str, Any]] = {
    picsc.audit: {"folds": 3, "draws": 99},
    picsc.cross_validate: {"folds": 3, "repeats": 1, "epochs": 2, "strength": 0.1, "methods": ["st-cv", "picsc"]},
    picsc.compare: {"folds": 3, "repeats": 1, "epochs": 2, "strength": 0.1, "methods": ["st-cv", "picsc"]},
    picsc.federate: {"clients": 2, "rounds": 1, "repeats": 1, "lr": 0.1, "methods": ["fedavg"]},
}
VERBS = pytest.mark.parametrize("verb", QUICK, ids=lambda verb: verb.__name__)


def frame(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.choice(["u", "v"], n), "kind": np.where(np.arange(n) % 2, "x", "y")}
    )


def understood(report: Any) -> tuple[str | None, list[tuple[str, str]]]:
    return report.data.target, [(column.name, column.kind) for column in report.data.columns if column.used]


@VERBS
def test_frames_of_other_libraries_and_labels_apart(verb: Callable[..., Any]) -> None:
    table, options = frame(), QUICK[verb]
    plain = verb(table, target="kind", **options)
    assert understood(plain)[0] == "kind"
    assert understood(verb(pa.Table.from_pandas(table), target="kind", **options)) == understood(plain)
    assert understood(verb(Stream(pa.Table.from_pandas(table)), target="kind", **options)) == understood(plain)
    apart = verb(table[["a", "b"]], table["kind"], **options)
    assert understood(apart) == understood(plain)
    assert apart.summary == plain.summary


@VERBS
def test_names_that_are_numbers(verb: Callable[..., Any]) -> None:
    table = frame().set_axis([3, 2, 1], axis=1)
    reports = [verb(table, target=1, **QUICK[verb]), verb(table, target="1", **QUICK[verb])]
    assert [report.data.target for report in reports] == ["1", "1"]
    assert reports[0].summary == reports[1].summary


@VERBS
def test_errors_speak_of_keywords(verb: Callable[..., Any]) -> None:
    with pytest.raises(picsc.DataError, match=r"^memory: target= names no column 'kin'; did you mean 'kind'\?"):
        verb(frame(), target="kin", **QUICK[verb])
    with pytest.raises(picsc.SettingsError, match=r"^seed=-1: must be greater"):
        verb(frame(), seed=-1, **QUICK[verb])
    with pytest.raises(picsc.DataError, match=r"^data of type dict are no table"):
        verb({"a": [1, 2]}, **QUICK[verb])


class TestReference:
    table = frame(120)
    old, new = table.iloc[:60], table.iloc[60:]
    options: dict[str, Any] = {"batches": 2, "draws": 99}  # noqa: RUF012 - never changed

    @pytest.mark.parametrize("export", [pa.Table.from_pandas, lambda table: Stream(pa.Table.from_pandas(table))])
    def test_frames_of_other_libraries(self, export: Any) -> None:
        plain = picsc.audit(self.new, target="kind", reference=self.old, **self.options)
        other = picsc.audit(export(self.new), target="kind", reference=export(self.old), **self.options)
        assert plain.fragments == other.fragments

    def test_labels_apart(self) -> None:
        X, y = self.new[["a", "b"]], self.new["kind"]
        plain = picsc.audit(self.new, target="kind", reference=self.old, **self.options)
        whole = picsc.audit(X, y, reference=self.old, **self.options)
        both = picsc.audit(X, y, reference=(self.old[["a", "b"]], self.old["kind"]), **self.options)
        assert plain.fragments == whole.fragments == both.fragments
        with pytest.raises(picsc.DataError, match=r"^reference: target= names no column 'kind'"):
            picsc.audit(X, y, reference=self.old[["a", "b"]], **self.options)

    def test_arrays(self) -> None:
        X, R = np.random.default_rng(0).normal(size=(2, 40, 2))
        report = picsc.audit(X, reference=R, **self.options)
        assert report.data.target is None
        with pytest.raises(picsc.DataError, match=r"^data of type dict are no table"):
            picsc.audit(X, reference={"x1": [1]}, **self.options)

    def test_files(self, tmp_path: Any) -> None:
        self.old.to_csv(tmp_path / "old.csv", index=False)
        X, y = self.new[["a", "b"]], self.new["kind"]
        report = picsc.audit(X, y, reference=tmp_path / "old.csv", **self.options)
        plain = picsc.audit(X, y, reference=self.old, **self.options)
        assert [each.p_adjusted for each in report.fragments] == [each.p_adjusted for each in plain.fragments]


def test_the_target_file_of_a_comparison_has_the_target_of_y(tmp_path: Any) -> None:
    table = frame()[["kind", "a", "b"]]
    table.to_csv(tmp_path / "there.csv", index=False)
    options = {**QUICK[picsc.compare], "folds": None, "test_on": [tmp_path / "there.csv"]}
    report = picsc.compare(table[["a", "b"]], table["kind"], **options)
    assert understood(report) == ("kind", [("a", "numeric"), ("b", "categorical")])
