"""Decompression of a file as a stream of plain bytes: gzip, zstd, bzip2, xz, and zip archives of one file.

A small file can unpack to more than a disk holds, so there is a bound.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import pyarrow as pa

from picsc.errors import DataError
from picsc.phrases import listed
from picsc.settings import ReadSettings

SUFFIXES = {
    ".gz": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".bz2": "bzip2",
    ".xz": "xz",
    ".zip": "zip",
}
"""Compressions by suffix."""
_GZIP, _ZSTD, _BZIP2, _XZ, _ZIP = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ", b"PK"
_ZSTD_SKIPPED = b"\x2a\x4d\x18"
"""Bytes 2 to 4 of a skippable zstd frame, which some programs write first."""
_ENCRYPTED = 0x1
_GIB = 1 << 30
MOST = 16.0
"""GiB that a file may unpack to, unless another bound is given."""
Read = Callable[[int], bytes]
Unpacker = Callable[[Path, str], AbstractContextManager[Read]]


def uncompressed(path: Path) -> Path:
    """A path without the suffix of a compression: `data.csv` for `data.csv.gz`."""
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


def compression_of(path: Path, where: str, named: str) -> str:
    """The compression by the first bytes, checked against the one that the suffix names; "" for none.

    xlsx and npz files are zip archives, too, so a zip archive is taken for compression only where its suffix says so.

    Raises:
        DataError: the file does not begin as its suffix says.
    """
    with path.open("rb") as file:
        first = file.read(6)
    if first.startswith(_GZIP):
        return "gzip"
    if first.startswith(_ZSTD) or (first[1:4] == _ZSTD_SKIPPED and first[0] & 0xF0 == 0x50):
        return "zstd"
    if first.startswith(_BZIP2) and first[3:4].isdigit():
        return "bzip2"
    if first.startswith(_XZ):
        return "xz"
    if named == "zip" and first.startswith(_ZIP):
        return "zip"
    if named:
        raise DataError(
            f"{where}: the suffix says {named}, but the file does not begin as {named} does; "
            "remove the suffix if it is not compressed, or fetch the file again"
        )
    return ""


def member_name(path: Path, where: str) -> str:
    """Name of the one file in a zip archive; folders, and what macOS adds, do not count.

    Raises:
        DataError: it is no archive, it is encrypted, or it does not hold exactly one file.
    """
    with _archive(path, where) as archive:
        held = [
            info
            for info in archive.infolist()
            if not info.is_dir()
            and not info.filename.startswith("__MACOSX/")
            and not PurePosixPath(info.filename).name.startswith(".")
        ]
    if len(held) != 1:
        names = f" ({listed([info.filename for info in held])})" if held else ""
        raise DataError(
            f"{where} holds {len(held)} files{names}, and only an archive of one table can be read; "
            "unpack it, and give one of them, or the folder as one table"
        )
    if held[0].flag_bits & _ENCRYPTED:
        raise DataError(f"{where} is encrypted; unpack it first")
    return held[0].filename


@contextmanager
def _archive(path: Path, where: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as error:
        raise _broken(where, "zip", str(error)) from None


@contextmanager
def _unzipped(path: Path, where: str) -> Iterator[Read]:
    name = member_name(path, where)
    with _archive(path, where) as archive:
        try:
            member = archive.open(name)
        except NotImplementedError as error:
            raise _broken(where, "zip", str(error)) from None
        with member as plain:

            def read(size: int) -> bytes:
                try:
                    return plain.read(size)
                except EOFError:
                    raise _broken(where, "zip", "it ends too early") from None
                except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError) as error:
                    raise _broken(where, "zip", str(error)) from None

            yield read


@contextmanager
def _gunzipped(path: Path, where: str) -> Iterator[Read]:
    with path.open("rb") as file, gzip.GzipFile(fileobj=file) as plain:

        def read(size: int) -> bytes:
            try:
                return plain.read(size)
            except EOFError:
                raise _broken(where, "gzip", "it ends too early") from None
            except (gzip.BadGzipFile, zlib.error) as error:
                behind = "Not a gzipped file" in str(error)  # zlib's begin with `Error -3 while decompressing data: `
                why = "something else follows it" if behind else str(error).rpartition(": ")[2]
                raise _broken(where, "gzip", why) from None

        yield read


@contextmanager
def _unzstd(path: Path, where: str) -> Iterator[Read]:
    with path.open("rb") as file, pa.CompressedInputStream(pa.PythonFile(file), "zstd") as plain:

        def read(size: int) -> bytes:
            try:
                content: bytes = plain.read(size)
            except (pa.ArrowException, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                early = "Truncated" in str(error)
                raise _broken(where, "zstd", "it ends too early" if early else str(error).splitlines()[0]) from None
            return content

        yield read


def _by_library(open_plain: Callable[[BinaryIO], bz2.BZ2File | lzma.LZMAFile], compression: str) -> Unpacker:
    """The decompression of a module of the standard library whose errors are EOFError, OSError and LZMAError."""

    @contextmanager
    def unpacked(path: Path, where: str) -> Iterator[Read]:
        with path.open("rb") as file, open_plain(file) as plain:

            def read(size: int) -> bytes:
                try:
                    return plain.read(size)
                except EOFError:
                    raise _broken(where, compression, "it ends too early") from None
                except (OSError, lzma.LZMAError) as error:
                    if isinstance(error, OSError) and error.errno is not None:
                        raise
                    raise _broken(where, compression, str(error).rstrip(".")) from None

            yield read

    return unpacked


def _broken(where: str, compression: str, why: str) -> DataError:
    return DataError(f"{where}: its {compression} compression is broken ({why}); fetch or compress the file again")


UNPACKERS: dict[str, Unpacker] = {
    "gzip": _gunzipped,
    "zstd": _unzstd,
    "bzip2": _by_library(bz2.BZ2File, "bzip2"),
    "xz": _by_library(lzma.LZMAFile, "xz"),
    "zip": _unzipped,
}
"""From a compression to a function of path and name in messages; it opens the plain bytes."""


def most_unpacked(settings: ReadSettings, default: float = MOST) -> float:
    """The most GiB that a file may unpack to.

    Args:
        settings: with the bound that was given, if any.
        default: without one.
    """
    return default if settings.max_unpacked is None else settings.max_unpacked


def bounded(blocks: Iterable[bytes], where: str, most: float, *, fetched: bool = False) -> Iterator[bytes]:
    """The blocks, as long as they are not too large together.

    Args:
        blocks: unpacked or downloaded bytes.
        where: the file, for messages.
        most: GiB.
        fetched: they are downloaded.

    Raises:
        DataError: they are larger than the bound.
    """
    size = 0
    for block in blocks:
        size += len(block)
        check_size(size, where, most, fetched=fetched)
        yield block


def check_size(size: int, where: str, most: float, *, fetched: bool = False) -> None:
    """Refuse a file that is too large when it is unpacked or downloaded.

    Raises:
        DataError: it is larger than the bound.
    """
    if size > most * _GIB:
        does = "is larger than" if fetched else "unpacks to more than"
        raise DataError(
            f"{where} {does} {most:g} GiB, the bound of --max-unpacked; "
            "if it is meant to be so large, give a larger bound in GiB"
        )
