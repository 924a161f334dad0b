"""What a cut is: pieces as row numbers, never a copy of rows, and what the null has to know about them.

Letters: n rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from picsc.phrases import share
from picsc.reports.common import Finding, Severity
from picsc.settings import CutSettings


@dataclass(frozen=True, slots=True)
class Fragment:
    """One piece F_i of a data set."""

    kind: Literal["fold", "batch", "client", "group", "time"]
    name: str
    """`fold 1`, `batch 3`, `site=cleveland`, `2024-01-01..2024-01-30`."""
    rows: NDArray[np.int64]
    """Row numbers counted from 0, strictly increasing."""


@dataclass(frozen=True, slots=True)
class Cut:
    """All pieces of one table, and what the null has to know about how they were made."""

    fragments: tuple[Fragment, ...]
    words: str
    """`10 stratified folds, unshuffled`."""
    ordered: bool
    """The pieces are a sequence: batches and time."""
    contiguous: bool
    """The pieces follow the order of rows or of time: batches, time, unshuffled folds."""
    units: NDArray[np.int64] | None
    """(n,) number of the thing that moves as a whole in the null; None means rows."""
    strata: NDArray[np.int64] | None
    """(n,) number of the stratum within which the null permutes; None means the whole table."""
    unassigned: NDArray[np.int64]
    """Rows in no piece, strictly increasing; a finding says why."""
    settings: CutSettings = field(default_factory=CutSettings)
    """What was asked for; the validator needs the names of the columns."""
    findings: tuple[Finding, ...] = ()
    """What only cutting can know, such as empty intervals of time; `validate` passes it on."""


def in_no_piece(rows: int, n: int, why: str, advice: str = "") -> Finding:
    """Say that rows are in no piece; a warning where there is something to do about it.

    Args:
        rows: that are in no piece.
        n: rows in all.
        why: in words.
        advice: what to do.
    """
    severity: Severity = "warning" if advice else "note"
    return Finding("unassigned-rows", severity, f"{share(rows, n)} rows in no piece: {why}", advice)
