"""Recipes: experiments as YAML files, checked whole before anything slow starts. Torch-free.

A recipe holds the settings of its verb (`picsc.settings`) as they are, and beside them the keys of `Recipe`. It is run
once per data set and, with `grids`, per number of pieces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from picsc.errors import RecipeError
from picsc.problems import Problem, problems
from picsc.settings import AuditSettings, CvSettings, Method

_Count = Annotated[int, Field(ge=2)]
_Printed = Annotated[float, Field(ge=0, le=100)]


class _Keys(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Grids(_Keys):
    """Numbers of pieces to run, one after another; at most one of the two."""

    folds: tuple[_Count, ...] = ()
    batches: tuple[_Count, ...] = ()


class Paper(_Keys):
    """The paper's table that stands beside ours."""

    table: str
    method: Method
    """The method whose mean accuracy is printed there."""


class Recipe(_Keys):
    """What a recipe holds apart from the settings of its verb."""

    title: str
    verb: Literal["audit", "cv"]
    data: Annotated[tuple[str, ...], Field(min_length=1)]
    """Names of data sets, or files relative to the recipe: whatever has a slash or an extension is a file."""
    version: str = ""
    """Which version of the data is used, in words."""
    unknown_version: tuple[str, ...] = ()
    """Data sets whose version in the paper is not known: run and shown, but left out of means over data sets."""
    grids: Grids = Grids()
    paper: Paper | None = None
    printed: dict[str, dict[int, _Printed]] = {}
    """The paper's mean accuracies in percent: data set, then number of pieces."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a verb: equal tasks of several recipes are run once."""

    data: str
    """Name of the data set, or path."""
    is_file: bool
    settings: AuditSettings | CvSettings


@dataclass(frozen=True, slots=True)
class Loaded:
    """A recipe that has been checked."""

    path: str
    sha256: str
    """Of the file."""
    recipe: Recipe
    tasks: tuple[Task, ...]
    """By number of pieces, then in the order of `recipe.data`."""


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
    kind = AuditSettings if values.get("verb") == "audit" else CvSettings
    own = {key: value for key, value in values.items() if key in Recipe.model_fields}
    rest = {key: value for key, value in values.items() if key not in own}
    recipe, wrong = _built(Recipe, own)
    settings, wrong_settings = _built(kind, rest)
    wrong += wrong_settings
    if isinstance(recipe, Recipe) and not wrong:
        wrong = _contradictions(recipe, settings, path.parent)  # type: ignore[arg-type] # both are there
    if wrong or not isinstance(recipe, Recipe) or not isinstance(settings, (AuditSettings, CvSettings)):
        known = {*Recipe.model_fields, *kind.model_fields}
        raise RecipeError(tuple(f"{path}: {_sentence(problem, kind, known)}" for problem in wrong))
    tasks = tuple(_task(entry, cut, path.parent) for cut in _cuts(recipe, settings) for entry in recipe.data)
    return Loaded(str(path), hashlib.sha256(content).hexdigest(), recipe, tasks)


def _built(kind: type[BaseModel], values: dict[str, object]) -> tuple[BaseModel | None, list[Problem]]:
    try:
        return kind.model_validate(values), []
    except ValidationError as error:
        return None, problems(error, values)


def _contradictions(recipe: Recipe, settings: AuditSettings | CvSettings, folder: Path) -> list[Problem]:
    """What single values do not show."""
    wrong = []
    grids = recipe.grids
    if grids.folds and grids.batches:
        wrong.append(Problem(("grids",), "folds and batches", "one of the two"))
    ways = settings.cut.ways
    if (grids.folds or grids.batches) and ways:
        wrong.append(Problem(("cut", ways[0]), getattr(settings.cut, ways[0]), "left out, since grids says how to cut"))
    for name in ("splitter", "group"):
        value = getattr(settings.cut, name)
        if grids.batches and value is not None:
            wrong.append(Problem(("cut", name), value, "left out, since grids.batches cuts in file order"))
    counts = (
        grids.folds or grids.batches or tuple(count for count in (settings.cut.folds, settings.cut.batches) if count)
    )
    for name, numbers in recipe.printed.items():
        if name not in recipe.data:
            wrong.append(Problem(("printed", name), numbers, f"of a data set in data: {', '.join(recipe.data)}"))
        strange = [count for count in numbers if count not in counts]
        if strange:
            shown = ", ".join(map(str, counts)) or "none"
            wrong.append(Problem(("printed", name), strange, f"of a number of pieces that is run: {shown}"))
    if recipe.printed and recipe.paper is None:
        wrong.append(Problem(("paper",), None, "given where printed is: {table: ..., method: ...}"))
    wrong += [
        Problem(("unknown_version",), name, f"a data set in data: {', '.join(recipe.data)}")
        for name in recipe.unknown_version
        if name not in recipe.data
    ]
    for i, entry in enumerate(recipe.data):
        if _is_file(entry) and not (folder / entry).is_file():
            wrong.append(Problem(("data", i), entry, f"a name, or a file in {folder}; there is no such file"))
    return wrong


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
        parts = Recipe.model_fields if part in Recipe.model_fields else kind.model_fields
        field = parts.get(str(part))
        model = Paper if part == "paper" else field.annotation if field is not None else None
    return set(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else set()


def _cuts(recipe: Recipe, settings: AuditSettings | CvSettings) -> list[AuditSettings | CvSettings]:
    """The settings once per number of pieces."""
    grids = recipe.grids
    if grids.folds:
        changes: list[dict[str, object]] = [{"folds": count} for count in grids.folds]
    elif grids.batches:
        changes = [{"batches": count, "shuffle": False} for count in grids.batches]
    else:
        return [settings]
    return [settings.model_copy(update={"cut": settings.cut.model_copy(update=change)}) for change in changes]


def _task(entry: str, settings: AuditSettings | CvSettings, folder: Path) -> Task:
    is_file = _is_file(entry)
    return Task(str(folder / entry) if is_file else entry, is_file, settings)


def _is_file(entry: str) -> bool:
    return "/" in entry or "\\" in entry or Path(entry).suffix != ""
