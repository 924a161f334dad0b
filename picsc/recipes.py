"""Recipes: experiments as YAML files, checked whole before anything slow starts. Torch-free.

A recipe holds the settings of its verb (`picsc.settings`) as they are, and beside them the keys of `Recipe`. It is run
once per data set and, with `grids`, per number of pieces or way to invent clients.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from picsc.errors import RecipeError
from picsc.problems import Problem, problems
from picsc.recipe_checks import contradictions
from picsc.recipe_cuts import cuts, of_entry
from picsc.recipe_keys import KINDS, Entry, Paper, Recipe, VerbSettings
from picsc.settings import CvSettings

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a verb: equal tasks of several recipes are run once."""

    data: str
    """Name of the data set, or path."""
    is_file: bool
    settings: VerbSettings


@dataclass(frozen=True, slots=True)
class Loaded:
    """A recipe that has been checked."""

    path: str
    sha256: str
    """Of the file."""
    recipe: Recipe
    tasks: tuple[Task, ...]
    """By number of pieces, or partition and number of clients, then in the order of `recipe.data`."""


def load_recipes(paths: Sequence[Path]) -> tuple[Loaded, ...]:
    """Read recipes and check all of them.

    Args:
        paths: of the files.

    Raises:
        RecipeError: a file that cannot be read or is no YAML, an unknown key, a value out of range, a data file that is
            not there; all problems of all files at once.
    """
    loaded: list[Loaded] = []
    found: list[str] = []
    for path in paths:
        try:
            loaded.append(_load(path))
        except RecipeError as error:
            found += error.problems
    if found:
        raise RecipeError(tuple(found))
    return tuple(loaded)


def _load(path: Path) -> Loaded:
    """One recipe, checked."""
    try:
        content = path.read_bytes()
        values = yaml.safe_load(content)
    except OSError as error:
        raise RecipeError((f"{path}: cannot be read ({error.strerror or error}); give a recipe file (YAML)",)) from None
    except yaml.YAMLError as error:
        raise RecipeError((f"{path}: is no YAML: {' '.join(str(error).split())}",)) from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise RecipeError((f"{path}: must hold keys and values (title: ..., verb: cv, data: [...]), see recipes/",))
    kind = KINDS.get(str(values.get("verb")), CvSettings)
    own = {key: value for key, value in values.items() if key in Recipe.model_fields}
    rest = {key: value for key, value in values.items() if key not in own}
    recipe, wrong = _built(Recipe, own)
    settings, wrong_settings = _built(kind, rest)
    wrong += wrong_settings
    if recipe is not None and settings is not None:
        wrong = contradictions(recipe, settings, path.parent)
    if wrong or recipe is None or settings is None:
        known = {*Recipe.model_fields, *kind.model_fields}
        raise RecipeError(tuple(f"{path}: {_sentence(problem, kind, known)}" for problem in wrong))
    tasks = tuple(_task(entry, cut, path.parent) for cut in cuts(recipe, settings) for entry in recipe.data)
    return Loaded(str(path), hashlib.sha256(content).hexdigest(), recipe, tasks)


def _built(kind: type[M], values: dict[str, object]) -> tuple[M | None, list[Problem]]:
    try:
        return kind.model_validate(values), []
    except ValidationError as error:
        return None, problems(error, values)


def _sentence(problem: Problem, kind: type[BaseModel], known: set[str]) -> str:
    """One problem with its key, its value and what it must be."""
    if problem.contradiction:
        return f"{problem.key}: {problem.said}" if problem.path else problem.said
    if problem.unknown:
        return f"{problem.key}: unknown key (known: {', '.join(sorted(_known(problem.path[:-1], kind) or known))})"
    return f"{problem.key} = {problem.value!r}: must be {problem.said}"


def _known(path: Sequence[str | int], kind: type[BaseModel]) -> set[str]:
    """The keys that a part of a recipe may have."""
    model: object = None
    for part in path:
        if isinstance(part, str):
            parts = Recipe.model_fields if part in Recipe.model_fields else kind.model_fields
            field = parts.get(part)
            inside: dict[str, object] = {"paper": Paper, "data": Entry}
            model = inside.get(part, field.annotation if field is not None else None)
    return set(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else set()


def _task(entry: Entry, settings: VerbSettings, folder: Path) -> Task:
    source = str(folder / entry.data) if entry.is_file else entry.data
    return Task(source, entry.is_file, of_entry(settings, entry, folder))
