"""Findings on pieces that bring what the encoding has not seen: columns that were constant, new levels, far values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.splits import Repeat
from picsc.datasets.encoding import LARGEST
from picsc.datasets.running_encoding import Moments
from picsc.datasets.table import Column, Dataset
from picsc.phrases import counted, share
from picsc.reports.common import Finding

NAMED = 3
"""Facts that a message names; the others are counted."""
FAR = 1 / LARGEST**2
"""Share of values beyond `LARGEST` deviations that no distribution exceeds at its own deviation (Chebyshev)."""


def new_in_pieces(dataset: Dataset, repeat: Repeat) -> list[Finding]:
    """What each piece after the first brings that no piece before it had, as a warning and as a note.

    Models that are carried along learn it from that piece on; the encoding grows with the pieces.

    Args:
        dataset: the table.
        repeat: pieces in the order of the sequence.
    """
    strong: list[tuple[str, str]] = []
    weak: list[tuple[str, str]] = []
    for column in dataset.columns:
        weak += _missing(column, repeat)
        if column.coded:
            weak += _levels(column, repeat)
        else:
            strong += _numbers(column, repeat)
    advice = (
        "audit the pieces (picsc audit with the same cut), or leave out columns that early pieces do not fill (--drop)"
    )
    return [*_finding(strong, "warning", advice, repeat), *_finding(weak, "note", "", repeat)]


def _finding(facts: list[tuple[str, str]], severity: str, advice: str, repeat: Repeat) -> Iterator[Finding]:
    """A finding on some facts, each the name of a piece and the words; none without facts."""
    if not facts:
        return
    names = {name for name, _ in facts}
    ordered = sorted(facts, key=lambda fact: repeat.names.index(fact[0]))
    words = "; ".join(f"{name}: {fact}" for name, fact in ordered[:NAMED])
    more = "" if len(facts) <= NAMED else f"; and {len(facts) - NAMED} more"
    message = (
        f"{counted(len(names), 'piece')} {'brings' if len(names) == 1 else 'bring'} what no piece before had and "
        f"models of earlier pieces have not learned: {words}{more}"
    )
    pieces = tuple(name for name in repeat.names if name in names)
    yield Finding("new-in-piece", "warning" if severity == "warning" else "note", message, advice, pieces)


def _numbers(column: Column, repeat: Repeat) -> Iterator[tuple[str, str]]:
    """First values, first differences, and values that the encoding before would clip."""
    moments = Moments.none([column.values])
    for t, rows in enumerate(repeat.pieces):
        [(mean, deviation)] = moments.scales
        part = column.values[rows]
        present = part[~np.isnan(part)].astype(np.float64)
        if t and len(present):
            name = repeat.names[t]
            if np.isnan(mean):
                yield name, f"first values of {column.name!r}"
            elif deviation == 0 and bool((present != mean).any()):
                yield name, f"{column.name!r} varies, and was {mean:g} in all rows before"
            elif deviation > 0:
                far = _far(present, mean, deviation)
                if far > FAR * len(present):
                    of = share(far, len(present))
                    yield name, f"{of} values of {column.name!r} lie beyond {LARGEST:g} deviations of those before"
        moments = moments.joined([column.values], rows)


def _far(present: NDArray[np.float64], mean: float, deviation: float) -> int:
    with np.errstate(over="ignore"):
        return int((np.abs(present - mean) / deviation > LARGEST).sum())


def _levels(column: Column, repeat: Repeat) -> Iterator[tuple[str, str]]:
    """Levels that no piece before had."""
    seen = np.zeros(len(column.levels), np.bool_)
    for t, rows in enumerate(repeat.pieces):
        codes = column.values[rows].astype(np.int64)
        here = np.bincount(codes[codes >= 0], minlength=len(seen)) > 0
        new = [column.levels[code] for code in np.flatnonzero(here & ~seen)]
        if t and new:
            named = ", ".join(map(repr, new[:NAMED])) + (", ..." if len(new) > NAMED else "")
            yield repeat.names[t], f"{counted(len(new), 'new level')} of {column.name!r} ({named})"
        seen |= here


def _missing(column: Column, repeat: Repeat) -> Iterator[tuple[str, str]]:
    """First missing values of a column."""
    gone = column.missing
    some = [bool(gone[rows].any()) for rows in repeat.pieces]
    if any(some) and not some[0]:
        yield repeat.names[some.index(True)], f"first missing values of {column.name!r}"
