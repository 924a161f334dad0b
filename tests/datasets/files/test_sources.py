"""Files as plain bytes: what compression, pipes and standard input give, and that no temporary file stays."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from picsc.datasets.files.sources import opened
from picsc.errors import DataError

TABLE = b"a,b\n1,2\n" * 1000
PACKED = gzip.compress(TABLE, mtime=0)
"""Without the time of day, so that a test has the same name in every process."""


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def plain(path: str | Path) -> bytes:
    with opened(path) as source:
        return source.path.read_bytes()


def refused(path: str | Path) -> str:
    with pytest.raises(DataError) as caught, opened(path):
        pass
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


class TestFiles:
    def test_a_plain_file_is_used_where_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "T.CSV"
        path.write_bytes(TABLE)
        with opened(path) as source:
            assert source.path == source.given == path
            assert (source.where, source.suffix, source.compression, source.piped) == (str(path), ".csv", "", False)
            assert source.digest() == hashlib.sha256(TABLE).hexdigest()

    def test_a_file_named_like_standard_input(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("./-").write_bytes(TABLE)
        pipe_in(monkeypatch, b"other")
        assert plain("./-") == TABLE

    def test_missing_file(self, tmp_path: Path) -> None:
        assert "no such file" in refused(tmp_path / "t.csv.gz")

    def test_folder(self, tmp_path: Path) -> None:
        assert "is a directory" in refused(tmp_path)

    def test_device(self) -> None:
        assert "/dev/null is a device" in refused("/dev/null")


class TestCompression:
    @pytest.mark.parametrize("name", ["t.csv.gz", "t.CSV.GZ", "t.csv"])
    def test_gzip(self, tmp_path: Path, temporary: Path, name: str) -> None:
        path, packed = tmp_path / name, PACKED
        path.write_bytes(packed)
        with opened(path) as source:
            assert source.path.read_bytes() == TABLE
            assert (source.where, source.suffix, source.compression) == (str(path), ".csv", "gzip")
            assert source.digest() == hashlib.sha256(packed).hexdigest()
            assert source.path.suffix == ".csv"
        assert list(temporary.iterdir()) == []

    @pytest.mark.parametrize("name", ["t.tsv.zst", "t.tsv.zstd", "t.tsv", "t.tsv.gz"])
    def test_zstd(self, tmp_path: Path, temporary: Path, name: str) -> None:
        path = tmp_path / name
        path.write_bytes(zstd(TABLE))
        with opened(path) as source:
            assert source.path.read_bytes() == TABLE
            assert (source.suffix, source.compression) == (".tsv", "zstd")
        assert list(temporary.iterdir()) == []

    @pytest.mark.parametrize("packed", [PACKED, zstd(TABLE)])
    def test_several_members_are_one_file(self, tmp_path: Path, packed: bytes) -> None:
        (tmp_path / "t.csv").write_bytes(packed + packed)
        assert plain(tmp_path / "t.csv") == TABLE + TABLE

    def test_zstd_that_begins_with_a_skippable_frame(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.zst").write_bytes(b"\x5a\x2a\x4d\x18\x02\x00\x00\x00no" + zstd(TABLE))
        assert plain(tmp_path / "t.csv.zst") == TABLE

    def test_zeros_behind_gzip_are_padding(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.gz").write_bytes(PACKED + bytes(512))
        assert plain(tmp_path / "t.csv.gz") == TABLE

    @pytest.mark.parametrize("kept", [-1, -9, 20, 4])
    @pytest.mark.parametrize(("name", "packed"), [("gzip", PACKED), ("zstd", zstd(TABLE))])
    def test_cut_off(self, tmp_path: Path, temporary: Path, name: str, packed: bytes, kept: int) -> None:
        path = tmp_path / "t.csv.gz"
        path.write_bytes(packed[:kept])
        message = refused(path)
        assert f"{path}: its {name} compression is broken (it ends too early)" in message
        assert "fetch" in message
        assert list(temporary.iterdir()) == []

    def test_changed_content(self, tmp_path: Path) -> None:
        packed = bytearray(PACKED)
        packed[-6] ^= 1
        (tmp_path / "t.csv.gz").write_bytes(packed)
        assert "CRC check failed" in refused(tmp_path / "t.csv.gz")

    @pytest.mark.parametrize("packed", [PACKED[:15] + b"\xff" * 40, zstd(TABLE)[:10] + b"\xff" * 40])
    def test_broken_inside(self, tmp_path: Path, packed: bytes) -> None:
        (tmp_path / "t.csv").write_bytes(packed)
        assert "compression is broken" in refused(tmp_path / "t.csv")

    def test_suffix_without_compression(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.gz").write_bytes(TABLE)
        message = refused(tmp_path / "t.csv.gz")
        assert "the suffix says gzip, but the file does not begin as gzip does" in message

    def test_empty(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.zst").touch()
        assert refused(tmp_path / "t.csv.zst").endswith("t.csv.zst is empty")

    def test_no_room(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(TABLE * 100))
        code = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
            "from picsc.datasets.files.sources import opened\n"
            "with opened(sys.argv[1]): pass\n"
        )
        ended = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert f"DataError: {path}: no room for a temporary copy in" in ended.stderr
        assert "set TMPDIR" in ended.stderr

    @pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
    def test_temporary_files_are_removed_after_errors(
        self, tmp_path: Path, temporary: Path, error: type[BaseException]
    ) -> None:
        (tmp_path / "t.csv.gz").write_bytes(PACKED)
        with pytest.raises(error), opened(tmp_path / "t.csv.gz") as source:
            raise error(source.path.stat())
        assert list(temporary.iterdir()) == []


class TestStreams:
    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
        pipe_in(monkeypatch, TABLE)
        with opened("-") as source:
            assert source.path.read_bytes() == TABLE
            assert (source.where, source.suffix, source.compression) == ("standard input", "", "")
            assert source.piped
            assert source.digest() == hashlib.sha256(TABLE).hexdigest()
        assert list(temporary.iterdir()) == []

    @pytest.mark.parametrize("packed", [PACKED, zstd(TABLE)])
    def test_compressed_standard_input(self, monkeypatch: pytest.MonkeyPatch, temporary: Path, packed: bytes) -> None:
        pipe_in(monkeypatch, packed)
        with opened(Path("-")) as source:
            assert source.path.read_bytes() == TABLE
            assert source.digest() == hashlib.sha256(packed).hexdigest()
        assert list(temporary.iterdir()) == []

    def test_nothing_came(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pipe_in(monkeypatch, b"")
        assert refused("-") == "standard input is empty; nothing came through it"

    def test_closed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        assert "standard input is closed" in refused("-")

    def test_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        controller, terminal = os.openpty()
        with os.fdopen(controller, "rb"), os.fdopen(terminal, encoding="utf-8") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert "standard input is a terminal; pipe a table into it" in refused("-")

    def test_interrupted_while_it_comes(self, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
        class Interrupted(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                raise KeyboardInterrupt

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupted()))
        with pytest.raises(KeyboardInterrupt), opened("-"):
            pass
        assert list(temporary.iterdir()) == []

    @pytest.mark.parametrize("packed", [TABLE, PACKED])
    def test_named_pipe(self, tmp_path: Path, temporary: Path, packed: bytes) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(packed,))
        writer.start()
        with opened(path) as source:
            assert source.path.read_bytes() == TABLE
            assert source.path.read_bytes() == TABLE
            assert (source.where, source.piped) == (str(path), True)
            assert source.digest() == hashlib.sha256(packed).hexdigest()
        writer.join()
        assert list(temporary.iterdir()) == []

    def test_a_pipe_that_does_not_block(self) -> None:
        """A writer that pauses does not end the table."""
        code = (
            "import os; os.set_blocking(0, False)\n"
            "from picsc.datasets.files.sources import opened\n"
            "with opened('-') as source: print(len(source.path.read_bytes()))\n"
        )
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("a\n1\n")  # kept back until it is closed
            threading.Timer(2.0, process.stdin.close).start()
            assert process.stdout.read() == "4\n"
