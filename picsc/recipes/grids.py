"""The settings of every run of a recipe: its verb's, changed by grids and by the data set's entry. Torch-free."""

from __future__ import annotations

from pathlib import Path

from picsc.settings import AuditSettings, CompareSettings, FedSettings, VerbSettings
from picsc.settings.recipe import Entry, Recipe


def cuts(recipe: Recipe, settings: VerbSettings) -> list[VerbSettings]:
    """The settings once per number of pieces, or per way to invent clients and number of them.

    Args:
        recipe: its own keys.
        settings: of its verb.
    """
    grids = recipe.grids
    if isinstance(settings, FedSettings) or (
        isinstance(settings, AuditSettings) and (grids.partition or grids.clients)
    ):
        ways = [{"partition": way} for way in grids.partition] or [{}]
        numbers = [{"clients": count} for count in grids.clients] or [{}]
        both: list[dict[str, object]] = [{**way, **number} for way in ways for number in numbers]
        return [settings.model_copy(update={"clients": settings.clients.model_copy(update=one)}) for one in both]
    if grids.folds:
        changes: list[dict[str, object]] = [{"folds": count, **_shuffle(settings)} for count in grids.folds]
    elif grids.batches:
        changes = [{"batches": count, "shuffle": False} for count in grids.batches]
    else:
        return [settings]
    return [settings.model_copy(update={"cut": settings.cut.model_copy(update=change)}) for change in changes]


def _shuffle(settings: VerbSettings) -> dict[str, object]:
    """Folds of `compare` are shuffled unless the recipe says otherwise; without folds, its cut has nothing to say."""
    said = isinstance(settings, CompareSettings) and "shuffle" not in settings.cut.model_fields_set
    return {"shuffle": True} if said else {}


def of_entry(settings: VerbSettings, entry: Entry, folder: Path) -> VerbSettings:
    """The settings with what one data set says of itself.

    Args:
        settings: of the verb, with one way to cut.
        entry: the data set.
        folder: what files are relative to.
    """
    if isinstance(settings, FedSettings):
        if entry.by is None:
            return settings
        return settings.model_copy(update={"clients": settings.clients.model_copy(update={"by": entry.by})})
    if not isinstance(settings, CompareSettings):
        return settings
    own: dict[str, object] = {
        name: getattr(entry, name) for name in ("train_on", "test_on", "bias") if getattr(entry, name)
    }
    if entry.by is not None:
        own["cut"] = settings.cut.model_copy(update={"by": entry.by})
    settings = settings.model_copy(update=own)
    if settings.cut.ways or not settings.test_on:
        return settings
    return settings.model_copy(update={"test_on": tuple(str(folder / name) for name in settings.test_on)})
