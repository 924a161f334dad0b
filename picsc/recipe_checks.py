"""What is wrong with a recipe although each of its values is right. Torch-free."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from picsc.problems import Problem
from picsc.recipe_keys import Recipe, VerbSettings
from picsc.settings import METHODS, AuditSettings, CvSettings, FedSettings


def contradictions(recipe: Recipe, settings: VerbSettings, folder: Path) -> list[Problem]:
    """What single values do not show.

    Args:
        recipe: its own keys.
        settings: of its verb.
        folder: what files are relative to.
    """
    cut = _of_clients(recipe, settings) if isinstance(settings, FedSettings) else _of_pieces(recipe, settings)
    return [*cut, *_of_the_paper(recipe, settings), *_of_the_data(recipe, settings, folder)]


def _of_pieces(recipe: Recipe, settings: AuditSettings | CvSettings) -> Iterator[Problem]:
    """Grids against the settings of `audit` and `cv`."""
    grids = recipe.grids
    for name in ("partition", "clients"):
        values = getattr(grids, name)
        if values:
            yield Problem(("grids", name), list(values), "left out, since only verb: fed has clients")
    for i, entry in enumerate(recipe.data):
        if entry.by is not None:
            yield Problem(("data", i, "by"), entry.by, "left out, since only verb: fed has clients")
    if grids.folds and grids.batches:
        yield Problem(("grids",), "folds and batches", "one of the two")
    ways = settings.cut.ways
    if (grids.folds or grids.batches) and ways:
        yield Problem(("cut", ways[0]), getattr(settings.cut, ways[0]), "left out, since grids says how to cut")
    for name in ("splitter", "group"):
        value = getattr(settings.cut, name)
        if grids.batches and value is not None:
            yield Problem(("cut", name), value, "left out, since grids.batches cuts in file order")


def _of_clients(recipe: Recipe, settings: FedSettings) -> Iterator[Problem]:
    """Grids and columns of clients against the settings of `fed`."""
    grids, clients = recipe.grids, settings.clients
    for name in ("folds", "batches"):
        values = getattr(grids, name)
        if values:
            yield Problem(("grids", name), list(values), "left out; grids of verb: fed are partition and clients")
    invented = grids.partition or grids.clients
    if invented and clients.by is not None:
        yield Problem(("clients", "by"), clients.by, "left out, since grids invents clients")
    elif grids.partition and not grids.clients and clients.clients is None:
        yield Problem(("clients", "clients"), None, "given, since grids.partition invents so many clients")
    for name in ("partition", "clients"):
        value = getattr(clients, name)
        if getattr(grids, name) and value is not None:
            yield Problem(("clients", name), value, f"left out, since grids.{name} gives it")
    for i, entry in enumerate(recipe.data):
        if entry.by is not None and (invented or clients.clients is not None):
            yield Problem(("data", i, "by"), entry.by, "left out, since clients are invented")


def _of_the_paper(recipe: Recipe, settings: VerbSettings) -> Iterator[Problem]:
    """The paper's numbers must be of something that is run."""
    names = ", ".join(recipe.names)
    for name, numbers in recipe.printed.items():
        if name not in recipe.names:
            yield Problem(("printed", name), dict(numbers), f"of a data set in data: {names}")
        if isinstance(settings, FedSettings):
            strange = [method for method in numbers if method not in settings.methods]
            told = f"of a method that is run: {', '.join(settings.methods)}"
        else:
            counts = _counts(recipe, settings)
            strange = [count for count in numbers if count not in counts]
            told = f"of a number of pieces that is run: {', '.join(map(str, counts)) or 'none'}"
        if strange:
            yield Problem(("printed", name), strange, told)
    if recipe.paper is not None:
        methods = settings.methods if isinstance(settings, FedSettings) else METHODS
        if recipe.paper.method not in methods:
            yield Problem(("paper", "method"), recipe.paper.method, f"a method that is run: {', '.join(methods)}")
    elif recipe.printed:
        yield Problem(("paper",), None, "given where printed is: {table: ..., method: ...}")


def _counts(recipe: Recipe, settings: AuditSettings | CvSettings) -> tuple[int, ...]:
    given = tuple(count for count in (settings.cut.folds, settings.cut.batches) if count)
    return recipe.grids.folds or recipe.grids.batches or given


def _of_the_data(recipe: Recipe, settings: VerbSettings, folder: Path) -> Iterator[Problem]:
    if not recipe.data:
        yield Problem(("data",), [], "a list of at least one data set")
    for name in recipe.unknown_version:
        if name not in recipe.names:
            yield Problem(("unknown_version",), name, f"a data set in data: {', '.join(recipe.names)}")
    for i, entry in enumerate(recipe.data):
        path = folder / entry.data
        there = path.is_file() or (isinstance(settings, FedSettings) and path.is_dir())  # texts come in folders
        if entry.is_file and not there:
            yield Problem(("data", i), entry.data, f"a name, or a file in {folder}; there is no such file")
