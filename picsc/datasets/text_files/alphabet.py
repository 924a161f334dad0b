"""Codes of LEAF's alphabet of 80 characters."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

LETTERS = "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}"
"""LEAF's 80 characters, in its order; character i has code i + 1."""
_QUOTES: dict[str, str | int | None] = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}
_PLAIN = str.maketrans({**_QUOTES, "\u2014": "--", "\u2013": "-", "\t": " "})
_CODES = np.zeros(128, dtype=np.uint8)
_CODES[[ord(letter) for letter in LETTERS]] = np.arange(1, len(LETTERS) + 1)


def encoded(text: str) -> NDArray[np.uint8]:
    """The codes of the characters of a text: position in `LETTERS` plus 1.

    Typographic quotes and dashes become plain ones, accents are removed, and any other character that LEAF lacks is
    left out.

    Returns:
        (t,) codes, none of them 0.
    """
    plain = unicodedata.normalize("NFKD", text.translate(_PLAIN)).encode("ascii", "ignore")
    codes = _CODES[np.frombuffer(plain, dtype=np.uint8)]
    return codes[codes > 0]


def letter_codes(text: str) -> NDArray[np.uint8]:
    """Codes as in `encoded`, but one for every character: 0 for those that LEAF lacks.

    Returns:
        (len(text),) codes.
    """
    points = np.frombuffer(text.translate(str.maketrans(_QUOTES)).encode("utf-32-le", "replace"), dtype="<u4")
    return _CODES[np.where(points < len(_CODES), points, 0)]
