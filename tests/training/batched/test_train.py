from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from picsc.equations.penalties import PENALTIES, Anchor, pairwise_kl
from picsc.runtime.threads import one_thread
from picsc.training.batched.gradients import fragment_fishers
from picsc.training.batched.layout import Stack, TrainingProblem, minibatches, stack_problems
from picsc.training.batched.mlp import Weights, flatten, unflatten
from picsc.training.batched.train import STACK_FLOATS, problems_per_stack
from picsc.training.jobs import TrainingRecipe
from tests.flat_training import train, train_stack
from tests.reference import objective
from tests.stacks import KINDS, UNEVEN, draw_problem, draw_problems, networks, tensors, vector, vectors

EVERY_KIND = pytest.mark.parametrize(("likelihood", "c"), KINDS)
G, A, F, H = 2, 2, 5, 4
DECAY = torch.tensor([[0.0, 0.3], [0.02, 0.0]], dtype=torch.float64)
STRENGTH = torch.tensor([[0.1, 2.0], [0.0, 0.4]], dtype=torch.float64)


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


def stacked(
    problems: list[TrainingProblem],
    likelihood: str = "classes",
    c: int = 2,
    shuffle: int | None = None,
    dtype: torch.dtype = torch.float64,
) -> Stack:
    return stack_problems(problems, likelihood=likelihood, outputs=c, shuffle=shuffle, dtype=dtype)


def far(theta: Tensor, seed: int = 0) -> Anchor:
    """An anchor near no minimum, stiff in some directions and free in others."""
    generator = torch.Generator().manual_seed(seed)
    shape = {"size": theta.shape, "generator": generator, "dtype": theta.dtype}
    return Anchor(torch.randn(**shape), torch.rand(**shape).mul(4).relu())


def penalty_of(theta: Tensor, stack: Stack) -> Tensor:
    """The all-pairs term of every model, (g, a)."""
    found = fragment_fishers(unflatten(theta, stack.features, H, stack.outputs), stack)
    lines = [flatten(Weights(found.hidden[:, j], found.out[:, j])) for j in range(found.hidden.shape[1])]
    return pairwise_kl(torch.stack(lines, 2))


def trained_by_torch(
    model: nn.Module, problem: TrainingProblem, optimiser: torch.optim.Optimizer, steps: int, **terms: object
) -> Tensor:
    """A loop over the objective, term by term and row by row."""
    for _ in range(steps):
        optimiser.zero_grad()
        objective(model, *tensors(problem), **terms).backward()
        optimiser.step()
    return vector(model)


@EVERY_KIND
@pytest.mark.parametrize("decay", [None, DECAY])
def test_training_is_the_engines_one_model_at_a_time(likelihood: str, c: int, decay: Tensor | None) -> None:
    problems = draw_problems(likelihood=likelihood, outputs=c)
    models = networks(G, A, F, c)
    fitted = train_stack(
        vectors(models), stacked(problems, likelihood, c), TrainingRecipe(25, 0.05), hidden=H, weight_decay=decay
    )
    assert fitted.diverged.tolist() == [[0, 0], [0, 0]]
    for g, problem in enumerate(problems):
        x, y, _ = tensors(problem)
        for a, model in enumerate(models[g]):
            one = 0.0 if decay is None else decay[g, a].item()
            chosen = {"likelihood": likelihood, "steps": 25, "lr": 0.05, "batch_size": len(x), "seed": 0}
            train(model, x, y, weight_decay=one, **chosen)
            torch.testing.assert_close(fitted.theta[g, a], vector(model), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", PENALTIES)
def test_penalised_training_is_torchs_on_the_objective_spelt_out(name: str) -> None:
    problem = draw_problem((5, 16, 4))
    ((model,),) = networks(1, 1)
    one = torch.ones(1, 1, dtype=torch.float64)
    terms = {"strength": 0.5 * one, "penalty": PENALTIES[name], "weight_decay": 0.1 * one}
    fitted = train_stack(vector(model)[None, None], stacked([problem]), TrainingRecipe(6, 0.05), hidden=H, **terms)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=0.1)
    expected = trained_by_torch(model, problem, optimiser, 6, penalty=name, strength=0.5)
    torch.testing.assert_close(fitted.theta[0, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("warmup", [0.5, 1.0])
def test_with_warmup_lambda_rises_linearly_in_both_engines(warmup: float) -> None:
    problem = draw_problem((8, 8, 8))
    stacked_one, single, slow = (networks(1, 1)[0][0] for _ in range(3))
    one = torch.ones(1, 1, dtype=torch.float64)
    fitted = train_stack(
        vector(stacked_one)[None, None],
        stacked([problem]),
        TrainingRecipe(8, 0.05, warmup=warmup),
        hidden=H,
        strength=0.5 * one,
        penalty=PENALTIES["kl"],
    )
    optimiser = torch.optim.Adam(slow.parameters(), lr=0.05)
    for step in range(8):
        expected = trained_by_torch(
            slow, problem, optimiser, 1, penalty="kl", strength=0.5 * min(1.0, step / (8 * warmup))
        )
    x, y, fragment = tensors(problem)
    how = {"likelihood": "classes", "steps": 8, "lr": 0.05, "batch_size": len(x), "seed": 0, "warmup": warmup}
    train(single, x, y, **how, penalty=PENALTIES["kl"], fragment=fragment, fragments=3, strength=0.5)
    torch.testing.assert_close(fitted.theta[0, 0], expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(vector(single), expected, rtol=1e-8, atol=1e-9)


def test_anchored_training_is_torchs_with_eq_16_solved_after_each_step() -> None:
    problem = draw_problem((5, 16, 4))
    ((model,),) = networks(1, 1)
    theta = vector(model)[None, None]
    anchor, one = far(theta), torch.ones(1, 1, dtype=torch.float64)
    fitted = train_stack(
        theta, stacked([problem]), TrainingRecipe(6, 0.05), hidden=H, strength=0.5 * one, anchor=anchor
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    stiffness, mean = 2 * 0.5 * anchor.fisher[0, 0], anchor.mean[0, 0]
    for _ in range(6):
        after = trained_by_torch(model, problem, optimiser, 1)
        squares = torch.cat([optimiser.state[p]["exp_avg_sq"].flatten() for p in model.parameters()])
        spread = (squares / (1 - 0.999 ** float(optimiser.state[next(model.parameters())]["step"]))).sqrt() + 1e-8
        h = stiffness * 0.05 / spread  # Adam's own step is 0.05 / spread for every unit of a constant gradient
        nn.utils.vector_to_parameters((after + h * mean) / (1 + h), model.parameters())
    torch.testing.assert_close(fitted.theta[0, 0], vector(model), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_no_lambda_of_an_anchor_diverges(optimizer: str) -> None:
    theta = vectors(networks(G, A))
    strength = torch.tensor([[1e2, 1e4], [1e5, 1e6]], dtype=torch.float64)
    recipe = TrainingRecipe(60, 0.3, optimizer=optimizer)
    anchor = Anchor(theta, torch.ones_like(theta))
    found = train_stack(theta, stacked(draw_problems()), recipe, hidden=H, strength=strength, anchor=anchor)
    assert found.diverged.tolist() == [[0, 0], [0, 0]]
    assert ((found.theta - theta).abs().amax(-1) < 10 / strength).all()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_is_torchs(momentum: float) -> None:
    problem = draw_problem((5, 16, 4))
    ((model,),) = networks(1, 1)
    recipe = TrainingRecipe(8, 0.05, optimizer="sgd", momentum=momentum)
    decay = torch.full((1, 1), 0.1, dtype=torch.float64)
    fitted = train_stack(vector(model)[None, None], stacked([problem]), recipe, hidden=H, weight_decay=decay)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=momentum, weight_decay=0.1)
    expected = trained_by_torch(model, problem, optimiser, 8)
    torch.testing.assert_close(fitted.theta[0, 0], expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("batch_size", [None, 12])
@pytest.mark.parametrize("with_what", ["penalty", "anchor"])
def test_a_strength_of_0_is_plain_training_bit_for_bit(batch_size: int | None, with_what: str) -> None:
    theta = vectors(networks(G, A, dtype=torch.float32))
    stack = stacked(draw_problems(), shuffle=0, dtype=torch.float32)
    given = {"penalty": PENALTIES["kl"], "anchor": far(theta)}[with_what]
    recipe = TrainingRecipe(20, 0.05, batch_size)
    plain = train_stack(theta, stack, recipe, hidden=H)
    none, some = (
        train_stack(theta, stack, recipe, hidden=H, strength=torch.full((G, A), value), **{with_what: given})
        for value in (0.0, 0.1)
    )
    assert torch.equal(none.theta, plain.theta)
    assert torch.equal(none.penalty_share, torch.zeros(G, A))
    assert not torch.equal(some.theta, plain.theta)


@pytest.mark.parametrize("with_what", ["penalty", "anchor"])
def test_a_model_of_strength_0_among_others_is_trained_plainly_bit_for_bit(with_what: str) -> None:
    theta = vectors(networks(G, A, dtype=torch.float32))
    stack = stacked(draw_problems(), dtype=torch.float32)
    given = {"penalty": PENALTIES["kl"], "anchor": far(theta)}[with_what]
    plain = train_stack(theta, stack, TrainingRecipe(20, 0.05), hidden=H)
    mixed = train_stack(
        theta, stack, TrainingRecipe(20, 0.05), hidden=H, strength=STRENGTH.float(), **{with_what: given}
    )
    equal = (mixed.theta == plain.theta).all(-1)
    assert torch.equal(equal, STRENGTH == 0)
    assert torch.equal(mixed.penalty_share > 0, STRENGTH > 0)


def test_minibatches_are_visited_in_an_order_of_the_seed() -> None:
    """One epoch against the loop over the parts in the order that torch's generator gives."""
    theta = vectors(networks(G, A))
    stack = stacked(draw_problems(), shuffle=0)
    recipe = TrainingRecipe(1, 0.05, batch_size=15, optimizer="sgd", momentum=0.0, seed=7)
    parts = minibatches(stack, 15)
    assert len(parts) > 4
    expected = theta
    for i in torch.randperm(len(parts), generator=torch.Generator().manual_seed(7)).tolist():
        step = TrainingRecipe(1, 0.05, optimizer="sgd", momentum=0.0)
        expected = train_stack(expected, parts[i], step, hidden=H).theta
    torch.testing.assert_close(train_stack(theta, stack, recipe, hidden=H).theta, expected, rtol=1e-12, atol=1e-13)


def test_same_seed_same_bytes_other_seed_other_bytes() -> None:
    theta = vectors(networks(G, A, dtype=torch.float32))
    stack = stacked(draw_problems(), shuffle=0, dtype=torch.float32)
    first, again, other = (
        train_stack(theta, stack, TrainingRecipe(5, 0.05, 12, seed=seed), hidden=H).theta for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_training_leaves_its_arguments_alone() -> None:
    theta = vectors(networks(G, A))
    anchor = far(theta)
    kept = [each.clone() for each in (theta, *anchor, STRENGTH, DECAY)]
    stack = stacked(draw_problems())
    train_stack(theta, stack, TrainingRecipe(3, 0.05), hidden=H, strength=STRENGTH, weight_decay=DECAY, anchor=anchor)
    assert all(
        torch.equal(before, after) for before, after in zip(kept, (theta, *anchor, STRENGTH, DECAY), strict=True)
    )


def test_an_infinite_value_fails_its_problem_in_the_first_epoch_and_no_other() -> None:
    problems = draw_problems()
    broken = problems[1]._replace(x=problems[1].x.copy())
    broken.x[3, 2] = float("inf")
    theta = vectors(networks(G, A, dtype=torch.float32))
    sound, hurt = (
        train_stack(theta, stacked(each, dtype=torch.float32), TrainingRecipe(10, 0.05), hidden=H, **terms)
        for terms in [{"strength": STRENGTH.float(), "penalty": PENALTIES["kl"]}]
        for each in (problems, [problems[0], broken])
    )
    assert hurt.diverged.tolist() == [[0, 0], [1, 1]]
    assert torch.equal(hurt.theta[0], sound.theta[0])
    assert not hurt.theta[1].isfinite().all(-1).any()


def test_a_model_that_grows_without_bound_is_marked_with_the_epoch() -> None:
    """Numbers too large for the learning rate: gradient descent overshoots further each time."""
    problems = draw_problems([(20, 20)] * 2, likelihood="numbers", outputs=1)
    wild = problems[1]._replace(x=problems[1].x * 3)
    theta = vectors(networks(G, A, F, 1, dtype=torch.float32))
    stack = stacked([problems[0], wild], "numbers", 1, shuffle=0, dtype=torch.float32)

    def fit(epochs: int, theta: Tensor = theta) -> Tensor:
        recipe = TrainingRecipe(epochs, 0.05, batch_size=20, optimizer="sgd")
        return train_stack(theta, stack, recipe, hidden=H).diverged

    epoch = int(fit(60)[1, 0])
    assert 1 < epoch < 60
    assert fit(60)[0].tolist() == [0, 0]
    assert fit(epoch)[1, 0] == epoch
    assert fit(epoch - 1)[1, 0] == 0


def test_parameters_broken_by_the_last_step_are_found() -> None:
    theta = vectors(networks(1, 1, dtype=torch.float32))
    recipe = TrainingRecipe(3, 1e38, optimizer="sgd")
    stack = stacked([draw_problem((9, 9))], dtype=torch.float32)
    assert [train_stack(theta, stack, recipe, hidden=H).diverged.item()] != [0]


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_stiff_anchor_holds_the_parameters(optimizer: str) -> None:
    theta = vectors(networks(G, A))
    anchor = Anchor(theta, torch.full_like(theta, 1e4))
    one = torch.ones(G, A, dtype=torch.float64)
    recipe = TrainingRecipe(400, {"adam": 1e-3, "sgd": 2e-5}[optimizer], optimizer=optimizer)
    stack = stacked(draw_problems())
    held = train_stack(theta, stack, recipe, hidden=H, strength=one, anchor=anchor).theta
    free = train_stack(theta, stack, TrainingRecipe(400, 1e-3), hidden=H).theta
    assert (held - theta).abs().max() < 1e-3
    assert (free - theta).abs().max() > 0.1


def test_an_anchor_free_of_stiffness_holds_nothing() -> None:
    theta = vectors(networks(G, A))
    anchor = Anchor(theta + 5, torch.zeros_like(theta))
    stack = stacked(draw_problems())
    held = train_stack(theta, stack, TrainingRecipe(10, 0.05), hidden=H, strength=STRENGTH, anchor=anchor)
    assert torch.equal(held.theta, train_stack(theta, stack, TrainingRecipe(10, 0.05), hidden=H).theta)


def test_the_penalty_lowers_what_it_penalises() -> None:
    theta = vectors(networks(G, A))
    stack = stacked(draw_problems())
    plain = train_stack(theta, stack, TrainingRecipe(200, 0.02), hidden=H)
    strength = torch.full((G, A), 0.1, dtype=torch.float64)
    corrected = train_stack(
        theta, stack, TrainingRecipe(200, 0.02), hidden=H, strength=strength, penalty=PENALTIES["kl"]
    )
    assert (penalty_of(corrected.theta, stack) < 0.5 * penalty_of(plain.theta, stack)).all()


@EVERY_KIND
def test_penalty_share_is_the_ratio_of_the_gradients_norms(likelihood: str, c: int) -> None:
    problem = draw_problem((5, 16, 4), likelihood=likelihood, outputs=c)
    ((model,),) = networks(1, 1, F, c)
    one = torch.ones(1, 1, dtype=torch.float64)
    stack = stacked([problem], likelihood, c)
    norms = []
    for strength in (0.0, 0.5):
        loss = objective(model, *tensors(problem), likelihood=likelihood, strength=strength)
        norms.append(torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))]))
    task, more = norms[0].norm(), (norms[1] - norms[0]).norm()
    terms = {"strength": 0.5 * one, "penalty": PENALTIES["kl"], "weight_decay": one}
    found = train_stack(vector(model)[None, None], stack, TrainingRecipe(1, 0.05), hidden=H, **terms).penalty_share
    torch.testing.assert_close(found[0, 0], more / (task + more), rtol=1e-10, atol=0)


def test_anchor_share_is_the_ratio_of_the_gradients_norms() -> None:
    problem = draw_problem((5, 16, 4))
    ((model,),) = networks(1, 1)
    theta = vector(model)[None, None]
    anchor, one = far(theta), torch.ones(1, 1, dtype=torch.float64)
    pull = (2 * 0.5 * (theta - anchor.mean) * anchor.fisher).norm()
    loss = objective(model, *tensors(problem))
    task = torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))]).norm()
    terms = {"strength": 0.5 * one, "anchor": anchor}
    found = train_stack(theta, stacked([problem]), TrainingRecipe(1, 0.05), hidden=H, **terms).penalty_share
    torch.testing.assert_close(found[0, 0], pull / (task + pull), rtol=1e-10, atol=0)


def test_whole_weights_are_repeated_rows() -> None:
    problem = draw_problem((30,))
    times = np.random.default_rng(0).integers(0, 4, 30)
    rows = np.repeat(np.arange(30), times)
    repeated = TrainingProblem(problem.x[rows], problem.y[rows], problem.fragment[rows])
    theta = vectors(networks(1, A))
    thetas = [
        train_stack(theta, stacked([one]), TrainingRecipe(40, 0.05), hidden=H).theta
        for one in (problem._replace(weight=times.astype(float)), repeated, problem)
    ]
    torch.testing.assert_close(thetas[0], thetas[1], rtol=1e-8, atol=1e-8)
    assert (thetas[0] - thetas[2]).abs().max() > 0.01


@pytest.mark.parametrize("batch_size", [None, 12])
def test_weights_that_are_all_alike_are_plain_training_bit_for_bit(batch_size: int | None) -> None:
    theta = vectors(networks(G, A, dtype=torch.float32))
    plain = draw_problems()
    alike = [problem._replace(weight=np.ones(len(problem.y))) for problem in plain]
    thetas = [
        train_stack(
            theta, stacked(each, shuffle=0, dtype=torch.float32), TrainingRecipe(10, 0.05, batch_size), hidden=H
        ).theta
        for each in (plain, alike)
    ]
    assert torch.equal(*thetas)


def test_how_many_problems_are_stacked_does_not_matter() -> None:
    problems = draw_problems([*UNEVEN, (30, 30, 30)])
    theta = vectors(networks(3, A))
    terms = {"strength": torch.full((3, A), 0.1, dtype=torch.float64), "penalty": PENALTIES["kl"]}
    together = train_stack(theta, stacked(problems), TrainingRecipe(20, 0.05), hidden=H, **terms).theta
    for g in range(3):
        alone = {**terms, "strength": terms["strength"][g : g + 1]}
        single = train_stack(
            theta[g : g + 1], stacked(problems[g : g + 1]), TrainingRecipe(20, 0.05), hidden=H, **alone
        )
        torch.testing.assert_close(together[g], single.theta[0], rtol=1e-9, atol=1e-9)


def test_as_many_problems_are_stacked_as_stay_within_the_cache() -> None:
    assert problems_per_stack(5000, 1, 4) * 5000 * 4 <= STACK_FLOATS
    assert (problems_per_stack(5000, 1, 4) + 1) * 5000 * 4 > STACK_FLOATS
    assert problems_per_stack(5000, 6, 4) == problems_per_stack(5000, 1, 24)
    assert problems_per_stack(10**9, 6, 4) == 1
