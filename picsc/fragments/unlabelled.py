"""Pieces that disappear because none of their rows has a label."""

from __future__ import annotations

import numpy as np

from picsc.datasets.table import Dataset
from picsc.fragments.keys import distinct, key, spelled
from picsc.phrases import counted, listed
from picsc.reports.common import Finding


def pieces_without_label(dataset: Dataset, column: str | None, what: str = "piece") -> list[Finding]:
    """A warning that names the values of a column whose rows all lack a label, so that they are no pieces.

    Args:
        dataset: the table, before rows without a label are left out.
        column: column with one piece per value; None if pieces are made in another way.
        what: name of a piece.
    """
    if column is None or dataset.target is None or not dataset.target.missing.any():
        return []
    codes, values = distinct(key(dataset, column))
    there = codes >= 0
    rows = np.bincount(codes[there], minlength=len(values))
    labelled = np.bincount(codes[there & ~dataset.target.missing], minlength=len(values))
    gone = np.flatnonzero(labelled == 0).tolist()
    if not gone:
        return []
    names = tuple(f"{column}={spelled(values[i])}" for i in gone)
    told = listed([f"{name} ({counted(int(rows[i]), 'row')})" for name, i in zip(names, gone, strict=True)])
    message = f"{counted(len(gone), what)} without a labelled row, left out: {told}"
    return [Finding(f"{what}s-without-label", "warning", message, f"label some rows of each {what}", names)]
