"""A model for the one target of a comparison by one of its methods, for use on new rows of that target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from picsc.comparison.compare import Prepared, prepare
from picsc.comparison.given_split import as_given
from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.methods import METHOD_FUNCTIONS, iwcv_choices
from picsc.comparison.run_methods import CHOOSING, with_weights
from picsc.comparison.summary import BASE, recommended
from picsc.comparison.task_scores import WeightedModel, refusal
from picsc.comparison.transfer_tasks import TransferTask
from picsc.comparison.weights import NO_WEIGHTS
from picsc.datasets.data import Data
from picsc.datasets.table import Dataset
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.phrases import counted
from picsc.reports.compare import CompareMethodReport, CompareReport
from picsc.runtime.engines.local import LocalEngine
from picsc.runtime.engines.parts import Workplace
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.saved_models.card import card_text
from picsc.saved_models.model import model_of
from picsc.saved_models.refitted import Refitted, check_savable, of_whole_numbers
from picsc.saved_models.study_card import MethodFigures, Study, Trained, study_facts
from picsc.settings import COMPARE_METHODS, WEIGHTINGS, CompareMethod, CompareSettings
from picsc.training.table_trainer import TableTrainer

ADVISED, PLAIN = "recommended by the report", "the plain method, as the report names no better one"
"""Why the report decided on a method."""


def check_refit(data: Data, settings: CompareSettings, method: CompareMethod | None = None) -> None:
    """Refuse, before the comparison, what has no single model that could be saved.

    Args:
        data: to compare on.
        settings: of the run.
        method: whose model is saved; None is the one that the report recommends.

    Raises:
        SettingsError: the data are no table, the model is the user's own, there are several targets, or the method has
            no model for one target.
    """
    check_savable(data, settings.train.model if settings.train.own else None)
    given = as_given(data, settings)
    if given.cut.ways and len(given.test_on) != 1:
        raise SettingsError(
            "--save-model saves a model for one target, and here there are several, one after the other: name the "
            "target with --test-on FILE, or one piece with --test-on PIECE"
        )
    if method == "dob-scv":
        raise SettingsError(
            "--save-method dob-scv: it cuts folds that are targets in turn, and has no model for one target: name the "
            "target with --test-on FILE, and another method"
        )
    if method == "true-ratio" and settings.bias is None:
        raise SettingsError("--save-method true-ratio: the true density ratio is known only with --bias")


def refit(
    data: Data,
    settings: CompareSettings,
    report: CompareReport,
    method: CompareMethod | None = None,
    *,
    target: Dataset | None = None,
    progress: Callable[[str], None] | None = None,
) -> Refitted:
    """Train one method on all training rows of the target, with weights for all rows of the target.

    In a comparison, one part of the target's rows weights the training rows and the other one tests the models. Here
    nothing is tested, so that weights are estimated for both parts together.

    Reading: no label of the target is used, but by methods that use some by definition, and they use those of the
        comparison's first repeat.

    Args:
        data: the table that was compared on.
        settings: of that run.
        report: of that run, for the method and the model card.
        method: one of `picsc.settings.COMPARE_METHODS`; None is the one that the report recommends.
        target: the table of `--test-on FILE`.
        progress: called with the name of each stage.

    Raises:
        SettingsError: there is no single model to save.
        DataError: the report recommends no method.
        NumericsError: training left the finite numbers, or the weights are refused.
    """
    check_refit(data, settings, method)
    advised = recommended(report.methods, report.targets)
    name = method or next((each for each in COMPARE_METHODS if each == advised), None)
    if name is None:
        raise DataError(
            f"{data.name}: no model is saved, because models diverged or have no result, so that the report recommends "
            "no method: lower --lr, or name a method with --save-method"
        )
    with one_thread():
        prepared = prepare(data, target, as_given(data, settings), keep=False)
        task = _whole(prepared.plan.tasks[0])
        found = _trained(prepared, task, name, progress or (lambda _: None))
    trainer = prepared.inputs.setup.trainer
    assert isinstance(trainer, TableTrainer)  # noqa: S101 - `check_refit` refuses all others
    if found.model.failed or found.model.network is None:
        raise NumericsError(f"the {name} model of the target left the finite numbers: lower --lr")
    rows = np.concatenate([task.train, task.labelled]) if name == "pooled" else task.train
    table = trainer.dataset
    numbered = of_whole_numbers(data, table.target)
    model = model_of(
        found.model.network, table, settings.read, hidden=trainer.hidden, numbered=numbered, rows=np.sort(rows)
    )
    why = PLAIN if name == BASE else ADVISED
    trained = Trained(name, method is not None, len(rows), _how(prepared, task, name, found), why)
    card = card_text(model, study_facts(_study(report), trained))
    return Refitted(model, name, method is None, card, "all training rows", why)


def _whole(task: TransferTask) -> TransferTask:
    """The task with all rows of its target to adapt to, and none to test on."""
    rows = np.sort(np.concatenate([task.target, task.test]))
    return replace(task, target=rows, test=np.empty(0, np.int64))


def _trained(
    prepared: Prepared, task: TransferTask, name: CompareMethod, progress: Callable[[str], None]
) -> WeightedModel:
    """The model of one method.

    Raises:
        NumericsError: its weights are refused.
    """
    inputs = replace(prepared.inputs, tasks=(task,), balanced=(), weights=(NO_WEIGHTS,), choices=())
    # what is chosen without weights takes its candidates from those of iwcv, where that was run
    needed: list[CompareMethod] = ["iwcv", name] if name == "cv-choice" and "iwcv" in prepared.methods else [name]
    with (
        TemporaryDirectory(prefix="picsc-") as kept,
        open_run(Path(kept) / "run", prepared.manifest, resume=False) as folder,
    ):
        inputs = with_weights(inputs, needed, Workplace(folder, LocalEngine(1)), progress)
        reason = refusal(inputs, name, 0)
        if reason:
            raise NumericsError(f"no model of {name} is saved: {reason}")
        if name in CHOOSING:
            inputs = replace(inputs, choices=tuple(iwcv_choices(inputs, folder)))
        [found] = METHOD_FUNCTIONS[name](inputs, [0])
    return found


def _how(prepared: Prepared, task: TransferTask, name: CompareMethod, found: WeightedModel) -> list[str]:
    """How the model was trained, one sentence each."""
    plan = prepared.plan
    how = [f"training rows and target: {plan.words}"]
    if plan.repeats > 1 and not plan.fixed_target:
        how.append("of the random draws of training rows and target, those of the first repeat")
    how.append(f"target: {task.name}, {counted(len(task.target), 'row')}; {_use(prepared.inputs, task, name)}")
    if not np.isnan(found.exponent):
        how.append(f"power of the weights {found.exponent:g}")
    if not np.isnan(found.model.strength):
        how.append(f"lambda or weight decay {found.model.strength:g}")
    return how


def _use(inputs: ComparisonInputs, task: TransferTask, name: CompareMethod) -> str:
    """The part of the target that a method has used."""
    few = f"{counted(len(task.labelled), 'row')} of them, with their labels"
    if name == "pooled":
        return f"{few}, were trained on as well"
    if name == "diw" and inputs.weight_settings.match == "losses":
        return f"the training rows were weighted by the losses of {few}"
    if name == "diw":
        return "the training rows were weighted by the hidden units of all of them, and no label of theirs was used"
    if name in (*WEIGHTINGS, *CHOOSING):
        return "the training rows were weighted by the columns of all of them, and no label of theirs was used"
    return "none of them was used"


def _study(report: CompareReport) -> Study:
    """What a model card says of the report."""
    repeats = counted(report.repeats, "repeat")
    return Study(
        report,
        BASE,
        [_figures(each) for each in report.methods],
        f"models tested on a part of the target, {repeats}; this model was tested on no row",
    )


def _figures(method: CompareMethodReport) -> MethodFigures:
    plain = method.against(BASE)
    difference, p = (None, None) if plain is None else (plain.accuracy, plain.accuracy_p)
    return MethodFigures(method.method, method.accuracy, method.interval, method.log_loss, difference, p)
