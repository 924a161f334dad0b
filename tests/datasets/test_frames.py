"""The same table from every library gives the same report."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import picsc
from picsc.datasets.frames import read_exported, read_series
from picsc.datasets.memory import from_memory
from picsc.settings import ReadSettings

N = 60


def columns() -> dict[str, list[Any]]:
    """Python values, some of them missing."""
    random = np.random.default_rng(0)
    days = [int(day) for day in random.integers(0, 700, N)]
    values: dict[str, list[Any]] = {
        "size": [float(x) for x in random.normal(size=N)],
        "count": [int(x) for x in random.integers(0, 9, N)],
        "big": [2**60 + int(x) for x in random.integers(0, 9, N)],
        "flag": [bool(x) for x in random.integers(0, 2, N)],
        "colour": [str(x) for x in random.choice(["red", "green", "blue"], N)],
        "day": [date(2023, 1, 1) + timedelta(days=day) for day in days],
        "at": [datetime(2023, 1, 1, tzinfo=UTC) + timedelta(hours=7 * day) for day in days],
        "took": [timedelta(minutes=day) for day in days],
        "price": [Decimal(day) / 4 for day in days],
        "class": [str(x) for x in random.choice(["no", "yes"], N)],
    }
    for i, name in enumerate([*values][:-1]):
        if name != "size":
            values[name][5 + i] = None
    return values


class Interchanged:
    """A table that offers the interchange protocol alone."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        return self.table.__dataframe__(nan_as_null, allow_copy)


class Streamed:
    """A table that offers Arrow's stream alone, with words as views."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def polars_frame() -> Any:
    return pytest.importorskip("polars").DataFrame(columns())


def polars_parquet(folder: Path) -> str:
    polars_frame().write_parquet(folder / "memory.parquet")
    return str(folder / "memory.parquet")


def arrow_parquet(folder: Path) -> str:
    pq.write_table(pa.table(columns()), folder / "memory.parquet")
    return str(folder / "memory.parquet")


FRAMES: dict[str, Callable[[Path], Any]] = {
    "polars": lambda _: polars_frame(),
    "arrow": lambda _: pa.table(columns()),
    "arrow in chunks": lambda _: pa.concat_tables([pa.table(columns()).slice(0, 20), pa.table(columns()).slice(20)]),
    "record batch": lambda _: pa.table(columns()).combine_chunks().to_batches()[0],
    "narwhals": lambda _: nw.from_native(pa.table(columns())),
    "narwhals over pandas": lambda _: nw.from_native(of_pandas()),
    "stream": lambda _: Streamed(pa.table(columns())),
    "parquet": arrow_parquet,
    "parquet of polars": polars_parquet,
}


def of_pandas() -> pd.DataFrame:
    return pa.table(columns()).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


def without(found: Any, *keys: str) -> Any:
    """A nest of dictionaries without some keys."""
    if isinstance(found, dict):
        return {key: without(value, *keys) for key, value in found.items() if key not in keys}
    return [without(value, *keys) for value in found] if isinstance(found, list | tuple) else found


def said(report: Any) -> str:
    """A report without how long it took, and where the rows came from, which differs between memory and files."""
    return json.dumps(without(report.as_dict(), "seconds", "source", "sha256", "reading", "manifest"), default=str)


@pytest.mark.parametrize("name", FRAMES)
def test_an_audit_of_the_same_table_gives_the_same_report(name: str, tmp_path: Path) -> None:
    how = {"target": "class", "folds": 3, "draws": 99}
    assert said(picsc.audit(FRAMES[name](tmp_path), **how)) == said(picsc.audit(of_pandas(), **how))  # type: ignore[arg-type]


VERBS: dict[str, Callable[[Any], Any]] = {
    "cv": lambda data: picsc.cross_validate(data, target="class", folds=3, repeats=1, epochs=2, strength=0.1),
    "compare": lambda data: picsc.compare(
        data, target="class", folds=3, repeats=1, epochs=2, strength=0.1, methods=["st-cv", "picsc"]
    ),
    "fed": lambda data: picsc.federate(
        data, target="class", clients=2, repeats=1, rounds=1, lr=0.1, methods=["fedavg", "picsc"]
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_other_verbs_do_too(verb: str) -> None:
    assert said(VERBS[verb](polars_frame())) == said(VERBS[verb](of_pandas()))


def test_splitters_take_frames_of_other_libraries() -> None:
    for splitter in (picsc.TimeSplit("day", n_splits=2), picsc.DOBSCVSplit(3), picsc.BatchSplit(3)):
        known = {name: values for name, values in columns().items() if name in ("size", "day")}
        known["day"][10] = date(2023, 5, 5)
        y = columns()["class"]
        expected = list(splitter.split(pd.DataFrame(known), y))
        for frame in (pytest.importorskip("polars").DataFrame(known), pa.table(known)):
            found = list(splitter.split(frame, y))
            for one, other in zip(found, expected, strict=True):
                assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_labels_may_come_from_another_library() -> None:
    frame = polars_frame()
    x, y = frame.drop("class"), frame["class"]
    expected = picsc.audit(of_pandas(), target="class", folds=3, draws=99).fragments
    for labels in (y, y.cast(pytest.importorskip("polars").Categorical), y.to_frame(), y.to_arrow(), y.to_list()):
        found = picsc.audit(x, labels, folds=3, draws=99)
        assert found.fragments == expected
    assert picsc.audit(x[: N // 2], y[: N // 2], draws=99, reference=(x, y)).data.target == "class"


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda pl: pl.Series(["a", "b", None] * 20, dtype=pl.Categorical), "categorical"),
        (lambda pl: pl.Series(["lo", "hi", None] * 20, dtype=pl.Enum(["lo", "hi"])), "categorical"),
        (lambda pl: pl.Series([date(2023, 1, 1 + i * 7 % 28) for i in range(N)]), "datetime"),
        (
            lambda pl: pl.Series([datetime(2023, 1, 1 + i * 7 % 28) for i in range(N)]).dt.replace_time_zone(
                "Europe/Berlin"
            ),
            "datetime",
        ),
        (lambda pl: pl.Series([timedelta(minutes=i * 7 % 30) for i in range(N)]), "numeric"),
        (lambda pl: pl.Series([i * 7 % 30 for i in range(N)], dtype=pl.Decimal(10, 2)), "numeric"),
        (lambda pl: pl.Series([i * 7 % 30 for i in range(N)], dtype=pl.Int128), "numeric"),
        (lambda pl: pl.Series([i * 7 % 30 for i in range(N)], dtype=pl.UInt8), "numeric"),
        (lambda pl: pl.Series([True, None, False] * 20), "boolean"),
        (lambda pl: pl.Series([None] * N), "empty"),
        (lambda pl: pl.Series([[1, 2]] * N), "column 'it' holds nested values"),
        (lambda pl: pl.Series([[1, 2]] * N, dtype=pl.Array(pl.Int64, 2)), "column 'it' holds nested values"),
        (lambda pl: pl.Series([{"a": 1}] * N), "column 'it' holds nested values"),
        (lambda pl: pl.Series([b"a", b"b"] * 30), "column 'it' holds bytes"),
        (lambda pl: pl.Series([object()] * N, dtype=pl.Object), "column 'it' holds Python objects"),
        (lambda pl: pl.Series([2**100] * N, dtype=pl.Int128), "column 'it' of type Int128 cannot be read"),
    ],
)
def test_every_type_of_polars_has_a_kind_or_a_sentence(make: Callable[[Any], Any], kind: str) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"x": np.random.default_rng(0).normal(size=N), "it": make(pl), "y": ["p", "q"] * 30})
    settings = ReadSettings(target="y")
    if kind.startswith("column"):
        with pytest.raises(picsc.DataError, match=kind):
            from_memory(frame, None, settings)
        dropped = from_memory(frame, None, ReadSettings(target="y", drop=("it",)))
        assert [column.name for column in dropped.columns] == ["x"]
        return
    table = from_memory(frame, None, settings)
    kinds = {column.name: column.kind for column in (*table.columns, *table.left_out)}
    assert kinds["it"] == kind


def test_lazy_frames_and_single_columns_are_refused_by_what_makes_a_frame_of_them() -> None:
    frame = polars_frame()
    with pytest.raises(picsc.DataError, match=r"LazyFrame are no table; give what its collect\(\) returns"):
        picsc.audit(frame.lazy(), folds=3)
    with pytest.raises(picsc.DataError, match=r"Series are no table; give what its to_frame\(\) returns"):
        picsc.audit(frame["size"], folds=3)


def test_numbers_keep_their_memory() -> None:
    numbers = np.random.default_rng(0).normal(size=1000)
    for table in (pa.table({"x": numbers}), pytest.importorskip("polars").DataFrame({"x": numbers})):
        frame, _ = read_exported(table, ReadSettings(), "memory")
        given = table.column("x").chunk(0).to_numpy() if isinstance(table, pa.Table) else table["x"].to_numpy()
        assert np.shares_memory(frame["x"].to_numpy(), given)


def test_runs_and_extension_types_are_written_out() -> None:
    runs = pc.run_end_encode(pa.array(["a", "a", "b", "b", "b"]))
    assert list(read_series(pa.chunked_array([runs]), "it", "memory")) == ["a", "a", "b", "b", "b"]
    storage = pa.array([1, 2, 3])
    labelled = pa.ExtensionArray.from_storage(Labelled(), storage)
    assert list(read_series(pa.chunked_array([labelled]), "it", "memory")) == [1, 2, 3]


class Labelled(pa.ExtensionType):
    """Whole numbers under another name."""

    def __init__(self) -> None:
        super().__init__(pa.int64(), "tests.labelled")

    def __hash__(self) -> int:  # pyarrow 15 gives extension types none
        return hash(self.extension_name)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage: pa.DataType, _serialized: bytes) -> "Labelled":
        return cls()
