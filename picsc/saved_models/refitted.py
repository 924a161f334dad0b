"""A model of all rows by one method of a study, such as a cross-validation, and the data that have such a model."""

from __future__ import annotations

from dataclasses import dataclass

from picsc.datasets.data import Data
from picsc.datasets.table import Target
from picsc.errors import SettingsError
from picsc.saved_models.model import TableModel


@dataclass(frozen=True, slots=True)
class Refitted:
    """A model of all rows."""

    model: TableModel
    method: str
    recommended: bool
    """True where the report decided on the method, and not the user."""
    card: str
    """Its model card."""
    rows: str = "all rows"
    """The rows that it was trained on, in words."""
    why: str = "which the report recommends"
    """Why the report decided on it, as a clause."""


def check_savable(data: Data, own_model: str | None = None) -> None:
    """Refuse, before any training, data and models that cannot be saved.

    Args:
        data: to train on.
        own_model: the model of the user that `--model` names; None for the networks of picsc.

    Raises:
        SettingsError: the data are no table, or the model is the user's own.
    """
    if data.kind != "table":
        raise SettingsError(f"{data.name}: --save-model saves models of tables; leave it out for {data.kind}")
    if own_model is not None:
        raise SettingsError(
            f"--save-model saves the networks of picsc, and --model {own_model} is your own, which only your own code "
            "can save: leave one of the two out"
        )


def of_whole_numbers(data: Data, target: Target | None) -> bool:
    """True if the classes of a target are whole numbers in the data as they were stored.

    Args:
        data: as they were read.
        target: of the rows that are trained on.
    """
    if target is None or target.kind != "classes" or data.kind != "table":
        return False
    stored = data.raws.get(target.name)
    return (stored is None or not stored.coded) and all(map(_is_whole, target.levels))


def _is_whole(word: str) -> bool:
    return word.removeprefix("-").isdecimal() and str(int(word)) == word
