"""From files, frames and arrays to one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from picsc.datasets.load import from_arrays, from_frame, load
from picsc.datasets.table import Column, Dataset, Target
from picsc.errors import DataError
from picsc.settings import ReadSettings

N = 40


def frame(**more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.normal(size=N),
            "colour": rng.choice(["red", "green"], size=N),
            "y": rng.choice(["a", "b"], size=N),
            **more,
        }
    )


def refused(table: pd.DataFrame, keys: tuple[str, ...] = (), **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        from_frame(table, ReadSettings(**options), keys=keys)
    return str(caught.value)


def same(one: Dataset, other: Dataset) -> None:
    """The tables hold the same, whatever they are called."""
    assert one.n == other.n
    assert one.left_out == other.left_out
    for a, b in zip(one.columns, other.columns, strict=True):
        assert (a.name, a.kind, a.levels, a.note) == (b.name, b.kind, b.levels, b.note)
        np.testing.assert_array_equal(a.values, b.values)
    assert one.target is not None
    assert other.target is not None
    assert one.target.levels == other.target.levels
    np.testing.assert_array_equal(data(one.target), data(other.target))


def data(column: Column | Target) -> NDArray[Any]:
    return column.values  # noqa: PD011 - ours, not pandas'


class TestFiles:
    @pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
    def test_same_table_from_every_format(self, tmp_path: Path, name: str) -> None:
        table = frame(half=[None, 1.5] * (N // 2))
        path = tmp_path / name
        {
            "t.csv": lambda: table.to_csv(path, index=False),
            "t.tsv": lambda: table.to_csv(path, index=False, sep="\t"),
            "t.parquet": lambda: table.to_parquet(path),
        }[name]()
        dataset = load(path, ReadSettings())
        assert (dataset.name, dataset.source) == ("t", str(path))
        same(dataset, from_frame(table, ReadSettings()))

    def test_npz_without_labels(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, X=np.random.default_rng(0).normal(size=(9, 2)))
        dataset = load(path, ReadSettings())
        assert dataset.target is None
        assert [column.name for column in dataset.columns] == ["x1", "x2"]

    def test_index_written_by_pandas_is_an_identifier(self, tmp_path: Path) -> None:
        frame().to_csv(tmp_path / "t.csv")
        dataset = load(tmp_path / "t.csv", ReadSettings())
        assert [(column.name, column.kind) for column in dataset.left_out] == [("c1", "identifier")]

    def test_message_names_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("a,y\n1,x\n2,x\n3,x\n4,x\n5,x\n")
        with pytest.raises(DataError, match=r"t\.csv: the target 'y' has one class only"):
            load(tmp_path / "t.csv", ReadSettings())


class TestFrames:
    @pytest.mark.parametrize("dtype", ["object", "str", "string"])
    def test_string_dtype_changes_nothing(self, dtype: str) -> None:  # P35
        plain = from_frame(frame().astype({"colour": object, "y": object}), ReadSettings())
        other = from_frame(frame().astype({"colour": dtype, "y": dtype}), ReadSettings())
        same(plain, other)
        assert plain.sha256 == other.sha256

    def test_digest_follows_the_values(self) -> None:
        changed = frame()
        changed.loc[3, "age"] += 1e-9
        digests = {from_frame(table, ReadSettings()).sha256 for table in (frame(), frame(), changed)}
        assert len(digests) == 2

    def test_digest_follows_names_and_categories(self) -> None:
        renamed = frame().rename(columns={"age": "height"})
        swapped = frame().replace({"colour": {"red": "blue"}})
        digests = {from_frame(table, ReadSettings()).sha256 for table in (frame(), renamed, swapped)}
        assert len(digests) == 3

    def test_later_changes_do_not_reach_the_table(self) -> None:
        table = frame()
        dataset = from_frame(table, ReadSettings())
        before = data(dataset.columns[0])[0]
        table.loc[0, "age"] = 99.0
        assert data(dataset.columns[0])[0] == before

    def test_index_and_column_names_of_any_type(self) -> None:
        table = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 3)), index=list("abcdefghi"))
        assert [column.name for column in from_frame(table, ReadSettings()).columns] == ["0", "1"]

    def test_empty_and_identifying_columns_are_left_out(self) -> None:  # P8
        dataset = from_frame(frame(none=[None] * N, row=range(N)), ReadSettings())
        assert [(column.name, column.kind) for column in dataset.left_out] == [("none", "empty"), ("row", "identifier")]
        assert [column.name for column in dataset.columns] == ["age", "colour"]

    def test_rows_with_missing_values_stay(self) -> None:  # P9
        first_half = np.arange(N) < N // 2
        table = frame(a=np.where(first_half, np.nan, 0.5 + np.arange(N) % 7), b=np.where(first_half, 0.5, np.nan))
        assert from_frame(table, ReadSettings()).n == N

    def test_dropped_columns_are_listed(self) -> None:
        dataset = from_frame(frame(), ReadSettings(drop=("colour",)))
        assert [(column.name, column.reason) for column in dataset.left_out] == [("colour", "dropped by --drop")]

    def test_overrides(self) -> None:
        table = frame(code=[3, 1, 2, 1] * (N // 4), text=["1", "2"] * (N // 2))
        dataset = from_frame(table, ReadSettings(categorical=("code",), numeric=("text",)))
        kinds = {column.name: column.kind for column in dataset.columns}
        assert (kinds["code"], kinds["text"]) == ("categorical", "numeric")

    def test_repeated_names(self) -> None:  # P33
        table = frame()
        table.columns = pd.Index(["a", "a", "y"])
        assert "repeated column name 'a'" in refused(table)
        dataset = from_frame(table, ReadSettings(rename_duplicates=True))
        assert [column.name for column in dataset.columns] == ["a", "a.1"]

    @pytest.mark.parametrize(
        ("option", "values"),
        [("target", "colur"), ("categorical", ("colur",)), ("numeric", ("colur",)), ("drop", ("colur",))],
    )
    def test_unknown_columns(self, option: str, values: Any) -> None:
        message = refused(frame(), **{option: values})
        assert f"--{option} names no column 'colur'; did you mean 'colour'?" in message
        assert "'age', 'colour', 'y'" in message

    def test_too_few_rows(self) -> None:
        assert refused(frame().head(3)) == "memory: 3 data rows are too few; an audit needs at least 4"

    def test_no_usable_column(self) -> None:
        message = refused(frame()[["y"]].assign(c=1, y=["a", "b"] * (N // 2)), target="y")
        assert "'c': one value only: 1" in message

    def test_only_a_target(self) -> None:
        assert "one column only, 'y'" in refused(frame()[["y"]])


class TestKeys:
    def test_keys_are_no_covariates(self) -> None:
        dataset = from_frame(frame(site=["n", None] * (N // 2)), ReadSettings(target="y"), keys=("site",))
        assert "site" not in [column.name for column in (*dataset.columns, *dataset.left_out)]
        assert dataset.keys["site"].dtype == object
        assert dataset.keys["site"][:2].tolist() == ["n", None]

    @pytest.mark.parametrize("day", ["2024-01-31", "31.01.2024", pd.Timestamp("2024-01-31", tz="UTC")])
    def test_dates(self, day: Any) -> None:
        dataset = from_frame(frame(day=[day, None] * (N // 2)), ReadSettings(target="y"), keys=("day",))
        times = dataset.keys["day"]
        assert times.dtype == np.dtype("datetime64[ns]")
        assert times[0] == np.datetime64("2024-01-31")
        assert np.isnat(times[1])

    def test_numbers(self) -> None:
        dataset = from_frame(frame(year=[2024, None] * (N // 2)), ReadSettings(target="y"), keys=("year",))
        np.testing.assert_array_equal(dataset.keys["year"][:2], [2024.0, np.nan])

    def test_large_numbers_stay_apart(self) -> None:
        table = frame(site=[2**60, 2**60 + 1] * (N // 2))
        dataset = from_frame(table, ReadSettings(target="y"), keys=("site",))
        assert set(dataset.keys["site"]) == {str(2**60), str(2**60 + 1)}

    def test_a_key_may_be_the_target(self) -> None:
        dataset = from_frame(frame(), ReadSettings(target="y"), keys=("y",))
        assert dataset.target is not None
        assert dataset.target.name == "y"
        assert set(dataset.keys["y"]) == {"a", "b"}

    def test_unknown_key(self) -> None:
        message = refused(frame(), keys=("colou",))
        assert "--by, --time or --group names no column 'colou'; did you mean 'colour'?" in message


class TestArrays:
    rng = np.random.default_rng(0)

    def test_names(self) -> None:
        dataset = from_arrays(self.rng.normal(size=(9, 2)), np.array(["a", "b", "a"] * 3))
        assert [column.name for column in dataset.columns] == ["x1", "x2"]
        assert dataset.target is not None
        assert dataset.target.name == "target"

    def test_no_labels(self) -> None:
        assert from_arrays(self.rng.normal(size=(9, 2))).target is None

    @pytest.mark.parametrize("labels", [[-1, 1], [3, 7], ["no", "yes"], [False, True], [1, 2]])
    def test_spelling_of_labels_changes_nothing(self, labels: list[Any]) -> None:  # P45
        X = np.random.default_rng(0).normal(size=(8, 2))
        order = np.array([0, 1, 1, 0, 1, 0, 0, 1])
        dataset = from_arrays(X, np.array(labels)[order])
        assert dataset.target is not None
        assert data(dataset.target).tolist() == order.tolist()

    def test_shapes(self) -> None:
        with pytest.raises(DataError, match="X has 9 rows but y has 8"):
            from_arrays(np.ones((9, 2)), np.ones(8))
        with pytest.raises(DataError, match="X has 1 dimension where"):
            from_arrays(np.ones(9))
        with pytest.raises(DataError, match=r"y has shape \(9, 2\)"):
            from_arrays(np.ones((9, 2)), np.ones((9, 2)))

    @pytest.mark.parametrize(
        ("dtype", "said"),
        [("c16", "complex numbers"), ("V4", "records or bytes"), ([("a", "f8"), ("b", "i8")], "records or bytes")],
    )
    def test_values_that_are_neither_numbers_nor_words(self, dtype: Any, said: str) -> None:
        with pytest.raises(DataError, match=f"X holds {said}"):
            from_arrays(np.zeros((9, 2), dtype=dtype), np.ones(9))
        with pytest.raises(DataError, match=f"y holds {said}"):
            from_arrays(np.ones((9, 2)), np.zeros(9, dtype=dtype))
