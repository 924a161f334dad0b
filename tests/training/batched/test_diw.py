"""Dynamic importance weighting of many networks at once, and jobs with weights and with target rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from picsc.datasets.load import from_arrays
from picsc.errors import SettingsError
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.training.batched.diw import StackTarget, dynamic_weighting
from picsc.training.batched.layout import Stack, TrainingProblem, stack_problems
from picsc.training.batched.mlp import outputs, unflatten
from picsc.training.jobs import TargetRows, TrainingJob, TrainingRecipe
from picsc.training.table_trainer import TableTrainer
from picsc.weighting.diw import Match
from tests.flat_training import train_stack
from tests.stacks import networks, vectors

F, H = 5, 4
MATCHES = pytest.mark.parametrize("match", ["losses", "features"])


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


def halves(n: int, flipped: float, seed: int, weight: np.ndarray | None = None) -> TrainingProblem:
    """Two classes on the sides of a plane, a share of them with the other's label."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, F))
    y = (x @ (1, -1, 1, 0, 0) + 0.3 * rng.normal(size=n) > 0).astype(np.int64)
    return TrainingProblem(
        x.astype(np.float32), np.where(rng.random(n) < flipped, 1 - y, y), np.zeros(n, np.int64), weight
    )


def stacked(
    problems: Sequence[TrainingProblem], shuffle: int | None = None, dtype: torch.dtype = torch.float32
) -> Stack:
    return stack_problems(problems, likelihood="classes", outputs=2, shuffle=shuffle, dtype=dtype)


def target_of(
    problems: Sequence[TrainingProblem], match: Match = "losses", seed: int = 0, dtype: torch.dtype = torch.float32
) -> StackTarget:
    return StackTarget(stacked(problems, dtype=dtype), match, [seed + i for i in range(len(problems))])


def first(g: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return vectors(networks(g, 1, F, dtype=dtype))


def accuracy(theta: Tensor, tested: Stack) -> float:
    z = outputs(unflatten(theta, F, H, 2), tested.x, readouts=1)
    return float(((z > 0) == (tested.y > 0.5))[tested.mask > 0].float().mean())


def one_sided(n: int, seed: int) -> TrainingProblem:
    """Two in five labels are flipped, all of them from the first class to the second."""
    clean = halves(n, 0.0, seed)
    flipped = np.random.default_rng(seed).random(n) < 0.8
    return clean._replace(y=np.where((clean.y == 0) & flipped, 1, clean.y))


@pytest.mark.parametrize(("batch_size", "epochs"), [(None, 100), (64, 10)])
def test_with_40_percent_of_labels_flipped_clean_rows_of_the_target_help(batch_size: int | None, epochs: int) -> None:
    """Plain training says the second class of all rows; of 20 draws the smallest gain was 0.17."""
    noisy = stacked([one_sided(300, i) for i in range(4)], shuffle=0)
    clean = target_of([halves(100, 0.0, 100 + i) for i in range(4)])
    tested = stacked([halves(1000, 0.0, 200 + i) for i in range(4)])
    recipe = TrainingRecipe(epochs, 0.02, batch_size)
    plain, weighted = (
        accuracy(train_stack(first(4), noisy, recipe, hidden=H, target_rows=each).theta, tested)
        for each in (None, clean)
    )
    assert plain < 0.55
    assert weighted > plain + 0.06


@MATCHES
@pytest.mark.parametrize("batch_size", [None, 20])
def test_the_first_epoch_is_plain(batch_size: int | None, match: Match) -> None:
    rows = stacked([halves(60, 0.4, 0)], shuffle=0)
    same = []
    for epochs in (1, 2):
        recipe = TrainingRecipe(epochs, 0.02, batch_size)
        thetas = [
            train_stack(first(1), rows, recipe, hidden=H, target_rows=each).theta
            for each in (None, target_of([halves(30, 0, 1)], match))
        ]
        same.append(torch.equal(*thetas))
    assert same == [True, False]


@MATCHES
def test_a_target_of_the_same_rows_weighs_them_alike(match: Match) -> None:
    problems = [halves(90, 0.2, 0), halves(120, 0.2, 1)]
    rows = stacked(problems, dtype=torch.float64)
    start, recipe = first(2, torch.float64), TrainingRecipe(30, 0.02)
    plain = train_stack(start, rows, recipe, hidden=H).theta
    weighted = train_stack(
        start, rows, recipe, hidden=H, target_rows=target_of(problems, match, dtype=torch.float64)
    ).theta
    torch.testing.assert_close(weighted, plain, rtol=1e-6, atol=1e-6)


def test_labels_of_the_target_are_looked_at_for_losses_only() -> None:
    rows, target = stacked([halves(60, 0.4, 0)]), halves(30, 0.0, 1)
    turned = target._replace(y=1 - target.y)
    same = {}
    for on in ("losses", "features"):
        thetas = [
            train_stack(first(1), rows, TrainingRecipe(8, 0.02), hidden=H, target_rows=target_of([t], on)).theta
            for t in (target, turned)
        ]
        same[on] = torch.equal(*thetas)
    assert same == {"losses": False, "features": True}


@MATCHES
def test_same_seed_same_bytes_other_seed_other_bytes(match: Match) -> None:
    rows, target = stacked([halves(300, 0.4, 0)]), [halves(300, 0.0, 1)]
    thetas = [
        train_stack(first(1), rows, TrainingRecipe(8, 0.02), hidden=H, target_rows=target_of(target, match, seed)).theta
        for seed in (0, 0, 1)
    ]
    assert torch.equal(thetas[0], thetas[1])
    assert not torch.equal(thetas[0], thetas[2])


@MATCHES
def test_how_many_problems_are_stacked_does_not_matter(match: Match) -> None:
    problems = [halves(n, 0.4, i) for i, n in enumerate((300, 40, 120))]
    targets = [halves(m, 0.0, 10 + i) for i, m in enumerate((50, 300, 9))]
    start, recipe = first(3, torch.float64), TrainingRecipe(15, 0.02)
    double = {"dtype": torch.float64}
    together = train_stack(
        start, stacked(problems, **double), recipe, hidden=H, target_rows=target_of(targets, match, **double)
    )
    for i in range(3):
        alone = target_of([targets[i]], match, seed=i, **double)
        single = train_stack(start[i : i + 1], stacked([problems[i]], **double), recipe, hidden=H, target_rows=alone)
        torch.testing.assert_close(together.theta[i], single.theta[0], rtol=1e-6, atol=1e-6)


def test_padding_weighs_nothing_and_given_weights_are_multiplied() -> None:
    given = np.array([0.0, 3.0] * 150)
    problems = [halves(300, 0.4, 0, given), halves(40, 0.4, 1, np.ones(40))]
    rows = stacked(problems)
    start = unflatten(first(2), F, H, 2)
    found = (
        dynamic_weighting(target_of([halves(80, 0.0, 2), halves(80, 0.0, 3)]), 1, 1)
        .step(start, rows, 0, 1)
        .weight[:, 0, 0]
    )
    alike = stacked([problem._replace(weight=None) for problem in problems])
    free = (
        dynamic_weighting(target_of([halves(80, 0.0, 2), halves(80, 0.0, 3)]), 1, 1)
        .step(start, alike, 0, 1)
        .weight[:, 0, 0]
    )
    torch.testing.assert_close(found.sum(1), torch.ones(2))
    assert (found[1, rows.mask[1, 0, 0] == 0] == 0).all()
    assert (found[0, ::2] == 0).all()
    torch.testing.assert_close(found[0, 1:300:2], free[0, 1:300:2] / free[0, 1:300:2].sum())
    torch.testing.assert_close(found[1], free[1])


def test_early_stopping_goes_on_working() -> None:
    rows, held = stacked([halves(80, 0.4, 0)]), stacked([halves(30, 0.0, 5)])
    target = target_of([halves(50, 0.0, 1)])
    short, long = (
        train_stack(
            first(1), rows, TrainingRecipe(60, 0.2, patience=patience), hidden=H, held_out=held, target_rows=target
        )
        for patience in (2, 10**6)
    )
    assert short.diverged.item() == 0
    assert not torch.equal(short.theta, long.theta)


def test_several_models_per_problem_are_refused() -> None:
    start = vectors(networks(1, 2, F, dtype=torch.float32))
    with pytest.raises(SettingsError, match="the weights of one model: got 2"):
        train_stack(
            start,
            stacked([halves(30, 0, 0)]),
            TrainingRecipe(2, 0.1),
            hidden=H,
            target_rows=target_of([halves(30, 0, 1)]),
        )


def backend(patience: int | None = None, weights: np.ndarray | None = None) -> TableTrainer:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 3))
    dataset = from_arrays(x, (x[:, 0] + rng.normal(size=90) > 0).astype(int), ReadSettings())
    return TableTrainer(dataset, TrainingRecipe(20, 0.1, patience=patience), "kl", weights, torch.device("cpu"))


JOB = TrainingJob(np.arange(40), np.arange(40) // 10, np.arange(40, 60), 0)
WEIGHT = np.where(np.arange(40) % 3 == 0, 0.0, np.linspace(0.5, 2, 40))


def learned(table: TableTrainer, *jobs: TrainingJob, strength: float = 0.0) -> list[np.ndarray]:
    shape = (len(jobs), 1)
    return [one.outputs for one in table.train_jobs(jobs, np.full(shape, strength), np.zeros(shape))]


def relabelled(table: TableTrainer, rows: np.ndarray) -> TableTrainer:
    target = table.dataset.target
    values = target.values.copy()
    values[rows] = 1 - values[rows]
    return replace(table, dataset=replace(table.dataset, target=replace(target, values=values)))


@pytest.mark.parametrize("patience", [None, 10**6])
@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_a_job_s_rows_of_weight_0_are_not_learned_from(patience: int | None, strength: float) -> None:
    """Their labels change nothing, held out or not; those of the others do. A penalty uses rows of any weight."""
    table, job = backend(patience), replace(JOB, weight=WEIGHT)
    (before,) = learned(table, job)
    (same,) = learned(relabelled(table, np.flatnonzero(WEIGHT == 0)), job)
    (other,) = learned(relabelled(table, np.flatnonzero(WEIGHT)[:8]), job)
    assert np.array_equal(before, same)
    assert not np.array_equal(before, other)
    (plain,) = learned(table, JOB, strength=strength)
    (alike,) = learned(table, replace(JOB, weight=np.ones(40)), strength=strength)
    np.testing.assert_allclose(alike, plain, rtol=0, atol=1e-4)


def test_a_job_s_weights_multiply_those_of_the_table() -> None:
    of_table = np.linspace(0.2, 3, 90)
    (both,) = learned(backend(weights=of_table), replace(JOB, weight=WEIGHT))
    (product,) = learned(backend(), replace(JOB, weight=WEIGHT * of_table[:40]))
    (without,) = learned(backend(), replace(JOB, weight=WEIGHT))
    assert np.array_equal(both, product)
    assert not np.array_equal(both, without)


def test_rows_held_out_that_all_weigh_nothing_are_alike() -> None:
    table = backend(3)
    _, out = table.problems.split(JOB.train, JOB.fragment, JOB.seed)
    weight = np.ones(40)
    weight[out] = 0
    (found,) = learned(table, replace(JOB, weight=weight))
    assert np.isfinite(found).all()
    assert np.array_equal(found, learned(table, JOB)[0])


@pytest.mark.parametrize("patience", [None, 5])
def test_jobs_with_and_without_target_rows_are_learned_side_by_side_as_alone(patience: int | None) -> None:
    table = backend(patience)
    rows = np.arange(60, 90)
    jobs = [
        JOB,
        replace(JOB, target_rows=TargetRows(rows, "losses")),
        replace(JOB, target_rows=TargetRows(rows[:20], "losses"), seed=1),
        replace(JOB, target_rows=TargetRows(rows, "features")),
    ]
    together = learned(table, *jobs)
    for found, job in zip(together, jobs, strict=True):
        np.testing.assert_allclose(np.exp(found), np.exp(learned(table, job)[0]), rtol=0, atol=0.02)
    assert np.abs(np.exp(together[0]) - np.exp(together[1])).max() > 0.04
    assert np.abs(np.exp(together[0]) - np.exp(together[3])).max() > 0.04


def test_target_rows_for_features_does_not_see_labels() -> None:
    rows = np.arange(60, 90)
    for on, same in (("features", True), ("losses", False)):
        job = replace(JOB, target_rows=TargetRows(rows, on))
        found = [learned(table, job)[0] for table in (backend(), relabelled(backend(), rows))]
        assert np.array_equal(*found) == same
