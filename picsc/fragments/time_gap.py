"""A gap between pieces of time, whose rows belong to no piece.

Letters: m rows with a time, k pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.errors import DataError
from picsc.fragments.time_lengths import fifteen_digits, fixed_length, number


def openings(ends: NDArray[Any], gap: str, column: str) -> NDArray[Any]:
    """The earliest time of each piece: `gap` after the end of the piece before it.

    Args:
        ends: (k,) ends of the pieces, datetime64 or float64.
        gap: a length of time as the user wrote it.
        column: column of the times, for messages.

    Returns:
        (k - 1,) times, for all pieces except the first.

    Raises:
        SettingsError: the gap is no positive length, or is a calendar length such as a month.
    """
    if ends.dtype.kind == "M":
        return ends[:-1] + fixed_length(gap, "--gap")
    return fifteen_digits(ends[:-1] + number(gap, "--gap", column))


def far_enough(
    times: NDArray[Any], piece: NDArray[np.int64], opens: NDArray[Any], gap: str, where: str
) -> NDArray[np.bool_]:
    """A mask of the rows that are not in the gap before their piece; rows of equal time stay together.

    Args:
        times: (m,) times of the rows.
        piece: (m,) number of each row's piece, 0 .. k-1.
        opens: (k - 1,) earliest times of the pieces, from `openings`.
        gap: a length of time as the user wrote it, for messages.
        where: table and column, for messages.

    Returns:
        (m,) bool, True for rows outside the gaps.

    Raises:
        DataError: a piece would have no rows.
    """
    kept = np.ones(len(times), dtype=np.bool_)
    later = piece > 0
    own = opens[piece[later] - 1]
    slack = 4 * np.finfo(np.float64).eps * np.maximum(np.abs(own), np.abs(times[later])) if own.dtype.kind == "f" else 0
    kept[later] = times[later] >= own - slack
    empty = np.flatnonzero(np.bincount(piece[kept], minlength=len(opens) + 1) == 0)
    if len(empty):
        raise DataError(
            f"{where}: a gap of {gap} leaves piece {empty[0] + 1} of {len(opens) + 1} without rows"
            f"{f', and {len(empty) - 1} more' if len(empty) > 1 else ''}; choose a shorter --gap or longer pieces"
        )
    return kept
