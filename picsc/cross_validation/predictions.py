"""Predictions of the models of every piece, as a file has them."""

from __future__ import annotations

from collections.abc import Mapping

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.piece_scores import PieceScores
from picsc.cross_validation.pooled_r2 import WHOLE
from picsc.runtime.predictions_file import PredictedRows


def predicted_rows(experiment: Experiment, scores: Mapping[str, PieceScores]) -> list[PredictedRows]:
    """Predictions of every method's models of pieces; those of the whole set are left out.

    Args:
        experiment: repeats and pieces.
        scores: of every method.
    """
    _, pieces = experiment.shape
    return [
        PredictedRows(
            i // pieces + 1,
            experiment.repeats[i // pieces].names[i % pieces],
            method,
            predicted.rows,
            experiment.judging.predicted(predicted.outputs),
        )
        for method, each in scores.items()
        if method not in WHOLE
        for i, predicted in enumerate(each.predictions)
    ]
