"""Text files as UTF-8 on disk, decoded from the encoding that the user gives or that is detected.

A file that is UTF-8 is used as it is; any other is rewritten block by block, so that memory does not depend on its
length.
"""

from __future__ import annotations

import codecs
import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from picsc.datasets.files.mistaken import kind_of_bytes
from picsc.datasets.files.sources import Source, temporary_file
from picsc.errors import DataError, SettingsError
from picsc.reports.common import Choice

NOT_UTF8 = "not UTF-8"
"""Reason for cp1252 in a report; it needs a warning, since the only evidence is that the file is not UTF-8."""
_CHUNK = 1 << 22
_MARK = "\ufeff"
_MARKS = (  # the mark of UTF-32 begins with that of UTF-16, so it is tried first
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8"),
)
_STRAY = tuple(quote + codecs.BOM_UTF8 for quote in (b"", b'"', b"'"))
"""Byte order marks that another program took for text."""
_NO_FILES = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
"""Codecs that are no encodings of text files."""


@dataclass(frozen=True, slots=True)
class Utf8Text:
    """A file that holds text."""

    path: Path
    """Path of the text in UTF-8, which may begin with one byte order mark; temporary if the file is not UTF-8."""
    where: str
    """Name of the file in messages."""
    sha256: str
    """SHA-256 of the bytes that were given."""
    encoding: Choice
    """The encoding, and how it was found."""

    def lines(self) -> TextIO:
        """The lines, with their line ends unchanged."""
        return self.path.open(encoding="utf-8-sig", newline="")


@contextmanager
def utf8_text(source: Source, encoding: str | None) -> Iterator[Utf8Text]:
    """Make a file's text available as UTF-8 while the block runs.

    Args:
        source: the file.
        encoding: a name that Python knows; None takes that of a byte order mark, else UTF-8, else cp1252.

    Raises:
        DataError: the bytes are not in the encoding; the message names byte and position.
        SettingsError: there is no such encoding.
        OSError: the file cannot be read.
    """
    with source.path.open("rb") as file:
        first = file.read(8)
    marked = next((name for mark, name in _MARKS if first.startswith(mark)), None)
    if encoding is not None:
        name, how = _known(encoding), "told"
    else:
        name, how = marked or "utf-8", "byte order mark" if marked else "the default"
    if name == "utf-8":
        sha256, bad = _check(source)
        if bad is None and not first.removeprefix(codecs.BOM_UTF8).startswith(_STRAY):
            yield Utf8Text(source.path, source.where, sha256, Choice("encoding", encoding or name, how))
            return
        if bad is not None and (encoding is not None or marked is not None):
            raise _undecodable(source.where, bad, encoding or name, marked=encoding is None)
        if bad is not None:
            name, how = "cp1252", NOT_UTF8
    else:
        sha256 = source.digest()
    texts = _decoded(source, name, encoding or name, guessed=how == NOT_UTF8)
    with temporary_file(source.where, "text", map(_encoded, texts)) as path:
        yield Utf8Text(path, source.where, sha256, Choice("encoding", encoding or name, how))


@contextmanager
def with_lines(text: Utf8Text, change: Callable[[str], str]) -> Iterator[Utf8Text]:
    """The same text with `change` applied to every line, available while the block runs."""
    with text.lines() as lines, temporary_file(text.where, "text", (_encoded(change(line)) for line in lines)) as path:
        yield replace(text, path=path)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # UTF-7 can encode half a character, which UTF-8 cannot


def _known(encoding: str) -> str:
    """The name of the codec of this encoding."""
    try:
        name = codecs.lookup(encoding).name.replace("_", "-")
        io.TextIOWrapper(
            io.BytesIO(), encoding=encoding
        ).close()  # refuses codecs that are no text encodings, such as base64
    except (LookupError, ValueError):
        name = _NO_FILES[0]
    if name in _NO_FILES:
        raise SettingsError(
            f"--encoding {encoding!r} is no encoding of text files; "
            "give one such as utf-8, cp1252, latin-1 or utf-16-le"
        )
    return "utf-8" if name == "utf-8-sig" else name


def _check(source: Source) -> tuple[str, tuple[int, int] | None]:
    """The digest, and the first byte that is not UTF-8 with its position, in one pass over the file."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    own = source.given == source.path
    offset, bad = 0, None
    with source.path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if own:
                digest.update(chunk)
            pending = len(decoder.getstate()[0])
            try:
                if bad is None and (pending or not chunk.isascii()):
                    decoder.decode(chunk)
            except UnicodeDecodeError as error:
                bad = offset - pending + error.start, error.object[error.start]
                decoder.reset()
            if (zero := chunk.find(0)) >= 0:
                raise _zero(source, f"the byte at position {offset + zero} is", "UTF-8")
            offset += len(chunk)
    if bad is None and (pending_bytes := decoder.getstate()[0]):
        bad = offset - len(pending_bytes), pending_bytes[0]
    return digest.hexdigest() if own else source.digest(), bad


def _decoded(source: Source, name: str, called: str, *, guessed: bool) -> Iterator[str]:
    """The decoded text in blocks, without byte order marks at its beginning."""
    decoder = codecs.getincrementaldecoder(name)()
    begun, offset = False, 0
    with source.path.open("rb") as file:
        if not name.startswith(("utf-16", "utf-32")) and file.read(3) == codecs.BOM_UTF8:
            offset = 3
        file.seek(offset)
        while True:
            chunk = file.read(_CHUNK)
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                bad = offset - pending + error.start, error.object[error.start]
                raise _undecodable(source.where, bad, called, guessed=guessed, cut=not chunk) from None
            except UnicodeError:
                raise DataError(
                    f"{source.where}: there is no byte order mark, which {called} needs; "
                    f"give --encoding {called}-le or {called}-be"
                ) from None
            if "\0" in text:
                raise _zero(source, "there are characters that are", called)
            if not begun and text:
                text, begun = _unmarked(text), True
            yield text
            if not chunk:
                return
            offset += len(chunk)


def _unmarked(text: str) -> str:
    text = text.lstrip(_MARK)
    return text[0] + text[2:] if text[1:2] == _MARK and text[0] in "\"'" else text


def _undecodable(
    where: str, bad: tuple[int, int], encoding: str, *, marked: bool = False, guessed: bool = False, cut: bool = False
) -> DataError:
    position, byte = bad
    if cut:
        return DataError(
            f"{where} ends within a character of {encoding}, which begins at position {position}; fetch the file "
            "again, or name its encoding with --encoding"
        )
    what = "neither UTF-8 nor cp1252" if guessed else "UTF-8" if encoding == "utf-8" else encoding
    what = what if guessed else f"not {what}"
    although = ", although the file begins with its byte order mark" if marked else ""
    return DataError(
        f"{where}: byte 0x{byte:02X} at position {position} is {what}{although}; "
        "name the encoding of the file with --encoding"
    )


def _zero(source: Source, what: str, encoding: str) -> DataError:
    other = kind_of_bytes(source.path)
    way = f"it begins {other}" if other else "if it is UTF-16, give --encoding utf-16-le or utf-16-be"
    return DataError(f"{source.where}: {what} zero, so this is no {encoding} text; {way}")
