"""Data sets in LEAF's JSON (FEMNIST, Shakespeare, Sentiment140), where each row has a user.

Letters: n rows, t tokens kept.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.images import ImageSet
from picsc.datasets.text_files.alphabet import LETTERS, letter_codes
from picsc.datasets.text_files.leaf_json import leaf_users
from picsc.datasets.texts import TokenSet, checked, smallest_codes
from picsc.errors import DataError
from picsc.runtime.digests import digest, file_digest

LARGEST_VOCABULARY = 10_000
"""Most words of a vocabulary."""
LONGEST = 512
"""Most words of a text that are kept."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_TEXT_FIELD = 4
"""Position of the text in a row of Sentiment140: identifier, date, query, user, text."""
_WAYS = ("", "all_data", "data/all_data")


def leaf_files(path: Path) -> tuple[list[Path], list[Path]]:
    """LEAF's files of the training part and of the test part; their content is not read.

    Args:
        path: path of one file, or of a folder with train/*.json and test/*.json, or with *.json.
    """
    if path.suffix.lower() == ".json" and path.is_file():
        return [path], []
    for folder in (path, path / "data"):
        train, test = (sorted((folder / part).glob("*.json")) for part in ("train", "test"))
        if train:
            return train, test
    return next((found for way in _WAYS if (found := sorted((path / way).glob("*.json")))), []), []


def read_leaf(path: Path, name: str) -> ImageSet | TokenSet:
    """Read LEAF's JSON of any of its tasks.

    784 numbers from 0 to 1 are an image. A string with one character as its label is a window on a text in LEAF's 80
    characters; other characters become code 0, and rows that are labelled with one are left out. Any other string, or
    the fifth field of a list of strings, is a text: its words in lower case, of which the 10,000 most frequent ones of
    the training part are kept.

    Args:
        path: path of a file or folder, as in `leaf_files`.
        name: name of the set.

    Returns:
        Training rows first; the rows in test/ are the official test part.

    Raises:
        DataError: a file is no such JSON, or the rows of a user are none of these; the message names file and user.
    """
    train, test = leaf_files(path)
    if not train:
        raise DataError(f"{path}: there is no *.json and no train/*.json in it; put LEAF's files there")
    kept: _Images | _Windows | _Texts | None = None
    clients: dict[str, int] = {}
    owners, labels = array("q"), []
    trained = 0
    for file in (*train, *test):
        for user, x, y in leaf_users(file):
            where = f"{file}, user {user!r}"
            if not x:
                continue
            kept = kept or _kind(x, y, where)()
            found = kept.add(x, y, where)
            labels.extend(found)
            owners.extend([clients.setdefault(user, len(clients))] * len(found))
            trained += len(found) if file in train else 0
    if kept is None or not trained:
        raise DataError(f"{path}: there are no rows to learn from in it; get the files again")
    codes, classes = _classes(labels, str(path))
    rows: dict[str, Any] = {
        "name": name,
        "source": str(path),
        "labels": codes,
        "classes": classes,
        "owners": np.asarray(owners, dtype=np.int64),
        "clients": tuple(clients),
        "test": np.arange(trained, len(codes)),
        "sha256": digest([file_digest(file) for file in (*train, *test)]),
    }
    return kept.finished(rows, trained)


class _Images:
    """Collects the pixels of images."""

    def __init__(self) -> None:
        self._pixels: list[NDArray[np.uint8]] = []

    def add(self, x: list[Any], y: list[Any], where: str) -> list[Any]:
        try:
            values = np.asarray(x, dtype=np.float32)
        except (TypeError, ValueError):
            raise DataError(f"{where}: its images are no numbers, or not all of one size; get the file again") from None
        width = values.shape[-1]
        channels = next((c for c in (1, 3) if width % c == 0 and isqrt(width // c) ** 2 * c == width), None)
        if values.ndim != 2 or width < 4 or channels is None:
            raise DataError(f"{where}: inputs of {width} numbers are no square images; give them as a table instead")
        low, high = float(values.min()), float(values.max())
        if not (low >= 0 and high <= 255):
            raise DataError(f"{where}: pixels run from {low:g} to {high:g}; they must be from 0 to 1, or to 255")
        side = isqrt(width // channels)
        scaled = np.rint(values * 255 if high <= 1 else values).astype(np.uint8)
        pixels = np.moveaxis(scaled.reshape(len(x), side, side, channels), 3, 1)
        if self._pixels and self._pixels[0].shape[1:] != pixels.shape[1:]:
            raise DataError(f"{where}: images of {side} x {side} pixels among others of another size; leave one out")
        self._pixels.append(np.ascontiguousarray(pixels))
        return y

    def finished(self, rows: dict[str, Any], _trained: int) -> ImageSet:
        return ImageSet(pixels=np.concatenate(self._pixels), **rows)


class _Windows:
    """Collects windows on texts; a window that is one character after the previous one shares its text."""

    def __init__(self) -> None:
        self._text = array("B")
        self._starts = array("q")
        self._length = 0

    def add(self, x: list[Any], y: list[Any], where: str) -> list[Any]:
        pieces: list[str] = []
        size, starts, kept = len(self._text), [], []
        before = ""
        for window, label in zip(x, y, strict=True):
            if not self._length and isinstance(window, str):
                self._length = len(window)
            if not isinstance(window, str) or len(window) != self._length or not isinstance(label, str):
                raise DataError(
                    f"{where}: an input is no string of {self._length} characters like the first; get the file again"
                )
            pieces.append(label if window == before else window + label)
            size += len(pieces[-1])
            starts.append(size - len(label) - self._length)
            before = (window + label)[1:]
        for start, label in zip(starts, y, strict=True):
            if len(label) == 1 and letter_codes(label)[0]:
                self._starts.append(start)
                kept.append(label)
        self._text.frombytes(letter_codes("".join(pieces)).tobytes())
        return kept

    def finished(self, rows: dict[str, Any], _trained: int) -> TokenSet:
        starts = np.asarray(self._starts, dtype=np.int64)
        classes = [LETTERS.index(_as_letter(label)) for label in rows["classes"]]
        rows |= {"labels": np.asarray(classes, dtype=np.int64)[rows["labels"]], "classes": tuple(LETTERS)}
        return TokenSet(
            unit="characters",
            vocabulary=tuple(LETTERS),
            text=np.asarray(self._text, dtype=np.uint8),
            starts=starts,
            lengths=np.broadcast_to(np.int64(self._length), len(starts)),
            **rows,
        )


class _Texts:
    """Collects words as numbers in the order of first appearance."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._text = array("q")
        self._lengths = array("q")

    def add(self, x: list[Any], y: list[Any], where: str) -> list[Any]:
        for row in x:
            words = _WORD.findall(_text_of(row, where).lower())[:LONGEST]
            self._text.extend(self._words.setdefault(word, len(self._words)) for word in words)
            self._lengths.append(len(words))
        return y

    def finished(self, rows: dict[str, Any], trained: int) -> TokenSet:
        text, lengths = (np.asarray(part, dtype=np.int64) for part in (self._text, self._lengths))
        ends = np.cumsum(lengths)
        counts = np.bincount(text[: ends[trained - 1]], minlength=len(self._words))
        frequent = np.argsort(-counts, kind="stable")[:LARGEST_VOCABULARY]
        frequent = frequent[counts[frequent] > 0]
        code = np.zeros(len(self._words), dtype=np.int64)
        code[frequent] = np.arange(1, len(frequent) + 1)
        text = code[text]
        left = np.diff(np.concatenate([[0], np.cumsum(text > 0)])[np.concatenate([[0], ends])])
        names = list(self._words)
        return checked(
            TokenSet(
                unit="words",
                vocabulary=tuple(names[i] for i in frequent),
                text=smallest_codes(text[text > 0], len(frequent)),
                starts=np.cumsum(left) - left,
                lengths=left,
                **rows,
            )
        )


def _kind(x: list[Any], y: list[Any], where: str) -> Callable[[], _Images | _Windows | _Texts]:
    """The collector for the rows of a user, by the kind of the first row."""
    first = x[0]
    if isinstance(first, list) and first and all(isinstance(value, int | float) for value in first):
        return _Images
    if isinstance(first, str):
        same = all(isinstance(row, str) and len(row) == len(first) for row in x)
        return _Windows if same and isinstance(y[0], str) and len(y[0]) == 1 and len(first) > 1 else _Texts
    if isinstance(first, list) and first and all(isinstance(value, str) for value in first):
        return _Texts
    raise DataError(
        f"{where}: its first input is neither a list of numbers, nor a string, nor a list of strings; LEAF's FEMNIST, "
        "Shakespeare and Sentiment140 can be read"
    )


def _text_of(row: Any, where: str) -> str:
    if isinstance(row, list) and row:
        row = row[_TEXT_FIELD] if len(row) > _TEXT_FIELD else row[-1]
    if not isinstance(row, str):
        raise DataError(f"{where}: a text is no string but {type(row).__name__}; get the file again")
    return row


def _as_letter(label: str) -> str:
    return LETTERS[int(letter_codes(label)[0]) - 1]


def _classes(labels: Sequence[Any], where: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes and names of the labels; numbers in order of size, words in order of name."""
    kinds = {type(label) for label in labels}
    if not kinds <= {int, str} or len(kinds) != 1:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"{where}: labels are {found}; they must all be whole numbers, or all words")
    names = sorted(set(labels))
    number = {label: i for i, label in enumerate(names)}
    return np.asarray([number[label] for label in labels], dtype=np.int64), tuple(str(label) for label in names)
