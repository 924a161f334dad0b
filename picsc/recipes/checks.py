"""Contradictions in a recipe whose values are right one by one. Torch-free."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from picsc.recipes.verbs import Verb, verb_of
from picsc.settings import CutSettings, VerbSettings
from picsc.settings.problems import Problem
from picsc.settings.recipe import Recipe


def contradictions(recipe: Recipe, settings: VerbSettings, folder: Path, *, with_data: bool = True) -> list[Problem]:
    """Problems that single values do not show.

    Args:
        recipe: its own keys.
        settings: of its verb.
        folder: what files are relative to.
        with_data: files must be there.
    """
    verb = verb_of(settings)
    found = [*verb.checks(recipe, settings, folder if with_data else None)]
    found += [*_of_the_paper(recipe, settings, verb), *_of_the_data(recipe)]
    return [*found, *_of_the_files(recipe, verb, folder)] if with_data else found


def _of_the_paper(recipe: Recipe, settings: Any, verb: Verb[Any, Any]) -> Iterator[Problem]:
    """The paper's numbers must be of something that is run."""
    names = ", ".join(recipe.names)
    methods = verb.methods(settings)
    keys, thing = (methods, "method") if verb.printed_by_method else (_counts(recipe, settings.cut), "number of pieces")
    known = ", ".join(map(str, keys)) or "none"
    for name, numbers in recipe.printed.items():
        if name not in recipe.names:
            yield Problem(("printed", name), dict(numbers), f"of a data set in data: {names}")
        strange = [key for key in numbers if key not in keys]
        if strange:
            yield Problem(("printed", name), strange, f"of a {thing} that is run: {known}")
    if recipe.paper is not None:
        if recipe.paper.method not in methods:
            yield Problem(("paper", "method"), recipe.paper.method, f"a method that is run: {', '.join(methods)}")
    elif recipe.printed:
        yield Problem(("paper",), None, "given where printed is: {table: ..., method: ...}")


def _counts(recipe: Recipe, cut: CutSettings) -> tuple[int, ...]:
    """The numbers of pieces that are run."""
    given = tuple(count for count in (cut.folds, cut.batches) if count)
    return recipe.grids.folds or recipe.grids.batches or given


def _of_the_data(recipe: Recipe) -> Iterator[Problem]:
    """There is a data set, and data sets that are named elsewhere are among them."""
    if not recipe.data:
        yield Problem(("data",), [], "a list of at least one data set")
    for name in recipe.unknown_version:
        if name not in recipe.names:
            yield Problem(("unknown_version",), name, f"a data set in data: {', '.join(recipe.names)}")


def _of_the_files(recipe: Recipe, verb: Verb[Any, Any], folder: Path) -> Iterator[Problem]:
    """Data that are files must be there."""
    for i, entry in enumerate(recipe.data):
        path = folder / entry.data
        there = path.is_file() or (verb.takes_folders and path.is_dir())
        if entry.is_file and not there:
            where = "the recipe's folder" if folder == Path() else str(folder)
            yield Problem(("data", i), entry.data, f"a name, or a file in {where}; there is no such file")
