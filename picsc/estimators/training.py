"""Training of one model by Algorithm 1 on all rows of a table, and the fragments where none are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from picsc.datasets.table import Dataset
from picsc.errors import NumericsError
from picsc.estimators.inputs import Floats, Ints
from picsc.fragments.cutting import cut
from picsc.runtime.devices import pick_device
from picsc.settings import CutSettings, CvSettings
from picsc.training.defaults import recipe_of, trainer_of
from picsc.training.jobs import TrainingJob
from picsc.training.methods import MethodModel, MethodSetup, inner_folds, train_jobs
from picsc.training.table_trainer import TableTrainer


def made_fragments(table: Dataset, settings: CvSettings) -> Ints:
    """Stratified fragments, at most as many as there are pairs of rows."""
    k = min(settings.cut.folds or 5, table.n // 2)
    if k < 2:
        return np.zeros(table.n, np.int64)
    found = np.zeros(table.n, np.int64)
    for i, piece in enumerate(cut(table, CutSettings(folds=k, shuffle=True), seed=settings.seed).fragments):
        found[piece.rows] = i
    return found


def trained(table: Dataset, fragment: Ints, weight: Floats | None, settings: CvSettings, hidden: int) -> MethodModel:
    """A model of all rows by Algorithm 1.

    Raises:
        NumericsError: it left the finite numbers.
    """
    recipe = replace(recipe_of(settings.train, table.n, "table"), warmup=settings.penalty.warmup)
    device = pick_device(settings.train.device).device
    trainer = trainer_of(table, recipe, settings.train, settings.penalty.kind, device, weights=weight)
    assert isinstance(trainer, TableTrainer)  # noqa: S101 - that of a table
    assert table.target is not None  # noqa: S101 - it has labels
    setup = MethodSetup(
        replace(trainer, hidden=hidden),
        table.target.kind,
        1,
        settings.penalty,
        inner_folds("table", table.n),
        1_000_000,
    )
    job = TrainingJob(np.arange(table.n), fragment, np.empty(0, np.int64), settings.seed)
    [model] = train_jobs(setup, [job], "penalty")
    if model.failed:
        raise NumericsError(f"training left the finite numbers in epoch {model.failed}: lower lr or strength")
    return model
