"""The one split of a table whose column says which rows are for training, for choices and for tests.

Letters: n rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.rows import Rows
from picsc.errors import DataError, SettingsError
from picsc.fragments import Cut
from picsc.fragments.groups import of_other_groups
from picsc.fragments.split_column import of_role
from picsc.phrases import counted, share
from picsc.reports.common import Finding
from picsc.settings import CvSettings


@dataclass(frozen=True, slots=True)
class GivenSplit:
    """Rows by what they are for; row numbers are those of the whole table."""

    learned: tuple[Rows, ...]
    """Rows to learn from, by piece."""
    chosen: Rows
    """Rows that choose lambda and weight decay; empty without."""
    name: str
    """Name of the piece that tests."""
    tested: Rows
    """Rows that test all models."""
    findings: tuple[Finding, ...]


def given_split(made: Cut, settings: CvSettings, groups: NDArray[np.int64] | None) -> GivenSplit | None:
    """The rows for each task; None where the column holds numbers of folds.

    Args:
        made: the pieces of the column.
        settings: of the run.
        groups: (n,) group of each row; rows of tested groups are not learned from. None without groups.

    Raises:
        SettingsError: a setting goes with folds only.
        DataError: there are no rows to learn from, or none to test.
    """
    column = settings.cut.split_column
    if all(piece.role is None for piece in made.fragments):
        return None
    train, valid, test = (of_role(made.fragments, role) for role in ("train", "valid", "test"))
    if not train or not test:
        held = ", ".join(piece.name for piece in made.fragments)
        raise DataError(
            f"--split-column {column}: no row with a label is for {'testing' if train else 'training'} ({held}): "
            "cv learns from train and is tested on test; rename a value, or use --by"
        )
    if settings.keep_rare:
        raise SettingsError(
            f"--keep-rare goes with folds, and --split-column {column} says which rows test: leave it out"
        )
    tested = np.sort(np.concatenate([piece.rows for piece in test]))
    chosen = np.sort(np.concatenate([piece.rows for piece in valid])) if valid else np.empty(0, np.int64)
    everything = [piece.rows for piece in train]
    learned = tuple(of_other_groups(rows, groups, tested) for rows in everything)
    left = sum(map(len, learned))
    if left < 2 or not all(map(len, learned)):
        raise DataError(
            f"--split-column {column}: {counted(left, 'row')} of train to learn from: need at least 2 in every piece "
            f"of train{'' if groups is None else ', of other groups than the tested ones; leave out --group'}"
        )
    findings = []
    gone = sum(map(len, everything)) - left
    if gone:
        message = f"{share(gone, gone + left)} rows of train are left out, because rows of their groups test the models"
        findings.append(Finding("tested-groups-left-out", "warning", message, "make a split of whole groups"))
    if len(chosen):
        message = (
            f"{counted(len(chosen), 'row')} of {', '.join(piece.name for piece in valid)} choose lambda and weight "
            "decay of models that are not carried along pieces, and no model learns from them"
        )
        findings.append(Finding("valid-chooses", "note", message))
    return GivenSplit(learned, chosen, ", ".join(piece.name for piece in test), tested, tuple(findings))
