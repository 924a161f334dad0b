"""Estimates of a weighting's memory before it runs."""

from __future__ import annotations

import math

from picsc.weighting.kernels import SAMPLED
from picsc.weighting.kmm import BLOCK
from picsc.weighting.kmm import CHUNK as TARGETS
from picsc.weighting.logistic import FOLDS, HELD, NARROWEST, RIDGES, WIDEST, WORK
from picsc.weighting.ulsif import CENTRES, CHUNK


def estimated_bytes(name: str, n: int, m: int, f: int) -> int:
    """An upper estimate of the memory that a weighting takes beyond its inputs, for inputs in float32.

    Args:
        name: "iw", "ulsif", "rulsif" or "kmm".
        n: training rows.
        m: target rows.
        f: columns.

    Returns:
        Bytes; twice as many for inputs in float64 is safe.

    Raises:
        KeyError: no such weighting.
    """
    rows = n + m
    sampled = 2 * SAMPLED
    copy, median = 4 * rows * f, 48 * min(rows, sampled) ** 2
    problems = len(RIDGES) * FOLDS
    kept = min(f, WIDEST, int(max(NARROWEST, math.sqrt(WORK / rows)))) + 1
    held = min(HELD, rows * problems * kept)
    inside = min(n, BLOCK)
    numbers = {
        "iw": 2 * copy + 4 * rows * kept + 8 * 12 * rows * problems + 16 * held + 24 * problems * kept**2,
        "ulsif": copy + median + 8 * CENTRES * (3 * rows + 16 * min(n, m)) + 8 * CENTRES * CHUNK,
        "kmm": copy + median + 4 * inside * (6 * inside + 3 * TARGETS) + 16 * n,
    }
    numbers["rulsif"] = numbers["ulsif"]
    return numbers[name]
