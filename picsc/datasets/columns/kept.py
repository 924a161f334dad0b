"""Columns that take part because the user keeps them, though they only count or name the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from picsc.datasets.columns.raw import Raw
from picsc.datasets.table import Column, LeftOut


def kept(left: LeftOut, column: Raw) -> Column | LeftOut:
    """A column that `--keep` names, as one that takes part; words take part by their length.

    Args:
        left: the column as it is left out.
        column: its values.

    Returns:
        A column that is still left out, with the reason, where there is nothing to test: one value only, no value, or
        words of one length.
    """
    note = f"kept by --keep: {left.reason}"
    if left.kind == "identifier" and not column.coded:
        values = column.data.astype(np.float64)
        return Column(left.name, "datetime" if column.form == "dates" else "numeric", values, note=note)
    if left.kind == "identifier":
        lengths = np.asarray([*map(len, column.levels), np.nan], dtype=np.float64)
        if np.ptp(lengths[:-1]) > 0:
            note = f"{note}; the length of the words in characters is tested"
            return Column(left.name, "text", lengths[column.data], note=note)
        return replace(left, reason=f"{left.reason}, all of one length: --keep finds nothing to test")
    return replace(left, reason=f"{left.reason}: --keep finds nothing to test")
