"""Importance-weighted cross-validation: held-out rows, weights of the risk, and its prediction of the target."""

import numpy as np
import pandas as pd
import pytest
import torch

from picsc.comparison.iwcv import DECAYS, EXPONENTS, RISKS, IwcvChoice, _HeldOutScores, choose_by_iwcv
from picsc.datasets.load import from_frame
from picsc.evaluation.metrics import row_log_loss
from picsc.settings import ReadSettings
from picsc.training.jobs import TrainingJob, TrainingRecipe
from picsc.training.table_trainer import TableTrainer


def trainer(frame: pd.DataFrame, epochs: int = 30) -> TableTrainer:
    data = from_frame(frame, ReadSettings(target="target"))
    return TableTrainer(data, TrainingRecipe(epochs, 0.05), "kl", None, torch.device("cpu"))


def shifted(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A 2-d table whose labels are noisy where a is large, and rows with a small a are selected more often."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    noise = rng.random(n) < np.where(a > 0.3, 0.5, 0.02)
    frame = pd.DataFrame({"a": a, "b": b, "target": ((b > 0) ^ noise).astype(int)})
    return frame, 1 / (1 + np.exp(2.5 * a))


def job(rows: np.ndarray, test: np.ndarray, seed: int = 0) -> TrainingJob:
    return TrainingJob(rows, np.arange(len(rows)) % 3, test, seed)


def found(ours: TableTrainer, *jobs: TrainingJob, weights: object = None, ratios: object = None, inner: int = 3):
    none = [None] * len(jobs)
    return choose_by_iwcv(ours, list(jobs), weights or none, ratios or none, "classes", inner=inner)


def test_p49_the_weighted_estimate_is_that_of_the_target_and_both_are_reported() -> None:
    """Field case P49: weighted and unweighted accuracy differ by more than 10 points, and the weighted one is right."""
    weighted, plain, truth = [], [], []
    for seed in range(6):
        frame, chance = shifted(4800, seed)
        rng = np.random.default_rng(seed)
        pool, target = np.arange(3200), np.arange(3200, 4800)
        rows = pool[rng.random(3200) < chance[:3200]]
        ratio = (1 / chance)[rows]
        ours = trainer(frame, epochs=60)
        arrays = found(ours, job(rows, target), weights=[ratio / ratio.mean()], ratios=[ratio / ratio.mean()])
        choice = IwcvChoice.of(arrays, 0)
        model = next(ours.train_jobs([job(rows, target)], np.zeros((1, 1)), np.zeros((1, 1))))
        truth.append((model.outputs[0].argmax(-1) == ours.targets(target)).mean())
        plain.append(choice.accuracy[RISKS.index("unweighted")])
        weighted.append(choice.accuracy[RISKS.index("true ratio")])
        assert choice.accuracy[RISKS.index("iw")] == choice.accuracy[RISKS.index("true ratio")]
    assert np.mean(plain) - np.mean(weighted) > 0.10
    assert abs(np.mean(weighted) - np.mean(truth)) < abs(np.mean(plain) - np.mean(truth)) / 2


def test_equal_weights_give_the_unweighted_estimate_and_choice() -> None:
    frame, _ = shifted(120, 0)
    arrays = found(trainer(frame), job(np.arange(100), np.arange(100, 120)), weights=[np.ones(100)])
    choice = IwcvChoice.of(arrays, 0)
    assert choice.weighted == choice.unweighted
    np.testing.assert_allclose(choice.log_loss[0], choice.log_loss[1], rtol=1e-12)
    assert np.isnan(choice.log_loss[2])


def test_the_estimate_is_the_weighted_mean_over_rows_that_models_have_not_seen() -> None:
    frame, _ = shifted(61, 1)
    ours, rows, test = trainer(frame), np.arange(60), np.array([60])
    weights = np.random.default_rng(0).uniform(0.1, 3, 60)
    arrays = found(ours, job(rows, test), weights=[weights], inner=3)
    generator = np.random.default_rng([0, 8])
    order = generator.permutation(60)
    order = order[np.argsort((np.arange(60) % 3)[order], kind="stable")]
    losses = np.full(60, np.nan)
    for j in range(3):
        held = np.sort(order[j::3])
        kept = np.setdiff1d(np.arange(60), held)
        part = TrainingJob(rows[kept], np.zeros(40, np.int64), rows[held], 0)
        model = next(ours.train_jobs([part], np.zeros((1, 1)), np.zeros((1, 1))))
        losses[held] = row_log_loss(model.outputs, ours.targets(part.test), "classes")[0]
    np.testing.assert_allclose(arrays["log_loss"][0, :2], [losses.mean(), np.average(losses, weights=weights)], 1e-5)


def test_choices_are_candidates_and_without_weights_only_the_decay_is_chosen() -> None:
    frame, _ = shifted(90, 2)
    arrays = found(
        trainer(frame, epochs=5),
        job(np.arange(60), np.arange(60, 90)),
        job(np.arange(30, 90), np.arange(30), seed=1),
        weights=[np.linspace(0.5, 1.5, 60), None],
    )
    for key in ("weighted", "unweighted"):
        assert {power for power, _ in arrays[key].tolist()} <= set(EXPONENTS)
        assert {decay for _, decay in arrays[key].tolist()} <= set(DECAYS)
    assert arrays["weighted"][1, 0] == 0
    assert np.isnan(arrays["accuracy"][1, 1])


def test_one_inner_part_holds_out_a_third() -> None:
    frame, _ = shifted(91, 3)
    arrays = found(trainer(frame, epochs=5), job(np.arange(90), np.array([90])), weights=[np.ones(90)], inner=1)
    assert np.isfinite(arrays["log_loss"][0, 0])


@pytest.mark.parametrize("n", [3, 4])
def test_few_rows(n: int) -> None:
    frame, _ = shifted(40, 4)
    arrays = found(trainer(frame, epochs=2), job(np.arange(n), np.arange(n, 40)), weights=[np.ones(n)])
    assert np.isfinite(arrays["log_loss"][0, :2]).all()


def test_the_weighted_choice_is_the_best_on_the_rows_that_count() -> None:
    """A strong decay is best on the many rows of noise, and none on the few that the target is like."""
    rng = np.random.default_rng(0)
    few, many = 30, 270
    a = np.concatenate([rng.normal(3, 0.3, few), rng.normal(-3, 0.3, many)])
    b = rng.normal(size=few + many)
    y = np.where(a > 0, b > 0, rng.random(few + many) < 0.5).astype(int)
    frame = pd.DataFrame({"a": a, "b": b, "target": y})
    weights = np.where(a > 0, 100.0, 1e-6)
    ours, rows = trainer(frame, epochs=150), np.arange(few + many)
    arrays = found(ours, job(rows, rows[:1]), weights=[weights / weights.mean()])
    weighted, unweighted = (arrays[key][0].tolist() for key in ("weighted", "unweighted"))
    assert weighted != unweighted
    assert weighted[0] > 0  # rows of noise are better left out of what is learned, too


def test_a_candidate_that_diverged_on_a_fold_is_never_the_best() -> None:
    tested = _HeldOutScores(4)
    tested.add((0.0, 0.0), np.arange(2), np.array([0.1, 0.1]), np.ones(2))
    tested.add((0.0, 0.0), np.arange(2, 4), np.array([np.inf, np.inf]), np.full(2, np.nan))
    tested.add((1.0, 0.0), np.arange(4), np.full(4, 5.0), np.zeros(4))
    assert tested.best(np.ones(4)) == (1.0, 0.0)
