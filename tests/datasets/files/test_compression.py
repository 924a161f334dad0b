"""bzip2, xz and zip; gzip and zstd, and what all of them have in common, are tested with the sources."""

import bz2
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from picsc.datasets.files.read import read_frame
from picsc.datasets.files.sources import opened
from picsc.errors import DataError
from picsc.settings import ReadSettings

TABLE = b"a,b\n" + b"1,2\n" * 5000
PACK: dict[str, Callable[[bytes], bytes]] = {"bz2": bz2.compress, "xz": lzma.compress}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(("ending", "name"), [("bz2", "bzip2"), ("xz", "xz")])
@pytest.mark.parametrize("suffix", [True, False])
def test_compression_is_known_by_its_first_bytes(tmp_path: Path, ending: str, name: str, suffix: bool) -> None:
    path = tmp_path / (f"data.csv.{ending}" if suffix else "data.csv")
    path.write_bytes(PACK[ending](TABLE))
    with opened(path) as source:
        assert (source.compression, source.suffix, source.path.read_bytes()) == (name, ".csv", TABLE)
    assert read_frame(path, ReadSettings()).frame.shape == (5000, 2)


@pytest.mark.parametrize(("ending", "name"), [("bz2", "bzip2"), ("xz", "xz")])
def test_broken_files_are_named(tmp_path: Path, ending: str, name: str) -> None:
    packed = PACK[ending](TABLE)
    path = tmp_path / f"data.csv.{ending}"
    for content, said in (
        (packed[:-8], f"its {name} compression is broken (it ends too early)"),
        (packed[:20] + bytes(len(packed) - 20), f"its {name} compression is broken ("),
        (TABLE, f"the suffix says {name}, but the file does not begin as {name} does"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError) as caught, opened(path):
            pass
        assert said in str(caught.value)


def test_an_archive_of_one_table_is_that_table(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "data.zip", {"folder/": b"", "folder/x.tsv": TABLE.replace(b",", b"\t"), "__MACOSX/._x": b"1"}
    )
    with opened(path) as source:
        assert (source.compression, source.suffix) == ("zip", ".tsv")
    assert list(read_frame(path, ReadSettings()).frame) == ["a", "b"]


def test_xlsx_and_npz_are_no_archives_of_a_table(tmp_path: Path) -> None:
    path = zipped(tmp_path / "data.npz", {"x.npy": b"1"})
    with opened(path) as source:
        assert source.compression == ""


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds 0 files, and only an archive of one table can be read"),
        ({"a.csv": TABLE, "b.csv": TABLE}, "holds 2 files (a.csv, b.csv), and only an archive of one table"),
    ],
)
def test_archives_of_none_or_several_are_refused(tmp_path: Path, files: dict[str, bytes], said: str) -> None:
    with pytest.raises(DataError) as caught, opened(zipped(tmp_path / "data.zip", files)):
        pass
    assert said in str(caught.value)


def test_broken_and_encrypted_archives(tmp_path: Path) -> None:
    path = zipped(tmp_path / "data.zip", {"a.csv": TABLE})
    whole = bytearray(path.read_bytes())
    path.write_bytes(bytes(whole[:-30]))
    with pytest.raises(DataError, match="zip compression is broken"), opened(path):
        pass
    whole[whole.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(whole))
    with pytest.raises(DataError, match="is encrypted; unpack it first"), opened(path):
        pass
    changed = bytearray(zipped(path, {"a.csv": TABLE}).read_bytes())
    changed[60] ^= 0xFF
    path.write_bytes(bytes(changed))
    with pytest.raises(DataError, match="zip compression is broken"), opened(path):
        pass
