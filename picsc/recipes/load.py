"""Recipes read from files and checked whole before anything slow starts. Torch-free.

A recipe holds the settings of its verb (`picsc.settings`) as they are, and next to them the keys of `Recipe`. It is run
once per data set and, with `grids`, per number of pieces or way to invent clients.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from picsc.errors import RecipeError
from picsc.recipes.bundled import located
from picsc.recipes.checks import contradictions
from picsc.recipes.grids import cuts
from picsc.recipes.tasks import Task
from picsc.recipes.verbs import BY_NAME, CV, VERBS, verb_of
from picsc.recipes.yaml import MOST_BYTES, Document, YamlError, read_yaml
from picsc.settings import WAYS, VerbSettings
from picsc.settings.layers import Layer, joined
from picsc.settings.problems import KeyPath, Problem
from picsc.settings.pyproject import ProjectFile, next_to
from picsc.settings.recipe import Entry, Grids, Recipe
from picsc.settings.spelling import Spelling, built, sentence, spelled


@dataclass(frozen=True, slots=True)
class Loaded:
    """A recipe that has been checked."""

    path: str
    """Path of the file as given, or the name of a recipe that comes with picsc."""
    file: Path
    """The file itself; data files that it names lie relative to its folder."""
    sha256: str
    """SHA-256 of the file."""
    recipe: Recipe
    """The keys that are no settings of its verb."""
    tasks: tuple[Task, ...]
    """All tasks: by number of pieces, or partition and number of clients, then in the order of `recipe.data`."""
    values: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The settings that the file gives, as `picsc.settings` names them."""
    origins: Mapping[tuple[str, ...], str] = field(default_factory=dict, compare=False)
    """Where each setting that is no default comes from."""

    @property
    def in_grids(self) -> bool:
        """True if a data set is run more than once."""
        return any(getattr(self.recipe.grids, name) for name in Grids.model_fields)

    def one_run(self, *, with_data: bool) -> Layer:
        """Its settings for a single run.

        Args:
            with_data: True for a run on its first data set, with what its entry says; False for a run on other data.
        """
        values, entry, folder = dict(self.values), self.recipe.data[0], self.file.parent
        own = entry.model_dump(exclude_defaults=True, exclude={"data"}) if with_data else {}
        if "by" in own:
            table = BY_NAME[self.recipe.verb].columns_in
            inside = values.get(table)
            values[table] = {**(inside if isinstance(inside, dict) else {}), "by": own.pop("by")}
        values |= own
        cut, test_on = values.get("cut"), values.get("test_on")
        if isinstance(test_on, list | tuple) and not (isinstance(cut, dict) and any(map(cut.get, WAYS))):
            values["test_on"] = [str(folder / str(name)) for name in test_on]  # one file, then
        return Layer(self.path, values)


def load_recipes(
    paths: Sequence[Path], project: ProjectFile | None = None, *, with_data: bool = True
) -> tuple[Loaded, ...]:
    """Read recipes and check all of them.

    Args:
        paths: of the files, or names of recipes that come with picsc.
        project: settings that lie under those of the recipes.
        with_data: files that the recipes name must be there.

    Raises:
        RecipeError: a file that cannot be read or is no YAML, an unknown key, a value out of range, a data file that is
            not there; all problems of all files at once.
    """
    loaded: list[Loaded] = []
    found: list[str] = []
    for path in paths:
        try:
            loaded.append(_load(path, project, with_data=with_data))
        except RecipeError as error:
            found += error.problems
    if found:
        raise RecipeError(tuple(found))
    return tuple(loaded)


def _load(path: Path, project: ProjectFile | None, *, with_data: bool) -> Loaded:
    """One recipe, checked."""
    found = located(path)
    folder = found.parent
    try:
        with found.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        document = read_yaml(content)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        raise RecipeError((f"{path}: cannot be read ({why}); give a recipe file (YAML)",)) from None
    except YamlError as error:
        raise RecipeError((f"{_place(path, error.line)}: {error.message}",)) from None
    values = document.values
    if not isinstance(values, dict):
        empty = "is empty; it " if values is None else ""
        wanted = f"{empty}must hold keys and values (title: ..., verb: cv, data: [...])"
        raise RecipeError((f"{path}: {wanted}; `picsc recipe schema` prints all that there are",))
    kind = _kind(values.get("verb"))
    own = {key: value for key, value in values.items() if key in Recipe.model_fields}
    spelling = spelled({str(key): value for key, value in values.items() if key not in own}, kind)
    recipe, wrong = built(Recipe, own)
    settings, wrong_settings = built(kind, spelling.values)
    given = next_to(spelling.values, folder)
    origins: Mapping[tuple[str, ...], str] = {}
    if recipe is not None and all(
        one.contradiction for one in wrong_settings
    ):  # contradictions are checked again when joined
        below = () if project is None else project.layers(recipe.verb)
        both = joined(kind, (*below, _layer(str(path), recipe, given)))
        settings, wrong_settings = built(kind, both.values)
        origins = both.origins
    wrong += [*spelling.problems, *wrong_settings]
    if recipe is not None and settings is not None and not wrong:
        wrong = contradictions(recipe, settings, folder, with_data=with_data)
    if wrong or recipe is None or settings is None:
        raise RecipeError(tuple(_sentences(path, document, spelling, kind, wrong)))
    ways = cuts(recipe, settings, shuffled=verb_of(settings).shuffles_folds)
    tasks = tuple(_task(entry, way, folder) for way in ways for entry in recipe.data)
    digest = hashlib.sha256(content).hexdigest()
    return Loaded(str(path), found, digest, recipe, tasks, given, origins)


def _layer(origin: str, recipe: Recipe, values: Mapping[str, object]) -> Layer:
    """The settings of a recipe as one layer, with what its grids and entries say of pieces and clients."""
    grids, entries = recipe.grids, recipe.data
    replaces: list[tuple[str, ...]] = []
    replaces += [("clients", name) for name in ("partition", "clients") if getattr(grids, name)]
    way = "clients" if replaces else ""
    if BY_NAME[recipe.verb].columns_in == "clients" and any(entry.by for entry in entries):
        way = way or "clients.by"
    elif grids.folds or grids.batches:
        way = "folds" if grids.folds else "batches"
        replaces.append(("cut", way))
    elif any(entry.by for entry in entries):
        way = "by"
    elif any(entry.bias for entry in entries):
        way = "bias"
    if grids.strength:
        replaces.append(("penalty", "strength"))
    if any(entry.train_on or entry.test_on for entry in entries):
        replaces += [("bias",), ("bias_strength",)]
    return Layer(origin, values, way, tuple(replaces))


_NEEDED = {
    "title": "a line of text",
    "verb": " or ".join(", ".join(verb.name for verb in VERBS).rsplit(", ", 1)),
    "data": "a list of names or files",
}
"""Keys that every recipe has."""


def _kind(verb: object) -> type[VerbSettings]:
    """Settings of the verb, or of the one that was meant, so that the other keys are checked too."""
    near = difflib.get_close_matches(str(verb), BY_NAME, n=1)
    return BY_NAME.get(str(verb), BY_NAME[near[0]] if near else CV).settings


def _sentences(
    path: Path, document: Document, spelling: Spelling, kind: type[VerbSettings], wrong: Sequence[Problem]
) -> list[str]:
    """One sentence per problem, in the order of the lines."""
    found: list[tuple[int, str]] = []
    for problem in wrong:
        is_own = bool(problem.path) and problem.path[0] in Recipe.model_fields
        if problem.requirement == "given" and problem.path[0] in _NEEDED:
            problem = replace(problem, requirement=f"given: {_NEEDED[str(problem.path[0])]}")
        written = (
            problem
            if is_own or problem in spelling.problems
            else replace(problem, path=spelling.as_written(problem.path))
        )
        line = _line(document, written.path)
        text = sentence(written, Recipe if is_own else kind, () if is_own else Recipe.model_fields)
        found.append((line, f"{_place(path, line)}: {text}"))
    return [text for _, text in sorted(found, key=lambda one: one[0])]


def _line(document: Document, path: KeyPath) -> int:
    """Line of the innermost key that is there, 0 if none is."""
    return next((document.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in document.lines), 0)


def _place(path: Path, line: int) -> str:
    return f"{path}:{line}" if line else str(path)


def _task(entry: Entry, settings: VerbSettings, folder: Path) -> Task:
    source = str(folder / entry.data) if entry.is_file else entry.data
    return Task(source, entry.is_file, verb_of(settings).of_entry(settings, entry, folder))
