"""Settings of a command: flags over a recipe over `[tool.picsc]` of pyproject.toml over defaults."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import typer

from picsc.errors import SettingsError
from picsc_cli.console import streams

if TYPE_CHECKING:
    from picsc.recipes.load import Loaded
    from picsc.settings import Settings
    from picsc.settings.layers import Resolved
    from picsc.settings.pyproject import AuditOutcome, ProjectFile

S = TypeVar("S", bound="Settings")
_ALONE: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Found(Generic[S]):
    """What a command is to do."""

    settings: S
    data: str | None
    """File of the command, else of the recipe."""
    dataset: str | None
    """Likewise, a data set by name."""
    demonstration: bool
    """Neither the command nor a recipe names data."""


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
    kind: type[S],
    flags: Mapping[str, object],
    *,
    data: str | None,
    dataset: str | None,
    recipe: Path | None,
    project: ProjectFile | None,
    quiet: bool,
    demonstrated: Mapping[str, object] = _ALONE,
) -> Found[S]:
    """The settings of a command, and its data or those of its recipe.

    Args:
        kind: settings of the verb.
        flags: settings that were given on the command line, tables inside.
        data: file on the command line; of several, the first.
        dataset: name of a data set on the command line.
        recipe: of `--recipe`.
        project: of `found_project`.
        quiet: say nothing of pyproject.toml.
        demonstrated: what a demonstration does where nothing is said.

    Raises:
        RecipeError: the recipe cannot be used.
        SettingsError: values out of range, or that do not go together.
    """
    from picsc.recipes.load import load_recipes
    from picsc.settings import KINDS
    from picsc.settings.layers import DEFAULT, FLAG, Layer, resolved

    verb = next(name for name, one in KINDS.items() if one is kind)
    has_data = data is not None or dataset is not None
    layers = [Layer(DEFAULT, {"jobs": os.cpu_count() or 1})]  # the settings themselves say 1
    demonstration = not has_data and recipe is None
    if demonstration:
        layers.append(Layer(DEFAULT, demonstrated))
    layers += project.layers(verb) if project is not None else ()
    if recipe is not None:
        [loaded] = load_recipes([recipe], with_data=not has_data)
        _check(loaded, verb, flags, has_data=has_data)
        if not has_data:
            task = loaded.tasks[0]
            data, dataset = (task.data, None) if task.is_file else (None, task.data)
        layers.append(loaded.one_run(with_data=not has_data))
    both = resolved(kind, [*layers, Layer(FLAG, flags)])
    shown = _SHOWN.get()
    if shown is not None:
        shown.resolved, shown.outcome = both, project.outcome if project is not None and verb == "audit" else None
        shown.project = project.shown if project is not None else ""
        raise typer.Exit
    if project is not None and not quiet:
        told = of_project(both.origins, project)
        if told:
            streams.warn(told)
    return Found(both.settings, data, dataset, demonstration)


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
    """What `[tool.picsc.audit]` says of reports and exit codes.

    Args:
        project: of `found_project`.
    """
    from picsc.settings.pyproject import AuditOutcome

    return AuditOutcome() if project is None else project.outcome


def _check(loaded: Loaded, verb: str, flags: Mapping[str, object], *, has_data: bool) -> None:
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
    if loaded.in_grids and not _cuts(flags):
        raise SettingsError(f"--recipe {path} has grids; say how to cut on the command line, or use `picsc run {path}`")


def _cuts(flags: Mapping[str, object]) -> bool:
    from picsc.settings import WAYS

    tables = [table for table in (flags.get("cut"), flags.get("clients")) if isinstance(table, Mapping)]
    return any(table.get(way) for table in tables for way in (*WAYS, "clients"))
