"""Methods that are compared: from the inputs of a comparison and some tasks to one trained model of each.

Finished parts are arrays in a run folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.iwcv import IwcvChoice, choose_by_iwcv
from picsc.comparison.task_scores import (
    Arrays,
    Floats,
    TaskScores,
    WeightedModel,
    joined,
    refusal,
    score_tasks,
)
from picsc.comparison.transfer_tasks import TransferTask, with_random_fragments
from picsc.runtime.run_folder import RunFolder
from picsc.settings import CompareMethod
from picsc.training.jobs import TargetRows, TrainingJob
from picsc.training.methods import Correction, fit_jobs, in_parts, train_jobs
from picsc.training.sequence_methods import final_models
from picsc.training.sequences import FragmentSequences
from picsc.weighting import flattened

Train = Callable[[ComparisonInputs, Sequence[int]], list[WeightedModel]]
"""From positions of some tasks to a model of each."""


def run_method(inputs: ComparisonInputs, folder: RunFolder, method: CompareMethod) -> TaskScores:
    """Train and score one method on all tasks, a few at a time.

    Args:
        inputs: tasks, weights and the setup of training.
        folder: keeps finished parts.
        method: name of the method.
    """
    count = len(inputs.tasks_of(method))
    return joined(inputs, in_parts(inputs.setup, folder, method, count, partial(_train_and_score, inputs, method)))


def iwcv_choices(inputs: ComparisonInputs, folder: RunFolder) -> list[IwcvChoice]:
    """Importance-weighted cross-validation of every task; two methods and the report use it."""

    def compute(some: range) -> Arrays:
        return choose_by_iwcv(
            inputs.setup.trainer,
            jobs_of(inputs, some),
            [inputs.weights[i].weights.get("iw") for i in some],
            [inputs.tasks[i].true_weights for i in some],
            inputs.setup.likelihood,
            inner=inputs.risk_folds,
        )

    parts = in_parts(inputs.setup, folder, "choice", len(inputs.tasks), compute)
    return [IwcvChoice.of(part, i) for part in parts for i in range(len(part["seconds"]))]


def jobs_of(inputs: ComparisonInputs, some: Sequence[int]) -> list[TrainingJob]:
    """Training jobs of some tasks."""
    return [_job(inputs.tasks[i]) for i in some]


def _job(task: TransferTask) -> TrainingJob:
    return TrainingJob(task.train, task.fragment, task.test, task.seed)


def _train_and_score(inputs: ComparisonInputs, method: CompareMethod, some: Sequence[int]) -> Arrays:
    """Train and score some tasks; those whose weights are refused are left out."""
    reasons = [refusal(inputs, method, i) for i in some]
    able = [i for i, reason in zip(some, reasons, strict=True) if not reason]
    began = time.perf_counter()
    models = dict(zip(able, METHOD_FUNCTIONS[method](inputs, able), strict=True)) if able else {}
    seconds = (time.perf_counter() - began) / max(1, len(able))
    found = score_tasks(inputs, method, some, models)
    found["refused"] = np.array(reasons, dtype=np.str_)
    found["seconds"] = np.array([np.nan if reason else seconds for reason in reasons])
    return found


def _fit(inputs: ComparisonInputs, jobs: Sequence[TrainingJob]) -> list[WeightedModel]:
    """Train without a penalty or weight decay."""
    return [WeightedModel(model) for model in fit_jobs(inputs.setup.trainer, jobs)]


def _plain(inputs: ComparisonInputs, some: Sequence[int]) -> list[WeightedModel]:
    """Training that gives all rows the same weight."""
    return _fit(inputs, jobs_of(inputs, some))


def _balanced(inputs: ComparisonInputs, some: Sequence[int]) -> list[WeightedModel]:
    """Plain training on DOB-SCV's folds."""
    return _fit(inputs, [_job(inputs.balanced[i]) for i in some])


def _weighted(inputs: ComparisonInputs, some: Sequence[int], *, weighting: str) -> list[WeightedModel]:
    """Training with weights that were estimated beforehand, or with the true ones."""
    jobs = []
    for i, job in zip(some, jobs_of(inputs, some), strict=True):
        weights = inputs.tasks[i].true_weights if weighting == "true-ratio" else inputs.weights[i].weights[weighting]
        assert weights is not None  # noqa: S101 - the verb runs true-ratio only where the true weights are known
        jobs.append(replace(job, weight=_flattened(weights, inputs.weight_settings.exponent)))
    return _fit(inputs, jobs)


def _dynamic(inputs: ComparisonInputs, some: Sequence[int]) -> list[WeightedModel]:
    """Dynamic importance weighting: weights are estimated anew at every step."""
    match = inputs.weight_settings.match
    jobs = []
    for i, job in zip(some, jobs_of(inputs, some), strict=True):
        task = inputs.tasks[i]
        rows = task.labelled if match == "losses" else task.target
        jobs.append(replace(job, fragment=np.zeros_like(job.fragment), target_rows=TargetRows(rows, match)))
    return _fit(inputs, jobs)


def _pooled(inputs: ComparisonInputs, some: Sequence[int]) -> list[WeightedModel]:
    """Plain training on the training rows and the target rows whose labels diw uses."""
    jobs = []
    for i, job in zip(some, jobs_of(inputs, some), strict=True):
        train = np.concatenate([job.train, inputs.tasks[i].labelled])
        jobs.append(replace(job, train=train, fragment=np.zeros(len(train), np.int64)))
    return _fit(inputs, jobs)


def _picsc(inputs: ComparisonInputs, some: Sequence[int], *, random: bool = False) -> list[WeightedModel]:
    """PIcsC between the training pieces, or between random ones of the same sizes."""
    tasks = [inputs.tasks[i] for i in some]
    # along a sequence, the next fragment tests what the last ones taught
    groups = inputs.setup.trainer.groups if inputs.setup.algorithm == 2 else None
    jobs = [_job(with_random_fragments(task, groups) if random else task) for task in tasks]
    if inputs.setup.algorithm == 2:
        return _along(inputs, jobs, "penalty")
    return [WeightedModel(model) for model in train_jobs(inputs.setup, jobs, "penalty")]


def _decayed(inputs: ComparisonInputs, some: Sequence[int]) -> list[WeightedModel]:
    """Weight decay in the place of the penalty, chosen on training rows."""
    return [WeightedModel(model) for model in train_jobs(inputs.setup, jobs_of(inputs, some), "decay")]


def _carried(inputs: ComparisonInputs, some: Sequence[int]) -> list[WeightedModel]:
    """Parameters carried along the training pieces, without a penalty."""
    return _along(inputs, jobs_of(inputs, some), "none")


def _along(inputs: ComparisonInputs, jobs: Sequence[TrainingJob], correction: Correction) -> list[WeightedModel]:
    """Train on the pieces of each job one after another; jobs of equally many pieces side by side."""
    lengths = [int(job.fragment.max()) for job in jobs]
    models: dict[int, WeightedModel] = {}
    for length in dict.fromkeys(lengths):
        some = [i for i, each in enumerate(lengths) if each == length]
        found = final_models(inputs.setup, FragmentSequences.of_jobs([jobs[i] for i in some]), correction)
        models.update(zip(some, map(WeightedModel, found), strict=True))
    return [models[i] for i in range(len(jobs))]


def _by_choice(inputs: ComparisonInputs, some: Sequence[int], *, weighted: bool) -> list[WeightedModel]:
    """Power of the weights and weight decay chosen by cross-validation, by its weighted or its unweighted risk."""
    jobs, decays, exponents = [], [], []
    for i, job in zip(some, jobs_of(inputs, some), strict=True):
        choice = inputs.choices[i]
        exponent, decay = choice.weighted if weighted else choice.unweighted
        weights = inputs.weights[i].weights.get("iw")
        if weights is not None and exponent > 0:
            job = replace(job, weight=_flattened(weights, exponent))
        jobs.append(job)
        decays.append(decay)
        exponents.append(exponent)
    models = fit_jobs(inputs.setup.trainer, jobs, decays=np.array(decays))
    return [WeightedModel(model, exponent) for model, exponent in zip(models, exponents, strict=True)]


def _flattened(weights: Floats, exponent: float) -> Floats:
    """Weights to a power, of mean 1 again."""
    return np.asarray(flattened(torch.from_numpy(weights), exponent).numpy(), np.float64)


METHOD_FUNCTIONS: dict[CompareMethod, Train] = {
    "st-cv": _plain,
    "iw": partial(_weighted, weighting="iw"),
    "ulsif": partial(_weighted, weighting="ulsif"),
    "rulsif": partial(_weighted, weighting="rulsif"),
    "kmm": partial(_weighted, weighting="kmm"),
    "true-ratio": partial(_weighted, weighting="true-ratio"),
    "diw": _dynamic,
    "pooled": _pooled,
    "picsc": _picsc,
    "picsc-random": partial(_picsc, random=True),
    "weight-decay": _decayed,
    "carried": _carried,
    "dob-scv": _balanced,
    "iwcv": partial(_by_choice, weighted=True),
    "cv-choice": partial(_by_choice, weighted=False),
}
"""Training of every method."""
