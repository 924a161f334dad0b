"""The format of words: digits and letters by kind, so that `EU-123` and `EU-7` are one format and `7/EU` is another."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 20
"""Most formats that are told apart; the others are one more."""
SHARE = 0.05
"""Formats with the letters kept hold for a column if all but this share of its words have one of the most frequent."""
_DIGITS, _LETTERS = re.compile(r"[0-9]+"), re.compile(r"[^\W\d_]+")


def format_codes(levels: Sequence[str]) -> NDArray[np.int64] | None:
    """Code of the format of each level, (levels,).

    Runs of digits count as one digit, and letters are kept as long as few formats result, so that a changed prefix is
    another format; else runs of letters count as one letter.

    Args:
        levels: different words.

    Returns:
        Codes from 0, the most frequent format first; None where all levels have one format.
    """
    with_letters = [_DIGITS.sub("9", level) for level in levels]
    codes, rare = _coded(with_letters)
    if rare > SHARE * len(levels):
        codes, _ = _coded([_LETTERS.sub("a", word) for word in with_letters])
    return codes if codes.max(initial=0) > 0 else None


def _coded(words: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """Codes of the most frequent words, and the number of the others, which share a code."""
    distinct, place, count = np.unique(np.asarray(words, dtype=object), return_inverse=True, return_counts=True)
    order = np.argsort(-count, kind="stable")
    rank = np.empty(len(distinct), np.int64)
    rank[order] = np.arange(len(distinct))
    return np.minimum(rank, MOST)[place.reshape(-1)], int(count[order[MOST:]].sum())
