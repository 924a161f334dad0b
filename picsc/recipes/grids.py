"""The settings of every task of a recipe: its verb's, changed by grids and by the data set's entry. Torch-free."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from picsc.settings import CompareSettings, FedSettings, VerbSettings
from picsc.settings.recipe import Entry, Recipe

S = TypeVar("S", bound=VerbSettings)
OF_TARGETS = ("train_on", "test_on", "bias")
"""The keys of an entry that say what the target of its data set is; they are settings of `compare` too."""


def cuts(recipe: Recipe, settings: S, *, shuffled: bool = False) -> list[S]:
    """The settings once per number of pieces and strength, or per way to invent clients and number of them.

    Args:
        recipe: its own keys.
        settings: of its verb.
        shuffled: folds of a grid are shuffled unless the recipe says otherwise.
    """
    pieces = _of_pieces(recipe, settings, shuffled=shuffled)
    if not recipe.grids.strength:
        return pieces
    return [_changed(each, "penalty", {"strength": value}) for each in pieces for value in recipe.grids.strength]


def _of_pieces(recipe: Recipe, settings: S, *, shuffled: bool) -> list[S]:
    """The settings once per number of pieces, or per way to invent clients and number of them."""
    grids = recipe.grids
    if grids.partition or grids.clients:
        ways = [{"partition": way} for way in grids.partition] or [{}]
        numbers = [{"clients": count} for count in grids.clients] or [{}]
        return [_changed(settings, "clients", {**way, **number}) for way in ways for number in numbers]
    if grids.folds:
        shuffle = {"shuffle": True} if shuffled and not _gives_shuffle(settings) else {}
        return [_changed(settings, "cut", {"folds": count, **shuffle}) for count in grids.folds]
    if grids.batches:
        return [_changed(settings, "cut", {"batches": count, "shuffle": False}) for count in grids.batches]
    return [settings]


def _changed(settings: S, table: str, changes: dict[str, object]) -> S:
    """The settings with other values in one of their tables: `cut`, `clients` or `penalty`."""
    table_changed = getattr(settings, table).model_copy(update=changes)
    return settings.model_copy(update={table: table_changed})  # type: ignore[return-value] # a copy is of the same kind


def _gives_shuffle(settings: VerbSettings) -> bool:
    cut = getattr(settings, "cut", None)
    return cut is not None and "shuffle" in cut.model_fields_set


def as_it_is(settings: S, entry: Entry, folder: Path) -> S:
    """The settings of a verb whose entries are names alone."""
    del entry, folder
    return settings


def with_own_clients(settings: FedSettings, entry: Entry, folder: Path) -> FedSettings:
    """The settings with the column of clients that a data set's entry names.

    Args:
        settings: of the verb, with one way to cut.
        entry: the data set.
        folder: what files are relative to.
    """
    del folder
    return settings if entry.by is None else _changed(settings, "clients", {"by": entry.by})


def with_own_target(settings: CompareSettings, entry: Entry, folder: Path) -> CompareSettings:
    """The settings with the column of pieces and the target that a data set's entry names.

    Args:
        settings: of the verb, with one way to cut.
        entry: the data set.
        folder: what files are relative to.
    """
    own = {name: getattr(entry, name) for name in OF_TARGETS if getattr(entry, name)}
    settings = settings.model_copy(update=own)
    if entry.by is not None:
        settings = _changed(settings, "cut", {"by": entry.by})
    if settings.cut.ways or not settings.test_on:
        return settings
    return settings.model_copy(update={"test_on": tuple(str(folder / name) for name in settings.test_on)})
