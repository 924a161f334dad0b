"""What is wrong with a recipe although each of its values is right. Torch-free."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from picsc.recipes.grids import cuts, of_entry
from picsc.settings import (
    METHODS,
    AuditSettings,
    CompareSettings,
    CvSettings,
    FedSettings,
    PartitionSettings,
    VerbSettings,
)
from picsc.settings.problems import Problem, problems
from picsc.settings.recipe import Entry, Grids, Recipe

_OF_TARGETS = ("train_on", "test_on", "bias")
"""What an entry says of its target."""


def contradictions(recipe: Recipe, settings: VerbSettings, folder: Path, *, with_data: bool = True) -> list[Problem]:
    """What single values do not show.

    Args:
        recipe: its own keys.
        settings: of its verb.
        folder: what files are relative to.
        with_data: files must be there.
    """
    if isinstance(settings, FedSettings):
        found = [*_without_targets(recipe), *_of_clients(recipe, settings)]
    elif isinstance(settings, CompareSettings):
        found = [*_of_pieces(recipe, settings), *_of_entries(recipe)]
        found += [] if found or not with_data else _of_targets(recipe, settings, folder)
    else:
        found = [*_without_targets(recipe), *_of_pieces(recipe, settings), *_without_columns(recipe)]
    found += [*_of_the_paper(recipe, settings), *_of_the_data(recipe)]
    return [*found, *_of_the_files(recipe, settings, folder)] if with_data else found


def _of_pieces(recipe: Recipe, settings: AuditSettings | CvSettings | CompareSettings) -> Iterator[Problem]:
    """Grids against the settings of all verbs but `fed`."""
    grids = recipe.grids
    if isinstance(settings, AuditSettings):
        yield from _of_invented_pieces(recipe, settings)
    else:
        for name in ("partition", "clients"):
            values = getattr(grids, name)
            if values:
                yield Problem(("grids", name), list(values), "left out, since only verb: fed and audit have clients")
    if grids.folds and grids.batches:
        yield Problem(("grids",), "folds and batches", "one of the two")
    ways = settings.cut.ways
    if (grids.folds or grids.batches) and ways:
        yield Problem(("cut", ways[0]), getattr(settings.cut, ways[0]), "left out, since grids says how to cut")
    for name in ("splitter", "group"):
        value = getattr(settings.cut, name)
        if grids.batches and value is not None:
            yield Problem(("cut", name), value, "left out, since grids.batches cuts in file order")


def _of_invented_pieces(recipe: Recipe, settings: AuditSettings) -> Iterator[Problem]:
    """Clients that `audit` invents against the other ways to cut."""
    grids, cut = recipe.grids, settings.cut
    invented = bool(grids.partition or grids.clients)
    if (invented or settings.clients.clients is not None) and (grids.folds or grids.batches):
        name = "folds" if grids.folds else "batches"
        yield Problem(("grids", name), list(getattr(grids, name)), "left out, since clients are invented")
    if invented:
        given = [*cut.ways, *(["splitter"] if cut.splitter is not None else []), *(["shuffle"] if cut.shuffle else [])]
        for name in given:
            yield Problem(("cut", name), getattr(cut, name), "left out, since grids invents clients")
    yield from _of_numbers(grids, settings.clients)


def _of_numbers(grids: Grids, clients: PartitionSettings) -> Iterator[Problem]:
    """How clients are invented is said once."""
    if grids.partition and not grids.clients and clients.clients is None:
        yield Problem(("clients", "clients"), None, "given, since grids.partition invents so many clients")
    for name in ("partition", "clients"):
        value = getattr(clients, name)
        if getattr(grids, name) and value is not None:
            yield Problem(("clients", name), value, f"left out, since grids.{name} gives it")


def _without_columns(recipe: Recipe) -> Iterator[Problem]:
    for i, entry in enumerate(recipe.data):
        if entry.by is not None:
            yield Problem(("data", i, "by"), entry.by, "left out, since only verb: fed has clients")


def _without_targets(recipe: Recipe) -> Iterator[Problem]:
    for i, entry in enumerate(recipe.data):
        for name, value in _said(entry):
            yield Problem(("data", i, name), value, "left out, since only verb: compare has a target")


def _said(entry: Entry) -> Iterator[tuple[str, object]]:
    """What an entry says of its target, as it is written."""
    for name in _OF_TARGETS:
        value = getattr(entry, name)
        if value:
            yield name, list(value) if isinstance(value, tuple) else value


def _of_entries(recipe: Recipe) -> Iterator[Problem]:
    """Grids make each piece of every data set the target, so that none says anything else of its own."""
    if recipe.grids.folds or recipe.grids.batches:
        for i, entry in enumerate(recipe.data):
            for name, value in [*([("by", entry.by)] if entry.by is not None else []), *_said(entry)]:
                yield Problem(("data", i, name), value, "left out, since grids says how to cut")


def _of_targets(recipe: Recipe, settings: CompareSettings, folder: Path) -> Iterator[Problem]:
    """What a data set says of itself must go with the settings of `compare`."""
    for i, entry in enumerate(recipe.data):
        one = of_entry(cuts(recipe, settings)[0], entry, folder)
        try:
            CompareSettings.model_validate(one.model_dump())
        except ValidationError as error:
            for problem in problems(error, one.model_dump()):
                yield Problem(("data", i), None, problem.requirement, contradiction=True)
            continue
        if isinstance(one, CompareSettings) and one.test_on and not one.cut.ways:
            yield from _of_a_file(i, one.test_on, folder)


def _of_a_file(i: int, test_on: tuple[str, ...], folder: Path) -> Iterator[Problem]:
    """Without a way to cut, what is tested on is one file."""
    names = [Path(name).name for name in test_on]
    if len(test_on) > 1 or not Path(test_on[0]).is_file():
        told = f"one file in {folder}, or pieces of a way to cut: by, or cut"
        yield Problem(("data", i, "test_on"), names, told)


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
    yield from _of_numbers(grids, clients)
    for i, entry in enumerate(recipe.data):
        if entry.by is not None and (invented or clients.clients is not None):
            yield Problem(("data", i, "by"), entry.by, "left out, since clients are invented")


def _of_the_paper(recipe: Recipe, settings: VerbSettings) -> Iterator[Problem]:
    """The paper's numbers must be of something that is run."""
    names = ", ".join(recipe.names)
    for name, numbers in recipe.printed.items():
        if name not in recipe.names:
            yield Problem(("printed", name), dict(numbers), f"of a data set in data: {names}")
        if isinstance(settings, FedSettings | CompareSettings):
            strange = [method for method in numbers if method not in settings.methods]
            told = f"of a method that is run: {', '.join(settings.methods)}"
        else:
            counts = _counts(recipe, settings)
            strange = [count for count in numbers if count not in counts]
            told = f"of a number of pieces that is run: {', '.join(map(str, counts)) or 'none'}"
        if strange:
            yield Problem(("printed", name), strange, told)
    if recipe.paper is not None:
        methods = settings.methods if isinstance(settings, FedSettings | CompareSettings) else METHODS
        if recipe.paper.method not in methods:
            yield Problem(("paper", "method"), recipe.paper.method, f"a method that is run: {', '.join(methods)}")
    elif recipe.printed:
        yield Problem(("paper",), None, "given where printed is: {table: ..., method: ...}")


def _counts(recipe: Recipe, settings: AuditSettings | CvSettings) -> tuple[int, ...]:
    given = tuple(count for count in (settings.cut.folds, settings.cut.batches) if count)
    return recipe.grids.folds or recipe.grids.batches or given


def _of_the_data(recipe: Recipe) -> Iterator[Problem]:
    if not recipe.data:
        yield Problem(("data",), [], "a list of at least one data set")
    for name in recipe.unknown_version:
        if name not in recipe.names:
            yield Problem(("unknown_version",), name, f"a data set in data: {', '.join(recipe.names)}")


def _of_the_files(recipe: Recipe, settings: VerbSettings, folder: Path) -> Iterator[Problem]:
    """Data that are files must be there."""
    for i, entry in enumerate(recipe.data):
        path = folder / entry.data
        folders = isinstance(settings, FedSettings | CompareSettings)  # texts come in folders
        there = path.is_file() or (folders and path.is_dir())
        if entry.is_file and not there:
            where = "the recipe's folder" if folder == Path() else str(folder)
            yield Problem(("data", i), entry.data, f"a name, or a file in {where}; there is no such file")
