"""Scores of one method on every task: arrays that a run folder keeps. Letters: t tasks, m test rows of one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.transfer_tasks import TransferTask
from picsc.evaluation.judging import column_of
from picsc.evaluation.metrics import row_accuracy, row_log_loss
from picsc.settings import CompareMethod
from picsc.training.methods import MethodModel, scores_on_test_rows
from picsc.weighting import diagnose, flattened

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedModel:
    """One trained model, and the power of the weights if a method chose it."""

    model: MethodModel
    exponent: float = np.nan
    """Power in [0, 1]; NaN where none was chosen."""


@dataclass(frozen=True, slots=True)
class TaskScores:
    """Scores of one method on every task."""

    columns: dict[str, Floats]
    """`ComparisonInputs.columns`, (t,) each."""
    refused: tuple[str, ...]
    """Reason why the method did not run on a task; empty where it ran."""
    right: tuple[Floats, ...]
    """Contribution of each test row to the accuracy, (m,) per task; NaN where there is no model."""
    losses: tuple[Floats, ...]
    """Log-loss of each test row, nats, (m,) per task; NaN where there is no model."""
    by_row: Mapping[str, tuple[Floats, ...]] = field(default_factory=dict)
    """By column of a metric that is a mean over rows, the contribution of each test row, (m,) per task."""
    outputs: tuple[NDArray[np.float32], ...] = ()
    """Predictions of each task's test rows, as models give them, none where there is no model; () unless kept."""


def weighting_of(method: CompareMethod) -> CompareMethod:
    """The weighting whose weights a method uses: that of iw for the methods that choose its power, or its own name."""
    return "iw" if method in ("iwcv", "cv-choice") else method


def refusal(inputs: ComparisonInputs, method: CompareMethod, i: int) -> str:
    """Reason why a method has no weights for task i; empty where it has, or needs none."""
    return "" if method in ("dob-scv", "cv-choice") else inputs.weights[i].refused.get(weighting_of(method), "")


def score_tasks(
    inputs: ComparisonInputs, method: CompareMethod, some: Sequence[int], models: dict[int, WeightedModel]
) -> Arrays:
    """Scores of one method on some tasks.

    Args:
        inputs: tasks and weights.
        method: whose models.
        some: positions of the tasks.
        models: by position; missing where the method's weights are refused.

    Returns:
        `ComparisonInputs.columns` but for the seconds, (tasks,) each, and by place among `some` the arrays `right`,
        `losses` and those of metrics that are means over rows, (m,).
    """
    tasks = inputs.tasks_of(method)
    columns: Arrays = {key: np.full(len(some), np.nan) for key in inputs.columns}
    rows: Arrays = {}
    for place, i in enumerate(some):
        task = tasks[i]
        columns["rows"][place] = len(task.train)
        kinds = row_kinds(inputs)
        found = list(np.full((len(kinds), len(task.test)), np.nan))
        if i in models:
            found = _score(inputs, task, models[i], columns, place)
            _diagnose(inputs, method, i, columns, place)
        if inputs.judging.keep:
            rows[f"outputs {place}"] = models[i].model.outputs if i in models else np.empty(0, np.float32)
        rows |= {f"{kind} {place}": each.astype(np.float32) for kind, each in zip(kinds, found, strict=True)}
    return columns | rows


def row_kinds(inputs: ComparisonInputs) -> tuple[str, ...]:
    """Names of the scores of every test row."""
    return ("right", "losses", *map(column_of, inputs.judging.by_row))


def joined(inputs: ComparisonInputs, parts: Sequence[Arrays]) -> TaskScores:
    """Scores of all tasks.

    Args:
        inputs: tasks and metrics.
        parts: as from `score_tasks`, with the reasons `refused`.
    """
    columns = {key: np.concatenate([part[key] for part in parts]).astype(np.float64) for key in inputs.columns}
    rows: dict[str, tuple[Floats, ...]] = {
        kind: tuple(part[f"{kind} {i}"].astype(np.float64) for part in parts for i in range(len(part["rows"])))
        for kind in row_kinds(inputs)
    }
    refused = tuple(str(reason) for part in parts for reason in part["refused"])
    outputs: tuple[NDArray[np.float32], ...] = ()
    if inputs.judging.keep:
        outputs = tuple(part[f"outputs {i}"] for part in parts for i in range(len(part["rows"])))
    return TaskScores(columns, refused, rows.pop("right"), rows.pop("losses"), rows, outputs)


def _score(
    inputs: ComparisonInputs, task: TransferTask, weighted: WeightedModel, columns: Arrays, place: int
) -> list[Floats]:
    """Write a model's scores into the columns; the scores of every test row, as in `row_kinds`."""
    setup, model, judging = inputs.setup, weighted.model, inputs.judging
    y, sample = setup.trainer.targets(task.test), judging.weights_of(task.test)
    columns["diverged"][place] = model.failed
    if setup.likelihood == "classes" and (sample is None or sample.any()):
        columns["majority"][place] = np.average(y == inputs.majority, weights=sample)
    columns["strength"][place], columns["exponent"][place] = model.strength, weighted.exponent
    if model.failed:
        return list(np.full((len(row_kinds(inputs)), len(task.test)), np.nan))
    scores = scores_on_test_rows(model, y, setup.likelihood, sample=sample)
    for key in ("accuracy", "log_loss", "auc", "balanced_accuracy"):
        columns[key][place] = scores[key]
    for key, value in judging.values(model.outputs, y, task.test).items():
        columns[key][place] = value
    outputs, own = model.outputs[None], None if sample is None else sample[None]
    of_rows = row_accuracy(outputs, y, setup.likelihood, own), row_log_loss(outputs, y, setup.likelihood)
    return [*(each[0] for each in of_rows), *judging.row_values(model.outputs, y)]


def _diagnose(inputs: ComparisonInputs, method: CompareMethod, i: int, columns: Arrays, place: int) -> None:
    """Write the effective sample size and the largest of the weights of task i into the columns, if it has weights."""
    weights = None if method == "dob-scv" else inputs.weights[i].weights.get(weighting_of(method))
    if method == "true-ratio":
        weights = inputs.tasks[i].true_weights
    if weights is None:
        return
    chosen = columns["exponent"][place]
    power = inputs.weight_settings.exponent if np.isnan(chosen) else chosen
    spread = diagnose(flattened(torch.from_numpy(weights), power))
    columns["ess"][place], columns["largest"][place] = spread.share, spread.largest
