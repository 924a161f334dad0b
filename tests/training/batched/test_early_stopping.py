"""Early stopping of many networks at once against each of them stopped by itself."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from picsc.datasets.load import from_arrays
from picsc.equations.penalties import PENALTIES
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.training.batched.layout import Stack, TrainingProblem, stack_problems
from picsc.training.batched.mlp import mean_loss, unflatten
from picsc.training.jobs import Fitted, TrainingJob, TrainingRecipe
from picsc.training.objectives import task_loss
from picsc.training.table_trainer import TableTrainer
from tests.flat_training import train_stack
from tests.stacks import KINDS, draw_problem, networks, tensors, vectors

G, A, F, H, EPOCHS = 2, 2, 5, 4, 40
STRENGTH = torch.tensor([[0.1, 2.0], [0.0, 0.4]])


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


def problems(likelihood: str = "classes", c: int = 2, first: int = 0) -> list[TrainingProblem]:
    """Few rows with labels that are half noise, so that training on and on harms."""
    return [
        draw_problem(sizes, F, likelihood=likelihood, outputs=c, seed=first + i)
        for i, sizes in enumerate([(6, 9), (11, 8)])
    ]


def held(likelihood: str = "classes", c: int = 2) -> list[TrainingProblem]:
    return [problem._replace(fragment=np.zeros_like(problem.fragment)) for problem in problems(likelihood, c, 7)]


def stacked(some: list[TrainingProblem], likelihood: str = "classes", c: int = 2) -> Stack:
    return stack_problems(some, likelihood=likelihood, outputs=c)


def trained(
    epochs: int, patience: int | None, likelihood: str = "classes", c: int = 2, lr: float = 0.1, **terms: object
) -> Fitted:
    theta = vectors(networks(G, A, F, c, dtype=torch.float32))
    return train_stack(
        theta,
        stacked(problems(likelihood, c), likelihood, c),
        TrainingRecipe(epochs, lr, patience=patience),
        hidden=H,
        **{"held_out": stacked(held(likelihood, c), likelihood, c), **terms},
    )


def stopped(losses: list[float], patience: int) -> int:
    """Best epoch, counted from 1, before the first `patience` epochs without a lower loss."""
    best = 0
    for epoch, loss in enumerate(losses):
        best = epoch if loss < losses[best] else best
        if epoch - best >= patience:
            break
    return best + 1


@pytest.mark.parametrize(("likelihood", "c"), KINDS)
def test_held_out_loss_is_the_engines(likelihood: str, c: int) -> None:
    models = networks(G, A, F, c)
    stack = stack_problems(held(likelihood, c), likelihood=likelihood, outputs=c, dtype=torch.float64)
    found = mean_loss(unflatten(vectors(models), F, H, c), stack)
    for g, problem in enumerate(held(likelihood, c)):
        x, y, _ = tensors(problem)
        for a in range(A):
            torch.testing.assert_close(found[g, a], task_loss(models[g][a], x, y, likelihood).detach())


@pytest.mark.parametrize(("likelihood", "c"), KINDS)
@pytest.mark.parametrize("terms", [{}, {"strength": STRENGTH, "penalty": PENALTIES["kl"]}])
def test_every_model_is_that_of_its_own_best_epoch(likelihood: str, c: int, terms: dict[str, object]) -> None:
    """Against training without stopping, for every number of epochs; models stop at different ones."""
    patience = 4
    after = [trained(epochs, None, likelihood, c, **terms).theta for epochs in range(1, EPOCHS + 1)]
    rows = stacked(held(likelihood, c), likelihood, c)
    losses = torch.stack([mean_loss(unflatten(theta, F, H, c), rows) for theta in after])
    best = [[stopped(losses[:, g, a].tolist(), patience) for a in range(A)] for g in range(G)]
    assert len(set(sum(best, []))) > 1  # noqa: RUF017 - four numbers
    assert max(sum(best, [])) < EPOCHS - patience  # noqa: RUF017
    found = trained(EPOCHS, patience, likelihood, c, **terms)
    for g in range(G):
        for a in range(A):
            assert torch.equal(found.theta[g, a], after[best[g][a] - 1][g, a])
    assert found.diverged.tolist() == [[0, 0], [0, 0]]


def test_without_patience_or_rows_held_out_nothing_changes() -> None:
    plain = trained(20, None, held_out=None).theta
    assert torch.equal(trained(20, None).theta, plain)
    assert torch.equal(trained(20, 3, held_out=None).theta, plain)
    assert not torch.equal(trained(20, 1).theta, plain)


def test_penalty_share_is_of_the_epochs_that_were_trained() -> None:
    """Measured every 20 steps: a model that stops before the 21st has the share of the first."""
    terms = {"strength": torch.full((G, A), 0.5), "penalty": PENALTIES["kl"]}
    first = trained(1, None, **terms).penalty_share
    assert torch.equal(trained(200, 1, lr=1.0, **terms).penalty_share, first)
    assert not torch.equal(trained(200, None, lr=1.0, **terms).penalty_share, first)


def grown(patience: int | None, epochs: int) -> Fitted:
    """Gradient descent that overshoots further each time, next to a problem where it does not."""
    theta = vectors(networks(G, A, F, 1, dtype=torch.float32))
    calm, wild = problems("numbers", 1)
    stack = stacked([calm, wild._replace(x=wild.x * 3)], "numbers", 1)
    recipe = TrainingRecipe(epochs, 0.2, optimizer="sgd", patience=patience)
    return train_stack(theta, stack, recipe, hidden=H, held_out=stacked(held("numbers", 1), "numbers", 1))


def test_a_model_that_had_stopped_before_it_would_diverge_has_not_diverged() -> None:
    full, short, long = grown(None, 80), grown(1, 80), grown(10**6, 80)
    assert full.diverged[0].tolist() == [0, 0]
    assert (full.diverged[1] > 2).all()
    assert short.diverged.tolist() == [[0, 0], [0, 0]]
    assert short.theta.isfinite().all()
    assert torch.equal(long.diverged, full.diverged)
    assert not long.theta[1].isfinite().any()


def test_models_without_one_finite_loss_have_diverged() -> None:
    found = trained(3, 2, lr=1e37)
    assert (found.diverged > 0).all()
    assert not found.theta.isfinite().any()


def backend(patience: int | None) -> TableTrainer:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    dataset = from_arrays(x, (x[:, 0] + rng.normal(size=60) > 0).astype(int), ReadSettings())
    return TableTrainer(dataset, TrainingRecipe(80, 0.2, patience=patience), "kl", None, torch.device("cpu"))


def outputs(patience: int | None, changed: TrainingJob, strength: float = 0.0) -> Tensor:
    one = np.full((1, 1), strength)
    (learned,) = backend(patience).train_jobs([changed], one, np.zeros((1, 1)))
    return torch.from_numpy(learned.outputs)


JOB = TrainingJob(np.arange(40), np.arange(40) // 10, np.arange(40, 60), 0)


def test_a_tenth_of_a_job_is_held_out_the_same_with_and_without_a_penalty() -> None:
    kept, out = backend(3).problems.split(JOB.train, JOB.fragment, JOB.seed)
    assert len(out) == 4
    assert sorted([*kept, *out]) == list(range(40))
    again = backend(3).problems.split(JOB.train, JOB.fragment, JOB.seed)
    assert again[1].tolist() == out.tolist()
    assert backend(3).problems.split(JOB.train, JOB.fragment, 1)[1].tolist() != out.tolist()
    assert backend(None).problems.split(JOB.train, JOB.fragment, JOB.seed)[1].tolist() == []


@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_rows_held_out_are_not_learned_from(strength: float) -> None:
    """With a patience that never ends and one epoch, a row held out can change nothing but the scaling of columns."""
    table = backend(10**6)
    _, out = table.problems.split(JOB.train, JOB.fragment, JOB.seed)
    target = table.dataset.target
    values = target.values.copy()
    values[out] = 1 - values[out]
    turned = replace(table, dataset=replace(table.dataset, target=replace(target, values=values)))
    found = []
    for each in (table, turned):
        once = replace(each, recipe=replace(each.recipe, epochs=1))
        (learned,) = once.train_jobs([JOB], np.full((1, 1), strength), np.zeros((1, 1)))
        found.append(learned.outputs)
    assert np.array_equal(*found)


def test_stopping_early_is_used_by_jobs_and_by_sequences() -> None:
    assert not torch.equal(outputs(2, JOB), outputs(None, JOB))
    assert not torch.equal(outputs(2, JOB, 0.1), outputs(None, JOB, 0.1))
    none = torch.zeros(1, 1)
    thetas = []
    for patience in (2, None):
        trainer = backend(patience).sequence_trainer([[np.arange(20), np.arange(20, 40)]], [0], [np.arange(20)])
        thetas.append(trainer.fit(trainer.start(), 0, weight_decay=none, strength=none, anchor=None).theta)
    assert not torch.equal(*thetas)
