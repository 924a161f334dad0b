"""Block length of a stream: long enough for its dependence, and short enough to leave blocks to deal out.

A block of L rows of an autoregression of order one has a mean whose variance falls short of that of a long stretch by
the share s / L, with s = (IAT - 1 / IAT) / 2. A piece of m rows falls short, too, and a difference from the piece
before by half as much again, since neighbouring pieces are alike. So where nothing moved, squared differences between
pieces are larger than those between pieces of permuted blocks by the factor

    (1 - s / m) / (1 - s / L), or (1 - 1.5 s / m) / (1 - s / L) from the piece before,

and a test divides what it observed by it; a trend over all pieces falls short of nothing, so that its factor is
1 / (1 - s / L). The factor is that of an IAT larger by one standard error, since short pieces hide a part of a long
dependence.

Letters: m rows of a piece, K pieces, b blocks in a piece.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

SHORT = 0.05
"""Share by which the variance of a block's mean may fall short of that of a long stretch where rows are plenty."""
EXCESS = 1.2
"""Largest factor that a test may divide by: a larger one would rest on the estimate of the IAT too much."""


@dataclass(frozen=True, slots=True)
class BlockLength:
    """The length of blocks for a stream."""

    rows: int
    """Rows per block, at least 1."""
    wanted: int
    """Rows per block that the dependence asks for."""
    excess: float
    """Factor by which observed squares are larger than those of permuted blocks when nothing moved, at least 1."""

    excess_of_trend: float
    """The same factor for the square of a difference between the two ends of the stream."""

    @property
    def enough(self) -> bool:
        """True if a test that divides by that factor holds its level, about."""
        return self.excess <= EXCESS


def shortfall(time: float) -> float:
    """Rows s such that a mean of L rows has 1 - s / L of the variance of a long stretch; 0 for an IAT of 1."""
    return (time - 1 / time) / 2


def upper_time(time: float, n: int) -> float:
    """IAT larger by one standard error, that of an autoregression of order one over n rows; 1 for independent rows."""
    return time * (1 + math.sqrt(time / n)) if time > 1 else 1.0


def wanted_rows(time: float) -> int:
    """Rows per block whose mean has a variance short by `SHORT`; 1 for independent rows."""
    return max(1, math.ceil(shortfall(time) / SHORT))


def fewest_blocks(k: int, level: float) -> int:
    """Fewest blocks of each of k pieces that make a p-value well below the level possible.

    A draw that deals all blocks of one piece out to one piece again repeats the observed comparison; that must happen
    in at most half of `level` of all draws.
    """
    b = 1
    while k > level / 2 * math.comb(k * b, b):
        b += 1
    return b


def block_length(time: float, sizes: Sequence[int], *, level: float, previous: bool) -> BlockLength:
    """Choose the length of blocks.

    Args:
        time: IAT in rows.
        sizes: rows of each piece.
        level: of the tests.
        previous: True if pieces are compared with the piece before.
    """
    typical, wanted = int(median(sizes)), wanted_rows(time)
    s = shortfall(upper_time(time, sum(sizes)))
    longest = max(1, typical // fewest_blocks(max(2, len(sizes)), level))
    rows = min(wanted, longest)
    held, observed = 1 - s / rows, 1 - (1.5 if previous else 1.0) * s / typical
    if held <= 0:
        return BlockLength(rows, wanted, math.inf, math.inf)
    return BlockLength(rows, wanted, max(1.0, observed / held), 1 / held)
