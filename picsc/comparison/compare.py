"""The verb `compare`: PIcsC beside importance weighting (IW, IWCV, KMM, DIW), for a target that may be shifted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.comparison.feature_space import RANDOM_FEATURES
from picsc.comparison.methods import Comparison, Result, choices, run
from picsc.comparison.summary import assemble
from picsc.comparison.transfer_tasks import TransferPlan, TransferTask, plan
from picsc.comparison.weights import NOTHING, RowWeights, estimate_weights
from picsc.datasets.description import left_out
from picsc.datasets.encoding import fit
from picsc.datasets.files.libsvm import read_alike
from picsc.datasets.images import ImageSet
from picsc.datasets.load import load
from picsc.datasets.open import open_data
from picsc.datasets.rows import Rows, stack
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet, no_characters
from picsc.errors import SettingsError
from picsc.reports.common import Finding
from picsc.runtime.devices import pick_device
from picsc.runtime.processes import run_tasks
from picsc.runtime.run_folder import RunFolder, kept, open_run
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import (
    COMPARE_METHODS,
    WEIGHTINGS,
    CompareMethod,
    CompareSettings,
    Splitter,
    Weighting,
    validated,
)
from picsc.simulation.label_noise import with_label_noise
from picsc.training.defaults import kind_of, labelled, recipe_of, rows_of, trainer_of
from picsc.training.table_trainer import TableTrainer
from picsc.training.tuning import INNER
from picsc.weighting import estimated_bytes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.reports.compare import CompareReport

Compared = Dataset | ImageSet | TokenSet
Tell = Callable[[str], None]
CONTROLS: dict[CompareMethod, tuple[CompareMethod, ...]] = {
    "picsc": ("weight-decay", "carried", "picsc-random"),
    "iwcv": ("cv-choice",),
    "diw": ("pooled",),
}
"""What runs beside a method, so that the report says what makes the difference."""
CLIENT = "client"
"""Column that images and texts with owners can be cut by."""
SMALL_WORK = 20_000_000
"""Rows x features x trials below which starting another process costs more than it saves."""
RISK_FOLDS, FEW_ROWS = 10, 2000
"""Inner folds of importance-weighted cross-validation of tables up to so many training rows, and half as many beyond:
fewer would judge models of too few rows."""
ONE_INNER = 2000
"""Rows above which one inner part judges candidates as surely as three do."""


def compare(
    data: pd.DataFrame | ImageSet | TokenSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    target: str | None = None,
    folds: int | None = None,
    batches: int | None = None,
    by: str | None = None,
    time: str | None = None,
    every: str | None = None,
    cuts: int | None = None,
    group: str | None = None,
    splitter: Splitter | None = None,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    bias: str | None = None,
    label_noise: float = 0.0,
    methods: Sequence[CompareMethod] | None = None,
    algorithm: Literal[1, 2] = 1,
    strength: float | Literal["auto"] = "auto",
    epochs: int | None = None,
    lr: float | None = None,
    repeats: int | None = None,
    seed: int = 0,
    jobs: int = 1,
) -> CompareReport:
    """Compare PIcsC with importance weighting on one data set.

    Source: E5.

    Args:
        data: frame, array (n, f), images as an `ImageSet` or an array (n, s, s) or (n, c, s, s), bags of words as a
            `TokenSet`, or a file's path.
        y: labels (n,), with an array.
        target: column to predict; None looks for the usual names, then takes the last column.
        folds: each fold is the target of a model of all others.
        batches: contiguous pieces, likewise.
        by: column with one piece per value.
        time: column to order and cut into pieces.
        every: length of a piece of time.
        cuts: number of pieces of time.
        group: column whose values folds do not divide.
        splitter: of folds; None is stratified for classes.
        train_on: pieces to learn from; () is all but the target.
        test_on: pieces that are the target, or without pieces one file; () makes each piece the target in turn. Without
            any way to cut and without a file, a random part of the rows is the target.
        bias: column by which training rows are selected, or auto for the first principal component.
        label_noise: share of training labels that are replaced.
        methods: of `picsc.settings.COMPARE_METHODS`; None is the paper's six. Controls are added.
        algorithm: of the paper, for picsc.
        strength: lambda, or auto.
        epochs: passes over the training rows; None is 200 for tables, 5 for images and texts.
        lr: learning rate; None is 0.02 for tables, 0.001 for images and 0.003 for texts.
        repeats: runs with other seeds; None is 10 for tables, 1 for images and texts.
        seed: of every random draw.
        jobs: processes; never changes a number.

    Returns:
        The report; accuracies are fractions.

    Raises:
        SettingsError: an option cannot be used.
        DataError: the data cannot be used.
    """
    settings = validated(
        CompareSettings,
        read={} if target is None else {"target": target},
        cut={
            "folds": folds, "batches": batches, "by": by, "time": time, "every": every, "cuts": cuts, "group": group,
            "splitter": splitter,
        },
        train_on=tuple(train_on),
        test_on=tuple(test_on),
        bias=bias,
        label_noise=label_noise,
        algorithm=algorithm,
        penalty={"strength": strength},
        train={"epochs": epochs, "lr": lr},
        repeats=repeats,
        seed=seed,
        jobs=jobs,
        **({} if methods is None else {"methods": tuple(methods)}),
    )  # fmt: skip
    if isinstance(data, str | Path):
        settings = read_alike(settings, data)
    with TemporaryDirectory(prefix="picsc-") as parts:  # a call from Python is not resumed, so nothing stays behind
        dataset = open_data(data, y, settings.read, keys=_keys(settings, data))
        return compare_dataset(dataset, settings, target=target_file(settings), run_dir=Path(parts) / "run")


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
    return load(files[0], settings.read)


def compare_dataset(
    data: Compared,
    settings: CompareSettings,
    *,
    target: Dataset | None = None,
    run_dir: Path | None = None,
    resume: bool = False,
    progress: Tell | None = None,
) -> CompareReport:
    """Compare methods on data that was read already.

    Args:
        data: the table, the images or the bags of words.
        settings: everything else.
        target: a table with the rows that are the target, under the columns of `data`.
        run_dir: where finished parts are kept; None is a folder of the user's cache.
        resume: go on from the parts that are there.
        progress: told what is being done.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be compared on.
    """
    tell = progress or (lambda _: None)
    with one_thread():
        return _compared(no_characters(data), settings, target, run_dir, tell, resume=resume)


def _compared(
    data: Compared, settings: CompareSettings, target: Dataset | None, run_dir: Path | None, tell: Tell, *, resume: bool
) -> CompareReport:
    findings: list[Finding] = []
    data, table, official = _rows(data, target, settings, findings)
    kind = kind_of(data)
    count = settings.repeats or (10 if kind == "table" else 1)
    made = plan(table, settings, count, official)
    findings += [*made.findings, *(left_out(data) if isinstance(data, Dataset) else ())]
    if settings.label_noise:
        data = with_label_noise(data, settings.label_noise, made.target_rows, seed=settings.seed)
    device = pick_device(settings.train.device)
    if device.note and device.device.type != "cpu":
        findings.append(Finding("device", "note", device.note))
    methods = _methods(settings, made, table)
    learned = max(len(trial.train) for trial in made.trials)
    recipe = replace(recipe_of(settings.train, learned, kind), warmup=settings.penalty.warmup)
    work = learned * len(made.trials) * max(1, len(table.columns))
    balanced: tuple[TransferTask, ...] = ()
    if "dob-scv" in methods:
        recut = settings.cut.model_copy(update={"splitter": "dob-scv"})
        balanced = plan(table, settings.model_copy(update={"cut": recut}), count, official).trials
    comparison = Comparison(
        backend=trainer_of(data, recipe, settings.train, settings.penalty.kind, device.device),
        likelihood=table.target.kind if table.target is not None else "classes",
        trials=made.trials,
        weighed=(NOTHING,) * len(made.trials),
        chosen=(),
        balanced=balanced,
        algorithm=settings.algorithm,
        penalty=settings.penalty,
        weigh=settings.weigh,
        inner=1 if kind != "table" or learned > ONE_INNER else INNER,
        risk_folds=1 if kind != "table" else RISK_FOLDS if learned <= FEW_ROWS else RISK_FOLDS // 2,
        at_once=1 if kind != "table" else len(made.names) if work > SMALL_WORK else 1_000_000,
    )
    manifest = {
        "versions": versions(),
        "seed": settings.seed,
        "data_sha256": data.sha256,
        "target_sha256": None if target is None else target.sha256,
        "settings": settings.model_dump(mode="json", exclude={"jobs", "methods"}),
    }
    jobs = settings.jobs if kind != "table" or work > SMALL_WORK else 1
    with open_run(run_dir, manifest, resume=resume) as folder:
        comparison = _looked_at(comparison, methods, settings.weigh.space, folder, jobs, tell)
        results = _run_all(comparison, methods, folder, jobs, tell)
    return assemble(data, settings, made, comparison, results, tuple(findings), manifest)


def _looked_at(
    comparison: Comparison,
    methods: Sequence[CompareMethod],
    space: Literal["auto", "raw", "layer"],
    folder: RunFolder,
    jobs: int,
    tell: Tell,
) -> Comparison:
    """The comparison with the weights of every trial, and what is chosen by them."""
    wanted = [name for name in WEIGHTINGS if name in methods or (name == "iw" and "iwcv" in methods)]
    if space == "auto":
        space = "raw" if isinstance(comparison.backend, TableTrainer) else "layer"
    if wanted:
        tell(_memory_words(comparison, wanted))
        tasks = [(comparison, space, wanted, folder, i) for i in range(len(comparison.trials))]
        comparison = replace(comparison, weighed=tuple(run_tasks(_weighed, tasks, jobs)))
    if "iwcv" in methods or "cv-choice" in methods:
        tell("importance-weighted cross-validation")
        comparison = replace(comparison, chosen=tuple(choices(comparison, folder)))
    return comparison


def _run_all(
    comparison: Comparison, methods: Sequence[CompareMethod], folder: RunFolder, jobs: int, tell: Tell
) -> dict[CompareMethod, Result]:
    """Every method on every trial."""
    left = list(methods)

    def done(i: int) -> None:
        left.remove(methods[i])
        tell(f"training: {', '.join(left)}" if left else "comparing")

    tell(f"training: {', '.join(left)}")
    found = run_tasks(_method, [(comparison, folder, name) for name in methods], jobs, done=done)
    return dict(zip(methods, found, strict=True))


def _weighed(task: tuple[Comparison, Literal["raw", "layer"], list[Weighting], RunFolder, int]) -> RowWeights:
    """The weights of one trial; a function of the module, so that another process can call it."""
    comparison, space, wanted, folder, i = task
    trial, weigh_settings = comparison.trials[i], comparison.weigh

    def compute() -> dict[str, NDArray[Any]]:
        return estimate_weights(comparison.backend, trial, space, weigh_settings, wanted).arrays()

    return RowWeights.of(kept(folder, f"weights/{'-'.join(wanted)}/{i}", compute))


def _method(task: tuple[Comparison, RunFolder, CompareMethod]) -> Result:
    """One method; a function of the module, likewise."""
    comparison, folder, name = task
    return run(comparison, folder, name)


def _memory_words(comparison: Comparison, wanted: Sequence[Weighting]) -> str:
    """What weighting is about to hold in memory."""
    trial = max(comparison.trials, key=lambda trial: len(trial.train))
    n, m = len(trial.train), len(trial.adapt)
    backend = comparison.backend
    features = (
        len(fit(backend.dataset, trial.train[:1]).names) if isinstance(backend, TableTrainer) else RANDOM_FEATURES
    )
    sizes = ", ".join(f"{name} {estimated_bytes(name, n, m, features) / 1e6:.0f} MB" for name in wanted)
    return f"weighing up to {n:,} rows for {m:,}: {sizes}"


def _methods(settings: CompareSettings, made: TransferPlan, table: Dataset) -> list[CompareMethod]:
    """Everything to run, in the order of the report.

    Raises:
        SettingsError: a method needs what is not there.
    """
    wanted: set[CompareMethod] = {"st-cv", *settings.methods}
    for method in settings.methods:
        wanted |= set(CONTROLS.get(method, ()))
    if all(trial.drawn for trial in made.trials):
        wanted.discard("picsc-random")  # the training pieces are made by chance already
    if settings.bias is not None and wanted & {"iw", "iwcv", "kmm", "ulsif", "rulsif"}:
        wanted.add("true-ratio")
    if "true-ratio" in wanted and settings.bias is None:
        raise SettingsError("--method true-ratio: the true density ratio is known with --bias only")
    if "dob-scv" in wanted:
        if settings.cut.folds is None or not settings.in_turn:
            raise SettingsError("--method dob-scv is a way to cut folds: give --folds")
        if table.target is None or table.target.kind != "classes":
            raise SettingsError("--method dob-scv cuts by classes, and the target holds numbers; leave it out")
    return [name for name in COMPARE_METHODS if name in wanted]


def _rows(
    data: Compared, target: Dataset | None, settings: CompareSettings, findings: list[Finding]
) -> tuple[Compared, Dataset, Rows]:
    """The data that take part, the same as a table of labels and keys, and the rows that are the target if known."""
    if isinstance(data, Dataset):
        table = labelled(data, findings, verb="comparing")
        if target is None:
            return table, table, np.empty(0, np.int64)
        other = labelled(target, findings, verb="comparing")
        both = stack(table, other)
        return both, both, np.arange(table.n, both.n)
    if target is not None:
        raise SettingsError(f"--test-on {target.name}: a file is the target of a table, and {data.name} is none")
    table, official = rows_of(data, findings, verb="comparing")
    if settings.bias is not None:
        raise SettingsError(f"--bias {settings.bias}: {data.name} has no columns to select by; leave it out")
    if settings.cut.keys and settings.cut.keys != (CLIENT,):
        raise SettingsError(f"{data.name} has no columns; use --by {CLIENT} for its owners, or --folds or --batches")
    if settings.cut.by == CLIENT:
        if data.owners is None:
            raise SettingsError(f"--by {CLIENT}: {data.name} says of no row whose it is; use --folds or --batches")
        names = np.array(data.clients, dtype=object)
        table = replace(table, keys={CLIENT: names[data.owners]})
    return data, table, official
