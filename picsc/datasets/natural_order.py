"""Natural order of words: numbers inside words count as numbers, so that part 2 comes before part 10."""

from __future__ import annotations

import re


def natural_order(word: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A sort key for any words."""
    parts = re.split(r"([0-9]+)", word)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part), word
