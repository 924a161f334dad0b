"""Run recipes: every data set and way to cut it once, whatever recipes ask for it, then one table per recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from picsc.errors import PicscError
from picsc.recipes.across_datasets import TEST, across_datasets
from picsc.recipes.grids import OF_TARGETS
from picsc.recipes.load import Loaded
from picsc.recipes.tasks import Place, Task
from picsc.recipes.verbs import BY_NAME, verb_of
from picsc.reports import AuditReport, CompareReport, CvReport, FedReport
from picsc.reports.common import Metric
from picsc.reports.recipes import RecipeReport, RecipeRow, RecipeTable
from picsc.runtime.processes import run_tasks
from picsc.settings import CvSettings
from picsc.settings.recipe import Recipe

_Report = CvReport | AuditReport | FedReport | CompareReport
_LEFT_OUT: dict[str, bool | set[str]] = {
    "cut": {"folds", "batches"},
    "clients": {"by", "clients", "partition"},
    "jobs": True,
}
"""Settings that are not the same for all rows of a table, or change no number."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A task and its folders."""

    task: Task
    place: Place


def run_recipes(
    recipes: Sequence[Loaded],
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    run_dir: Path | None = None,
    resume: bool = False,
    progress: Callable[[str], None] | None = None,
) -> RecipeReport:
    """Run all tasks of all recipes; equal ones once.

    Args:
        recipes: checked by `picsc.recipes.load.load_recipes`.
        data_dir: folder with data sets by name; None is the platform's.
        jobs: processes; never changes a number.
        run_dir: folder that keeps every finished part, one folder per task; None is one in picsc's cache.
        resume: go on with what `run_dir` holds.
        progress: takes a line of text whenever a task is done.

    Returns:
        One table per recipe. A data set that cannot be used is a row with its reason.
    """
    tasks = list(dict.fromkeys(task for recipe in recipes for task in recipe.tasks))
    inside = max(1, jobs // len(tasks))  # processes left for each task when there are few of them
    runs = [_Run(_with_jobs(task, inside), Place(data_dir, _folder(run_dir, task), resume)) for task in tasks]
    ready: list[int] = []
    labels = _labels(tasks)

    def done(i: int) -> None:
        ready.append(i)
        if progress is not None:
            progress(f"{len(ready)} of {len(tasks)} done: {labels[i]}")

    results = dict(zip(tasks, run_tasks(_result, runs, jobs, done=done), strict=True))
    tables = tuple(_table(recipe, results) for recipe in recipes)
    versions = {
        str(result.manifest.get("versions")): result.manifest.get("versions")
        for result in results.values()
        if not isinstance(result, str)
    }
    manifest: dict[str, object] = {"versions": next(iter(versions.values()), None)}
    return RecipeReport(tables, TEST, manifest)


def _with_jobs(task: Task, jobs: int) -> Task:
    return Task(task.data, task.is_file, task.settings.model_copy(update={"jobs": jobs}))


def _folder(run_dir: Path | None, task: Task) -> Path | None:
    """A folder that is the task's own, whatever recipe it comes from and however many processes there are."""
    if run_dir is None:
        return None
    settings = task.settings.model_copy(update={"jobs": 1}).model_dump_json()
    digest = hashlib.sha256(f"{task.data}\0{settings}".encode()).hexdigest()[:8]
    return run_dir / f"{Path(task.data).stem}-{_words(task).replace(' ', '-')}-{digest}"


def _words(task: Task) -> str:
    """The pieces that a task asks for, in words."""
    return verb_of(task.settings).asked(task.settings).words


def _labels(tasks: Sequence[Task]) -> list[str]:
    """What each task is, in words: its data and pieces, and lambda where that alone tells it from another."""
    labels = [f"{task.data}, {_words(task)}" for task in tasks]
    return [
        f"{label}, lambda {task.settings.penalty.strength}"
        if labels.count(label) > 1 and isinstance(task.settings, CvSettings)
        else label
        for task, label in zip(tasks, labels, strict=True)
    ]


def _result(run: _Run) -> _Report | str:
    """The report of one task, or why there is none."""
    settings = run.task.settings
    try:
        report: _Report = verb_of(settings).run(run.task, settings, run.place)
    except PicscError as error:
        return str(error)
    return report


def _table(loaded: Loaded, results: dict[Task, _Report | str]) -> RecipeTable:
    """The table of one recipe."""
    recipe = loaded.recipe
    rows = tuple(_row(loaded, task, results[task]) for task in loaded.tasks)
    known: Metric = next((row.metric for row in rows if row.scores), "accuracy")
    rows = tuple(row if row.scores else replace(row, metric=known) for row in rows)  # beside those that were run
    blocks = dict.fromkeys((block, row.metric) for row in rows if (block := row.block) is not None and row.scores)
    over = (across_datasets(rows, block, metric) for block, metric in blocks)
    return RecipeTable(
        title=recipe.title,
        recipe=loaded.file.name,
        sha256=loaded.sha256,
        verb=recipe.verb,
        paper=recipe.paper.table if recipe.paper else "",
        method=recipe.paper.method if recipe.paper else "",
        version=recipe.version,
        rows=rows,
        over_sets=tuple(block for block in over if block is not None),
        settings=_settings(loaded),
    )


def _settings(loaded: Loaded) -> dict[str, object]:
    """The settings that are the same for all rows and change a number."""
    values = loaded.tasks[0].settings.model_dump(mode="json", exclude=_LEFT_OUT)
    own = {name for entry in loaded.recipe.data for name in OF_TARGETS if getattr(entry, name)}
    values = {name: value for name, value in values.items() if name not in own}
    if loaded.recipe.grids.strength:
        values["penalty"] = {name: value for name, value in values["penalty"].items() if name != "strength"}
    if any(entry.by is not None for entry in loaded.recipe.data):
        table = BY_NAME[loaded.recipe.verb].columns_in
        values[table] = {name: value for name, value in values[table].items() if name != "by"}
    return values


def _strength(recipe: Recipe, task: Task) -> float | None:
    """The task's lambda, where the recipe runs several."""
    settings = task.settings
    if not recipe.grids.strength or not isinstance(settings, CvSettings) or isinstance(settings.penalty.strength, str):
        return None
    return settings.penalty.strength


def _row(loaded: Loaded, task: Task, result: _Report | str) -> RecipeRow:
    """The row of one data set cut in one way."""
    recipe, verb = loaded.recipe, verb_of(task.settings)
    asked = verb.asked(task.settings)
    row = RecipeRow(
        data=next(name for name in recipe.names if task.data in (name, str(loaded.file.parent / name))),
        rows=None,
        pieces=asked.count,
        sha256="",
        scores=(),
        printed=None,
        difference=None,
        verdict=None,
        shifted=None,
        counted=False,
        failed=0,
        reason="",
        clients=asked.clients,
        target=asked.target,
        strength=_strength(recipe, task),
        cut=asked.words,
    )
    if isinstance(result, str):
        return replace(row, reason=result)
    return verb.row(replace(row, rows=result.data.rows, sha256=result.data.sha256), recipe, result)
