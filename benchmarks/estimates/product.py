"""Estimates of `picsc cv` itself, with its own networks: standard training and PIcsC, fold-wise.

Both are scored on the same folds. The truth of PIcsC is that of a model of all rows with the folds as fragments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch

from estimates.same import REPEATS, draw
from estimates.scores import Result, within
from estimates.tables import Table
from picsc.cross_validation.cross_validate import _prepare
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.methods import corrected
from picsc.cross_validation.row_scores import by_row, fold_jobs, nested_scores, scores_of_jobs
from picsc.datasets.load import from_frame
from picsc.evaluation.nested_cv import nested_cv
from picsc.evaluation.paired_tests import resampled_t
from picsc.runtime.run_folder import open_run
from picsc.settings import CvSettings, validated
from picsc.training.defaults import recipe_of, trainer_of
from picsc.training.jobs import TrainingJob
from picsc.training.methods import Correction, train_jobs

ROWS = 5000
"""Rows of the truth."""
STRENGTH = 0.1
"""The paper's lambda."""


def results(name: str, table: Table, n: int, number: int) -> Iterator[Result]:
    rng = np.random.default_rng([number, n, 15])
    sample = draw(table, n, rng)
    x = np.concatenate([sample.x, sample.test_x[:ROWS]])
    y = np.concatenate([sample.y, sample.test_y[:ROWS]])
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])]).assign(y=[f"c{c}" for c in y])
    settings = validated(
        CvSettings, read={"target": "y"}, cut={"folds": 10}, repeats=REPEATS, penalty={"strength": STRENGTH}
    )
    experiment = _prepare(from_frame(frame[:n], settings.read), settings).experiment
    truths = _truths(frame, n, settings, experiment)
    with TemporaryDirectory() as kept, open_run(Path(kept) / "run", {}, resume=False) as folder:
        plan = experiment.repeats
        rows = by_row(plan, scores_of_jobs(experiment, folder, "plain", fold_jobs(plan)), n)
        tested = np.array([[len(piece) for piece in repeat.pieces] for repeat in plan])
        means = np.array([[rows[r, piece].mean() for piece in each.pieces] for r, each in enumerate(plan)])
        nested = nested_scores(experiment, folder, "nested", plan, rows)
        penalised = corrected(experiment, folder)["picsc"].columns["accuracy"]
        found = {
            ("network", "st-CV, stratified, 5 repeats"): within(resampled_t(means, tested, n - tested)),
            ("network", "nested CV, 5 repeats"): within(nested_cv(nested)),
            ("picsc", "PIcsC, 5 repeats"): within(resampled_t(penalised, tested, n - tested)),
        }
    for (model, estimate), value in found.items():
        yield Result("product", name, n, number, model, estimate, *value, truths[model])


def _truths(frame: pd.DataFrame, n: int, settings: CvSettings, experiment: Experiment) -> dict[str, float]:
    """Accuracy on the rest of models of the whole sample."""
    both = from_frame(frame, settings.read)
    recipe = replace(recipe_of(settings.train, n, "table"), warmup=settings.penalty.warmup)
    trainer = trainer_of(both, recipe, settings.train, settings.penalty.kind, torch.device("cpu"))
    pieces = experiment.repeats[0].pieces
    fragment = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    job = TrainingJob(np.concatenate(pieces), fragment, np.arange(n, both.n), settings.seed)
    setup = replace(experiment.setup, trainer=trainer)
    corrections: dict[str, Correction] = {"network": "none", "picsc": "penalty"}
    truths = {}
    for model, correction in corrections.items():
        (trained,) = train_jobs(setup, [job], correction)
        right = trained.outputs.argmax(-1) == trainer.targets(job.test)
        truths[model] = float("nan") if trained.failed else float(right.mean())
    return truths
