"""Pieces that a column of the table already gives: numbers of folds, or train, valid and test. Letters: n rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Target
from picsc.fragments.pieces import Cut, Fragment

Role = Literal["train", "valid", "test"]
WORDS: dict[str, Role] = {
    **dict.fromkeys(("train", "training", "tr", "learn", "fit"), "train"),
    **dict.fromkeys(("valid", "validation", "val", "dev", "development"), "valid"),
    **dict.fromkeys(("test", "testing", "te", "holdout", "hold-out", "eval", "evaluation"), "test"),
}
"""Words, in lower case, that say what a row is for."""
_ORDER: tuple[Role, ...] = ("train", "valid", "test")


def of_split_column(made: Cut, column: str, target: Target | None) -> Cut:
    """The pieces of a column's values as a split that somebody else made.

    Args:
        made: one piece per value of the column, named `COLUMN=VALUE`.
        column: its name.
        target: that classes may have been balanced by; None without.

    Returns:
        The pieces, in the order train, valid, test where the values are such words. Folds in which each class is as
        even as it can be are strata, as stratified folds are.
    """
    values = [fragment.name.removeprefix(f"{column}=").strip().lower() for fragment in made.fragments]
    roles = [WORDS.get(value) for value in values]
    if len([role for role in roles if role is not None]) < len(roles):
        folds = tuple(replace(fragment, kind="fold") for fragment in made.fragments)
        codes = None if target is None or target.kind != "classes" else class_codes(target)
        dealt = codes is not None and not len(made.unassigned) and dealt_by_class(codes, list(folds))
        words = f"{len(folds)} pieces given by {column}"
        return replace(made, fragments=folds, words=words, strata=codes if dealt else None)
    order = sorted(range(len(roles)), key=lambda i: _ORDER.index(roles[i]))
    parts = tuple(replace(made.fragments[i], role=roles[i]) for i in order)
    return replace(made, fragments=parts, words=f"train and test as given by {column}")


def of_role(pieces: tuple[Fragment, ...], role: Role) -> list[Fragment]:
    """The pieces of one role: those for training, for validation or for testing."""
    return [piece for piece in pieces if piece.role == role]


def class_codes(target: Target) -> NDArray[np.int64]:
    """Class of each row, (n,), with rows without a label as one more class."""
    return np.where(target.missing, len(target.levels), target.values).astype(np.int64)


def dealt_by_class(codes: NDArray[np.int64], fragments: list[Fragment]) -> bool:
    """True where each class is shared out as evenly as pieces of these sizes allow, as only stratified splitters do.

    The null then permutes rows within classes, as it does for the stratified folds of `picsc audit`.

    Args:
        codes: class of each row, (n,).
        fragments: the pieces.
    """
    size = np.array([len(fragment.rows) for fragment in fragments])
    counts = np.stack([np.bincount(codes[fragment.rows], minlength=codes.max() + 1) for fragment in fragments])
    even = size[:, None] * counts.sum(0) / size.sum()
    return bool(counts.shape[1] > 1 and (np.abs(counts - even) <= 1.0 + 1e-9).all() and (even >= 10).any())
