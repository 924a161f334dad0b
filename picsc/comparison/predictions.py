"""Predictions of the models of every target, as a file has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.task_scores import TaskScores
from picsc.datasets.data import Data
from picsc.datasets.judged import truths_of
from picsc.datasets.table import Dataset
from picsc.runtime.predictions_file import PredictedRows, Truths
from picsc.settings import CompareMethod


def predicted_rows(inputs: ComparisonInputs, scores: Mapping[CompareMethod, TaskScores]) -> list[PredictedRows]:
    """Predictions of every method's model of every task; a method without a model has none.

    Args:
        inputs: tasks.
        scores: of every method.
    """
    return [
        PredictedRows(task.repeat + 1, task.name, method, task.test, inputs.judging.predicted(outputs))
        for method, each in scores.items()
        for task, outputs in zip(inputs.tasks_of(method), each.outputs, strict=False)
        if len(outputs)
    ]


def truths_of_both(data: Data, target: Dataset | None, used: Data, sample_weight: str | None) -> Truths:
    """Numbers and labels of the rows that a comparison uses.

    Args:
        data: as it was read.
        target: rows of another file that are the target, as they were read; their numbers are those in that file.
        used: all rows that take part, those of the target last.
        sample_weight: column of weights; None without.
    """
    table = used if used.kind == "table" else used.as_table()
    if target is None or data.kind != "table":
        return truths_of(data, table, sample_weight)
    numbers = [
        each.numbers for each in (truths_of(data, data, sample_weight), truths_of(target, target, sample_weight))
    ]
    whole = truths_of(used, table, sample_weight)
    return Truths(np.concatenate(numbers), whole.labels, whole.levels, whole.weights)
