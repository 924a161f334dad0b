"""Methods that verbs share: strengths given or chosen, scores, and parts that a run folder keeps."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from picsc.datasets.load import from_frame
from picsc.runtime.run_folder import open_run
from picsc.settings import PenaltySettings, ReadSettings
from picsc.training.jobs import TrainingJob, TrainingRecipe
from picsc.training.methods import (
    Arrays,
    MethodModel,
    MethodSetup,
    fit_jobs,
    in_parts,
    inner_folds,
    scores_on_test_rows,
    train_jobs,
)
from picsc.training.table_trainer import TableTrainer
from picsc.training.tuning.grid import Axis
from picsc.training.tuning.inner_cv import DECAYS, STRENGTHS, tune_by_inner_cv
from tests.training.test_sequence_methods import tried


def setup(**penalty: object) -> MethodSetup:
    """Two classes that one column separates, in 60 rows, and a few epochs of training."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(target=(x[:, 0] + rng.normal(size=60) > 0).astype(int))
    data = from_frame(frame, ReadSettings(target="target"))
    trainer = TableTrainer(data, TrainingRecipe(10, 0.05), "kl", None, torch.device("cpu"))
    return MethodSetup(trainer, "classes", 1, PenaltySettings(**penalty), inner=2, at_once=2)


def jobs(count: int = 2) -> list[TrainingJob]:
    return [TrainingJob(np.arange(45), np.arange(45) % 3, np.arange(45, 60), seed) for seed in range(count)]


def outputs(models: list[MethodModel]) -> list[list[float]]:
    return [model.outputs.ravel().tolist() for model in models]


def test_a_given_strength_is_that_of_every_job() -> None:
    ours = setup(strength=0.3)
    models = train_jobs(ours, jobs(), "penalty")
    assert [model.strength for model in models] == [0.3, 0.3]
    assert outputs(models) == outputs(fit_jobs(ours.trainer, jobs(), strengths=np.full(2, 0.3)))
    assert outputs(models) != outputs(train_jobs(ours, jobs(), "none"))
    assert all(model.penalty_share > 0 for model in models)


@pytest.mark.parametrize(("correction", "candidates"), [("penalty", STRENGTHS), ("decay", DECAYS)])
def test_a_strength_is_chosen_on_the_training_rows_of_each_job(correction: str, candidates: Axis) -> None:
    ours = setup()
    penalised = correction == "penalty"
    chosen = tune_by_inner_cv(ours.trainer, jobs(), "classes", penalised=penalised, inner=ours.inner)
    models = train_jobs(ours, jobs(), correction)
    assert [model.strength for model in models] == chosen.tolist()
    assert set(chosen.tolist()) <= tried(candidates)
    given = {"strengths" if penalised else "decays": chosen}
    assert outputs(models) == outputs(fit_jobs(ours.trainer, jobs(), **given))


def test_weight_decay_is_chosen_where_the_penalty_is_given() -> None:
    ours = setup(strength=0.3)
    chosen = tune_by_inner_cv(ours.trainer, jobs(), "classes", penalised=False, inner=ours.inner)
    assert [model.strength for model in train_jobs(ours, jobs(), "decay")] == chosen.tolist()


def test_a_penalty_of_strength_0_is_plain_training_bit_for_bit() -> None:
    ours = setup(strength=0.0)
    assert outputs(train_jobs(ours, jobs(), "penalty")) == outputs(train_jobs(ours, jobs(), "none"))
    assert all(np.isnan(model.strength) for model in train_jobs(ours, jobs(), "none"))


def test_a_model_without_finite_outputs_has_no_scores() -> None:
    log_p = np.log(np.array([[0.9, 0.1], [0.2, 0.8]], np.float32))
    y = np.array([0, 1])
    assert scores_on_test_rows(MethodModel(log_p, 0, 0.0), y, "classes")["accuracy"] == 1
    assert MethodModel(log_p, 0, 0.0).failed == 0
    assert MethodModel(log_p, 3, 0.0).failed == 3
    assert MethodModel(log_p * np.nan, 0, 0.0).failed == 1
    for broken in (MethodModel(log_p, 3, 0.0), MethodModel(log_p * np.nan, 0, 0.0)):
        assert scores_on_test_rows(broken, y, "classes") == {}


def test_weights_change_the_weighted_accuracy_alone() -> None:
    model = MethodModel(np.log(np.array([[0.9, 0.1], [0.8, 0.2]], np.float32)), 0, 0.0)
    plain = scores_on_test_rows(model, np.array([0, 1]), "classes")
    weighted = scores_on_test_rows(model, np.array([0, 1]), "classes", np.array([3.0, 1.0]))
    assert weighted["accuracy"] == plain["accuracy"] == 0.5
    assert weighted["weighted_accuracy"] == 0.75
    assert np.isnan(plain["weighted_accuracy"])


def counting(seen: list[range]) -> Callable[[range], Arrays]:
    def compute(some: range) -> Arrays:
        seen.append(some)
        return {"square": np.array([i * i for i in some])}

    return compute


def test_finished_parts_are_taken_from_the_run_folder(tmp_path: Path) -> None:
    first: list[range] = []
    second: list[range] = []
    with open_run(tmp_path / "run", {}, resume=False) as folder:
        parts = in_parts(setup(), folder, "plain", 5, counting(first))
        again = in_parts(setup(), folder, "plain", 5, counting(second))
        assert sorted(path.name for path in (tmp_path / "run" / "parts" / "plain").iterdir()) == [
            "0.npz", "2.npz", "4.npz"
        ]  # fmt: skip
    assert first == [range(2), range(2, 4), range(4, 5)]
    assert second == []
    for each in (parts, again):
        assert np.concatenate([part["square"] for part in each]).tolist() == [0, 1, 4, 9, 16]


def test_many_rows_and_networks_have_one_inner_part() -> None:
    assert [inner_folds("table", 2000), inner_folds("table", 2001), inner_folds("images", 10)] == [3, 1, 1]
