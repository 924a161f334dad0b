"""libsvm (svmlight) files with lines `label index:value ...`. Letters: n rows, f features.

Two files of one call need the same width and index base, which one file alone does not show: features that are 0 in all
rows do not occur, and indices count from 1 or from 0. `libsvm_choices` examines all files of a call before any is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from picsc.datasets.files.compression import most_unpacked
from picsc.datasets.files.formats import format_by_name
from picsc.datasets.files.sources import STDIN, Source, opened
from picsc.datasets.files.table import FileTable
from picsc.errors import DataError
from picsc.reports.common import Choice, Reading
from picsc.settings import AuditSettings, CompareSettings, ReadSettings

S = TypeVar("S", bound=AuditSettings | CompareSettings)

LABEL, QUERY = "label", "qid"
"""Names of the columns of labels and of queries."""
MOST_VALUES = 1 << 28
"""Most values of a table that is made, 2 GiB."""
MOST_FEATURES = 1_000_000
"""Most columns of a table that is made, since a file of one line may contain an index of nine digits."""
_QUERY = re.compile(rb"\S+\s+qid:(\S+)")
_PAIR = re.compile(rb"([0-9]{1,18}):(\S+)")


class _Together(ReadSettings):
    """Settings whose index base and width were found over several files."""

    base_found: str
    features_found: str


def read_libsvm(source: Source, settings: ReadSettings) -> FileTable:
    """Read libsvm as a table: `label`, `qid` if there are queries, and one numeric column f1, f2, ... per feature.

    Features that a row leaves out are 0. Columns are named from f1 (from f0 if indices count from 0).

    Args:
        source: the file.
        settings: zero_based and features; `libsvm_choices` makes them equal for several files.

    Raises:
        DataError: a line has another layout or several labels, an index is out of range, or the table would be too wide
            or too large; the message names the line or the size.
    """
    X, labels = _loaded(source)
    smallest, largest = _indices(X)
    zero_based, base_how = _base(settings, [(smallest, largest)])
    first = 0 if zero_based else 1
    if smallest is not None and smallest < first:
        line = _line_with(source, X, smallest)
        raise DataError(f"{source.where}, {line}: index 0 occurs, but --zero-based no was given; use yes or auto")
    occurring = 0 if largest is None else largest + 1 - first
    width, width_how = _width(settings, occurring)
    if occurring > width:
        raise DataError(
            f"{source.where}, {_line_with(source, X, largest)}: index {largest} occurs, but --features {width} was "
            f"given; use at least {occurring}, or correct the index"
        )
    if width == 0:
        raise DataError(f"{source.where} has no features; a table needs at least one")
    n = X.shape[0]
    if width > MOST_FEATURES:
        raise DataError(
            f"{source.where}: {width} features are more than the {MOST_FEATURES} columns that a table may have; "
            "correct the largest index, or keep fewer features"
        )
    if n * width > MOST_VALUES:
        raise DataError(
            f"{source.where}: {n} rows of {width} features are {n * width * 8 / 2**30:.1f} GiB as a table, more than "
            f"{MOST_VALUES * 8 / 2**30:g} GiB; keep fewer features or rows"
        )
    values = np.zeros((n, width), dtype=np.float64, order="F")
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    values[rows, X.indices - first] = X.data
    frame = pd.DataFrame(values, columns=[f"f{i + first}" for i in range(width)], copy=False)
    queries = _queries(source, n)
    if queries is not None:
        frame.insert(0, QUERY, queries)
    frame.insert(0, LABEL, labels)
    choices = (
        Choice("zero-based", "yes" if zero_based else "no", base_how),
        Choice("features", str(width), width_how),
    )
    return FileTable(frame, source.digest(), Reading("libsvm", source.compression, choices), LABEL)


def libsvm_choices(paths: Iterable[str | Path], settings: ReadSettings) -> ReadSettings:
    """Make index base and width equal for the libsvm files of one call.

    Args:
        paths: all files of the call, of any format.
        settings: how they are read.

    Returns:
        The settings, with zero_based and features filled in if several of the files are libsvm. Files that cannot be
        read are ignored.

    Raises:
        DataError: standard input would have to be read twice.
    """
    files = [path for path in dict.fromkeys(map(str, paths)) if format_by_name(path, settings) == "libsvm"]
    if len(files) < 2 or (settings.zero_based != "auto" and settings.features is not None):
        return settings
    if STDIN in files:
        raise DataError(
            "standard input cannot be read twice, which it takes to give several libsvm files one width; "
            "say --zero-based yes or no, and --features N"
        )
    ranges = []
    for path in files:
        with (
            suppress(DataError, OSError),
            opened(path, most_unpacked(settings)) as source,
        ):  # it is refused later, when it is read
            ranges.append(_indices(_loaded(source)[0]))
    zero_based, base_how = _base(settings, ranges)
    largest = max((high for _, high in ranges if high is not None), default=0)
    width, width_how = _width(settings, largest + (1 if zero_based else 0))
    together = f"over {len(files)} files: "
    answer: Literal["yes", "no"] = "yes" if zero_based else "no"
    found = {"zero_based": answer, "features": max(width, 1)}
    return _Together(
        **{**settings.model_dump(), **found},
        base_found=base_how if base_how == "told" else together + base_how,
        features_found=width_how if width_how == "told" else together + width_how,
    )


def read_alike(settings: S, data: str | Path) -> S:
    """The settings with which the data and the other files of a call get the same libsvm width and index base.

    Args:
        settings: settings of a verb; they name the other files.
        data: path of the data.

    Raises:
        DataError: standard input would have to be read twice.
    """
    read = libsvm_choices((data, *settings.other_files), settings.read)
    return settings.model_copy(update={"read": read})  # type: ignore[return-value] # a copy has the same type


def _base(settings: ReadSettings, ranges: list[tuple[int | None, int | None]]) -> tuple[bool, str]:
    """True if indices count from 0, and how that was found."""
    if settings.zero_based != "auto":
        return settings.zero_based == "yes", settings.base_found if isinstance(settings, _Together) else "told"
    zero = any(low == 0 for low, _ in ranges)
    return zero, "index 0 occurs" if zero else "index 0 does not occur"


def _width(settings: ReadSettings, occurring: int) -> tuple[int, str]:
    if settings.features is not None:
        return settings.features, settings.features_found if isinstance(settings, _Together) else "told"
    return occurring, "the largest index"


def _indices(X: Any) -> tuple[int | None, int | None]:
    """The smallest and the largest index; None for a file without features."""
    return (int(X.indices.min()), int(X.indices.max())) if X.indices.size else (None, None)


def _loaded(source: Source) -> tuple[Any, Any]:
    """Sparse rows with the indices of the file, and labels."""
    from sklearn.datasets import load_svmlight_file  # slow to import, and other formats do not need it

    try:
        with source.path.open("rb") as file:
            X, labels = load_svmlight_file(file, zero_based=True)
    except (ValueError, OverflowError, TypeError, IndexError) as error:
        raise _first_bad_line(source) or DataError(
            f"{source.where} is no libsvm file that can be read: {' '.join(str(error).split())[:200]}"
        ) from None
    if X.shape[0] == 0:
        raise DataError(f"{source.where} has no rows")
    return X, labels


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """The lines that hold more than a comment, each with its number."""
    with source.path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.partition(b"#")[0].strip()
            if text:
                yield number, text


def _line_with(source: Source, X: Any, index: int | None) -> str:
    """The first line in which an index occurs, as `line 7`."""
    row = int(np.searchsorted(X.indptr, np.flatnonzero(X.indices == index)[0], side="right")) - 1
    return f"line {next(islice(_lines(source), row, None))[0]}"


def _first_bad_line(source: Source) -> DataError | None:
    for number, line in _lines(source):
        label, *pairs = line.split()
        where = f"{source.where}, line {number}"
        if b":" in label:
            return DataError(f"{where} has no label; every row needs one")
        if b"," in label and all(map(_is_number, label.split(b","))):
            return DataError(f"{where} has several labels; every row needs one")
        if not _is_number(label):
            return DataError(f"{where}: the label {_shown(label)} is no number; write classes as numbers")
        before = -1
        for pair in pairs[pairs[:1] != [] and pairs[0].startswith(b"qid:") :]:
            found = _PAIR.fullmatch(pair)
            if found is None or not _is_number(found[2]):
                return DataError(
                    f"{where}: {_shown(pair)} is no INDEX:VALUE, a whole number from 0 and a number; correct it"
                )
            if int(found[1]) >= 2**31:
                return DataError(f"{where}: index {int(found[1])} is not below 2^31; correct it")
            if int(found[1]) <= before:
                return DataError(
                    f"{where}: index {int(found[1])} comes after {before}; put the pairs in order, each index once"
                )
            before = int(found[1])
    return None


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "backslashreplace"))


def _queries(source: Source, n: int) -> Any:
    """The query of every row as a word; None if the first row has none."""
    queries: list[str] = []
    for number, line in _lines(source):
        found = _QUERY.match(line)
        if found is None and not queries:
            return None
        if found is None:
            raise DataError(f"{source.where}, line {number}: there is no qid, as the rows before have; add it")
        queries.append(found[1].decode("utf-8", "backslashreplace"))
    return np.asarray(queries, dtype=object) if len(queries) == n else None
