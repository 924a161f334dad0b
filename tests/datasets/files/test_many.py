"""Several files as one table: folders, patterns and folders called key=value."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.datasets.files.read import read_frame
from picsc.errors import DataError
from picsc.settings import ReadSettings


def rows(seed: int, n: int = 60, shift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=n) + shift, "c": rng.choice(list("uv"), n), "y": rng.integers(2, size=n)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in (1, 2, 10):
        rows(i).to_csv(tmp_path / f"part {i}.csv", index=False)
    (tmp_path / "notes.md").write_text("not a table", encoding="utf-8")
    (tmp_path / "_SUCCESS").write_text("", encoding="utf-8")
    (tmp_path / ".hidden.csv").write_text("a\n1\n", encoding="utf-8")
    return tmp_path


def test_files_of_a_folder_are_one_table_in_natural_order(folder: Path) -> None:
    table = read_frame(folder, ReadSettings())
    assert table.frame["file"].drop_duplicates().tolist() == ["part 1", "part 2", "part 10"]
    pd.testing.assert_frame_equal(
        table.frame.drop(columns="file"), pd.concat([rows(1), rows(2), rows(10)], ignore_index=True), check_dtype=False
    )
    assert table.reading.choices[0].value == "3"


def test_a_pattern_names_the_files(folder: Path) -> None:
    table = read_frame(f"{folder}/part 1*.csv", ReadSettings())
    assert table.frame["file"].unique().tolist() == ["part 1", "part 10"]


def test_by_file_makes_each_file_a_piece(folder: Path) -> None:
    rows(3, shift=2).to_csv(folder / "part 3.csv", index=False)
    report = picsc.audit(folder, by="file", draws=99)
    names = [piece.name for piece in report.fragments]
    assert names == ["file=part 1", "file=part 2", "file=part 3", "file=part 10"]
    assert [piece.name for piece in report.shifted] == ["file=part 3"]


def test_the_column_of_files_is_no_covariate(folder: Path) -> None:
    report = picsc.audit(f"{folder}/*.csv", batches=3, draws=99)
    assert "file" not in {column.name for piece in report.fragments for column in piece.columns}
    assert report.data.target == "y"


def test_folders_called_key_value_are_columns(tmp_path: Path) -> None:
    for i, region in enumerate(("north", "south")):
        for part in range(2):
            place = tmp_path / f"region={region}" / f"part-{part}.parquet"
            place.parent.mkdir(exist_ok=True)
            rows(10 * i + part).to_parquet(place)
    report = picsc.audit(tmp_path, by="region", target="y", draws=99)
    assert [(piece.name, piece.rows) for piece in report.fragments] == [("region=north", 120), ("region=south", 120)]
    table = read_frame(tmp_path, ReadSettings())
    assert table.frame["file"].iloc[-1] == "region=south/part-1"


def test_a_column_of_numbers_in_one_file_and_words_in_another_is_decided_on_all_rows(tmp_path: Path) -> None:
    for name, b in (("one", ["1", "2"] * 30), ("two", ["3", "x"] * 30)):
        rows(1).assign(b=b).to_csv(tmp_path / f"{name}.csv", index=False)
    table = read_frame(tmp_path, ReadSettings())
    assert table.frame["b"].tolist() == ["1", "2"] * 30 + ["3", "x"] * 30


@pytest.mark.parametrize(("other", "joined"), [(["true", "False"], [1, 0]), (["1", "0"], [1, 0])])
def test_truth_values_of_any_spelling_are_one_type(tmp_path: Path, other: list[str], joined: list[int]) -> None:
    rows(1, 4).assign(b=[True, False] * 2).to_parquet(tmp_path / "one.parquet")
    rows(2, 4).assign(b=other * 2).to_parquet(tmp_path / "two.parquet")
    table = read_frame(tmp_path, ReadSettings())
    assert table.frame["b"].tolist() == [1, 0] * 2 + joined * 2


def test_a_column_that_a_file_lacks_is_missing_there(tmp_path: Path) -> None:
    rows(1).assign(d="word", e=pd.Timestamp("2020-01-01")).to_parquet(tmp_path / "one.parquet")
    rows(2).to_parquet(tmp_path / "two.parquet")
    frame = read_frame(tmp_path, ReadSettings()).frame
    assert frame["d"].isna().tolist() == frame["e"].isna().tolist() == [False] * 60 + [True] * 60
    assert str(frame["e"].dtype).startswith("datetime64")


def test_what_cannot_be_one_table_is_refused(tmp_path: Path, folder: Path) -> None:
    rows(1).to_parquet(folder / "other.parquet")
    with pytest.raises(DataError, match=r"several formats \(csv, parquet\)"):
        read_frame(folder, ReadSettings())
    with pytest.raises(DataError, match="no file matches this pattern"):
        read_frame(f"{folder}/*.tsv", ReadSettings())
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="is a directory without a file whose suffix is known"):
        read_frame(empty, ReadSettings())


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "data [1].csv"
    rows(1).to_csv(path, index=False)
    assert list(read_frame(path, ReadSettings()).frame) == ["a", "c", "y"]
