"""Run recipes: every data set and way to cut it once, whatever recipes ask for it, then one table per recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from picsc.errors import PicscError
from picsc.recipes.across_datasets import OURS, TEST, across_datasets
from picsc.recipes.compare_rows import asked_target, comparison
from picsc.recipes.load import Loaded, Task
from picsc.reports.common import AuditReport
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport, MethodReport
from picsc.reports.fed import FedReport
from picsc.reports.recipes import ClientScore, Comparison, Federation, RecipeReport, RecipeRow, RecipeTable, Score
from picsc.runtime.processes import run_tasks
from picsc.settings import METHODS, AuditSettings, CompareSettings, FedSettings, VerbSettings
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
    """How the data are cut, in words that are also part of the name of a folder."""
    if isinstance(task.settings, FedSettings):
        return f"by {task.settings.clients.by}" if task.settings.clients.by else _clients(task.settings)
    if isinstance(task.settings, CompareSettings) and not task.settings.cut.ways:
        return asked_target(task.settings)
    if isinstance(task.settings, AuditSettings) and task.settings.clients.clients is not None:
        return _clients(task.settings)
    cut = task.settings.cut
    way = next(iter(cut.ways), "folds")
    return f"{getattr(cut, way) or 10} {way}" if way in ("folds", "batches") else f"by {getattr(cut, way)}"


def _clients(settings: VerbSettings) -> str:
    """How clients were asked for; data sets with clients of their own belong together, whatever the column."""
    if not isinstance(settings, FedSettings | AuditSettings):
        return ""
    if settings.clients.clients is None:
        return "natural clients" if isinstance(settings, FedSettings) else ""
    return f"{settings.clients.clients} clients, {settings.clients.partition or 'iid'}"


def _result(run: _Run) -> _Report | str:
    """The report of one task, or why there is none."""
    try:
        return _report(run)
    except PicscError as error:
        return str(error)


def _report(run: _Run) -> _Report:
    from picsc.datasets.open import open_source

    task, settings = run.task, run.task.settings
    if isinstance(settings, FedSettings):
        from picsc.datasets.catalog.natural_clients import with_own_clients

        settings = with_own_clients(settings, None if task.is_file else task.data)
    if isinstance(settings, AuditSettings | CompareSettings) and task.is_file:
        from picsc.datasets.files.libsvm import read_alike

        settings = read_alike(settings, task.data)
    data = open_source(
        task.data, named=not task.is_file, settings=settings.read, keys=settings.keys, data_dir=run.data_dir
    )
    if isinstance(settings, FedSettings):
        from picsc.federated.federate import federate_dataset

        return federate_dataset(data, settings, run_dir=run.run_dir, resume=run.resume)
    if isinstance(settings, AuditSettings):
        from picsc.auditing.audit import audit_dataset
        from picsc.datasets.load import load

        reference = next((load(file, settings.read) for file in settings.other_files), None)
        return audit_dataset(data, settings, reference=reference)
    if isinstance(settings, CompareSettings):
        from picsc.comparison.compare import compare_dataset, target_file

        target = target_file(settings)
        return compare_dataset(data, settings, target=target, run_dir=run.run_dir, resume=run.resume)
    from picsc.cross_validation.cross_validate import cross_validate_dataset

    return cross_validate_dataset(data, settings, run_dir=run.run_dir, resume=run.resume)


def _table(loaded: Loaded, results: dict[Task, _Report | str]) -> RecipeTable:
    """What one recipe found."""
    recipe = loaded.recipe
    rows = tuple(_row(loaded, task, results[task]) for task in loaded.tasks)
    blocks = dict.fromkeys(row.block for row in rows if row.block is not None and row.scores)
    over = (across_datasets(rows, block) for block in blocks)
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
        settings=_settings(loaded),
    )


def _settings(loaded: Loaded) -> dict[str, object]:
    """Those that are the same for all rows and change a number."""
    values = loaded.tasks[0].settings.model_dump(mode="json", exclude=_LEFT_OUT)
    if loaded.recipe.verb == "compare":
        own = {name for entry in loaded.recipe.data for name in ("train_on", "test_on", "bias") if getattr(entry, name)}
        values = {name: value for name, value in values.items() if name not in own}
        if any(entry.by is not None for entry in loaded.recipe.data):
            values["cut"] = {name: value for name, value in values["cut"].items() if name != "by"}
    return values


def _row(loaded: Loaded, task: Task, result: _Report | str) -> RecipeRow:
    """One data set cut in one way."""
    recipe, settings = loaded.recipe, task.settings
    entry = next(name for name in recipe.names if task.data in (name, str(Path(loaded.path).parent / name)))
    clients = _clients(settings)
    target = asked_target(settings) if isinstance(settings, CompareSettings) else ""
    if isinstance(result, str):
        count = _asked(settings)
        blank = RecipeRow(entry, None, count, "", (), None, None, None, None, counted=False, failed=0, reason=result)
        return replace(blank, clients=clients, target=target)
    rows, sha256, pieces = result.data.rows, result.data.sha256, _pieces(result)
    if isinstance(result, AuditReport):
        shifted = len(result.shifted)
        row = RecipeRow(
            entry, rows, pieces, sha256, (), None, None, result.verdict, shifted, counted=False, failed=0, reason=""
        )
        return replace(row, clients=clients)
    if isinstance(result, FedReport | CompareReport):
        scores = tuple(Score(m.method, m.accuracy, m.log_loss) for m in result.methods)
    else:
        scores = tuple(Score(m.method, m.mean, m.log_loss) for m in result.methods if m.method in METHODS)
    method = recipe.paper.method if recipe.paper else ""
    percent = _percent(recipe, entry, method if isinstance(result, FedReport | CompareReport) else pieces)
    ours = next((score.accuracy for score in scores if score.method == method), None)
    known = entry not in recipe.unknown_version
    there = [score.accuracy is not None and score.log_loss is not None for score in scores]
    whole = any(there) if isinstance(result, CompareReport) else all(there)
    reason = "" if known else "the paper's version of this data set is not known"
    return RecipeRow(
        data=entry,
        rows=rows,
        pieces=pieces,
        sha256=sha256,
        scores=scores,
        printed=percent,
        difference=_minus(ours, percent),
        verdict=None,
        shifted=None,
        counted=known and whole,
        failed=result.failed,
        reason=reason or ("" if whole else _missing(result)),
        clients=clients,
        federation=_federation(recipe, entry, result) if isinstance(result, FedReport) else None,
        target=target,
        comparison=_comparison(recipe, entry, result) if isinstance(result, CompareReport) else None,
    )


def _pieces(result: _Report) -> int:
    """Pieces, clients or targets that were made."""
    if isinstance(result, CompareReport):
        return len(result.targets)
    return len(result.clients if isinstance(result, FedReport) else result.fragments)


def _asked(settings: VerbSettings) -> int | None:
    """The number of pieces or clients that was asked for."""
    if isinstance(settings, FedSettings) or (isinstance(settings, AuditSettings) and settings.clients.clients):
        return settings.clients.clients
    return settings.cut.folds or settings.cut.batches or settings.cut.cuts


def _percent(recipe: Recipe, entry: str, key: str | int) -> float | None:
    """The paper's number as a fraction."""
    printed = next((value for name, value in recipe.printed.get(entry, {}).items() if name == key), None)
    return None if printed is None else printed / 100


def _minus(ours: float | None, printed: float | None) -> float | None:
    return None if ours is None or printed is None else ours - printed


def _federation(recipe: Recipe, entry: str, report: FedReport) -> Federation:
    """What a row of a federation holds beyond others."""
    scores = []
    for m in report.methods:
        printed = _percent(recipe, entry, m.method)
        difference = _minus(m.accuracy, printed)
        scores.append(ClientScore(m.method, m.std_clients, m.std_seeds, m.worst, m.worst_client, printed, difference))
    ours = next((m.differences for m in report.methods if m.method == OURS), ())
    return Federation(report.partition, report.model, report.repeats, tuple(scores), ours, report.test)


def _comparison(recipe: Recipe, entry: str, report: CompareReport) -> Comparison:
    """What a row of a comparison holds beyond others."""
    numbers = {m.method: _percent(recipe, entry, m.method) for m in report.methods}
    return comparison(report, {method: value for method, value in numbers.items() if value is not None})


def _missing(result: CvReport | FedReport | CompareReport) -> str:
    """Why a method has no number."""
    if isinstance(result, FedReport):
        reasons = [f"{m.method}: {m.failures[0].reason}" for m in result.methods if m.accuracy is None and m.failures]
    else:
        missing = [m for m in result.methods if (m.mean if isinstance(m, MethodReport) else m.accuracy) is None]
        reasons = [f"{m.method}: {unit.reason}" for m in missing for unit in m.units if unit.reason]
    return reasons[0] if reasons else "a method has no number"
