"""Scores of single rows: whose model scores them, and which folds that model has not seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from picsc.cross_validation.cross_validate import prepare
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.row_scores import by_row, fold_jobs, folds_of, nested_scores, scores_of_jobs
from picsc.datasets.load import from_frame
from picsc.runtime.run_folder import open_run
from picsc.settings import CvSettings, validated
from picsc.training.jobs import TrainingJob

N = 60


def experiment(*, numbers: bool = False) -> Experiment:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 3))
    signal = x[:, 0] + rng.normal(size=N)
    frame = pd.DataFrame(x, columns=list("abc")).assign(y=signal if numbers else np.where(signal > 0, "u", "v"))
    given = validated(CvSettings, read={"target": "y"}, repeats=2, cut={"folds": 4}, train={"epochs": 20})
    return prepare(from_frame(frame, given.read), given).experiment


@pytest.mark.parametrize("numbers", [False, True])
def test_rows_are_scored_by_the_model_of_all_other_folds(tmp_path: Path, numbers: bool) -> None:
    found = experiment(numbers=numbers)
    with open_run(tmp_path / "run", {}, resume=False) as folder:
        jobs = fold_jobs(found.repeats)
        rows = by_row(found.repeats, scores_of_jobs(found, folder, "one", jobs), N)
        fold = folds_of(found.repeats, N)
        for r, i in ((0, 1), (1, 3)):
            held = np.flatnonzero(fold[r] == i)
            others = np.concatenate([piece for j, piece in enumerate(found.repeats[r].pieces) if j != i])
            alone = TrainingJob(others, np.zeros(len(others), np.int64), held, found.repeats[r].seed)
            # the spread of numbers is that of all rows, so the other rows are a job, too
            again, _ = scores_of_jobs(found, folder, f"again {r} {i}", [alone, jobs[0]])
            np.testing.assert_allclose(rows[r, held], again, atol=1e-5)
    if numbers:
        y = found.setup.trainer.targets(np.arange(N))
        assert rows.mean() < 1
        assert 1 - np.mean((1 - rows) * np.var(y)) / np.var(y) == pytest.approx(rows.mean())
    else:
        assert set(np.unique(rows)) == {0.0, 1.0}


def test_inner_scores_are_of_models_without_both_folds(tmp_path: Path) -> None:
    found = experiment()
    with open_run(tmp_path / "run", {}, resume=False) as folder:
        outer = by_row(found.repeats, scores_of_jobs(found, folder, "one", fold_jobs(found.repeats)), N)
        nested = nested_scores(found, folder, "two", found.repeats, outer)
        own = np.take_along_axis(nested.inner, nested.fold[:, :, None], 2)
        assert np.isnan(own).all()
        assert np.isfinite(nested.inner).sum() == 2 * N * 3
        for r, i, j in ((0, 0, 3), (1, 2, 1)):
            held = np.flatnonzero(nested.fold[r] == i)
            kept = [piece for k, piece in enumerate(found.repeats[r].pieces) if k not in (i, j)]
            train = np.concatenate(kept)
            job = TrainingJob(train, np.zeros(len(train), np.int64), held, found.repeats[r].seed)
            (again,) = scores_of_jobs(found, folder, f"again {r}", [job])
            np.testing.assert_array_equal(nested.inner[r, held, j], again)
