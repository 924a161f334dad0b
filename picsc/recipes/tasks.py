"""One task of a recipe: a verb run once, on one data set with one way to cut it. Torch-free until it is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from picsc.errors import DataError
from picsc.settings import AuditSettings, CompareSettings, CvSettings, FedSettings, VerbSettings

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.table import Dataset
    from picsc.reports import AuditReport, CompareReport, CvReport, FedReport
    from picsc.runtime.engines.shards import Shard
    from picsc.settings import ReadSettings

S = TypeVar("S", AuditSettings, CompareSettings)


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a verb: equal tasks of several recipes are run once."""

    data: str
    """Name of the data set, or path of the file."""
    is_file: bool
    """True if `data` is a path."""
    settings: VerbSettings
    """Settings of the verb with one way to cut, and with what the data set's entry says."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folders that a task reads from and writes to."""

    data_dir: Path | None
    """Folder with data sets by name; None is the platform's."""
    run_dir: Path | None
    """Folder that keeps the task's finished parts; None is one in picsc's cache."""
    resume: bool
    """True to go on with the parts that `run_dir` holds."""
    shard: Shard | None = None
    """Share of the parts that is made; None is all of them, and the report."""


def run_audit(task: Task, settings: AuditSettings, place: Place) -> AuditReport:
    """Audit the data set against its other pieces, or against the files that the settings name.

    Raises:
        DataError: the settings have a strict schema, and the columns are not those of the file.
    """
    from picsc.auditing.audit import audit_dataset
    from picsc.datasets.reference_file import load_reference, opened_alike

    settings = _alike(task, settings)

    def opened(read: ReadSettings) -> tuple[Data, Dataset | None]:
        data = _data(task, settings.model_copy(update={"read": read}), place)
        return data, next((load_reference(file, read) for file in settings.other_files), None)

    data, reference = opened_alike(opened, settings.read)
    report = audit_dataset(data, settings, reference=reference)
    if report.schema_failures:
        raise DataError("; ".join(["--strict-schema", *(finding.message for finding in report.schema_failures)]))
    return report


def run_cv(task: Task, settings: CvSettings, place: Place) -> CvReport:
    """Cross-validate the methods on the data set."""
    from picsc.cross_validation.cross_validate import cross_validate_dataset

    data = _data(task, settings, place)
    return cross_validate_dataset(data, settings, run_dir=place.run_dir, resume=place.resume, shard=place.shard)


def run_fed(task: Task, settings: FedSettings, place: Place) -> FedReport:
    """Train the federated methods on the clients of the data set."""
    from picsc.datasets.catalog.natural_clients import with_own_clients
    from picsc.federated.federate import federate_dataset

    settings = with_own_clients(settings, None if task.is_file else task.data)
    data = _data(task, settings, place)
    return federate_dataset(data, settings, run_dir=place.run_dir, resume=place.resume, shard=place.shard)


def run_compare(task: Task, settings: CompareSettings, place: Place) -> CompareReport:
    """Compare the methods on the targets of the data set."""
    from picsc.comparison.compare import compare_dataset, target_file

    settings = _alike(task, settings)
    data = _data(task, settings, place)
    target = target_file(settings)
    return compare_dataset(data, settings, target=target, run_dir=place.run_dir, resume=place.resume, shard=place.shard)


def _alike(task: Task, settings: S) -> S:
    """The settings under which a file and the files it is compared with are read in the same way."""
    from picsc.datasets.files.libsvm import read_alike

    return read_alike(settings, task.data) if task.is_file else settings


def _data(task: Task, settings: VerbSettings, place: Place) -> Data:
    """The data set, as the settings say that it is read."""
    from picsc.datasets.open import open_source

    named = not task.is_file
    return open_source(task.data, named=named, settings=settings.read, keys=settings.keys, data_dir=place.data_dir)
