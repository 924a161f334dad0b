"""The verb `cross_validate`: standard cross-validation against PIcsC and its controls, fold- or batch-wise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

from picsc.cross_validation.deployment import estimate_for_deployment
from picsc.cross_validation.deployment_file import DeploymentFile, read_deployment_file
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.group_leakage import DIVIDED
from picsc.cross_validation.methods import (
    ALGORITHM_1,
    EQUAL,
    ISOTROPIC,
    METHOD_FUNCTIONS,
    SMALLER,
    SO_FAR,
    MethodScores,
)
from picsc.cross_validation.new_in_piece import new_in_pieces
from picsc.cross_validation.piece_scores import PieceScores
from picsc.cross_validation.predictions import predicted_rows
from picsc.cross_validation.report import assemble
from picsc.cross_validation.small_pieces import small_pieces
from picsc.cross_validation.splits import repeats, same_test_rows
from picsc.datasets.data import Data
from picsc.datasets.description import on_reading
from picsc.datasets.images import ImageSet, refuse_columns
from picsc.datasets.judged import judging_of, truths_of
from picsc.datasets.open import open_data
from picsc.datasets.row_weights import check_weights, row_weights, without_weightless
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet, no_characters
from picsc.errors import DataError, SettingsError
from picsc.evaluation.majority import majority_code
from picsc.reports.common import Finding
from picsc.reports.cv import DeploymentEstimate
from picsc.runtime.devices import device_findings, pick_device
from picsc.runtime.engines.parts import Computations, RunPlace, compute_in_parts, open_workplace
from picsc.runtime.engines.shards import Shard
from picsc.runtime.predictions_file import Truths, check_predictions_file, write_predictions
from picsc.runtime.run_folder import RunFolder
from picsc.runtime.threads import one_thread
from picsc.runtime.versions import versions
from picsc.settings import (
    CvSettings,
    Method,
)
from picsc.settings.by_keyword import from_keywords
from picsc.settings.fields import HOW_IT_RUNS
from picsc.settings.in_python import in_keywords
from picsc.simulation.batch_shift import with_batch_shift
from picsc.training.defaults import recipe_of, rows_of, trainer_of
from picsc.training.methods import SMALL_WORK, MethodSetup, inner_folds
from picsc.training.own.applies import on_gradients, without_gradients
from picsc.training.own.estimator_trainer import EstimatorTrainer
from picsc.training.own.module_trainer import ModuleTrainer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from picsc.datasets.memory import Frame
    from picsc.reports.cv import CvReport
    from picsc.settings.keywords import CvKeywords

CONTROLS: tuple[Method, ...] = ("st-cv", "weight-decay", "carried", "average", "subsample")
"""Methods that run in every cross-validation."""


def cross_validate(
    data: Frame | ImageSet | TokenSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    settings: CvSettings | None = None,
    predictions: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
    **keywords: Unpack[CvKeywords],
) -> CvReport:
    """Compare standard cross-validation with PIcsC and its controls on one data set.

    Source: E1 to E4.

    Args:
        data: frame (of pandas, polars, pyarrow or whatever exports Arrow data), array (n, f), images as an `ImageSet`
            or an array (n, s, s) or (n, c, s, s), bags of words as a `TokenSet`, or a file's path.
        y: labels (n,) of a frame or an array, by position; their name, or `target`, is the target's.
        settings: all settings at once; keywords win over them. None is the defaults.
        predictions: file, .csv or .parquet, for the predictions of all test rows; None writes none.
        progress: called with a few words whenever a new step begins.
        keywords: single settings by name (folds, strength, repeats, ...): `picsc.settings.keywords.CvKeywords` and
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
        >>> report = picsc.cross_validate(flowers, target="target", folds=3, repeats=1)
        >>> [method.method for method in report.methods][:3]  # what PIcsC is compared with comes first and last
        ['st-cv', 'picsc', 'weight-decay']
        >>> report.methods[0].mean > 0.9
        True
    """
    settings = from_keywords(CvSettings, "cv", keywords, settings)
    # a call from Python is not resumed, so nothing stays behind
    with in_keywords(CvSettings, "cv"), TemporaryDirectory(prefix="picsc-") as kept:
        dataset = open_data(data, y, settings.read, keys=settings.keys)
        file = None if predictions is None else Path(predictions)
        return cross_validate_dataset(
            dataset, settings, run_dir=Path(kept) / "run", predictions=file, progress=progress
        )


def cross_validate_dataset(
    data: Data,
    settings: CvSettings,
    *,
    run_dir: Path | None = None,
    resume: bool = False,
    shard: Shard | None = None,
    predictions: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> CvReport:
    """Compare methods on data that was read already.

    Args:
        data: the table, the images or the bags of words.
        settings: all settings of the run.
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
        >>> from picsc import CvSettings, cross_validate_dataset
        >>> from picsc.datasets.open import open_data
        >>> settings = CvSettings.model_validate({"cut": {"folds": 2}, "repeats": 1, "train": {"epochs": 5}})
        >>> rows = np.random.default_rng(0).normal(size=(60, 2))
        >>> report = cross_validate_dataset(open_data(rows, rows[:, 0] > 0, settings.read), settings)
        >>> report.pieces
        '2 stratified folds, shuffled'
    """
    report_progress = progress or (lambda _: None)
    check_predictions_file(predictions)
    data = _shifted(no_characters(data), settings)
    with one_thread():
        prepared = prepare(data, settings, keep=predictions is not None)
        experiment = prepared.experiment
        names = _methods_to_run(settings, tested_once=experiment.tested_once, gradients=experiment.setup.gradients)
        jobs = 1 if settings.engine == "local" and prepared.small else settings.jobs
        place = RunPlace(run_dir, resume, shard)

        def training(left: Sequence[str], words: str) -> None:
            report_progress(f"training: {', '.join(left)}{words}" if left else "comparing")

        def estimating(_: Sequence[None], words: str) -> None:
            if settings.deploy is not None:
                report_progress(f"estimating for deployment{words}")

        with open_workplace(place, prepared.manifest, settings.engine, jobs, report_progress) as workplace:
            scores: dict[str, PieceScores] = {}
            methods = Computations(_run_method, experiment, names)
            for found in compute_in_parts(methods, workplace, training).values():
                scores |= found
            estimate = Computations(_for_deployment, (prepared, settings), [None])
            estimates = compute_in_parts(estimate, workplace, estimating)
        deployed, more = estimates[None]
        if predictions is not None:
            report_progress("writing predictions")
            write_predictions(predictions, predicted_rows(experiment, scores), prepared.truths)
        report = assemble(data, settings, experiment, scores, prepared.findings + more, prepared.manifest)
        return replace(report, deployment=deployed)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is fixed before training starts."""

    experiment: Experiment
    table: Dataset
    """Labelled rows."""
    file: DeploymentFile | None
    """Rows of the file that `--deploy` names."""
    findings: tuple[Finding, ...]
    manifest: dict[str, object]
    truths: Truths
    """Numbers and labels of the rows, for their predictions."""
    small: bool
    """True where other processes would not pay."""


def _shifted(data: Data, settings: CvSettings) -> Data:
    """The data with the shift between batches that the settings ask for."""
    if settings.batch_shift is None or settings.cut.batches is None:
        return data
    if data.kind != "images":
        raise SettingsError(f"{data.name}: --batch-shift is for images; leave it out, or name a set of images")
    if data.n < 2 * settings.cut.batches:
        raise DataError(
            f"{data.name}: {data.n} images in {settings.cut.batches} batches: --batch-shift tests every batch on "
            "some of its images; need at least 2 a batch"
        )
    return with_batch_shift(data, settings.batch_shift, settings.cut.batches, seed=settings.seed)


def _run_method(experiment: Experiment, folder: RunFolder, name: str) -> MethodScores:
    """One method; a function of the module, so that another process can call it."""
    return METHOD_FUNCTIONS[name](experiment, folder)


def _for_deployment(
    shared: tuple[Prepared, CvSettings], folder: RunFolder, _: None
) -> tuple[DeploymentEstimate | None, tuple[Finding, ...]]:
    """The estimate that `--deploy` asks for; a function of the module, so that another process can call it."""
    prepared, settings = shared
    return estimate_for_deployment(prepared.table, settings, prepared.experiment, folder, prepared.file)


def _methods_to_run(settings: CvSettings, *, tested_once: bool, gradients: bool) -> list[str]:
    """Keys of `METHOD_FUNCTIONS` to compute, the longest computation first."""
    if not gradients:
        whole = [] if tested_once else ["whole", *([SMALLER] if settings.foldwise else [SO_FAR])]
        divided = [] if tested_once or settings.cut.group is None else [DIVIDED]
        return ["st-cv", "subsample", *whole, *divided]
    methods = {*settings.methods, *CONTROLS}
    if tested_once:  # the models of the whole training set are those that are tested
        anchor = [ISOTROPIC] if "picsc" in methods and settings.penalty.strength == "posterior" else []
        return [*(["picsc"] if "picsc" in methods else []), *anchor, "weight-decay", "carried", "st-cv", "subsample"]
    corrected = ["whole-picsc", "picsc"] if "picsc" in methods else []
    part = SMALLER if settings.foldwise else EQUAL
    batchwise = [] if settings.foldwise else [*([ALGORITHM_1] if corrected else []), SO_FAR]
    anchored = [ISOTROPIC] if corrected and settings.penalty.strength == "posterior" else []
    divided = [] if settings.cut.group is None else [DIVIDED]
    return [*corrected, *anchored, *batchwise, "weight-decay", "carried", part, "st-cv", "subsample", *divided, "whole"]


def prepare(data: Data, settings: CvSettings, *, keep: bool = False) -> Prepared:
    """Repeats, trainer and manifest of a run.

    Args:
        data: the table, the images or the texts.
        settings: all settings of the run.
        keep: predictions of all models are kept.

    Raises:
        SettingsError: an option does not fit the data.
        DataError: the data cannot be compared on.
    """
    kind = data.kind
    findings: list[Finding] = []
    if data.kind != "table":
        refuse_columns(
            settings.cut, settings.read, weights=settings.weights, sample_weight=settings.sample_weight, kind=kind
        )
    else:
        for column, option in ((settings.weights, "--weights"), (settings.sample_weight, "--sample-weight")):
            if column is not None:
                check_weights(data, column, option)
    table, official = rows_of(data, findings, verb="cross-validation", by=settings.cut.column)
    if settings.sample_weight is not None:
        table = without_weightless(table, settings.sample_weight, findings)
    file = _deployment_file(data, table, settings)
    count = settings.repeats or (5 if kind == "table" else 1)
    plan = tuple(repeats(table, settings, count, official))
    findings += (*_advised(plan[0].findings, settings), *on_reading(table)) if kind == "table" else ()
    algorithm = settings.algorithm or (1 if settings.foldwise else 2)
    if kind == "table" and not settings.foldwise:
        findings += new_in_pieces(table, plan[0])
    if algorithm == 1 and "picsc" in settings.methods and not settings.train.own and settings.penalty.strength != 0:
        findings += small_pieces(plan[0])
    weights, counts = (
        None if column is None else row_weights(table, column) for column in (settings.weights, settings.sample_weight)
    )
    recipe = recipe_of(settings.train, sum(map(len, plan[0].learned or plan[0].pieces)), kind)
    device = pick_device(settings.train.device)
    findings += device_findings(device)
    trainer = trainer_of(
        table if kind == "table" else data,
        replace(recipe, warmup=settings.penalty.warmup),
        settings.train,
        settings.penalty.kind,
        device.device,
        weights=weights,
        groups=plan[0].groups,
        counts=counts,
    )
    why = without_gradients(trainer)
    findings += on_gradients(settings.train.model, why)
    features = float(len(table.columns) if data.kind == "table" else data.width)
    work = len(plan) * len(plan[0].pieces) * table.n * features
    manifest = {
        "versions": versions(),
        "device": device.name,
        "seed": settings.seed,
        "data_sha256": data.sha256,
        "settings": settings.model_dump(mode="json", exclude=HOW_IT_RUNS | {"methods"}),
    }
    if isinstance(trainer, EstimatorTrainer | ModuleTrainer):
        manifest["model"] = trainer.own.manifest
    if keep:  # finished parts hold predictions, too
        manifest["predictions"] = True
    if file is not None:
        manifest["deploy_sha256"] = file.sha256
    one_by_one = kind != "table" or isinstance(trainer, ModuleTrainer)
    setup = MethodSetup(
        trainer=trainer,
        likelihood="classes" if kind != "table" else table.target.kind,  # type: ignore[union-attr] # rows_of checks it
        algorithm=algorithm,
        penalty=settings.penalty,
        inner=1 if isinstance(trainer, ModuleTrainer) else inner_folds(kind, table.n),
        without_gradients=why,
        at_once=1 if one_by_one else len(plan[0].pieces) if work > SMALL_WORK else 1_000_000,
    )
    codes = None if table.target is None or table.target.kind != "classes" else table.target.values
    majority = 0 if codes is None else majority_code(codes, counts)
    keep_rows = bool(plan[0].learned) or (not settings.foldwise and same_test_rows(plan))
    random_folds = settings.foldwise and settings.cut.column is None and settings.cut.shuffle
    experiment = Experiment(
        setup,
        plan,
        weights,
        majority,
        keep_rows=keep_rows,
        random_folds=random_folds,
        forward=settings.cut.forward,
        classes=0 if table.target is None else len(table.target.levels),
        judging=judging_of(table, settings.metrics, counts, keep=keep),
    )
    truths = truths_of(data, table, settings.sample_weight)
    return Prepared(experiment, table, file, tuple(findings), manifest, truths, kind == "table" and work <= SMALL_WORK)


def _deployment_file(data: Data, table: Dataset, settings: CvSettings) -> DeploymentFile | None:
    """Rows of the file that `--deploy` names; None where it names none."""
    if settings.other_files and data.kind != "table":
        raise SettingsError(f"--deploy {settings.deploy}: a file of rows goes with a table, and {data.name} is none")
    return read_deployment_file(table, settings)


def _advised(findings: Sequence[Finding], settings: CvSettings) -> list[Finding]:
    """Findings, with the option that only this verb has named in the advice for rare classes."""
    if settings.keep_rare or not settings.foldwise:
        return list(findings)
    return [replace(f, advice=f"{f.advice}; --keep-rare tests none") if f.code == "rare-class" else f for f in findings]
