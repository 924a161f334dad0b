from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from picsc.equations.penalties import PENALTIES, pairwise_kl
from picsc.fisher.diagonal import fragment_fishers as fishers_of_a_module
from picsc.runtime.threads import one_thread
from picsc.training.batched.gradients import fragment_fishers, penalised_gradient, squared_features, task_gradient
from picsc.training.batched.layout import Stack, TrainingProblem, stack_problems
from picsc.training.batched.mlp import Weights, empty_weights, flatten, outputs, unflatten
from tests.reference import objective
from tests.stacks import KINDS, UNEVEN, draw_problem, draw_problems, networks, tensors, vector, vectors

EVERY_KIND = pytest.mark.parametrize(("likelihood", "c"), KINDS)
STRENGTH = torch.tensor([[0.1, 2.0], [0.0, 0.4]], dtype=torch.float64)
G, A, F, H = 2, 2, 5, 4


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


def stacked(problems: list[TrainingProblem], likelihood: str, c: int, shuffle: int | None = None) -> Stack:
    return stack_problems(problems, likelihood=likelihood, outputs=c, shuffle=shuffle, dtype=torch.float64)


def task_of(weights: Weights, stack: Stack) -> Tensor:
    g, a, h, f = weights.hidden.shape
    _, into = empty_weights(g, a, f - 1, h, weights.out.shape[2], weights.hidden)
    task_gradient(weights, stack, into)
    return flatten(into)


def penalised_of(weights: Weights, stack: Stack, name: str, strength: Tensor) -> Tensor:
    g, a, h, f = weights.hidden.shape
    _, into = empty_weights(g, a, f - 1, h, weights.out.shape[2], weights.hidden)
    penalised_gradient(weights, stack, PENALTIES[name], strength, squared_features(stack), into)
    return flatten(into)


def fishers_of(weights: Weights, stack: Stack) -> Tensor:
    """(g, a, k, d)."""
    found = fragment_fishers(weights, stack)
    lines = [flatten(Weights(found.hidden[:, j], found.out[:, j])) for j in range(found.hidden.shape[1])]
    return torch.stack(lines, 2)


def gradient_of(loss: Tensor, model: nn.Module) -> Tensor:
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))])


@EVERY_KIND
def test_flatten_and_unflatten_are_inverse(likelihood: str, c: int) -> None:
    theta = vectors(networks(G, A, F, c, H))
    assert torch.equal(flatten(unflatten(theta, F, H, c)), theta)


def test_empty_weights_are_views_of_one_tensor() -> None:
    flat, weights = empty_weights(G, A, F, H, 3, torch.zeros((), dtype=torch.float64))
    weights.hidden.fill_(1)
    weights.out.fill_(2)
    assert flat.sum() == G * A * (H * (F + 1) + 2 * 3 * (H + 1))


@EVERY_KIND
def test_outputs_are_the_networks(likelihood: str, c: int) -> None:
    models = networks(G, A, F, c)
    x = torch.randn(G, 11, F, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    extended = torch.cat([x.mT, torch.ones(G, 1, 11, dtype=torch.float64)], 1)
    weights = unflatten(vectors(models), F, H, c)
    found = outputs(weights, extended, readouts=c)
    for g in range(G):
        for a in range(A):
            torch.testing.assert_close(found[g, a].mT, models[g][a](x[g]).detach(), rtol=1e-12, atol=1e-13)


def test_two_classes_read_out_the_difference_of_their_logits() -> None:
    weights = unflatten(vectors(networks(G, A)), F, H, 2)
    x = torch.randn(G, F + 1, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    both, one = (outputs(weights, x, readouts=o) for o in (2, 1))
    torch.testing.assert_close(one[:, :, 0], both[:, :, 1] - both[:, :, 0], rtol=1e-12, atol=1e-13)


@EVERY_KIND
@pytest.mark.parametrize("weighted", [False, True])
def test_task_gradient_is_autograds_of_every_network(likelihood: str, c: int, weighted: bool) -> None:
    problems = draw_problems(likelihood=likelihood, outputs=c, weighted=weighted)
    models = networks(G, A, F, c)
    stack = stacked(problems, likelihood, c)
    assert stack.tiles > len(UNEVEN[0])
    found = task_of(unflatten(vectors(models), F, H, c), stack)
    for g, problem in enumerate(problems):
        weight = None if problem.weight is None else torch.from_numpy(problem.weight)
        for a, model in enumerate(models[g]):
            loss = objective(model, *tensors(problem), likelihood=likelihood, weight=weight)
            torch.testing.assert_close(found[g, a], gradient_of(loss, model), rtol=1e-12, atol=1e-14)


@EVERY_KIND
def test_fishers_are_those_of_every_network(likelihood: str, c: int) -> None:
    problems = draw_problems(likelihood=likelihood, outputs=c)
    models = networks(G, A, F, c)
    found = fishers_of(unflatten(vectors(models), F, H, c), stacked(problems, likelihood, c))
    for g, problem in enumerate(problems):
        for a, model in enumerate(models[g]):
            expected = fishers_of_a_module(model, *tensors(problem), 3, likelihood=likelihood)
            torch.testing.assert_close(found[g, a], expected, rtol=1e-12, atol=1e-14)


@EVERY_KIND
@pytest.mark.parametrize("name", PENALTIES)
def test_penalised_gradient_is_autograds_through_the_fisher(likelihood: str, c: int, name: str) -> None:
    problems = draw_problems(likelihood=likelihood, outputs=c)
    models = networks(G, A, F, c)
    found = penalised_of(unflatten(vectors(models), F, H, c), stacked(problems, likelihood, c), name, STRENGTH)
    for g, problem in enumerate(problems):
        x, y, fragment = tensors(problem)
        for a, model in enumerate(models[g]):
            fishers = fishers_of_a_module(model, x, y, fragment, 3, likelihood=likelihood, create_graph=True)
            loss = objective(model, x, y, fragment, likelihood=likelihood)
            loss = loss + STRENGTH[g, a] * PENALTIES[name].value(fishers)
            torch.testing.assert_close(found[g, a], gradient_of(loss, model), rtol=1e-12, atol=1e-13)


@EVERY_KIND
@pytest.mark.parametrize("name", PENALTIES)
def test_penalised_gradient_is_autograds_of_the_loop_over_rows(likelihood: str, c: int, name: str) -> None:
    """Against the slow twin, which shares no code with the library."""
    problem = draw_problem((5, 12, 3), likelihood=likelihood, outputs=c)
    ((model,),) = networks(1, 1, F, c)
    strength = torch.tensor([[0.5]], dtype=torch.float64)
    stack = stacked([problem], likelihood, c)
    found = penalised_of(unflatten(vector(model)[None, None], F, H, c), stack, name, strength)
    loss = objective(model, *tensors(problem), likelihood=likelihood, penalty=name, strength=0.5)
    torch.testing.assert_close(found[0, 0], gradient_of(loss, model), rtol=1e-12, atol=1e-13)


@EVERY_KIND
def test_all_pairs_gradient_in_the_parameters_passes_gradcheck(likelihood: str, c: int) -> None:
    stack = stacked([draw_problem((5, 12, 3), 2, likelihood=likelihood, outputs=c)], likelihood, c)
    one = torch.ones(1, 1, dtype=torch.float64)

    class AllPairs(torch.autograd.Function):
        """The penalty with the gradient that training uses: the penalised one without the task's."""

        @staticmethod
        def forward(ctx, theta):
            ctx.save_for_backward(theta)
            return pairwise_kl(fishers_of(unflatten(theta, 2, 3, c), stack))

        @staticmethod
        def backward(ctx, above):
            weights = unflatten(*ctx.saved_tensors, 2, 3, c)
            return above[..., None] * (penalised_of(weights, stack, "kl", one) - task_of(weights, stack))

    theta = vectors(networks(1, 1, 2, c, 3)).requires_grad_()
    assert torch.autograd.gradcheck(AllPairs.apply, (theta,), eps=1e-6, atol=1e-6, rtol=1e-5)


@EVERY_KIND
@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("shuffle", [None, 5])
def test_other_tiles_and_orders_give_equal_results(
    likelihood: str, c: int, rows: int, shuffle: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = draw_problems(likelihood=likelihood, outputs=c, weighted=True)
    weights = unflatten(vectors(networks(G, A, F, c)), F, H, c)
    usual = stacked(problems, likelihood, c)
    monkeypatch.setattr("picsc.training.batched.layout.tile_rows", lambda sizes: rows)
    other = stacked(problems, likelihood, c, shuffle)
    assert other.tiles != usual.tiles
    for first, second in (
        (task_of(weights, usual), task_of(weights, other)),
        (fishers_of(weights, usual), fishers_of(weights, other)),
        (penalised_of(weights, usual, "kl", STRENGTH), penalised_of(weights, other, "kl", STRENGTH)),
    ):
        torch.testing.assert_close(second, first, rtol=1e-12, atol=1e-13)


@EVERY_KIND
def test_a_strength_of_0_is_the_plain_gradient_bit_for_bit(likelihood: str, c: int) -> None:
    weights = unflatten(vectors(networks(G, A, F, c)), F, H, c)
    stack = stacked(draw_problems(likelihood=likelihood, outputs=c), likelihood, c)
    plain = task_of(weights, stack)
    mixed = penalised_of(weights, stack, "kl", STRENGTH)
    assert torch.equal(mixed[STRENGTH == 0], plain[STRENGTH == 0])
    assert not torch.equal(mixed[STRENGTH > 0], plain[STRENGTH > 0])


@EVERY_KIND
def test_an_infinite_model_does_not_touch_its_neighbours(likelihood: str, c: int) -> None:
    stack = stacked(draw_problems(likelihood=likelihood, outputs=c), likelihood, c)
    theta = vectors(networks(G, A, F, c))
    broken = theta.clone()
    broken[0, 1] = torch.inf
    for of in (task_of, lambda weights, stack: penalised_of(weights, stack, "kl", STRENGTH)):
        sound, hurt = (of(unflatten(each, F, H, c), stack) for each in (theta, broken))
        assert not hurt[0, 1].isfinite().all()
        hurt[0, 1] = sound[0, 1]
        assert torch.equal(hurt, sound)


def test_gradients_leave_weights_and_stack_alone() -> None:
    stack = stacked(draw_problems(), "classes", 2)
    weights = unflatten(vectors(networks(G, A)), F, H, 2)
    kept = [each.clone() for each in (*weights, stack.x, stack.y, stack.mask, stack.weight, stack.share)]
    first = penalised_of(weights, stack, "kl", STRENGTH)
    task_of(weights, stack)
    for before, after in zip(kept, (*weights, stack.x, stack.y, stack.mask, stack.weight, stack.share), strict=True):
        assert torch.equal(before, after)
    assert torch.equal(penalised_of(weights, stack, "kl", STRENGTH), first)
