"""Settings of a command: flags over a recipe over `[tool.picsc]` of pyproject.toml over defaults."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import typer

from picsc.errors import SettingsError
from picsc_cli.console import streams

if TYPE_CHECKING:
    from picsc.datasets.images import ImageSet
    from picsc.datasets.table import Dataset
    from picsc.datasets.texts import TokenSet
    from picsc.recipes.load import Loaded
    from picsc.settings import Settings
    from picsc.settings.layers import Resolved
    from picsc.settings.pyproject import AuditOutcome, ProjectFile

S = TypeVar("S", bound="Settings")


@dataclass(frozen=True, slots=True)
class Request:
    """The words of a command that say where its data and settings come from."""

    data: str | None
    """File on the command line; of several, the first."""
    dataset: str | None
    """Name of a data set on the command line."""
    recipe: Path | None
    """File of `--recipe`."""
    project: ProjectFile | None
    """The pyproject.toml that holds, by `found_project`."""
    quiet: bool = False
    """Standard error does not name the settings from pyproject.toml."""

    @property
    def has_data(self) -> bool:
        """True if the command line names data."""
        return self.data is not None or self.dataset is not None


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The run of a command that is given no data."""

    dataset: str
    """Name of its data set."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings where nothing else is given, tables inside."""


@dataclass(frozen=True, slots=True)
class Found(Generic[S]):
    """The settings of a command, and its data."""

    settings: S
    data: str | None
    """File of the command, else of the recipe."""
    dataset: str | None
    """Name of the command's data set, else of the recipe's, else of the demonstration's."""
    demonstration: bool
    """True if neither the command nor a recipe names data."""


@dataclass(slots=True)
class Shown:
    """The settings that a command ended up with, for `picsc config`."""

    resolved: Resolved[Any] | None = None
    outcome: AuditOutcome | None = None
    project: str = ""
    """The pyproject.toml that was read."""


_SHOWN: ContextVar[Shown | None] = ContextVar("shown", default=None)


@contextmanager
def only_settings() -> Iterator[Shown]:
    """Let a command end as soon as its settings are known."""
    shown = Shown()
    token = _SHOWN.set(shown)
    try:
        yield shown
    finally:
        _SHOWN.reset(token)


def resolve_settings(
    kind: type[S], given: Mapping[str, object], request: Request, demonstration: Demonstration
) -> Found[S]:
    """The settings of a command, and its data or those of its recipe.

    Args:
        kind: settings of the verb.
        given: settings on the command line, tables inside.
        request: where data and other settings come from.
        demonstration: what is done without data.

    Raises:
        RecipeError: the recipe cannot be used.
        SettingsError: values out of range, or that do not go together.
    """
    from picsc.recipes.load import load_recipes
    from picsc.settings import KINDS
    from picsc.settings.layers import DEFAULT, FLAG, Layer, resolved

    verb = next(name for name, one in KINDS.items() if one is kind)
    data, dataset, project = request.data, request.dataset, request.project
    layers = [Layer(DEFAULT, {"jobs": os.cpu_count() or 1})]  # the settings themselves say 1
    demonstrated = not request.has_data and request.recipe is None
    if demonstrated:
        layers.append(Layer(DEFAULT, demonstration.settings))
        dataset = demonstration.dataset
    layers += project.layers(verb) if project is not None else ()
    if request.recipe is not None:
        [loaded] = load_recipes([request.recipe], with_data=not request.has_data)
        _check(loaded, verb, given, has_data=request.has_data)
        if not request.has_data:
            task = loaded.tasks[0]
            data, dataset = (task.data, None) if task.is_file else (None, task.data)
        layers.append(loaded.one_run(with_data=not request.has_data))
    both = resolved(kind, [*layers, Layer(FLAG, given)])
    shown = _SHOWN.get()
    if shown is not None:
        shown.resolved, shown.outcome = both, project.outcome if project is not None and verb == "audit" else None
        shown.project = project.shown if project is not None else ""
        raise typer.Exit
    if project is not None and not request.quiet:
        sources = of_project(both.origins, project)
        if sources:
            streams.warn(sources)
    return Found(both.settings, data, dataset, demonstrated)


def open_found(found: Found[S], data_dir: Path | None) -> Dataset | ImageSet | TokenSet:
    """Read the data of a command.

    Args:
        found: its settings and the name of its data.
        data_dir: folder of data sets by name; None is picsc's own.

    Raises:
        DataError: the data cannot be read or found.
    """
    from picsc.datasets.open import open_source

    settings: Any = found.settings
    return open_source(
        found.dataset or str(found.data),
        named=found.dataset is not None,
        settings=settings.read,
        keys=settings.keys,
        data_dir=data_dir,
    )


def found_project(*, isolated: bool) -> ProjectFile | None:
    """The pyproject.toml that holds for the working folder.

    Args:
        isolated: do not look for one.

    Raises:
        RecipeError: it cannot be used.
    """
    if isolated:
        return None
    from picsc.settings.pyproject import project_file

    try:
        folder = Path.cwd()
    except OSError:  # the folder is gone
        return None
    return project_file(folder)


def of_project(origins: Mapping[tuple[str, ...], str], project: ProjectFile) -> str:
    """Which settings pyproject.toml gave; nothing where it gave none.

    Args:
        origins: of all settings, by path.
        project: that was read.
    """
    names = [".".join(path) for path, origin in origins.items() if origin == project.shown]
    return f"settings from {project.shown}: {', '.join(names)}" if names else ""


def outcome(project: ProjectFile | None) -> AuditOutcome:
    """Reports and exit codes in `[tool.picsc.audit]`.

    Args:
        project: of `found_project`.
    """
    from picsc.settings.pyproject import AuditOutcome

    return AuditOutcome() if project is None else project.outcome


def _check(loaded: Loaded, verb: str, given: Mapping[str, object], *, has_data: bool) -> None:
    """A recipe whose settings a command takes must be one run of its verb.

    Raises:
        SettingsError: it is not.
    """
    recipe, path = loaded.recipe, loaded.path
    if recipe.verb != verb:
        raise SettingsError(f"--recipe {path} is for picsc {recipe.verb}, not picsc {verb}; use `picsc run {path}`")
    if not has_data and len(recipe.data) > 1:
        raise SettingsError(
            f"--recipe {path} names {len(recipe.data)} data sets; give DATA or --dataset, or use `picsc run {path}`"
        )
    if loaded.in_grids and not _cuts(given):
        raise SettingsError(f"--recipe {path} has grids; say how to cut on the command line, or use `picsc run {path}`")


def _cuts(given: Mapping[str, object]) -> bool:
    from picsc.settings import WAYS

    tables = [table for table in (given.get("cut"), given.get("clients")) if isinstance(table, Mapping)]
    return any(table.get(way) for table in tables for way in (*WAYS, "clients"))
