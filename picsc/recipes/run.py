"""Run recipes: every data set and way to cut it once, whatever recipes ask for it, then one table per recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from picsc.recipes.across_datasets import TEST, across_datasets
from picsc.recipes.grids import OF_TARGETS
from picsc.recipes.load import Loaded
from picsc.recipes.task_runs import Report, TaskRun, run_here, run_task, run_there, with_digests, words_of
from picsc.recipes.tasks import Place, Task
from picsc.recipes.verbs import BY_NAME, verb_of
from picsc.reports.common import Metric
from picsc.reports.recipes import RecipeReport, RecipeRow, RecipeTable
from picsc.runtime.engines.opening import open_engine
from picsc.runtime.engines.shards import check_shard, end_shard
from picsc.runtime.engines.stage import Engine, Stage
from picsc.settings import AuditSettings, CvSettings
from picsc.settings.fields import HOW_IT_RUNS
from picsc.settings.recipe import Recipe

_LEFT_OUT: dict[str, bool | set[str]] = {
    "cut": {"folds", "batches"},
    "clients": {"by", "clients", "partition"},
    **dict.fromkeys(HOW_IT_RUNS, True),
}
"""Settings that are not the same for all rows of a table, or change no number."""


def run_recipes(
    recipes: Sequence[Loaded],
    place: Place | None = None,
    *,
    jobs: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
) -> RecipeReport:
    """Run all tasks of all recipes; equal ones once.

    Args:
        recipes: checked by `picsc.recipes.load.load_recipes`.
        place: the folder with data sets by name, and the folder that keeps every finished part, with one folder per
            task inside; None is the platform's, and one per task in picsc's cache, without finished parts.
        jobs: processes; never changes a number.
        engine: where the processes are, as in `picsc.settings`.
        progress: takes a line of text whenever a task is done.

    Returns:
        One table per recipe. A data set that cannot be used is a row with its reason.

    Raises:
        SettingsError: the engine cannot be used.
        NoReportYetError: a shard is done.
    """
    place = place or Place(None, None, resume=False)
    tasks = list(dict.fromkeys(task for recipe in recipes for task in recipe.tasks))
    check_shard(place.shard, engine, place.run_dir)
    if place.shard is not None:  # a report of an audit has no parts that could be kept
        tasks = [tasks[i] for i in place.shard.order(len(tasks)) if not isinstance(tasks[i].settings, AuditSettings)]
    ready: list[int] = []
    labels = _labels(tasks)

    def done(i: int) -> None:
        ready.append(i)
        if progress is not None:
            progress(f"{len(ready)} of {len(tasks)} done: {labels[i]}")

    with open_engine(engine, jobs, progress) as opened:
        results = dict(zip(tasks, _results(tasks, place, opened, done, jobs), strict=True))
    end_shard(place.shard, place.run_dir)
    tables = tuple(_table(recipe, results) for recipe in recipes)
    versions = {
        str(result.manifest.get("versions")): result.manifest.get("versions")
        for result in results.values()
        if not isinstance(result, str)
    }
    manifest: dict[str, object] = {"versions": next(iter(versions.values()), None)}
    return RecipeReport(tables, TEST, manifest)


def _results(
    tasks: Sequence[Task], place: Place, engine: Engine, done: Callable[[int], None], jobs: int
) -> list[Report | str]:
    """The report of every task, or why there is none."""
    if not engine.elsewhere:
        inside = max(1, jobs // len(tasks)) if tasks else 1  # processes left for each task when there are few of them
        runs = [TaskRun(task, place).by(inside) for task in tasks]
        return engine.run(Stage(run_here, None, runs), done)
    if len(tasks) < engine.workers:  # then the parts of every task are for all workers
        results = []
        for i, task in enumerate(tasks):
            results.append(run_task(TaskRun(task, place).by(jobs, engine.name)))
            done(i)
        return results
    runs = [with_digests(TaskRun(task, place).by(1)) for task in tasks]
    found = engine.run(Stage(run_there, None, runs, place.run_dir, [run.folder_name for run in runs]), done)
    # a machine that lacks a data set by name must not change the report
    return [run_task(run) if isinstance(one, str) else one for run, one in zip(runs, found, strict=True)]


def _labels(tasks: Sequence[Task]) -> list[str]:
    """What each task is, in words: its data and pieces, and lambda where that alone tells it from another."""
    labels = [f"{task.data}, {words_of(task)}" for task in tasks]
    return [
        f"{label}, lambda {task.settings.penalty.strength}"
        if labels.count(label) > 1 and isinstance(task.settings, CvSettings)
        else label
        for task, label in zip(tasks, labels, strict=True)
    ]


def _table(loaded: Loaded, results: dict[Task, Report | str]) -> RecipeTable:
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


def _row(loaded: Loaded, task: Task, result: Report | str) -> RecipeRow:
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
