"""Words among numbers by one rule for every format and for frames, and the remarks on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.load import from_frame, load
from picsc.datasets.table import Column, Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

RNG = np.random.default_rng(0)
X = [f"{value:.4f}" for value in RNG.normal(size=60)]
Y = [f"{value:.4f}" for value in RNG.normal(size=60)]
K = [str(value) for value in RNG.integers(0, 4, size=60)]
C = RNG.choice(["a", "b"], size=60).tolist()
FRAME = pd.DataFrame({"x": X, "y": Y, "k": K, "c": C})


def table(frame: pd.DataFrame, **options: Any) -> Dataset:
    return from_frame(frame, ReadSettings(**{"no_target": "target" not in options, **options}))


def column(data: Dataset, name: str) -> Column:
    return next(each for each in data.columns if each.name == name)


def codes(data: Dataset) -> dict[str, str]:
    return {finding.code: finding.message for finding in data.findings}


def written(path: Path, frame: pd.DataFrame, kind: str) -> Path:
    file = path / f"t.{kind}"
    if kind == "csv":
        frame.to_csv(file, index=False)
    elif kind == "parquet":
        frame.to_parquet(file)
    elif kind == "xlsx":
        frame.to_excel(file, index=False)
    elif kind == "jsonl":
        frame.to_json(file, orient="records", lines=True)
    else:
        lines = [f"@attribute {name} string" for name in frame]
        rows = [",".join(f"'{value}'" for value in row) for row in frame.to_numpy().tolist()]
        file.write_text("\n".join(["@relation r", *lines, "@data", *rows]))
    return file


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "jsonl", "arff"])
def test_one_rule_for_every_format(tmp_path: Path, kind: str) -> None:
    frame = FRAME.assign(x=[*X[:50], *["unknown"] * 9, "#REF!"])
    data = load(written(tmp_path, frame, kind), ReadSettings(no_target=True))
    found = column(data, "x")
    assert found.kind == "numeric"
    assert found.values[:50].tolist() == [float(word) for word in X[:50]]  # noqa: PD011 - ours, not pandas'
    assert found.missing.sum() == 10
    assert found.absent is not None
    assert found.absent.words == ("unknown", "#REF!")
    assert codes(data)["words-among-numbers"] == (
        "words among numbers count as missing values of their own kind: "
        "x: 'unknown' in 9 rows, '#REF!' in 1 row, first in data row 51"
    )


def test_numbers_and_words_in_one_column_of_objects() -> None:
    values: list[object] = [float(word) for word in X]
    values[3:5] = ["unknown", "NA"]
    found = column(table(FRAME.assign(x=pd.Series(values, dtype=object))), "x")
    assert found.absent is not None
    assert found.absent.words == ("unknown",)
    assert (found.kind, int(found.missing.sum())) == ("numeric", 2)


def test_a_row_of_units_is_one_remark() -> None:
    frame = pd.DataFrame([{"x": "kg", "y": "m", "k": "-", "c": "-"}, *FRAME.to_dict("records")])
    data = table(frame)
    assert {each.name: each.kind for each in data.columns} == {
        "x": "numeric", "y": "numeric", "k": "numeric", "c": "categorical",
    }  # fmt: skip
    assert codes(data) == {
        "row-of-words": "data row 1 holds words in 3 columns of numbers, perhaps their units: 'kg', 'm', '-'; they "
        "count as missing values"
    }


def test_a_row_of_totals_is_one_remark() -> None:
    data = table(pd.DataFrame([*FRAME.to_dict("records"), {"x": "sum", "y": "sum", "k": "7", "c": ""}]))
    assert "data row 61 holds words in 2 columns of numbers, perhaps a row of totals" in codes(data)["row-of-words"]


def test_a_repeated_header_is_one_remark() -> None:
    names = {name: name for name in FRAME}
    rows = FRAME.to_dict("records")
    data = from_frame(pd.DataFrame([*rows[:30], names, *rows[30:]]), ReadSettings())
    assert {each.name: each.kind for each in data.columns} == {"x": "numeric", "k": "numeric", "c": "categorical"}
    assert column(data, "c").levels == tuple(dict.fromkeys(C))
    assert data.target is not None
    assert data.target.missing.sum() == 1
    assert codes(data) == {"header-repeated": "data row 31 repeats the header; its names count as missing values"}


class TestTargets:
    def test_numbers_with_a_word(self) -> None:
        data = table(FRAME.assign(y=["unknown", *Y[1:]]), target="y")
        assert data.target is not None
        assert (data.target.kind, int(data.target.missing.sum())) == ("numbers", 1)

    def test_classes_with_a_word(self) -> None:
        labels = [str(i % 24) for i in range(960)]
        frame = pd.DataFrame({"x": RNG.normal(size=960), "y": ["unknown", *labels[1:]]})
        data = table(frame, target="y")
        assert "unknown" in data.classes
        assert not data.findings

    def test_classes_that_are_spelled_as_numbers(self) -> None:
        frame = pd.DataFrame({"x": RNG.normal(size=60), "y": [str(i % 25) for i in range(60)]})
        assert len(table(frame, target="y").classes) == 25


def test_doubtful_commas_are_read_as_the_other_columns_are() -> None:
    commas = [f"{i % 9 + 1},{i + 100}" for i in range(60)]
    data = table(FRAME.assign(x=commas, y=[f"{i},5" for i in range(60)]))
    assert column(data, "x").values[0] == 1.1  # noqa: PD011 - ours, not pandas'
    assert not data.findings
    doubtful = table(FRAME.assign(x=commas, y=C))
    assert column(doubtful, "x").values[0] == 1100  # noqa: PD011 - ours, not pandas'
    assert "'x', but all of them can be decimal commas" in codes(doubtful)["decimal-in-doubt"]
    assert not table(FRAME.assign(x=commas, y=C), decimal="comma").findings


def test_numbers_in_two_ways_are_remarked() -> None:
    two = [f"{1000 + i}.5" if i % 2 else f"1,{i:03d}.5" for i in range(60)]
    assert "'x' (60 of 60 values)" in codes(table(FRAME.assign(x=two)))["numbers-as-words"]


def test_declared_numbers() -> None:
    assert column(table(FRAME.assign(x=["n.d.", *X[1:]]), numeric=("x",)), "x").missing.sum() == 1
    with pytest.raises(DataError, match="'a' is not a number"):
        table(FRAME.assign(x=["a", "b"] * 20 + X[:20]), numeric=("x",))
    assert column(table(FRAME.assign(k=["x", *K[1:]]), numeric=("k",)), "k").kind == "numeric"


@pytest.mark.parametrize("words", [["true", "True", "TRUE", "false"], ["true", "FALSE"]])
def test_true_and_false_in_any_case(words: list[str]) -> None:
    data = table(FRAME.assign(c=RNG.choice(words, size=60)))
    assert sorted(column(data, "c").levels) == ["False", "True"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("missing", [False, True])
def test_large_numbers_in_files(tmp_path: Path, kind: str, missing: bool) -> None:
    values: list[int | None] = [10**18 + int(i) for i in RNG.permutation(60) // 2]
    if missing:
        values[7] = None
    frame = pd.DataFrame({"x": pd.Series(values, dtype="Int64"), "y": RNG.normal(size=60)})
    if kind == "jsonl":
        file = tmp_path / "t.jsonl"
        file.write_text("\n".join(json.dumps({"x": value, "y": 0.5 * i}) for i, value in enumerate(values)))
    else:
        file = written(tmp_path, frame, kind)
    found = column(load(file, ReadSettings(no_target=True)), "x")
    assert found.exact is not None
    expected = [-1 if value is None else value - 10**18 for value in values]
    assert found.exact.ranks.tolist() == expected


def test_numbers_of_any_length_in_text(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("x,y\n" + "".join(f"{10**30 + i}.25,{i % 7}\n" for i in range(40, 0, -1)))
    found = column(load(file, ReadSettings(no_target=True)), "x")
    assert found.exact is not None
    assert found.exact.ranks.tolist() == list(range(39, -1, -1))
