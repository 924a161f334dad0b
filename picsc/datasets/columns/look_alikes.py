"""Levels that look the same and are written with different characters, which makes them different levels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from picsc.datasets.table import POOLED, Dataset
from picsc.phrases import counted, listed
from picsc.reports.common import Finding

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
MOST_NAMED = 3
"""Most pairs that the finding names for each column."""


def look_alikes(dataset: Dataset) -> list[Finding]:
    """Report levels and classes that differ only in how Unicode writes them.

    Such are composed and decomposed accents (NFC, NFD), other kinds of blanks, and characters without a width.

    Args:
        dataset: the table.

    Returns:
        One warning; [] where there are none.
    """
    held = [(column.name, (*column.levels, *column.pooled)) for column in dataset.columns if column.coded]
    if dataset.target is not None:
        held.append((dataset.target.name, dataset.target.levels))
    found = [(name, pairs) for name, levels in held if (pairs := _pairs(levels))]
    if not found:
        return []
    described = [f"{name!r} ({listed([f'{a!a} and {b!a}' for a, b in pairs], MOST_NAMED)})" for name, pairs in found]
    message = f"levels that look the same and are not in {counted(len(found), 'column')}: {listed(described)}"
    advice = "write each word in one way: unicodedata.normalize('NFC', word) of Python makes accents equal"
    return [Finding("look-alike-levels", "warning", message, advice)]


def _pairs(levels: Sequence[str]) -> list[tuple[str, str]]:
    if all(level.isascii() for level in levels):
        return []
    first: dict[str, str] = {}
    pairs = []
    for level in levels:
        if level == POOLED:
            continue
        seen = first.setdefault(_looks(level), level)
        if seen != level:
            pairs.append((seen, level))
    return pairs


def _looks(level: str) -> str:
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFC", level)).split())
