"""A cut of a table: the row numbers of its pieces, and facts about the cut that a permutation test needs.

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

    kind: Literal["fold", "batch", "client", "group", "time", "whole"]
    """The way in which the piece was made; `whole` is the only piece of a table that is not cut."""
    name: str
    """Name such as `fold 1`, `batch 3`, `site=cleveland`, `2024-01-01..2024-01-30`, `all rows`."""
    rows: NDArray[np.int64]
    """Row numbers counted from 0, strictly increasing."""
    role: Literal["train", "valid", "test"] | None = None
    """The rows' task where a column of splits says it: to learn from, to choose by, or to test; else None."""


@dataclass(frozen=True, slots=True)
class Cut:
    """All pieces of one table, and facts about the cut that a permutation test needs."""

    fragments: tuple[Fragment, ...]
    words: str
    """A description such as `10 stratified folds, unshuffled`."""
    ordered: bool
    """The pieces are a sequence: batches and time."""
    contiguous: bool
    """The pieces follow the order of rows or of time: batches, time, unshuffled folds."""
    units: NDArray[np.int64] | None
    """(n,) number of the group of rows that the null moves as a whole; None if it moves single rows."""
    strata: NDArray[np.int64] | None
    """(n,) number of the stratum within which the null permutes; None for the whole table."""
    unassigned: NDArray[np.int64]
    """Rows in no piece, strictly increasing; a finding gives the reason."""
    settings: CutSettings = field(default_factory=CutSettings)
    """The settings of the cut; `validate` needs the names of the columns."""
    findings: tuple[Finding, ...] = ()
    """Findings that only the cut can make, such as empty intervals of time; `validate` includes them."""

    @property
    def whole(self) -> bool:
        """True if the table is one piece."""
        return all(fragment.kind == "whole" for fragment in self.fragments)


def in_no_piece(rows: int, n: int, why: str, advice: str = "") -> Finding:
    """A finding on rows that are in no piece; a warning if there is advice, else a note.

    Args:
        rows: number of rows in no piece.
        n: number of rows in all.
        why: the reason.
        advice: a remedy; empty if there is none.
    """
    severity: Severity = "warning" if advice else "note"
    return Finding("unassigned-rows", severity, f"{share(rows, n)} rows in no piece: {why}", advice)
