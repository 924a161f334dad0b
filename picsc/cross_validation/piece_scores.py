"""Scores of one method on every piece: arrays that a run folder keeps. Letters: n rows of the data, g sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.experiment import Experiment
from picsc.datasets.rows import Rows
from picsc.evaluation.judging import column_of
from picsc.evaluation.metrics import row_accuracy, row_log_loss
from picsc.training.algorithm_2 import FragmentStep
from picsc.training.methods import MethodModel, scores_on_test_rows
from picsc.training.sequence_methods import SequenceModel

Arrays = dict[str, NDArray[Any]]
BY_ROW = ("score by row", "log_loss by row")
"""Scores of every test row: its contribution to the accuracy, 1 where the model is right, and its log-loss in nats."""
BY_PIECE = "score by piece"
"""Score of every model on the test rows of every piece, (models, pieces); kept where pieces have test rows."""
TRIGGER_COLUMNS = ("looked", "flagged", "tau", "gamma")
"""Those of Algorithm 2's trigger."""


class Predicted(NamedTuple):
    """Predictions of one model."""

    rows: Rows
    """Test rows, (m,)."""
    outputs: NDArray[np.float32]
    """As the model gives them: log-probabilities (m, c), or means (m,)."""


@dataclass(frozen=True, slots=True)
class PieceScores:
    """Scores of one method, repeat by repeat and piece by piece."""

    columns: dict[str, NDArray[np.float64]]
    """`Experiment.columns`, (repeats, pieces) each."""
    by_row: dict[str, NDArray[np.float64]]
    """`rows_of`, (m,) each, mean over the models of all pieces and repeats; empty unless kept."""
    predictions: tuple[Predicted, ...] = ()
    """Predictions of every model, by repeat and piece; () unless kept."""
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


def rows_of(experiment: Experiment) -> tuple[str, ...]:
    """Names of the scores of every test row: `BY_ROW`, and those of the metrics that are means over rows."""
    return (*BY_ROW, *(f"{column_of(name)} by row" for name in experiment.judging.by_row))


def score_models(experiment: Experiment, models: Sequence[ScoredModel]) -> Arrays:
    """`Experiment.columns` of some models, (models,) each, and where they are kept `BY_PIECE` and `rows_of`, (m,) each.

    A row's scores are means over the models that did not fail.
    """
    columns: Arrays = {key: np.full(len(models), np.nan) for key in experiment.columns}
    setup, judging, by_row = experiment.setup, experiment.judging, []
    for i, tested in enumerate(models):
        model = tested.model
        y = setup.trainer.targets(tested.test)
        weights = None if experiment.weights is None else experiment.weights[tested.test]
        columns["diverged"][i], columns["rows"][i] = model.failed, tested.rows
        columns["share"][i], columns["strength"][i] = model.penalty_share, model.strength
        sample = judging.weights_of(tested.test)
        counts = np.ones(len(y)) if sample is None else sample
        columns["tested"][i] = counts.sum()
        if counts.any() and setup.likelihood == "numbers":
            centre = np.average(y, weights=sample)
            columns["centre"][i], columns["spread"][i] = centre, np.average((y - centre) ** 2, weights=sample)
        elif counts.any():
            columns["majority"][i] = np.average(y == experiment.majority, weights=sample)
        for key, value in scores_on_test_rows(model, y, setup.likelihood, weights, sample).items():
            columns[key][i] = value
        if model.failed:
            continue
        for key, value in judging.values(model.outputs, y, tested.test).items():
            columns[key][i] = value
        if experiment.keep_rows and np.array_equal(tested.test, experiment.repeats[0].validation):
            outputs, own = model.outputs[None], None if sample is None else sample[None]
            scores = row_accuracy(outputs, y, setup.likelihood, own), row_log_loss(outputs, y, setup.likelihood)
            by_row.append([*(each[0] for each in scores), *judging.row_values(model.outputs, y)])
    if all(tested.pieces for tested in models):
        columns[BY_PIECE] = np.array([_by_piece(experiment, tested) for tested in models])
    if judging.keep:
        columns |= {
            "kept sizes": np.array([len(tested.test) for tested in models]),
            "kept rows": np.concatenate([tested.test for tested in models]),
            "kept outputs": np.concatenate([tested.model.outputs for tested in models]),
        }
    if experiment.keep_rows:
        names = rows_of(experiment)
        none = np.full((len(names), len(models[0].test)), np.nan)
        columns |= dict(zip(names, np.mean(by_row, axis=0) if by_row else none, strict=True))
        columns["models by row"] = np.array(len(by_row))
    return columns


def _by_piece(experiment: Experiment, tested: ScoredModel) -> list[float]:
    """The score of a model on the test rows of every piece; NaN where there is none."""
    trainer, likelihood, found = experiment.setup.trainer, experiment.setup.likelihood, []
    for rows in tested.pieces:
        part = replace(tested.model, outputs=tested.model.outputs[np.searchsorted(tested.test, rows)])
        sample = experiment.judging.weights_of(rows)
        scores = scores_on_test_rows(part, trainer.targets(rows), likelihood, sample=sample) if len(rows) else {}
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
    columns = {key: np.concatenate([np.atleast_1d(part[key]) for part in parts]) for key in experiment.columns}
    in_shape = {key: values.reshape(shape).astype(np.float64) for key, values in columns.items()}
    matrix = None
    if all(BY_PIECE in part for part in parts):
        matrix = np.concatenate([part[BY_PIECE] for part in parts]).reshape(*shape, -1)
    return PieceScores(in_shape, _mean_by_row(experiment, parts, ""), _kept(parts, ""), matrix)


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
    for key in experiment.columns:
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
    scored = parts[-1:] if experiment.foldwise else parts
    predictions = _kept(scored, f"{which} ")
    if not experiment.foldwise and predictions:  # of one fragment after another, and the report has repeats first
        g = len(experiment.repeats)
        predictions = tuple(predictions[t * g + r] for r in range(g) for t in range(len(parts)))
    return PieceScores(columns, _mean_by_row(experiment, scored, f"{which} "), predictions, matrix)


def _kept(parts: Sequence[Arrays], prefix: str) -> tuple[Predicted, ...]:
    """Predictions of the models of all parts; () unless they are kept."""
    found: list[Predicted] = []
    for part in parts:
        if f"{prefix}kept sizes" not in part:
            return ()
        ends = np.cumsum(part[f"{prefix}kept sizes"])[:-1]
        rows, outputs = (np.split(part[f"{prefix}kept {what}"], ends) for what in ("rows", "outputs"))
        found += map(Predicted, rows, outputs)
    return tuple(found)


def _first(epochs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first number above 0 up to each place along the first dimension; 0 where there is none yet."""
    found = epochs.copy()
    for t in range(1, len(found)):
        found[t] = np.where(found[t - 1] > 0, found[t - 1], found[t])
    return found


def _mean_by_row(experiment: Experiment, parts: Sequence[Arrays], prefix: str) -> dict[str, NDArray[np.float64]]:
    """`rows_of` over all models of all parts; empty unless rows are kept."""
    if not experiment.keep_rows:
        return {}
    models = np.array([float(part[f"{prefix}models by row"]) for part in parts])
    kept = [i for i in range(len(parts)) if models[i]] or [0]
    weights = models[kept] if models.any() else None
    return {
        key: np.average([parts[i][prefix + key] for i in kept], axis=0, weights=weights) for key in rows_of(experiment)
    }
