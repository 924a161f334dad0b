"""Runs of tasks: in this process or another one of this machine, or on a machine that must have the same files."""

from __future__ import annotations

import contextlib
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from picsc.errors import NoReportYetError, PicscError, SettingsError
from picsc.recipes.tasks import Place, Task
from picsc.recipes.verbs import verb_of
from picsc.reports import AuditReport, CompareReport, CvReport, FedReport
from picsc.runtime.digests import file_digest
from picsc.settings import FedSettings
from picsc.settings.fields import HOW_IT_RUNS

Report = CvReport | AuditReport | FedReport | CompareReport


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A task, and where it reads and writes."""

    task: Task
    place: Place
    """Its run folder has one folder per task inside."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that it reads, by their paths, for a machine that may have others."""
    folder: str = "."
    """Working folder, which paths are relative to."""

    def by(self, jobs: int, engine: str = "local") -> TaskRun:
        """The same with a number of processes, and where they are."""
        settings = self.task.settings
        asked = {"jobs": jobs, "engine": engine}
        update = {name: asked[name] for name in HOW_IT_RUNS & type(settings).model_fields.keys()}
        task = Task(self.task.data, self.task.is_file, settings.model_copy(update=update))
        return replace(self, task=task)

    @property
    def folder_name(self) -> str:
        """A folder that is the task's own, whatever recipe it comes from and however it is run."""
        task = self.by(1).task
        digest = hashlib.sha256(f"{task.data}\0{task.settings.model_dump_json()}".encode()).hexdigest()[:8]
        return f"{Path(task.data).stem}-{words_of(task).replace(' ', '-')}-{digest}"


def words_of(task: Task) -> str:
    """The pieces that a task asks for, in words."""
    return verb_of(task.settings).asked(task.settings).words


def with_digests(run: TaskRun) -> TaskRun:
    """The run with the digests of its files, for a machine that may have others."""
    task = run.task
    others = () if isinstance(task.settings, FedSettings) else task.settings.other_files
    paths = [*([task.data] if task.is_file else []), *others]
    return replace(
        run, files={path: file_digest(Path(path)) for path in paths if Path(path).is_file()}, folder=str(Path.cwd())
    )


def run_task(run: TaskRun) -> Report | str:
    """The report of one task, or why there is none, which is empty for a shard."""
    settings, place = run.task.settings, run.place
    inside = None if place.run_dir is None else place.run_dir / run.folder_name
    try:
        report: Report = verb_of(settings).run(run.task, settings, replace(place, run_dir=inside))
    except NoReportYetError:
        return ""
    except PicscError as error:
        return str(error)
    return report


def run_here(_: None, __: Path | None, run: TaskRun) -> Report | str:
    """The result of one task; a unit of this machine."""
    return run_task(run)


def run_there(_: None, folder: Path | None, run: TaskRun) -> Report | str:
    """The result of one task; a unit of any machine.

    Raises:
        SettingsError: a file is another one on this machine.
    """
    with contextlib.chdir(run.folder if Path(run.folder).is_dir() else "."):
        for path, digest in run.files.items():
            there = Path(path).is_file()
            if not there or file_digest(Path(path)) != digest:
                what = "has another" if there else "does not see the"
                raise SettingsError(
                    f"a Dask worker on {platform.node()} {what} file {path}: put it in a folder that all machines "
                    "share, or use --engine local"
                )
        return run_task(replace(run, place=replace(run.place, run_dir=folder)))
