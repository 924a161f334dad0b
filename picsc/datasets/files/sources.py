"""Files as plain bytes on disk: decompressed, or copied from standard input and pipes.

Readers read a file more than once, and some of them by position, so a source that does not allow this is copied to a
temporary file first; memory stays independent of its length.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from picsc.errors import DataError
from picsc.runtime.digests import file_digest

STDIN = "-"
"""Path of standard input."""
_SUFFIXES = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = b"\x2a\x4d\x18"
"""Bytes 2 to 4 of a skippable zstd frame, which some programs write first."""
_CHUNK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Source:
    """One file, readable as plain bytes while the block of `opened` runs."""

    path: Path
    """Path of the plain bytes; temporary if the file is compressed, a pipe or standard input."""
    where: str
    """Name in messages: the path as it was given, or `standard input`."""
    suffix: str
    """Suffix in lower case, without that of a compression: `.csv` for `data.CSV.gz`; empty for standard input."""
    compression: str
    """gzip or zstd; empty for an uncompressed file."""
    given: Path
    """Path of the file as it was given, from which the digest is taken; temporary for a pipe or standard input."""
    piped: bool = False
    """It came through standard input or a pipe, so that it needs no suffix."""

    def digest(self) -> str:
        """SHA-256 of the file as it was given, so of compressed bytes if it is compressed."""
        return file_digest(self.given)


def uncompressed(path: Path) -> Path:
    """A path without the suffix of a compression: `data.csv` for `data.csv.gz`."""
    return path.with_suffix("") if path.suffix.lower() in _SUFFIXES else path


@contextmanager
def opened(path: str | Path) -> Iterator[Source]:
    """Make a file's plain bytes available while the block runs.

    Compression is recognised by the first bytes of the file, whatever its suffix. Temporary files are removed when the
    block ends.

    Args:
        path: path of the file; `-` is standard input. `Path("./-")` is `Path("-")`, so a file of that name is given as
            the text `./-` or with its folder.

    Raises:
        DataError: there is no such file, it is a folder or a device, it is empty although it should be compressed or
            comes through a pipe, its compression is broken, or there is no room for a copy.
        OSError: it cannot be opened.
    """
    with ExitStack() as stack:
        if str(path) == STDIN:
            where, suffix, named, piped = "standard input", "", "", True
            given = stack.enter_context(_copy(_standard_input(), where, suffix))
        else:
            if str(path) == "":
                raise DataError("the name of the file is empty; give a file, or - for standard input")
            where, path = str(path), Path(path)
            given, piped = path, _is_pipe(path)
            suffix, named = uncompressed(path).suffix.lower(), _SUFFIXES.get(path.suffix.lower(), "")
            if piped:
                with path.open("rb") as pipe:
                    given = stack.enter_context(_copy(pipe.read, where, suffix))
        compression = _compression(given, where, named, piped=piped)
        plain = given
        if compression:
            unpack = _gunzipped if compression == "gzip" else _unzstd
            plain = stack.enter_context(_copy(stack.enter_context(unpack(given, where)), where, suffix))
        yield Source(plain, where, suffix, compression, given, piped)


def _standard_input() -> Callable[[int], bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed; pipe a table into it, or give a file")
    if sys.stdin.isatty():
        raise DataError("standard input is a terminal; pipe a table into it, or give a file")
    with suppress(AttributeError, OSError, ValueError):  # a non-blocking pipe would seem to end early
        os.set_blocking(sys.stdin.fileno(), True)
    return sys.stdin.buffer.read


def _is_pipe(path: Path) -> bool:
    """True for a path that must be copied to be read twice."""
    if path.is_dir():
        raise DataError(f"{path} is a directory; give the files in it")
    if not path.exists():
        raise DataError(f"{path}: no such file")
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise DataError(f"{path} is a device; give a file, or - for standard input")
    return not stat.S_ISREG(mode)


def _compression(path: Path, where: str, named: str, *, piped: bool) -> str:
    """The compression by the first bytes, checked against the one that the suffix names."""
    with path.open("rb") as file:
        first = file.read(4)
    if first == b"" and (named or piped):
        raise DataError(f"{where} is empty" + ("; nothing came through it" if piped else ""))
    if first.startswith(_GZIP):
        return "gzip"
    if first == _ZSTD or (first[1:] == _ZSTD_SKIPPED and first[0] & 0xF0 == 0x50):
        return "zstd"
    if named:
        raise DataError(
            f"{where}: the suffix says {named}, but the file does not begin as {named} does; "
            "remove the suffix if it is not compressed, or fetch the file again"
        )
    return ""


@contextmanager
def _gunzipped(path: Path, where: str) -> Iterator[Callable[[int], bytes]]:
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
def _unzstd(path: Path, where: str) -> Iterator[Callable[[int], bytes]]:
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


def _broken(where: str, compression: str, why: str) -> DataError:
    return DataError(f"{where}: its {compression} compression is broken ({why}); fetch or compress the file again")


def _copy(read: Callable[[int], bytes], where: str, suffix: str) -> AbstractContextManager[Path]:
    """A temporary file of everything that `read` returns."""
    return temporary_file(where, f"table{suffix}", _blocks(read))


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(_CHUNK):
        yield block


@contextmanager
def temporary_file(where: str, name: str, blocks: Iterable[bytes]) -> Iterator[Path]:
    """A file of these bytes, which is removed when the block ends.

    Args:
        where: name of the original file in messages.
        name: name of the temporary file.
        blocks: its content, which is written block by block.

    Raises:
        DataError: the disk of temporary files is full.
    """
    with ExitStack() as stack:
        try:
            folder = tempfile.TemporaryDirectory(prefix="picsc-", ignore_cleanup_errors=True)
            path = Path(stack.enter_context(folder)) / name
            with path.open("wb") as file:  # inside the try block, since closing writes, too
                file.writelines(blocks)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise DataError(
                f"{where}: no room for a temporary copy in {tempfile.gettempdir()} ({error.strerror}); "
                "set TMPDIR to a folder with more room"
            ) from None
        yield path
