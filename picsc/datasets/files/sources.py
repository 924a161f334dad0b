"""Files as plain bytes on disk: decompressed, or copied from the web, standard input and pipes.

Readers read a file more than once, and some of them by position, so a source that does not allow this is copied to a
temporary file first; memory stays independent of its length.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from picsc.datasets.files.compression import (
    MOST,
    SUFFIXES,
    UNPACKERS,
    bounded,
    compression_of,
    member_name,
    uncompressed,
)
from picsc.datasets.files.web import downloaded, file_name, is_address
from picsc.errors import DataError
from picsc.runtime.digests import file_digest

STDIN = "-"
"""Path of standard input."""
_CHUNK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Source:
    """One file, readable as plain bytes while the block of `opened` runs."""

    path: Path
    """Path of the plain bytes; temporary if the file is compressed, on the web, a pipe or standard input."""
    where: str
    """Name in messages: the path as it was given, or `standard input`."""
    suffix: str
    """Suffix in lower case, without that of a compression: `.csv` for `data.CSV.gz`, and for a zip archive that holds
    `data.csv`; empty for standard input."""
    compression: str
    """gzip, zstd, bzip2, xz or zip; empty for an uncompressed file."""
    given: Path
    """Path of the file as it was given, from which the digest is taken; temporary if it is no file on a disk."""
    piped: bool = False
    """It came through standard input or a pipe, so that it needs no suffix."""

    def digest(self) -> str:
        """SHA-256 of the file as it was given, so of compressed bytes if it is compressed."""
        return file_digest(self.given)


@contextmanager
def opened(path: str | Path, most: float = MOST) -> Iterator[Source]:
    """Make a file's plain bytes available while the block runs.

    Compression is recognised by the first bytes of the file, whatever its suffix. Temporary files are removed when the
    block ends.

    Args:
        path: path or web address of the file; `-` is standard input. `Path("./-")` is `Path("-")`, so a file of that
            name is given as the text `./-` or with its folder.
        most: GiB that it may unpack to, or that may be fetched.

    Raises:
        DataError: there is no such file, it is a folder or a device, it is empty although it should be compressed or
            comes through a pipe, its compression is broken, it cannot be fetched, it is too large
            when it is unpacked or fetched, or there is no room for a copy.
        OSError: it cannot be opened.
    """
    with ExitStack() as stack:
        where, name = str(path), Path(path)
        piped = fetched = False
        if where == STDIN:
            where, name, piped = "standard input", Path(), True
            given = stack.enter_context(_copy(_standard_input(), where, ""))
        elif where == "":
            raise DataError("the name of the file is empty; give a file, or - for standard input")
        elif is_address(path):
            name, fetched = Path(file_name(where)), True
            blocks = bounded(stack.enter_context(downloaded(where)), where, most, fetched=True)
            given = stack.enter_context(temporary_file(where, f"table{name.suffix}", blocks))
        else:
            given, piped = name, _is_pipe(name)
            if piped:
                with name.open("rb") as pipe:
                    given = stack.enter_context(_copy(pipe.read, where, uncompressed(name).suffix))
        suffix, named = uncompressed(name).suffix.lower(), SUFFIXES.get(name.suffix.lower(), "")
        if (named or piped or fetched) and given.stat().st_size == 0:
            raise DataError(f"{where} is empty" + ("; nothing came through it" if piped else ""))
        compression = compression_of(given, where, named)
        plain = given
        if compression == "zip":
            suffix = Path(member_name(given, where)).suffix.lower()
        if compression:
            read = stack.enter_context(UNPACKERS[compression](given, where))
            blocks = bounded(_blocks(read), where, most)
            plain = stack.enter_context(temporary_file(where, f"table{suffix}", blocks))
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
