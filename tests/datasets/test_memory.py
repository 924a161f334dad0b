"""From frames of any library, arrays and labels to one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from scipy.sparse import csr_matrix

from picsc.datasets.images import ImageSet
from picsc.datasets.open import open_data
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.settings import ReadSettings

N = 12


class Stream:
    """A frame of which only the Arrow stream is known."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Interchange:
    """A frame of which only the interchange protocol is known."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        return self.table.__dataframe__(nan_as_null, allow_copy)


class NamedArray:
    """A frame of which nothing can be read but an array."""

    columns = ("a", "b")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((N, 2))

    def to_pandas(self) -> object:
        """As many libraries call it."""


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": np.linspace(0.5, 9.25, N) ** 2 % 7,
            "colour": ["red", "green", "green"] * (N // 3),
            "day": pd.date_range("2024-01-01", periods=N, freq="D")[[3, 1, 2, 0, 5, 4, 7, 6, 9, 8, 11, 10]],
            "species": ["cat", "dog"] * (N // 2),
        }
    )


def opened(data: Any, y: Any = None, keys: tuple[str, ...] = (), **options: Any) -> Dataset:
    found = open_data(data, y, ReadSettings(**options), keys=keys)
    assert isinstance(found, Dataset)
    return found


def described(table: Dataset) -> list[tuple[str, str]]:
    return [(column.name, column.kind) for column in table.columns]


class TestFrames:
    @pytest.mark.parametrize(
        "export",
        [
            lambda table: table,
            Stream,
            Interchange,
            lambda table: table.combine_chunks().to_batches()[0],
            lambda table: table.to_reader(),
        ],
        ids=["table", "stream", "interchange", "batch", "reader"],
    )
    def test_names_kinds_and_target_are_those_of_pandas(self, export: Any) -> None:
        plain = opened(frame(), target="species")
        table = opened(export(pa.Table.from_pandas(frame())), target="species")
        assert described(table) == described(plain)
        assert described(table)[:2] == [("age", "numeric"), ("colour", "categorical")]
        assert table.target is not None
        assert (table.target.name, table.target.levels) == ("species", ("cat", "dog"))
        assert table.sha256 == plain.sha256

    def test_target_is_found_by_its_name(self) -> None:
        table = opened(pa.Table.from_pandas(frame().rename(columns={"age": "y"})))
        assert table.target is not None
        assert table.target.name == "y"

    def test_target_that_a_table_declares(self) -> None:
        declared = pa.Table.from_pandas(frame()).replace_schema_metadata({"picsc.target": "colour"})
        assert opened(declared).target.name == "colour"  # type: ignore[union-attr]
        assert opened(declared, target="species").target.name == "species"  # type: ignore[union-attr]

    def test_nested_columns_are_refused_by_name(self) -> None:
        table = pa.table({"age": [2.5, 1, 4, 3, 9], "parts": [[1]] * 5, "y": list("ababa")})
        with pytest.raises(DataError, match=r"column 'parts' holds nested values"):
            opened(table)
        assert described(opened(table, drop=("parts",))) == [("age", "numeric")]

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            ({"a": [1, 2]}, r"type dict are no table; make a frame of it with pandas\.DataFrame"),
            ([{"a": 1}] * 9, r"type list of dict are no table; make a frame"),
            (None, "type NoneType are no table; give a frame, an array of shape"),
            (3, "type int are no table"),
            ([[1, 2], [3]], "type list of list are no table"),
            (["a.csv", "b.csv"], "type list of str are no table"),
            (pd.Series([1, 2, 3]), r"Series are no table; give what its to_frame\(\) returns"),
            (csr_matrix(np.eye(9)), r"csr_matrix are no table; give what its toarray\(\) returns"),
            (NamedArray(), r"NamedArray are no table; give what its to_pandas\(\) returns"),
            (pa.chunked_array([[1, 2, 3]]), "ChunkedArray are no table"),  # pyarrow 15 has no stream of one
            (np.ones(9), "X has 1 dimension where a table has 2"),
        ],
        ids=lambda each: type(each).__name__,
    )
    def test_what_is_no_table_is_refused_by_its_type(self, data: Any, said: str) -> None:
        with pytest.raises(DataError, match=said):
            opened(data)

    @pytest.mark.parametrize("give", [list, tuple, np.asarray, torch.tensor], ids=["list", "tuple", "numpy", "torch"])
    def test_arrays_are_as_before(self, give: Any) -> None:
        rows = [[1.5, 2.0], [0.5, 3.25], [2.5, 1.0], [7.25, 1.5]]
        table = opened(give(rows), give([0, 1, 0, 1]))
        assert described(table) == [("x1", "numeric"), ("x2", "numeric")]
        assert table.target is not None
        assert table.target.name == "target"
        assert opened(give(rows)).target is None

    def test_an_array_can_be_cut_by_a_column(self) -> None:
        table = opened(np.stack([np.array([0.5, 3, 1, 4, 1, 5]), np.arange(6.0)], axis=1), keys=("x2",))
        assert described(table) == [("x1", "numeric")]
        assert table.keys["x2"].tolist() == list(range(6))

    def test_images_are_images(self) -> None:
        pixels = np.zeros((6, 4, 4), dtype=np.uint8)
        assert isinstance(open_data(pixels, list("ababab"), ReadSettings()), ImageSet)


class TestLabels:
    X = frame().drop(columns="species")

    @pytest.mark.parametrize("arrow", [False, True])
    @pytest.mark.parametrize(
        ("y", "name"),
        [
            (frame()["species"], "species"),
            (frame()["species"].rename(4), "4"),
            (frame()["species"].rename(None), "target"),
            (frame()[["species"]], "species"),
            (frame()["species"].to_numpy(), "target"),
            (frame()["species"].tolist(), "target"),
            (frame()["species"].to_numpy()[:, None], "target"),
            (pa.chunked_array([frame()["species"].tolist()]), "target"),
        ],
        ids=["series", "number", "unnamed", "frame", "array", "list", "column", "arrow"],
    )
    def test_y_is_the_target_under_its_name(self, y: Any, name: str, arrow: bool) -> None:
        table = opened(pa.Table.from_pandas(self.X) if arrow else self.X, y)
        assert table.target is not None
        assert (table.target.name, table.target.levels) == (name, ("cat", "dog"))
        assert table.target.chosen == "given as y"
        assert [column.name for column in table.columns] == ["age", "colour", "day"]

    def test_rows_go_by_position(self) -> None:
        y = frame()["species"][::-1]
        given = opened(self.X, y).target
        assert given is not None
        assert [given.levels[code] for code in given.values] == y.tolist()  # noqa: PD011 - ours, not pandas'

    def test_the_frame_is_left_as_it_is(self) -> None:
        before = self.X.copy()
        opened(self.X, frame()["species"])
        pd.testing.assert_frame_equal(self.X, before)

    def test_missing_labels_in_a_list_are_missing(self) -> None:
        target = opened(self.X, [*frame()["species"][:-1], float("nan")]).target
        assert target is not None
        assert target.levels == ("cat", "dog")
        assert target.values[-1] == -1  # noqa: PD011 - ours, not pandas'

    def test_names_of_columns_may_be_numbers(self) -> None:
        table = opened(self.X.set_axis([0, 1, 2], axis=1), frame()["species"])
        assert [column.name for column in table.columns] == ["0", "1", "2"]

    @pytest.mark.parametrize(
        ("X", "y", "options", "said"),
        [
            (frame(), frame()["species"], {}, "y is called 'species', and so is a column of X; rename one"),
            (frame(), ["a"] * (N - 1), {}, "X has 12 rows but y has 11; they must be equal"),
            (frame(), np.ones((N, 2)), {}, r"y of type numpy\.ndarray of shape \(12, 2\) holds no labels"),
            (frame(), 3, {}, "y of type int holds no labels; give one label per row"),
            (frame(), "species", {}, "y='species' is one word .* --target 'species'"),
            (frame(), [0, 1] * 6, {"target": "age"}, "y is the target 'target', and --target names 'age'"),
            (frame(), [0, 1] * 6, {"no_target": True}, "--no-target contradicts y"),
            (np.ones((N, 2)), [0, 1] * 6, {"no_target": True}, "--no-target contradicts y"),
            ("a.csv", [0, 1], {}, "name the target column of a file with --target"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, X: Any, y: Any, options: dict[str, Any], said: str) -> None:
        with pytest.raises((DataError, SettingsError), match=said):
            opened(X, y, **options)


def test_names_with_the_same_text_are_refused_by_name() -> None:
    table = frame().set_axis([3, "3", "b", "y"], axis=1)
    with pytest.raises(DataError, match=r"columns 3 and '3' have the same name as text, '3'; rename them, or use"):
        opened(table)
    assert [column.name for column in opened(table, rename_duplicates=True).columns] == ["3", "3.1", "b"]
    with pytest.raises(DataError, match=r"repeated column name 'b'"):
        opened(table.set_axis(["a", "b", "b", "y"], axis=1))
