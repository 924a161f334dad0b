"""Train and test rows as a column of the table gives them: the pieces that are learned from, and the target."""

from __future__ import annotations

from picsc.datasets.data import Data
from picsc.errors import DataError
from picsc.fragments import cut
from picsc.fragments.split_column import of_role
from picsc.settings import CompareSettings


def as_given(data: Data, settings: CompareSettings) -> CompareSettings:
    """The settings, with the pieces that the split column gives, unless the settings name others.

    Rows for validation take no part: what a method chooses, it chooses on training rows.

    Args:
        data: a table, images or texts.
        settings: of the run.

    Raises:
        DataError: the column has rows for training or for testing, and not for both.
    """
    if settings.cut.split_column is None or data.kind != "table" or not settings.in_turn:
        return settings
    pieces = cut(data, settings.cut, seed=settings.seed).fragments
    if all(piece.role is None for piece in pieces):
        return settings
    train, test = (tuple(piece.name for piece in of_role(pieces, role)) for role in ("train", "test"))
    if not train or not test:
        raise DataError(
            f"--split-column {settings.cut.split_column}: no row is for {'testing' if train else 'training'} "
            f"({', '.join(piece.name for piece in pieces)}): name pieces with --train-on and --test-on, or use --by"
        )
    return settings.model_copy(update={"train_on": train, "test_on": test})
