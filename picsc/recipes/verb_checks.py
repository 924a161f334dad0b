"""Contradictions in a recipe that only one verb has: its grids, cuts, clients and targets. Torch-free."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from picsc.recipes.grids import OF_TARGETS, cuts, with_own_target
from picsc.settings import AuditSettings, CompareSettings, CutSettings, CvSettings, FedSettings, PartitionSettings
from picsc.settings.problems import Problem, problems
from picsc.settings.recipe import Entry, Grids, Recipe


def of_audit(recipe: Recipe, settings: AuditSettings, folder: Path | None) -> Iterator[Problem]:
    """Contradictions of an audit, whose pieces are cut or clients that are invented."""
    del folder
    yield from _without_targets(recipe)
    yield from _without_strengths(recipe)
    yield from _of_invented_pieces(recipe, settings)
    yield from _of_pieces(recipe, settings.cut)
    yield from _without_columns(recipe)


def of_cv(recipe: Recipe, settings: CvSettings, folder: Path | None) -> Iterator[Problem]:
    """Contradictions of a cross-validation, whose pieces are cut."""
    del folder
    yield from _without_targets(recipe)
    yield from _without_clients(recipe)
    yield from _of_pieces(recipe, settings.cut)
    yield from _without_columns(recipe)
    if recipe.grids.strength and "strength" in settings.penalty.model_fields_set:
        yield Problem(("penalty", "strength"), settings.penalty.strength, "left out, since grids.strength gives it")


def of_fed(recipe: Recipe, settings: FedSettings, folder: Path | None) -> Iterator[Problem]:
    """Contradictions of a federation, whose pieces are clients."""
    del folder
    yield from _without_targets(recipe)
    yield from _without_strengths(recipe)
    yield from _of_clients(recipe, settings)


def of_compare(recipe: Recipe, settings: CompareSettings, folder: Path | None) -> Iterator[Problem]:
    """Contradictions of a comparison; its entries are checked where nothing else is wrong and files must be there."""
    found = [
        *_without_strengths(recipe),
        *_without_clients(recipe),
        *_of_pieces(recipe, settings.cut),
        *_of_entries(recipe),
    ]
    yield from found
    if not found and folder is not None:
        yield from _of_targets(recipe, settings, folder)


def _without_clients(recipe: Recipe) -> Iterator[Problem]:
    """Grids that only verbs with clients have."""
    for name in ("partition", "clients"):
        values = getattr(recipe.grids, name)
        if values:
            yield Problem(("grids", name), list(values), "left out, since only verb: fed and audit have clients")


def _without_strengths(recipe: Recipe) -> Iterator[Problem]:
    """A grid of strengths, which only one verb has."""
    if recipe.grids.strength:
        yield Problem(("grids", "strength"), list(recipe.grids.strength), "left out, since only verb: cv has it")


def _of_pieces(recipe: Recipe, cut: CutSettings) -> Iterator[Problem]:
    """Grids of folds and batches against the cut that the settings give."""
    grids = recipe.grids
    if grids.folds and grids.batches:
        yield Problem(("grids",), "folds and batches", "one of the two")
    if (grids.folds or grids.batches) and cut.ways:
        yield Problem(("cut", cut.ways[0]), getattr(cut, cut.ways[0]), "left out, since grids says how to cut")
    for name in ("splitter", "group"):
        value = getattr(cut, name)
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
    """Numbers and partitions of invented clients are given once: by grids or by the settings."""
    if grids.partition and not grids.clients and clients.clients is None:
        yield Problem(("clients", "clients"), None, "given, since grids.partition invents so many clients")
    for name in ("partition", "clients"):
        value = getattr(clients, name)
        if getattr(grids, name) and value is not None:
            yield Problem(("clients", name), value, f"left out, since grids.{name} gives it")


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


def _without_columns(recipe: Recipe) -> Iterator[Problem]:
    for i, entry in enumerate(recipe.data):
        if entry.by is not None:
            yield Problem(("data", i, "by"), entry.by, "left out, since only verb: fed has clients")


def _without_targets(recipe: Recipe) -> Iterator[Problem]:
    for i, entry in enumerate(recipe.data):
        for name, value in _target_keys(entry):
            yield Problem(("data", i, name), value, "left out, since only verb: compare has a target")


def _target_keys(entry: Entry) -> Iterator[tuple[str, object]]:
    """The keys and values by which an entry describes its target, as they are written."""
    for name in OF_TARGETS:
        value = getattr(entry, name)
        if value:
            yield name, list(value) if isinstance(value, tuple) else value


def _of_entries(recipe: Recipe) -> Iterator[Problem]:
    """Grids make each piece of every data set the target, so no entry may give a target of its own."""
    if recipe.grids.folds or recipe.grids.batches:
        for i, entry in enumerate(recipe.data):
            for name, value in [*([("by", entry.by)] if entry.by is not None else []), *_target_keys(entry)]:
                yield Problem(("data", i, name), value, "left out, since grids says how to cut")


def _of_targets(recipe: Recipe, settings: CompareSettings, folder: Path) -> Iterator[Problem]:
    """The target that an entry gives must go with the settings of `compare`."""
    for i, entry in enumerate(recipe.data):
        one = with_own_target(cuts(recipe, settings, shuffled=True)[0], entry, folder)
        try:
            CompareSettings.model_validate(one.model_dump())
        except ValidationError as error:
            for problem in problems(error, one.model_dump()):
                yield Problem(("data", i), None, problem.requirement, contradiction=True)
            continue
        if one.test_on and not one.cut.ways:
            yield from _of_a_file(i, one.test_on, folder)


def _of_a_file(i: int, test_on: tuple[str, ...], folder: Path) -> Iterator[Problem]:
    """Without a way to cut, `test_on` is one file."""
    names = [Path(name).name for name in test_on]
    if len(test_on) > 1 or not Path(test_on[0]).is_file():
        wanted = f"one file in {folder}, or pieces of a way to cut: by, or cut"
        yield Problem(("data", i, "test_on"), names, wanted)
