"""A parser of LEAF's JSON that yields one user at a time, so that memory is that of the largest user.

A file is `{"users": [...], "num_samples": [...], "user_data": {user: {"x": [...], "y": [...]}}}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from picsc.errors import DataError

_BLOCK = 1 << 20
"""Least number of characters that are read at once."""
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


def leaf_users(path: Path) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """The users of one file, each with a name, inputs, and as many labels.

    Args:
        path: path of the file.

    Raises:
        DataError: the file cannot be read, is no whole JSON, or a user has no list x or y or not as many of both.
    """
    seen = 0
    try:
        with path.open(encoding="utf-8") as file:
            for user, rows in _user_data(_Json(file)):
                seen += 1
                x, y = (rows.get(part) if isinstance(rows, dict) else None for part in ("x", "y"))
                if not isinstance(x, list) or not isinstance(y, list):
                    raise DataError(f'{path}, user {user!r}: there are no lists "x" and "y"; is it LEAF\'s JSON?')
                if len(x) != len(y):
                    raise DataError(f"{path}, user {user!r}: {len(x)} inputs but {len(y)} labels; get the file again")
                yield user, x, y
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is no UTF-8 text, so it is no JSON; is it another file?") from None
    except (json.JSONDecodeError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise DataError(f"{path} is no whole JSON ({why}, after {seen} users); get the file again") from None
    if not seen:
        raise DataError(f'{path}: there is no "user_data" with users in it; is it LEAF\'s JSON?')


class _Json:
    """A JSON text of which only a part is in memory."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._held = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            while self._at < len(self._held) and self._held[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._held) or not self._more():
                return self._held[self._at : self._at + 1]

    def skip(self, wanted: str) -> None:
        """Skip this character, which must come next."""
        if self.peek() != wanted:
            raise json.JSONDecodeError(f"no {wanted!r} where one is due", self._held, self._at)
        self._at += 1

    def value(self) -> Any:
        """The next value, whole."""
        self.peek()
        while True:
            try:
                found, end = _DECODER.raw_decode(self._held, self._at)
                if end < len(self._held) or not self._more():  # a number may go on
                    self._at = end
                    return found
            except json.JSONDecodeError:
                if not self._more():
                    raise

    def keys(self) -> Iterator[str]:
        """The names in an object; the value of a name must be read before the next name is requested."""
        self.skip("{")
        if self.peek() == "}":
            self.skip("}")
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise json.JSONDecodeError("a name is no string", self._held, self._at)
            self.skip(":")
            yield name
            if self.peek() != ",":
                self.skip("}")
                return
            self.skip(",")

    def _more(self) -> bool:
        """Read as much again as is in memory, so that the number of attempts to parse a long value stays small."""
        self._held = self._held[self._at :]
        self._at = 0
        block = self._file.read(max(_BLOCK, len(self._held)))
        self._held += block
        return bool(block)


def _user_data(text: _Json) -> Iterator[tuple[str, Any]]:
    for name in text.keys():  # noqa: SIM118 - no dictionary
        if name == "user_data":
            for user in text.keys():  # noqa: SIM118
                yield user, text.value()
        else:
            text.value()
    if text.peek():
        raise json.JSONDecodeError("something follows its end", text.peek(), 0)
