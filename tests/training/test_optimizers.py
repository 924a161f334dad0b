"""The exact step of a quadratic term, on problems whose minimum is known."""

import pytest
import torch
from torch import Tensor

from picsc.training.optimizers import AdamState, Pull, SgdState, adam_step, proximal_step, sgd_length, sgd_step

CURVATURE = torch.tensor([0.5, 1.0, 2.0, 4.0], dtype=torch.float64)
MINIMUM = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
CENTER = torch.tensor([0.0, 1.0, 0.5, -1.0], dtype=torch.float64)
RELATIVE = torch.tensor([1.0, 0.1, 0.0, 3.0], dtype=torch.float64)


def trained(optimizer: str, stiffness: Tensor, steps: int, momentum: float = 0.9) -> Tensor:
    """Steps on curvature / 2 (theta - minimum)^2, whose gradient is known, with a pull."""
    theta, pulls = torch.zeros(4, dtype=torch.float64), [Pull(CENTER, stiffness)]
    adam, sgd = AdamState([theta.clone()], [theta.clone()]), SgdState([theta.clone()])
    for step in range(steps):
        gradient = CURVATURE * (theta - MINIMUM)
        if optimizer == "adam":
            adam_step([theta], [gradient], adam, lr=0.1 / (1 + step / 50), pulls=pulls)
        else:
            sgd_step([theta], [gradient], sgd, lr=0.02, momentum=momentum, pulls=pulls)
    return theta


@pytest.mark.parametrize("multiplier", [0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize(("optimizer", "momentum"), [("adam", 0.9), ("sgd", 0.9), ("sgd", 0.0)])
def test_training_ends_where_the_whole_gradient_is_0(optimizer: str, momentum: float, multiplier: float) -> None:
    stiffness = multiplier * RELATIVE
    closed_form = (CURVATURE * MINIMUM + stiffness * CENTER) / (CURVATURE + stiffness)
    found = trained(optimizer, stiffness, 3000, momentum)
    torch.testing.assert_close(found, closed_form, rtol=0, atol=2e-3 if optimizer == "adam" else 1e-8)


def test_one_step_minimises_the_term_and_the_distance() -> None:
    theta, stiffness = torch.zeros(4, dtype=torch.float64), 7 * RELATIVE
    proximal_step(theta, Pull(CENTER, stiffness), 0.3)
    slope = stiffness * (theta - CENTER) + (theta - 0) / 0.3
    torch.testing.assert_close(slope, torch.zeros(4, dtype=torch.float64), rtol=0, atol=1e-12)


def test_a_small_pull_is_a_step_along_its_gradient_to_first_order() -> None:
    plain, stiffness = trained("sgd", 0 * RELATIVE, 1, 0.0), 1e-3 * RELATIVE
    moved = trained("sgd", stiffness, 1, 0.0) - plain
    torch.testing.assert_close(moved, -0.02 * stiffness * (plain - CENTER), rtol=1e-4, atol=1e-12)


def test_a_pull_without_stiffness_changes_no_bit() -> None:
    theta = torch.rand(4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    kept = theta.clone()
    proximal_step(theta, Pull(CENTER, torch.zeros(4, dtype=torch.float64)), 0.3)
    assert torch.equal(theta, kept)


def test_the_length_of_a_step_with_momentum_sums_its_weights() -> None:
    assert sgd_length(0.0, 5) == 1
    assert sgd_length(0.9, 1) == pytest.approx(1)
    assert sgd_length(0.9, 3) == pytest.approx(1 + 0.9 + 0.81)
