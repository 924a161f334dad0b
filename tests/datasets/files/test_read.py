"""Which reader a file gets, compressed and from standard input, and the readers of binary files."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from picsc.datasets.files.formats import BY_SUFFIX, stem
from picsc.datasets.files.read import READERS, read_frame
from picsc.datasets.load import load
from picsc.errors import DataError
from picsc.settings import ReadSettings
from picsc_cli.app import app
from tests.tables_in_files import PLAIN, refused

FRAME = pd.DataFrame({"n": [1.5, -2.0, 0.25, 8.0], "w": ["a", "b", "a", "b"], "y": [1, 2, 1, 2]})
ARFF = "@relation r\n@attribute n numeric\n@attribute w {a,b}\n@attribute y {1,2}\n@data\n"
KEEL = (
    "@relation r\n@attribute n real [-2.0, 8.0]\n@attribute w {a, b}\n@attribute y {1, 2}\n"
    "@inputs n, w\n@outputs y\n@data\n"
)
ROWS = "1.5,a,1\n-2,b,2\n.25,a,1\n8,b,2\n"


def arrow_stream(frame: pd.DataFrame) -> bytes:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def in_memory(write: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


CONTENT = {
    ".csv": FRAME.to_csv(index=False).encode(),
    ".tsv": FRAME.to_csv(index=False, sep="\t").encode(),
    ".parquet": in_memory(FRAME.to_parquet),
    ".feather": in_memory(FRAME.to_feather),
    ".arrow": arrow_stream(FRAME),
    ".arff": (ARFF + ROWS).encode(),
    ".dat": (KEEL + ROWS).encode(),
    ".jsonl": FRAME.to_json(orient="records", lines=True).encode(),
    ".json": FRAME.to_json(orient="records").encode(),
    ".xlsx": in_memory(lambda file: FRAME.to_excel(file, index=False)),
}
"""One table in every format that can hold it."""
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


def as_words(frame: pd.DataFrame) -> list[list[str]]:
    """The values, whether a format holds the class as a number or as a word."""
    return [[f"{value:g}" if isinstance(value, float) else str(value) for value in row] for row in frame.to_numpy()]


class TestFormats:
    @pytest.mark.parametrize("packed", PACK)
    @pytest.mark.parametrize("suffix", CONTENT)
    def test_every_format_holds_the_same_table(self, tmp_path: Path, suffix: str, packed: str) -> None:
        path = tmp_path / f"t{suffix.upper()}{packed}"
        path.write_bytes(PACK[packed](CONTENT[suffix]))
        table = read_frame(path, PLAIN)
        assert list(table.frame.columns) == ["n", "w", "y"]
        assert as_words(table.frame) == as_words(FRAME)
        assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert table.reading.format == BY_SUFFIX[suffix]
        assert table.reading.compression == {"": "", ".gz": "gzip", ".zst": "zstd"}[packed]

    @pytest.mark.parametrize("suffix", CONTENT)
    def test_standard_input(self, tmp_path: Path, suffix: str) -> None:
        report = CliRunner().invoke(
            app,
            ["data", "show", "-", "--format", BY_SUFFIX[suffix], "--target", "y", "--output", "json"],
            input=gzip.compress(CONTENT[suffix]),
        )
        assert report.exit_code == 0, report.stderr
        found = json.loads(report.stdout)
        assert found["data"]["name"] == "standard input"
        assert found["data"]["reading"]["format"] == BY_SUFFIX[suffix]
        assert found["data"]["reading"]["compression"] == "gzip"
        assert found["classes"] == [{"name": "1", "rows": 2}, {"name": "2", "rows": 2}]

    def test_standard_input_without_a_format_is_csv(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "picsc_cli", "data", "show", "-"], input=CONTENT[".csv"], capture_output=True
        )
        assert done.returncode == 0, done.stderr
        assert b"\nformat      csv\n" in done.stdout

    def test_every_format_has_a_reader_and_a_suffix(self) -> None:
        assert set(READERS) == set(BY_SUFFIX.values())

    @pytest.mark.parametrize("name", ["table.pickle", "table.foo.bar", "table", ".csv"])
    def test_unknown_suffix_names_the_known_ones_and_the_option(self, tmp_path: Path, name: str) -> None:
        message = refused(tmp_path / name, "a\n1\n")
        assert all(suffix in message for suffix in BY_SUFFIX)
        assert "--format" in message

    def test_unknown_suffix_below_a_compression(self, tmp_path: Path) -> None:
        assert "suffix '.foo' is not known" in refused(tmp_path / "t.foo.gz", gzip.compress(b"a\n1\n"))

    def test_a_format_that_is_told_wins_over_the_suffix(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(CONTENT[".arff"])
        assert read_frame(path, ReadSettings(format="arff")).reading.format == "arff"

    def test_dat_without_a_header_is_delimited_text(self, tmp_path: Path) -> None:
        path = tmp_path / "t.dat"
        path.write_text("a,b\n1,2\n3,4\n")
        assert read_frame(path, PLAIN).reading.format == "csv"
        assert "line 1: 'a,b' belongs to no header of KEEL" in refused(path, "a,b\n1,2\n", ReadSettings(format="keel"))

    @pytest.mark.parametrize(
        ("path", "name"),
        [("d/data.csv", "data"), ("d/data.CSV.GZ", "data"), ("a.b.zst", "a"), ("-", "standard input"), ("x.gz", "x")],
    )
    def test_name_of_the_table(self, path: str, name: str) -> None:
        assert stem(path) == name

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no such file"):
            read_frame(tmp_path / "t.arff", PLAIN)

    def test_directory(self, tmp_path: Path) -> None:
        (tmp_path / "t.parquet").mkdir()
        with pytest.raises(DataError, match="is a directory"):
            read_frame(tmp_path / "t.parquet", PLAIN)


class TestParquetAndArrow:
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "f": [0.5, None, 2.5],
            "w": ["a", None, "00123"],
            "c": pd.Categorical(["x", "y", "x"]),
            "d": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
        },
        index=[7, 9, 11],
    )

    def test_round_trip(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        self.frame.to_parquet(path)
        again = read_frame(path, PLAIN).frame
        assert list(again.columns) == ["i", "f", "w", "c", "d"]
        assert again["i"].tolist() == [1, 2, 3]
        assert again["w"].tolist()[2] == "00123"
        assert isinstance(again["c"].dtype, pd.CategoricalDtype)
        assert pd.api.types.is_datetime64_any_dtype(again["d"])

    @pytest.mark.parametrize("suffix", [".feather", ".ipc"])
    def test_feather_is_arrow(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"t{suffix}"
        self.frame.reset_index(drop=True).to_feather(path, compression="zstd")
        table = read_frame(path, PLAIN)
        assert (table.reading.format, table.reading.compression) == ("arrow", "")
        assert table.frame["c"].tolist() == ["x", "y", "x"]
        assert table.frame["w"].isna().tolist() == [False, True, False]

    def test_whole_numbers_stay_exact_beside_missing_ones(self, tmp_path: Path) -> None:
        path = tmp_path / "t.arrow"
        path.write_bytes(arrow_stream(pd.DataFrame({"x": pd.array([2**60 + 1, None, 3], dtype="Int64")})))
        assert read_frame(path, PLAIN).frame["x"].tolist() == [2**60 + 1, pd.NA, 3]

    @pytest.mark.parametrize(
        ("values", "named"),
        [([[1], [2], [3]], "nested values (list"), ([{"a": 1}] * 3, "nested values (struct"), ([b"x"] * 3, "bytes")],
    )
    def test_nested_values_are_refused_by_name_unless_left_out(
        self, tmp_path: Path, values: list[object], named: str
    ) -> None:
        path = tmp_path / "t.arrow"
        content = arrow_stream(pd.DataFrame({"a": [1, 2, 3], "deep": values}))
        message = refused(path, content)
        assert f"column 'deep' holds {named}" in message
        assert read_frame(path, ReadSettings(drop=("deep",))).frame["deep"].isna().all()

    def test_feather_1_is_said_to_be_too_old(self, tmp_path: Path) -> None:
        assert "feather of version 1" in refused(tmp_path / "t.feather", b"FEA1\0\0\0\0rest FEA1")

    def test_a_target_that_picsc_kept_is_declared(self, tmp_path: Path) -> None:
        from picsc.datasets.catalog.store import keep_table

        path = tmp_path / "t.parquet"
        keep_table(FRAME[["y", "n", "w"]], "y", path)
        target = load(path, PLAIN).target
        assert target is not None
        assert (target.name, target.chosen) == ("y", "declared by the file")
        told = load(path, ReadSettings(target="w")).target
        assert told is not None
        assert (told.name, told.chosen) == ("w", "--target")

    @pytest.mark.parametrize(("suffix", "kind"), [(".pq", "parquet file"), (".arrow", "Arrow file")])
    @pytest.mark.parametrize("content", [b"PAR1 no", b"ARROW1\0\0no", b"\xff\xff\xff\xff\x10\0\0\0"])
    def test_other_bytes(self, tmp_path: Path, suffix: str, kind: str, content: bytes) -> None:
        assert f"no {kind} that can be read" in refused(tmp_path / f"t{suffix}", content)

    @pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
    def test_words_that_are_no_utf_8(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"t{suffix}"
        words = pa.array([b"a", b"\xbd"], pa.binary()).view(pa.string())
        table = pa.table({"w": words, "n": [1, 2]})
        writers = {
            ".parquet": lambda: pq.write_table(table, path),
            ".arrow": lambda: feather.write_feather(table, path),
        }
        writers[suffix]()
        assert "column 'w' of type string cannot be read (words that are no UTF-8)" in refused(path, path.read_bytes())
        assert read_frame(path, ReadSettings(drop=("w",))).frame["n"].tolist() == [1, 2]

    def test_a_zone_that_no_machine_knows(self, tmp_path: Path) -> None:
        path, moments = tmp_path / "t.parquet", pd.to_datetime(["2020-01-02 03:04", None])
        column = pa.array(moments.astype("datetime64[us]"), pa.timestamp("us", "Nowhere/Land"))
        pq.write_table(pa.table({"t": column}), path)
        assert read_frame(path, PLAIN).frame["t"].dropna().tolist() == [pd.Timestamp("2020-01-02 03:04")]

    @pytest.mark.parametrize("suffix", [".parquet", ".feather", ".npz", ".xlsx", ".jsonl", ".libsvm"])
    def test_empty(self, tmp_path: Path, suffix: str) -> None:
        assert "is empty" in refused(tmp_path / f"t{suffix}", b"")

    @pytest.mark.parametrize("suffix", [".parquet", ".feather"])
    def test_no_rows(self, tmp_path: Path, suffix: str) -> None:
        write = {".parquet": pd.DataFrame.to_parquet, ".feather": pd.DataFrame.to_feather}[suffix]
        content = in_memory(lambda file: write(pd.DataFrame({"a": np.zeros(0)}), file))
        assert "has no rows" in refused(tmp_path / f"t{suffix}", content)

    def test_repeated_names(self, tmp_path: Path) -> None:  # P33
        table = pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", " a"])
        with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(DataError, match="repeated column name 'a'"):
            read_frame(tmp_path / "t.arrow", PLAIN)
        renamed = read_frame(tmp_path / "t.arrow", ReadSettings(rename_duplicates=True)).frame
        assert list(renamed.columns) == ["a", "a.1"]


class TestNpz:
    @pytest.mark.parametrize(("x", "y"), [("X", "y"), ("x", "y"), ("data", "target"), ("X", "target")])
    def test_names(self, tmp_path: Path, x: str, y: str) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, **{x: np.arange(6.0).reshape(3, 2), y: np.array(["a", "b", "a"])})
        frame = read_frame(path, PLAIN).frame
        assert list(frame.columns) == ["x1", "x2", "target"]
        assert frame["target"].tolist() == ["a", "b", "a"]

    def test_one_array_is_a_table_without_labels(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, np.arange(10.0).reshape(5, 2) % 4)
        assert list(read_frame(path, PLAIN).frame.columns) == ["x1", "x2"]
        assert load(path, PLAIN).target is None

    def test_objects_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, X=np.array([[{}]], dtype=object))
        with pytest.raises(DataError, match="Python objects"):
            read_frame(path, PLAIN)

    @pytest.mark.parametrize(
        ("arrays", "said"),
        [
            ({"X": np.ones((3, 2)), "y": np.ones(4)}, "X has 3 rows but y has 4"),
            ({"X": np.ones((3, 2, 2))}, "X has 3 dimensions"),
            ({"a": np.ones((3, 2)), "b": np.ones(3)}, "arrays in it: a, b"),
            ({"X": np.ones((0, 2))}, "2 columns but no rows"),
        ],
    )
    def test_other_arrays(self, tmp_path: Path, arrays: dict[str, np.ndarray], said: str) -> None:
        assert said in refused(tmp_path / "t.npz", in_memory(lambda file: np.savez(file, **arrays)))

    @pytest.mark.parametrize("start", [b"PKdescr'", b"{ descr'"])
    def test_header_that_is_broken(self, tmp_path: Path, start: bytes) -> None:
        content = in_memory(lambda file: np.savez(file, X=np.ones((5, 2)), y=np.asarray(list("pqpqp"))))
        assert "no whole npz archive" in refused(tmp_path / "t.npz", content.replace(b"{'descr'", start))

    @pytest.mark.parametrize("content", [b"no archive", b"PK\x03\x04 broken", json.dumps([1]).encode()])
    def test_no_archive(self, tmp_path: Path, content: bytes) -> None:
        assert "cannot be read" in refused(tmp_path / "t.npz", content)

    def test_bare_array(self, tmp_path: Path) -> None:
        content = in_memory(lambda file: np.save(file, np.ones((3, 2))))
        assert "one bare array" in refused(tmp_path / "t.npz", content)

    def test_a_shape_that_no_memory_holds(self, tmp_path: Path) -> None:
        content = in_memory(lambda file: np.savez(file, X=np.ones((3, 2))))
        huge = content.replace(b"'shape': (3, 2), ", b"'shape': (3,2**9), ")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert "cannot be read" in refused(tmp_path / "t.npz", huge)
