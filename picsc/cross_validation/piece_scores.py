"""Scores of one method on every piece: arrays that a run folder keeps. Letters: n rows of the data, g sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.experiment import Experiment
from picsc.datasets.rows import Rows
from picsc.evaluation.metrics import row_accuracy, row_log_loss
from picsc.training.algorithm_2 import FragmentStep
from picsc.training.methods import MethodModel, scores_on_test_rows
from picsc.training.sequence_methods import SequenceModel

Arrays = dict[str, NDArray[Any]]
COLUMNS = (
    "accuracy", "log_loss", "auc", "balanced_accuracy", "weighted_accuracy", "diverged", "share", "strength",
    "looked", "flagged", "tau", "gamma", "rows", "tested", "centre", "spread", "majority",
)  # fmt: skip
"""Numbers of every unit, as one array each; NaN where there is no number. Of the tested rows: their number, mean and
variance of their numbers, and the share of the majority class."""
BY_ROW = ("score by row", "log_loss by row")
"""Scores of every test row: its contribution to the accuracy, 1 where the model is right, and its log-loss in nats."""
BY_PIECE = "score by piece"
"""Score of every model on the test rows of every piece, (models, pieces); kept where pieces have test rows."""
TRIGGER_COLUMNS = ("looked", "flagged", "tau", "gamma")
"""Those of Algorithm 2's trigger."""


@dataclass(frozen=True, slots=True)
class PieceScores:
    """Scores of one method, repeat by repeat and piece by piece."""

    columns: dict[str, NDArray[np.float64]]
    """`COLUMNS`, (repeats, pieces) each."""
    by_row: dict[str, NDArray[np.float64]]
    """`BY_ROW`, (m,) each, mean over the models of all pieces and repeats; empty unless kept."""
    matrix: NDArray[np.float64] | None = None
    """Score of the model of every piece on the test rows of every piece, (repeats, pieces, pieces); or None."""


@dataclass(frozen=True, slots=True)
class ScoredModel:
    """One trained model and the rows that it was tested on."""

    model: MethodModel
    test: Rows
    rows: int
    """Number of training rows."""
    pieces: tuple[Rows, ...] = ()
    """Those of the tested rows that belong to each piece; () where they belong to none."""


def score_models(experiment: Experiment, models: Sequence[ScoredModel]) -> Arrays:
    """`COLUMNS` of some models, (models,) each, and where they are kept `BY_PIECE` and `BY_ROW`, (m,) each.

    A row's scores are means over the models that did not fail.
    """
    columns: Arrays = {key: np.full(len(models), np.nan) for key in COLUMNS}
    setup, by_row = experiment.setup, []
    for i, tested in enumerate(models):
        model = tested.model
        y = setup.trainer.targets(tested.test)
        weights = None if experiment.weights is None else experiment.weights[tested.test]
        columns["diverged"][i], columns["rows"][i] = model.failed, tested.rows
        columns["share"][i], columns["strength"][i] = model.penalty_share, model.strength
        columns["tested"][i] = len(y)
        if len(y) and setup.likelihood == "numbers":
            columns["centre"][i], columns["spread"][i] = y.mean(), y.var()
        elif len(y):
            columns["majority"][i] = (y == experiment.majority).mean()
        for key, value in scores_on_test_rows(model, y, setup.likelihood, weights).items():
            columns[key][i] = value
        if experiment.keep_rows and not model.failed:
            outputs = model.outputs[None]
            by_row.append([score(outputs, y, setup.likelihood)[0] for score in (row_accuracy, row_log_loss)])
    if all(tested.pieces for tested in models):
        columns[BY_PIECE] = np.array([_by_piece(experiment, tested) for tested in models])
    if experiment.keep_rows:
        rows = len(models[0].test)
        columns |= dict(zip(BY_ROW, np.mean(by_row, axis=0) if by_row else np.full((2, rows), np.nan), strict=True))
        columns["models by row"] = np.array(len(by_row))
    return columns


def _by_piece(experiment: Experiment, tested: ScoredModel) -> list[float]:
    """The score of a model on the test rows of every piece; NaN where there is none."""
    trainer, likelihood, found = experiment.setup.trainer, experiment.setup.likelihood, []
    for rows in tested.pieces:
        part = replace(tested.model, outputs=tested.model.outputs[np.searchsorted(tested.test, rows)])
        scores = scores_on_test_rows(part, trainer.targets(rows), likelihood) if len(rows) else {}
        found.append(scores.get("accuracy", float("nan")))
    return found


def trigger_columns(step: FragmentStep) -> Arrays:
    """`TRIGGER_COLUMNS` at one fragment, (g,) each; NaN where the trigger did not compare."""
    looked = np.full(len(step.tau), float(step.compared))
    tau, gamma = (part[:, 0].double().cpu().numpy() for part in (step.tau, step.gamma))
    flagged = step.flagged[:, 0].double().cpu().numpy()
    return {
        "looked": looked,
        "flagged": np.where(looked > 0, flagged, np.nan),
        "tau": np.where(looked > 0, tau, np.nan),
        "gamma": np.where(looked > 0, gamma, np.nan),
    }


def joined(experiment: Experiment, parts: Sequence[Arrays], shape: tuple[int, int]) -> PieceScores:
    """Scores of models that were trained part by part.

    Args:
        experiment: says whether rows were kept.
        parts: as from `score_models`.
        shape: of the result, (repeats, pieces).
    """
    columns = {key: np.concatenate([np.atleast_1d(part[key]) for part in parts]) for key in COLUMNS}
    in_shape = {key: values.reshape(shape).astype(np.float64) for key, values in columns.items()}
    matrix = None
    if all(BY_PIECE in part for part in parts):
        matrix = np.concatenate([part[BY_PIECE] for part in parts]).reshape(*shape, -1)
    return PieceScores(in_shape, _mean_by_row(experiment, parts, ""), matrix)


def joined_steps(experiment: Experiment, parts: Sequence[Arrays], which: SequenceModel) -> PieceScores:
    """Scores of models along sequences.

    Args:
        experiment: foldwise, each sequence has one tested model: its trigger columns are counts over its fragments and
            the last tau. Batchwise, each fragment has one.
        parts: of each fragment, with `step COLUMN` of the trigger and `WHICH COLUMN` of the models.
        which: models of the sequences.
    """
    columns: dict[str, NDArray[np.float64]] = {}
    steps = {key: np.stack([part[f"step {key}"] for part in parts]).astype(np.float64) for key in TRIGGER_COLUMNS}
    for key in COLUMNS:
        if experiment.foldwise:
            values = parts[-1][f"{which} {key}"] if key not in steps else steps[key][-1]
            if key in ("looked", "flagged"):
                values = np.nansum(steps[key], axis=0)
            columns[key] = np.asarray(values, np.float64).reshape(experiment.shape)
        else:
            stacked = steps[key] if key in steps else np.stack([part[f"{which} {key}"] for part in parts])
            columns[key] = np.asarray(stacked, np.float64).T.reshape(experiment.shape)
    # parameters are carried along, and so is the end of a model: the epoch is that in which it began
    began = _first(np.stack([part["step diverged"] for part in parts]).astype(np.float64))
    began = began[-1].reshape(experiment.shape) if experiment.foldwise else began.T.reshape(experiment.shape)
    columns["diverged"] = np.where((columns["diverged"] > 0) & (began > 0), began, columns["diverged"])
    matrix = None
    if not experiment.foldwise and all(f"{which} {BY_PIECE}" in part for part in parts):
        matrix = np.stack([part[f"{which} {BY_PIECE}"] for part in parts], axis=1)
    return PieceScores(columns, _mean_by_row(experiment, parts, f"{which} "), matrix)


def _first(epochs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first number above 0 up to each place along the first dimension; 0 where there is none yet."""
    found = epochs.copy()
    for t in range(1, len(found)):
        found[t] = np.where(found[t - 1] > 0, found[t - 1], found[t])
    return found


def _mean_by_row(experiment: Experiment, parts: Sequence[Arrays], prefix: str) -> dict[str, NDArray[np.float64]]:
    """`BY_ROW` over all models of all parts; empty unless rows are kept."""
    if not experiment.keep_rows:
        return {}
    models = np.array([float(part[f"{prefix}models by row"]) for part in parts])
    kept = [i for i in range(len(parts)) if models[i]] or [0]
    weights = models[kept] if models.any() else None
    return {key: np.average([parts[i][prefix + key] for i in kept], axis=0, weights=weights) for key in BY_ROW}
