"""Words such as NA and None: missing among numbers and dates, values elsewhere, by one rule for every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from picsc import audit
from picsc.datasets.load import from_arrays, from_frame, load
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

PLAIN = ReadSettings()
ROWS = 40
WORDS = ("None", "NA", "n/a", "nan", "null")
LABELS = [*WORDS, "cat", "", "None"] * 5
NUMBERS: list[object] = ["NA" if i % 5 == 0 else i * 1.5 for i in range(ROWS)]
DATES = ["null" if i % 8 == 0 else f"2024-01-{1 + i % 28:02d}" for i in range(ROWS)]
CODES = ["NA" if i % 10 == 0 else f"00{i % 3}" for i in range(ROWS)]
FRAME = pd.DataFrame({"number": NUMBERS, "date": DATES, "code": CODES, "label": LABELS})


def csv(path: Path) -> Path:
    FRAME.to_csv(path, index=False)
    return path


def quoted_csv(path: Path) -> Path:
    FRAME.to_csv(path, index=False, quoting=1)
    return path


def tsv(path: Path) -> Path:
    FRAME.to_csv(path, index=False, sep="\t")
    return path


def jsonl(path: Path) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in FRAME.to_dict("records")))
    return path


def parquet(path: Path) -> Path:
    """It holds numbers or words in a column, never both, so that numbers have no words among them."""
    FRAME.assign(number=pd.to_numeric(FRAME["number"], errors="coerce")).to_parquet(path)
    return path


def xlsx(path: Path) -> Path:
    FRAME.to_excel(path, index=False)
    return path


def arff(path: Path) -> Path:
    rows = "\n".join(",".join(str(value) or "?" for value in row) for row in FRAME.to_numpy())
    kinds = "@attribute number numeric\n@attribute date string\n@attribute code string\n@attribute label string\n"
    path.write_text(f"@relation x\n{kinds}@data\n{rows}\n")
    return path


FORMATS: dict[str, Callable[[Path], Path]] = {
    "a.csv": csv, "quoted.csv": quoted_csv, "a.tsv": tsv, "a.jsonl": jsonl, "a.parquet": parquet, "a.xlsx": xlsx,
    "a.arff": arff,
}  # fmt: skip
in_every_format = pytest.mark.parametrize("name", FORMATS)


def kinds(table: Dataset) -> dict[str, tuple[str, int]]:
    """Kind and number of missing values of every column."""
    return {column.name: (column.kind, int(column.missing.sum())) for column in table.columns}


def labels(table: Dataset) -> dict[str, int]:
    """Rows of every class, and of none under the empty word."""
    assert table.target is not None
    words = [*table.target.levels, ""]
    codes = table.target.values.astype(np.int64)  # noqa: PD011 - no pandas
    return dict(zip(words, np.bincount(codes % len(words), minlength=len(words)).tolist(), strict=True))


ALL_LABELS = {"None": 10, "NA": 5, "n/a": 5, "nan": 5, "null": 5, "cat": 5, "": 5}


@in_every_format
def test_words_are_missing_among_numbers_and_dates_only(tmp_path: Path, name: str) -> None:
    table = load(FORMATS[name](tmp_path / name), PLAIN)
    assert labels(table) == ALL_LABELS
    assert kinds(table) == {"number": ("numeric", 8), "date": ("datetime", 5), "code": ("categorical", 4)}


@in_every_format
def test_given_words_are_missing_in_every_column_and_no_others(tmp_path: Path, name: str) -> None:
    table = load(FORMATS[name](tmp_path / name), ReadSettings(missing_words=("NA", "cat")))
    assert labels(table) == {word: rows for word, rows in ALL_LABELS.items() if word not in ("NA", "cat")} | {"": 15}
    assert kinds(table) == {"number": ("numeric", 8), "date": ("categorical", 0), "code": ("categorical", 4)}


@pytest.mark.parametrize("name", ["a.csv", "quoted.csv", "a.tsv", "a.jsonl", "a.xlsx"])
def test_without_missing_words_every_word_is_a_value(tmp_path: Path, name: str) -> None:
    table = load(FORMATS[name](tmp_path / name), ReadSettings(missing_words=()))
    assert labels(table) == ALL_LABELS
    assert [missing for _, missing in kinds(table).values()] == [0, 0, 0]


def test_frames_follow_the_same_rule() -> None:
    assert labels(from_frame(FRAME, PLAIN)) == ALL_LABELS
    assert kinds(from_frame(FRAME, PLAIN))["number"] == ("numeric", 8)
    assert kinds(from_frame(FRAME, ReadSettings(missing_words=())))["number"] == ("categorical", 0)


def test_arrays_of_words_follow_the_same_rule() -> None:
    table = from_arrays(np.arange(80).reshape(40, 2) % 7, np.asarray(LABELS))
    assert labels(table) == ALL_LABELS


def test_declared_categories_are_words_whatever_they_look_like() -> None:
    frame = pd.DataFrame({"x": np.arange(40) % 7, "c": pd.Categorical(["1", "2", "NA", "3"] * 10), "y": LABELS})
    assert kinds(from_frame(frame, PLAIN))["c"] == ("categorical", 0)
    assert kinds(from_frame(frame, ReadSettings(missing_words=("NA",))))["c"] == ("categorical", 10)


def test_levels_that_arff_declares_are_words(tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    rows = "".join(f"{i % 7},{word}\n" for i, word in enumerate(["1", "NA", "?", "2"] * 10))
    path.write_text(f"@relation r\n@attribute x real\n@attribute y {{1,2,NA}}\n@data\n{rows}")
    assert labels(load(path, PLAIN)) == {"1": 10, "NA": 10, "2": 10, "": 10}


def test_keel(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    rows = "".join(f"{i % 7 or 'NA'},{word}\n" for i, word in enumerate(["None", "NA", "<null>", "cat"] * 10))
    path.write_text(f"@relation r\n@attribute x real\n@attribute y {{None,NA,cat}}\n@outputs y\n@data\n{rows}")
    assert labels(load(path, PLAIN)) == {"None": 10, "NA": 10, "cat": 10, "": 10}
    assert kinds(load(path, PLAIN)) == {"x": ("numeric", 6)}
    given = ReadSettings(missing_words=("NA",))
    assert labels(load(path, given)) == {"None": 10, "cat": 10, "": 20}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.xlsx"])
def test_a_number_as_a_missing_word(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"x": [-999.0, 1.5, 2.5, 3.5] * 10, "y": ["a", "b"] * 20})
    write = {"a.csv": frame.to_csv, "a.xlsx": frame.to_excel}.get(name)
    if name == "a.jsonl":
        frame.to_json(tmp_path / name, orient="records", lines=True)
    elif write is None:
        frame.to_parquet(tmp_path / name)
    else:
        write(tmp_path / name, index=False)
    assert kinds(load(tmp_path / name, ReadSettings(missing_words=("-999",)))) == {"x": ("numeric", 10)}


def test_groups_may_be_called_none() -> None:
    frame = pd.DataFrame({"x": np.arange(40) % 7, "g": ["None", "NA", "u", "v"] * 10, "y": ["a", "b"] * 20})
    assert [piece.name for piece in audit(frame, by="g", draws=99).fragments] == ["g=NA", "g=None", "g=u", "g=v"]


def test_declared_numbers_name_the_word_that_is_no_number() -> None:
    frame = pd.DataFrame({"x": ["NA", "1", "two", "3"] * 10, "y": ["a", "b"] * 20})
    with pytest.raises(DataError, match="data row 3: 'two' is not a number"):
        from_frame(frame, ReadSettings(numeric=("x",)))
    with pytest.raises(DataError, match="data row 3: 'two' is not a number"):
        from_frame(frame, ReadSettings(target="x", task="regression"))


def test_reports_name_the_words_only_where_they_are_given() -> None:
    frame = pd.DataFrame({"x": np.arange(40) % 7, "y": ["a", "b"] * 20})
    assert "missing_words" not in audit(frame, draws=99).settings["read"]
    assert audit(frame, draws=99, missing_words=[]).settings["read"]["missing_words"] == []
