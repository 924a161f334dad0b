"""Tables whose columns are declared: ARFF (Weka, OpenML) and KEEL's .dat. Letters: n rows, f columns."""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path
from typing import Any, cast

import arff  # type: ignore[import-untyped]  # comes with openml
import numpy as np
import pandas as pd

from picsc.errors import DataError

_DECLARED = re.compile(r"""(?P<name>'[^']*'|"[^"]*"|[^\s{]+)(?P<kind>\s*\{.*\}|\s+[A-Za-z].*)""")
_MISSING = ("", "?", "<null>")


def read_arff(path: Path) -> tuple[pd.DataFrame, str]:
    """Read ARFF.

    Returns:
        The frame: numbers as float64, declared categories as such, NaN or None where missing. And the SHA-256 of the
        file's bytes.

    Raises:
        DataError: the file is no ARFF.
    """
    text, sha256 = _text(path)
    try:
        held = arff.loads(text)
    except (arff.ArffException, ValueError, IndexError, StopIteration) as error:
        raise DataError(f"{path} is no ARFF that can be read: {' '.join(str(error).split())[:200]}") from None
    attributes = cast("list[tuple[str, str | list[str]]]", held["attributes"])
    rows = cast("list[list[Any]]", held["data"])
    columns = {name: _typed([row[j] for row in rows], kind) for j, (name, kind) in enumerate(attributes)}
    if len(columns) < len(attributes):
        raise DataError(f"{path} declares two attributes of one name; rename one of them")
    return pd.DataFrame(columns), sha256


def _typed(values: list[Any], kind: str | list[str]) -> Any:
    if isinstance(kind, list):
        return pd.Categorical(values, categories=list(dict.fromkeys(kind)))
    if kind.upper() in ("REAL", "NUMERIC", "INTEGER"):
        return np.asarray([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    return pd.Series(values, dtype=object)


def read_keel(path: Path) -> tuple[pd.DataFrame, str | None, str]:
    """Read KEEL's .dat: @attribute lines with ranges, @inputs, @outputs, @data.

    Returns:
        The frame; its first output, None if none is declared; and the SHA-256 of the file's bytes. `?` and `<null>`
        are missing.

    Raises:
        DataError: the file has no such header, or a line does not fit it; the message names the line.
    """
    text, sha256 = _text(path)
    kinds: dict[str, list[str] | None] = {}
    target: str | None = None
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        word, _, rest = line.strip().partition(" ")
        if word.lower() == "@data":
            return _keel_frame(path, lines, number, kinds), target, sha256
        if word.lower() == "@attribute":
            name, kind = _declared(path, number, rest.strip())
            kinds[name] = kind
        if word.lower() in ("@output", "@outputs"):
            target = rest.split(",")[0].strip() or None
    raise DataError(f"{path} has no line @data, so it is no KEEL file; save it as csv")


def _declared(path: Path, number: int, text: str) -> tuple[str, list[str] | None]:
    """Name of an attribute, and its levels if they are listed."""
    found = _DECLARED.fullmatch(text)
    if found is None:
        raise DataError(f"{path}, line {number}: {text[:40]!r} declares no attribute; write @attribute NAME KIND")
    name, kind = found["name"].strip("'\""), found["kind"].strip()
    return name, [level.strip() for level in kind[1:-1].split(",")] if kind.startswith("{") else None


def _keel_frame(path: Path, lines: list[str], start: int, kinds: dict[str, list[str] | None]) -> pd.DataFrame:
    """The rows after line `start`."""
    rows: list[list[str | None]] = []
    for number, fields in enumerate(csv.reader(lines[start:], skipinitialspace=True), start + 1):
        if not fields or (len(fields) == 1 and not fields[0].strip()):
            continue
        if len(fields) != len(kinds):
            raise DataError(f"{path}, line {number}: {len(fields)} fields where {len(kinds)} attributes are declared")
        rows.append([None if field.strip() in _MISSING else field.strip() for field in fields])
    frame = {}
    for j, (name, levels) in enumerate(kinds.items()):
        values = [row[j] for row in rows]
        if levels is not None:
            frame[name] = _categories(path, name, values, levels)
            continue
        try:
            frame[name] = np.asarray([np.nan if value is None else float(value) for value in values])
        except ValueError as error:
            raise DataError(f"{path}: attribute {name!r} is declared a number, but {error}; correct the file") from None
    return pd.DataFrame(frame)


def _categories(path: Path, name: str, values: list[str | None], levels: list[str]) -> Any:
    unknown = sorted({value for value in values if value is not None} - set(levels))
    if unknown:
        raise DataError(f"{path}: attribute {name!r} holds {unknown[0]!r}, which is none of its declared levels")
    return pd.Categorical(values, categories=list(dict.fromkeys(levels)))


def _text(path: Path) -> tuple[str, str]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} is not UTF-8; re-encode the file, for example with iconv -f latin1 -t utf-8"
        ) from None
    return text, hashlib.sha256(content).hexdigest()
