"""Blocks as runs of consecutive rows, or of consecutive times, within a piece.

Letters: n rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Ints


def blocks(labels: Ints, length: int, order: Ints, tie: Ints | None = None) -> Ints:
    """Ids of blocks: runs of consecutive rows, about equally many, that never cross the border of a piece.

    A block of a row or two would count as much as all others, so a piece has no rest.

    Args:
        labels: (n,) piece of each row.
        length: fewest rows of a block; a piece of fewer is one block.
        order: (n,) row numbers in stream order.
        tie: (n,) number of the time of each of these rows, in that order; rows of equal time are in one block. None
            where every row stands alone.

    Returns:
        (n,) ids.
    """
    along = labels[order]
    ids = np.empty(len(labels), np.int64)
    before = 0
    for label in np.unique(along):
        inside = np.flatnonzero(along == label)
        held = max(1, len(inside) // length)
        if tie is None:
            block = np.arange(len(inside)) * held // len(inside)
        else:
            place, count = np.unique(tie[inside], return_inverse=True, return_counts=True)[1:]
            block = _blocks_of_ties(count, len(inside) // held)[place.reshape(-1)]
        ids[order[inside]] = before + block
        before += int(block.max()) + 1
    return ids


def _blocks_of_ties(count: Ints, length: int) -> Ints:
    """Number of the block of each time, from their numbers of rows: as few times as make `length` rows or more."""
    upto = np.cumsum(count)
    ends: list[int] = []
    done = 0
    while done < upto[-1]:
        end = int(np.searchsorted(upto, done + length)) + 1
        if end > len(upto):  # too few rows are left for a block: they go with the one before
            ends[-1:] = [len(upto)]
            break
        ends.append(end)
        done = int(upto[end - 1])
    return np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)).astype(np.int64)
