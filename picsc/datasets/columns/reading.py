"""All columns of words of a table that are numbers, and remarks on the words that are none. Letters: n rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.numbers import FEW, NumbersRead, Unread, absent_words, read_numbers
from picsc.datasets.columns.raw import Raw
from picsc.datasets.columns.stray_rows import repeated_headers, stray_findings, stray_rows, without_names
from picsc.phrases import counted, listed
from picsc.reports.common import Finding
from picsc.settings import ReadSettings

_ROWS_PER_CLASS = 20
"""Whole numbers with fewer rows than this to a value, among words, are no classes of a target."""


def with_numbers(
    raws: Mapping[str, Raw],
    settings: ReadSettings,
    missing: frozenset[str],
    *,
    target: str | None,
    keys: Collection[str],
    decimal: str | None,
) -> tuple[dict[str, Raw], tuple[Finding, ...]]:
    """The columns with words as numbers where nearly all of their words are numbers.

    Reading: a column of few different numbers may hold classes, of which a word is one more. It is read as numbers only
        where the user says so, or where its words stand in rows that are no data. Where the user takes every word for a
        value (no missing words), words among numbers make words of the whole column.

    Args:
        raws: every column by name.
        settings: columns that the user declares, and the task.
        missing: words that are missing among numbers.
        target: name of the target; None without one.
        keys: columns that cut the table, which stay as they are.
        decimal: decimal mark, point or comma; None leaves it to the words.

    Returns:
        All columns; and findings on words that count as missing, on rows that are no data, and on doubtful numbers.
    """
    headers = repeated_headers(raws)
    columns = {name: column if name in keys else without_names(name, column, headers) for name, column in raws.items()}
    asked = {*settings.numeric, *([target] if target is not None and settings.task == "regression" else [])}
    passed = {*keys, *settings.categorical, *settings.drop}
    if target is not None and settings.task == "classification":
        passed.add(target)
    tried: dict[str, NumbersRead] = {}
    unread: dict[str, Unread] = {}
    for name, column in columns.items():
        if name not in passed:
            found = read_numbers(
                replace(column, declared=column.declared and name not in asked), missing, decimal=decimal
            )
            if isinstance(found, NumbersRead):
                tried[name] = found
            elif found is not None and name != target:
                unread[name] = found
    stray = stray_rows(tried)
    apart = np.asarray([each.row for each in stray], np.int64)
    every_word_counts = settings.missing_words == ()
    taken = {
        name: found
        for name, found in tried.items()
        if (found.nearly_all if name in asked else not (found.words and every_word_counts))
        and (
            name in asked
            or (_is_target(columns[name], found) if name == target else found.sure)
            or (len(headers) and columns[name] is not raws[name] and not found.words)
            or (found.words and np.isin(found.rows, apart).all())
        )
    }
    if decimal is None:
        taken = _settled(taken, columns, missing)
    stray = tuple(each for each in stray if sum(name in taken for name in each.columns) > 1)
    findings = [*stray_findings(headers, stray, len(next(iter(raws.values())).data))]
    findings += _among_numbers(taken, np.asarray([each.row for each in stray], np.int64))
    findings += [*_doubtful(taken), *_not_read(unread)]
    return {**columns, **{name: found.raw for name, found in taken.items()}}, tuple(findings)


def _is_target(column: Raw, found: NumbersRead) -> bool:
    """True if a target holds numbers and no classes: fractions, or about as many different numbers as rows."""
    if not found.sure:
        return False
    labelled = int(np.count_nonzero(column.data >= 0))
    if found.raw.form == "numbers":
        return True
    if not found.words and not found.raw.note:
        return len(column.levels) > max(FEW, labelled / 2)
    return len(column.levels) - len(found.words) > max(FEW, labelled / _ROWS_PER_CLASS)


def _settled(
    taken: dict[str, NumbersRead], columns: Mapping[str, Raw], missing: frozenset[str]
) -> dict[str, NumbersRead]:
    """Doubtful commas are read as the other columns write their numbers, if these agree."""
    marks = {found.decimal for found in taken.values() if found.decimal}
    if len(marks) != 1 or not any(found.doubt for found in taken.values()):
        return taken
    mark = marks.pop()
    again = {
        name: read_numbers(replace(columns[name], declared=False), missing, decimal=mark)
        for name, found in taken.items()
        if found.doubt
    }
    return {
        name: other if isinstance(other := again.get(name), NumbersRead) else found for name, found in taken.items()
    }


def _among_numbers(taken: Mapping[str, NumbersRead], apart: NDArray[np.int64]) -> list[Finding]:
    """A warning on the words among numbers, besides those in rows that another finding tells of."""
    told = []
    for name, found in taken.items():
        codes = found.codes.copy()
        codes[apart] = -1
        words = absent_words(codes, found.words)
        if words is None:
            continue
        rows = int(np.count_nonzero(codes >= 0))
        counts = np.bincount(words.codes[words.codes >= 0], minlength=len(words.words)).tolist()
        each = [
            f"{word!r} in {counted(count, 'row')}"
            if i < len(found.words) and word in found.words
            else f"{word} in {counted(count, 'row')}"
            for i, (word, count) in enumerate(zip(words.words, counts, strict=True))
        ]
        first = int(np.argmax(codes >= 0)) + 1
        told.append(
            f"{name}: {listed(each, 3)}, first in data row {first}"
            if rows > 1
            else f"{name}: {words.words[0]!r} in data row {first}"
        )
    if not told:
        return []
    message = f"words among numbers count as missing values of their own kind: {'; '.join(told[:5])}"
    message += f"; and {len(told) - 5} more columns" if len(told) > 5 else ""
    advice = "correct these words, or name them with --missing-words if they stand for a missing value"
    return [Finding("words-among-numbers", "warning", message, advice)]


def _not_read(unread: Mapping[str, Unread]) -> list[Finding]:
    """A warning on columns of which half are numbers, but less than nine tenths in one way of writing."""
    if not unread:
        return []
    columns = [f"{name!r} ({each.rows} of {each.total} values)" for name, each in unread.items()]
    message = f"numbers were read as words, since fewer than nine tenths are written in one way: {listed(columns)}"
    return [Finding("numbers-as-words", "warning", message, "write the numbers of a column in one way, and no words")]


def _doubtful(taken: Mapping[str, NumbersRead]) -> list[Finding]:
    """A warning on columns whose commas can have either meaning."""
    doubtful = [repr(name) for name, found in taken.items() if found.doubt]
    if not doubtful:
        return []
    message = (
        f"commas were read as marks between thousands in {listed(doubtful)}, but all of them can be decimal commas"
    )
    return [Finding("decimal-in-doubt", "warning", message, "say --decimal comma or --decimal point")]
