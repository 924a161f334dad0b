from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from picsc.equations.penalties import (
    PENALTIES,
    Anchor,
    cramer_rao,
    cramer_rao_gradient,
    pairwise_kl,
    pairwise_kl_gradient,
    smooth,
)
from tests.reference import PENALTIES_BY_LOOP

EVERY = pytest.mark.parametrize("name", PENALTIES)


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Fisher informations over four orders of magnitude, some of them exactly 0, as dead units have."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randn(*shape, generator=generator, dtype=torch.float64).mul(2).exp()
    return sizes * (torch.rand(*shape, generator=generator) > 0.1)


class Touched(TorchDispatchMode):
    """Counts the entries of all tensors that operations read or write."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.entries += sum(value.numel() for value in (*args, result) if isinstance(value, Tensor))
        return result


def touched(of: Callable[[Tensor], Tensor], fishers: Tensor) -> int:
    with Touched() as count:
        of(fishers)
    return count.entries


@EVERY
@pytest.mark.parametrize("k", [2, 3, 10])
def test_value_is_the_loop_over_fragments(name: str, k: int) -> None:
    fishers = draw(k, 23)
    torch.testing.assert_close(PENALTIES[name].value(fishers), PENALTIES_BY_LOOP[name](fishers), rtol=1e-12, atol=1e-13)


@EVERY
def test_a_batch_of_models_is_each_model(name: str) -> None:
    fishers = draw(2, 3, 4, 7)
    values, gradients = PENALTIES[name].value(fishers), PENALTIES[name].gradient(fishers)
    assert values.shape == (2, 3)
    assert gradients.shape == fishers.shape
    torch.testing.assert_close(values[1, 2], PENALTIES[name].value(fishers[1, 2]), rtol=1e-14, atol=0)
    torch.testing.assert_close(gradients[1, 2], PENALTIES[name].gradient(fishers[1, 2]), rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", ["kl", "frobenius"])
def test_equal_fragments_cost_nothing_and_pull_nowhere(name: str) -> None:
    equal = draw(1, 23).expand(6, 23)
    assert PENALTIES[name].value(equal).abs() < 1e-11
    assert PENALTIES[name].gradient(equal).abs().max() < 1e-11
    assert PENALTIES[name].value(draw(6, 23)) > 1


def test_trace_is_lambda_times_the_information() -> None:
    assert PENALTIES["trace"].value(torch.tensor([[1.0, 2.0], [3.0, 6.0]])) == 6


@EVERY
def test_order_of_fragments_does_not_matter(name: str) -> None:
    fishers = draw(5, 9)
    torch.testing.assert_close(
        PENALTIES[name].value(fishers.flip(0)), PENALTIES[name].value(fishers), rtol=1e-13, atol=0
    )


@EVERY
def test_gradient_is_autograds_of_the_loop(name: str) -> None:
    fishers = draw(5, 9).requires_grad_()
    (expected,) = torch.autograd.grad(PENALTIES_BY_LOOP[name](fishers), fishers)
    torch.testing.assert_close(PENALTIES[name].gradient(fishers.detach()), expected, rtol=1e-11, atol=1e-12)


@EVERY
def test_gradient_passes_gradcheck(name: str) -> None:
    penalty = PENALTIES[name]

    class Checked(torch.autograd.Function):
        """The penalty with the gradient that training uses."""

        @staticmethod
        def forward(ctx, fishers):
            ctx.save_for_backward(fishers)
            return penalty.value(fishers)

        @staticmethod
        def backward(ctx, above):
            return above[..., None, None] * penalty.gradient(*ctx.saved_tensors)

    fishers = (draw(2, 3, 4) + 0.1).requires_grad_()
    assert torch.autograd.gradcheck(Checked.apply, (fishers,))
    assert torch.autograd.gradcheck(penalty.value, (fishers,))


@EVERY
@pytest.mark.parametrize("part", ["value", "gradient"])
def test_a_thousand_fragments_cost_per_fragment_what_ten_do(name: str, part: str) -> None:
    of = getattr(PENALTIES[name], part)
    ten, thousand = (touched(of, draw(k, 50)) / k for k in (10, 1000))
    assert 0 < thousand <= ten


def test_the_count_of_entries_sees_a_double_loop() -> None:
    four, forty = (touched(PENALTIES_BY_LOOP["kl"], draw(k, 5)) / k for k in (4, 40))
    assert forty > 5 * four


def test_gradients_leave_the_fishers_alone() -> None:
    fishers = draw(5, 9)
    before = fishers.clone()
    pairwise_kl_gradient(fishers)
    pairwise_kl(fishers)
    assert torch.equal(fishers, before)


def test_smoothing_a_constant_fisher_forgets_the_start_geometrically() -> None:
    """Eq. 15 from eps I under a constant I_t: alpha^t eps + (1 - alpha^t) I."""
    fisher, alpha, eps = draw(11), 0.9, 1e-3
    smoothed = torch.full_like(fisher, eps)
    for t in range(1, 30):
        smoothed = smooth(smoothed, fisher, alpha)
        torch.testing.assert_close(smoothed, alpha**t * eps + (1 - alpha**t) * fisher, rtol=1e-12, atol=1e-15)


def test_minimiser_of_a_quadratic_loss_with_the_anchor() -> None:
    """Eq. 16 without a factor 1/2: (A + 2 lam diag I)^-1 (A a + 2 lam diag(I) mu)."""
    d, lam = 6, 0.3
    root = torch.randn(d, d, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    A, a, mu, fisher = root @ root.T, draw(d, seed=2), draw(d, seed=3), draw(d, seed=4)
    anchor = Anchor(mu, fisher)

    def loss(theta: Tensor) -> Tensor:
        return 0.5 * (theta - a) @ A @ (theta - a) + lam * cramer_rao(theta, anchor)

    start = torch.zeros(d, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(loss(start), start)
    newton = start.detach() - torch.linalg.solve(torch.autograd.functional.hessian(loss, start), slope)
    expected = torch.linalg.solve(A + 2 * lam * fisher.diag(), A @ a + 2 * lam * fisher * mu)
    torch.testing.assert_close(newton, expected, rtol=1e-9, atol=1e-10)
    residual = A @ (expected - a) + lam * cramer_rao_gradient(expected, anchor)
    torch.testing.assert_close(residual, torch.zeros_like(residual), rtol=0, atol=1e-9)


def test_anchor_term_and_its_gradient() -> None:
    theta = draw(2, 3, 5).requires_grad_()
    anchor = Anchor(draw(2, 3, 5, seed=1), draw(2, 3, 5, seed=2))
    values = cramer_rao(theta, anchor)
    assert values.shape == (2, 3)
    (expected,) = torch.autograd.grad(values.sum(), theta)
    torch.testing.assert_close(cramer_rao_gradient(theta.detach(), anchor), expected, rtol=1e-13, atol=0)
    assert cramer_rao(anchor.mean, anchor).abs().max() == 0
