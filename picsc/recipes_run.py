"""Run recipes: every data set and number of pieces once, whatever recipes ask for it, then one table per recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from picsc.cv_report import CvReport
from picsc.errors import PicscError
from picsc.over_sets import TEST, over_sets
from picsc.parallel import run_tasks
from picsc.recipe_report import RecipeReport, RecipeRow, RecipeTable, Score
from picsc.recipes import Loaded, Task
from picsc.reports import AuditReport
from picsc.settings import METHODS, AuditSettings


@dataclass(frozen=True, slots=True)
class _Run:
    """A task and where it is run."""

    task: Task
    data_dir: Path | None
    run_dir: Path | None
    resume: bool


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
        recipes: checked by `picsc.recipes.load_recipes`.
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
    runs = [_Run(_with_jobs(task, inside), data_dir, _folder(run_dir, task), resume) for task in tasks]
    ready: list[int] = []

    def done(i: int) -> None:
        ready.append(i)
        if progress is not None:
            progress(f"{len(ready)} of {len(tasks)} done: {tasks[i].data}, {_cut_words(tasks[i])}")

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
    return run_dir / f"{Path(task.data).stem}-{_cut_words(task).replace(' ', '-')}-{digest}"


def _cut_words(task: Task) -> str:
    cut = task.settings.cut
    way = next(iter(cut.ways), "folds")
    return f"{getattr(cut, way) or 10} {way}" if way in ("folds", "batches") else f"by {getattr(cut, way)}"


def _result(run: _Run) -> CvReport | AuditReport | str:
    """The report of one task, or why there is none."""
    try:
        return _report(run)
    except PicscError as error:
        return str(error)


def _report(run: _Run) -> CvReport | AuditReport:
    from picsc.datasets.intake import read_or_get

    task, settings = run.task, run.task.settings
    data = read_or_get(
        task.data, named=not task.is_file, settings=settings.read, keys=settings.keys, data_dir=run.data_dir
    )
    if isinstance(settings, AuditSettings):
        from picsc.auditing import audit_dataset

        return audit_dataset(data, settings)
    from picsc.cross_validation import cross_validate_dataset

    return cross_validate_dataset(data, settings, run_dir=run.run_dir, resume=run.resume)


def _table(loaded: Loaded, results: dict[Task, CvReport | AuditReport | str]) -> RecipeTable:
    """What one recipe found."""
    recipe = loaded.recipe
    rows = tuple(_row(loaded, task, results[task]) for task in loaded.tasks)
    counts = dict.fromkeys(row.pieces for row in rows if row.pieces is not None and row.scores)
    over = (over_sets(rows, pieces) for pieces in counts)
    return RecipeTable(
        title=recipe.title,
        recipe=Path(loaded.path).name,
        sha256=loaded.sha256,
        verb=recipe.verb,
        paper=recipe.paper.table if recipe.paper else "",
        method=recipe.paper.method if recipe.paper else "",
        version=recipe.version,
        rows=rows,
        over_sets=tuple(block for block in over if block is not None),
        settings=loaded.tasks[0].settings.model_dump(mode="json", exclude={"cut": {"folds", "batches"}, "jobs": True}),
    )


def _row(loaded: Loaded, task: Task, result: CvReport | AuditReport | str) -> RecipeRow:
    """One data set cut into one number of pieces."""
    recipe = loaded.recipe
    entry = task.data if not task.is_file else Path(task.data).name
    if isinstance(result, str):
        cut = task.settings.cut
        count = cut.folds or cut.batches or cut.cuts
        return RecipeRow(entry, None, count, "", (), None, None, None, None, counted=False, failed=0, reason=result)
    pieces, rows, sha256 = len(result.fragments), result.data.rows, result.data.sha256
    if isinstance(result, AuditReport):
        shifted = len(result.shifted)
        return RecipeRow(
            entry, rows, pieces, sha256, (), None, None, result.verdict, shifted, counted=False, failed=0, reason=""
        )
    scores = tuple(Score(m.method, m.mean, m.log_loss) for m in result.methods if m.method in METHODS)
    percent = recipe.printed.get(entry, {}).get(pieces)
    printed = None if percent is None else percent / 100
    method = recipe.paper.method if recipe.paper else ""
    ours = next((score.accuracy for score in scores if score.method == method), None)
    known = entry not in recipe.unknown_version
    whole = all(score.accuracy is not None and score.log_loss is not None for score in scores)
    reason = "" if known else "the paper's version of this data set is not known"
    return RecipeRow(
        data=entry,
        rows=rows,
        pieces=pieces,
        sha256=sha256,
        scores=scores,
        printed=printed,
        difference=None if printed is None or ours is None else ours - printed,
        verdict=None,
        shifted=None,
        counted=known and whole,
        failed=result.failed,
        reason=reason or ("" if whole else _missing(result)),
    )


def _missing(result: CvReport) -> str:
    """Why a method has no number."""
    reasons = [
        f"{m.method}: {unit.reason}" for m in result.methods if m.mean is None for unit in m.units if unit.reason
    ]
    return reasons[0] if reasons else "a method has no number"
