"""The verb `compare`: PIcsC compared with importance weighting (IW, IWCV, KMM, DIW) on a target that may be shifted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.comparison.given_split import as_given
from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.predictions import predicted_rows, truths_of_both
from picsc.comparison.report import assemble
from picsc.comparison.run_methods import run_all, with_weights
from picsc.comparison.transfer_tasks import TransferPlan, TransferTask, plan
from picsc.comparison.wanted_methods import methods_to_run
from picsc.comparison.weights import NO_WEIGHTS
from picsc.datasets.data import Data
from picsc.datasets.description import on_reading
from picsc.datasets.files.libsvm import read_alike
from picsc.datasets.images import ImageSet
from picsc.datasets.judged import judging_of
from picsc.datasets.memory import with_labels_of
from picsc.datasets.open import open_data
from picsc.datasets.reference_file import load_reference
from picsc.datasets.row_weights import check_weights, row_weights, without_weightless
from picsc.datasets.rows import Rows, stack
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet, no_characters
from picsc.datasets.together import read_together
from picsc.errors import SettingsError
from picsc.evaluation.majority import majority_code
from picsc.fragments.groups import groups_of
from picsc.fragments.keys import distinct, spelled
from picsc.reports.common import Finding
from picsc.runtime.devices import device_findings, pick_device
from picsc.runtime.engines.parts import RunPlace, open_workplace
from picsc.runtime.engines.shards import Shard
from picsc.runtime.predictions_file import check_predictions_file, write_predictions
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import CompareMethod, CompareSettings
from picsc.settings.by_keyword import from_keywords
from picsc.settings.fields import HOW_IT_RUNS
from picsc.settings.in_python import in_keywords
from picsc.simulation.label_noise import with_label_noise
from picsc.training.defaults import labelled, recipe_of, rows_of, trainer_of
from picsc.training.methods import SMALL_WORK, MethodSetup, inner_folds
from picsc.training.own.applies import on_gradients, without_gradients
from picsc.training.own.estimator_trainer import EstimatorTrainer
from picsc.training.own.module_trainer import ModuleTrainer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.datasets.memory import Frame
    from picsc.reports.compare import CompareReport
    from picsc.settings.keywords import CompareKeywords

CLIENT = "client"
"""Column that images and texts with owners can be cut by."""
FEW_TRAININGS = SMALL_WORK // 100
"""Rows x features x tasks below which other processes do not pay: a comparison trains a hundred models a task."""
RISK_FOLDS, FEW_ROWS = 10, 2000
"""Inner folds of importance-weighted cross-validation of tables up to so many training rows, and half as many beyond:
models of fewer folds would be trained on too few rows."""


def compare(
    data: Frame | ImageSet | TokenSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    settings: CompareSettings | None = None,
    predictions: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
    **keywords: Unpack[CompareKeywords],
) -> CompareReport:
    """Compare PIcsC with importance weighting on one data set.

    Source: E5.

    Args:
        data: frame (of pandas, polars, pyarrow or whatever exports Arrow data), array (n, f), images as an `ImageSet`
            or an array (n, s, s) or (n, c, s, s), bags of words as a `TokenSet`, or a file's path.
        y: labels (n,) of a frame or an array, by position; their name, or `target`, is the target's.
        settings: all settings at once; keywords win over them. None is the defaults.
        predictions: file, .csv or .parquet, for the predictions of all test rows; None writes none.
        progress: called with a few words whenever a new step begins.
        keywords: single settings by name (folds, methods, bias, ...): `picsc.settings.keywords.CompareKeywords` and
            docs/settings.md list them all.

    Returns:
        The report; accuracies are fractions.

    Raises:
        SettingsError: a setting cannot be used.
        DataError: the data cannot be used.

    Example:
        >>> import picsc
        >>> from sklearn.datasets import load_iris
        >>> flowers = load_iris(as_frame=True).frame  # 50 rows of each species, one after another
        >>> report = picsc.compare(flowers, target="target", folds=3, repeats=1, epochs=20, methods=("st-cv", "iw"))
        >>> [method.method for method in report.methods]
        ['st-cv', 'iw']
    """
    settings = from_keywords(CompareSettings, "compare", keywords, settings)
    # a call from Python is not resumed, so nothing stays behind
    with in_keywords(CompareSettings, "compare"), TemporaryDirectory(prefix="picsc-") as kept:
        if isinstance(data, str | Path):
            settings = read_alike(settings, data)
        dataset = open_data(data, y, settings.read, keys=_keys(settings, data))
        asked = settings.model_copy(update={"read": with_labels_of(dataset, y, settings.read)})
        target, run_dir = target_file(asked), Path(kept) / "run"
        file = None if predictions is None else Path(predictions)
        return compare_dataset(dataset, settings, target=target, run_dir=run_dir, predictions=file, progress=progress)


def _keys(settings: CompareSettings, data: object) -> tuple[str, ...]:
    return () if isinstance(data, ImageSet | TokenSet) else settings.keys


def target_file(settings: CompareSettings) -> Dataset | None:
    """The table of `--test-on FILE`; None where the target is in the data.

    Args:
        settings: without a way to cut, `test_on` is a file.

    Raises:
        SettingsError: there are several.
        DataError: it cannot be read.
    """
    files = settings.other_files
    if not files:
        return None
    if len(files) > 1:
        raise SettingsError(
            f"--test-on {', '.join(files)}: give one file, or say with --by, --time, --batches or --folds "
            "how pieces are cut"
        )
    return load_reference(files[0], settings.read, keys=settings.keys)


def compare_dataset(
    data: Data,
    settings: CompareSettings,
    *,
    target: Dataset | None = None,
    run_dir: Path | None = None,
    resume: bool = False,
    shard: Shard | None = None,
    predictions: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> CompareReport:
    """Compare methods on data that was read already.

    Args:
        data: the table, the images or the bags of words.
        settings: all settings of the run.
        target: a table with the rows that are the target, under the columns of `data`.
        run_dir: folder that keeps finished parts; None is a folder of the user's cache.
        resume: use the finished parts that are there.
        shard: this command's share of the parts; None is all.
        predictions: file for the predictions of all test rows; None writes none.
        progress: called with the name of each stage.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be compared on.
        NoReportYetError: a shard is done.

    Example:
        >>> import numpy as np
        >>> from picsc import CompareSettings, compare_dataset
        >>> from picsc.datasets.open import open_data
        >>> chosen = {"cut": {"folds": 2}, "repeats": 1, "train": {"epochs": 5}, "methods": ["st-cv", "kmm"]}
        >>> settings = CompareSettings.model_validate(chosen)
        >>> rows = np.random.default_rng(0).normal(size=(60, 2))
        >>> report = compare_dataset(open_data(rows, rows[:, 0] > 0, settings.read), settings)
        >>> len(report.targets)
        2
    """
    report_progress = progress or (lambda _: None)
    check_predictions_file(predictions)
    with one_thread():
        data = no_characters(data)
        settings = as_given(data, settings)
        prepared = prepare(data, target, settings, keep=predictions is not None)
        place = RunPlace(run_dir, resume, shard)
        with open_workplace(place, prepared.manifest, settings.engine, prepared.jobs, report_progress) as workplace:
            inputs = with_weights(prepared.inputs, prepared.methods, workplace, report_progress)
            inputs, scores = run_all(inputs, prepared.methods, workplace, report_progress)
        if predictions is not None:
            truths = truths_of_both(data, target, prepared.data, settings.sample_weight)
            write_predictions(predictions, predicted_rows(inputs, scores), truths)
        return assemble(prepared.data, settings, prepared.plan, inputs, scores, prepared.findings, prepared.manifest)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is fixed before training starts."""

    data: Data
    """The rows that take part."""
    plan: TransferPlan
    inputs: ComparisonInputs
    """Inputs without weights and choices."""
    methods: list[CompareMethod]
    jobs: int
    """Processes."""
    findings: tuple[Finding, ...]
    manifest: dict[str, object]


def prepare(data: Data, target: Dataset | None, settings: CompareSettings, *, keep: bool) -> Prepared:
    """Tasks, trainer, methods and manifest of a run.

    Args:
        data: as it was read.
        target: a table with the rows that are the target; None where they are in the data.
        settings: of the run, with the pieces that a split column gives.
        keep: keep the predictions of all test rows.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be compared on.
    """
    findings: list[Finding] = []
    data, table, official = _rows(data, target, settings, findings)
    kind = data.kind
    count = settings.repeats or (10 if kind == "table" else 1)
    made = plan(table, settings, count, official)
    findings += [*made.findings, *(on_reading(data, target) if data.kind == "table" else ())]
    if settings.label_noise:
        data = with_label_noise(data, settings.label_noise, made.rows_of_targets, seed=settings.seed)
    device = pick_device(settings.train.device)
    findings += device_findings(device)
    rows = max(len(task.train) for task in made.tasks)
    recipe = replace(recipe_of(settings.train, rows, kind), warmup=settings.penalty.warmup)
    work = rows * len(made.tasks) * max(1, len(table.columns))
    counts = None if settings.sample_weight is None else row_weights(table, settings.sample_weight)
    trainer = trainer_of(
        data,
        recipe,
        settings.train,
        settings.penalty.kind,
        device.device,
        groups=groups_of(table, settings.cut),
        counts=counts,
    )
    why = without_gradients(trainer)
    findings += on_gradients(settings.train.model, why)
    methods = methods_to_run(settings, made, table, gradients=not why)
    balanced: tuple[TransferTask, ...] = ()
    if "dob-scv" in methods:
        recut = settings.cut.model_copy(update={"splitter": "dob-scv"})
        balanced = plan(table, settings.model_copy(update={"cut": recut}), count, official).tasks
    one_by_one = kind != "table" or isinstance(trainer, ModuleTrainer)
    setup = MethodSetup(
        trainer=trainer,
        likelihood=table.target.kind if table.target is not None else "classes",
        algorithm=settings.algorithm,
        penalty=settings.penalty,
        inner=1 if isinstance(trainer, ModuleTrainer) else inner_folds(kind, rows),
        without_gradients=why,
        at_once=1 if one_by_one else len(made.names) if work > SMALL_WORK else 1_000_000,
    )
    inputs = ComparisonInputs(
        setup=setup,
        tasks=made.tasks,
        balanced=balanced,
        weights=(NO_WEIGHTS,) * len(made.tasks),
        choices=(),
        weight_settings=settings.weigh,
        majority=0
        if table.target is None or table.target.kind == "numbers"
        else majority_code(table.target.values, counts),
        classes=0 if table.target is None else len(table.target.levels),
        judging=judging_of(table, settings.metrics, counts, keep=keep),
        risk_folds=1 if kind != "table" else RISK_FOLDS if rows <= FEW_ROWS else RISK_FOLDS // 2,
    )
    manifest: dict[str, object] = {
        "versions": versions(),
        "device": device.name,
        "seed": settings.seed,
        "data_sha256": data.sha256,
        "target_sha256": None if target is None else target.sha256,
        "settings": settings.model_dump(mode="json", exclude=HOW_IT_RUNS | {"methods"}),
    }
    if keep:  # finished parts hold predictions, too
        manifest["predictions"] = True
    if isinstance(trainer, EstimatorTrainer | ModuleTrainer):
        manifest["model"] = trainer.own.manifest
    pays = kind != "table" or work > FEW_TRAININGS or settings.engine != "local"
    jobs = settings.jobs if pays else 1
    return Prepared(data, made, inputs, methods, jobs, tuple(findings), manifest)


def _keys_of_both(table: Dataset, other: Dataset) -> dict[str, NDArray[Any]]:
    """The columns of groups of two tables; where the other has none, its rows are groups of their own."""
    found = {}
    for name, values in table.keys.items():
        more = other.keys.get(name)
        if more is None:
            more = np.asarray("row " + pd.RangeIndex(1, other.n + 1).astype(str) + f" of {other.name}", dtype=object)
        same = values.dtype == more.dtype
        parts = [values, more] if same else [_as_words(values), _as_words(more)]
        found[name] = np.concatenate(parts)
    return found


def _as_words(values: NDArray[Any]) -> NDArray[Any]:
    """Values of a key as words, None where missing, so that those of two tables can be compared."""
    codes, found = distinct(values)
    words: NDArray[Any] = np.array([*map(spelled, found), None], dtype=object)[codes]
    return words


def _counted(rows: Dataset, read: Dataset, settings: CompareSettings, findings: list[Finding]) -> Dataset:
    """The labelled rows that count, after a check of the weights of all rows as they were read."""
    if settings.sample_weight is None:
        return rows
    check_weights(read, settings.sample_weight, "--sample-weight")
    return without_weightless(rows, settings.sample_weight, findings)


def _rows(
    data: Data, target: Dataset | None, settings: CompareSettings, findings: list[Finding]
) -> tuple[Data, Dataset, Rows]:
    """The rows that take part, the same as a table of labels and keys, and the rows of a target known beforehand."""
    if data.kind == "table":
        if target is not None:
            data, target = read_together(data, target, settings.read, settings.keys)
        table = _counted(labelled(data, findings, verb="comparing", by=settings.cut.column), data, settings, findings)
        if target is None:
            return table, table, np.empty(0, np.int64)
        other = _counted(labelled(target, findings, verb="comparing"), target, settings, findings)
        both = replace(stack(table, other), keys=_keys_of_both(table, other))
        return both, both, np.arange(table.n, both.n)
    if target is not None:
        raise SettingsError(f"--test-on {target.name}: a file is the target of a table, and {data.name} is none")
    table, official = rows_of(data, findings, verb="comparing")
    if settings.sample_weight is not None:
        raise SettingsError(f"--sample-weight {settings.sample_weight}: {data.name} has no columns; leave it out")
    if settings.bias is not None:
        raise SettingsError(f"--bias {settings.bias}: {data.name} has no columns to select by; leave it out")
    if settings.cut.keys and settings.cut.keys != (CLIENT,):
        raise SettingsError(f"{data.name} has no columns; use --by {CLIENT} for its owners, or --folds or --batches")
    if settings.cut.by == CLIENT:
        if data.owners is None:
            raise SettingsError(f"--by {CLIENT}: {data.name} has no owners of its rows; use --folds or --batches")
        names = np.array(data.clients, dtype=object)
        table = replace(table, keys={CLIENT: names[data.owners]})
    return data, table, official
