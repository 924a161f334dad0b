import numpy as np
import pandas as pd
import pytest
import torch

import picsc
from picsc.training.divergence import ABSURD, has_diverged, is_checked, largest_loss


def test_the_largest_loss_is_that_of_a_model_that_has_learned_nothing_many_times_over() -> None:
    y = torch.tensor([3.0, -3.0, 1.0, -1.0])
    assert largest_loss(y, None, "numbers", 1) == pytest.approx(ABSURD * 2.5)
    assert largest_loss(y / 100, None, "numbers", 1) == ABSURD  # never below 1 nat
    shares = torch.tensor([1.0, 0.0, 0.0, 0.0])
    assert largest_loss(y, shares, "numbers", 1) == pytest.approx(ABSURD * 4.5)
    assert largest_loss(y, None, "classes", 100) == pytest.approx(ABSURD * np.log(100))


def test_what_is_no_number_has_diverged() -> None:
    losses = torch.tensor([1.0, 2000.0, torch.inf, torch.nan])
    assert has_diverged(losses, torch.tensor(1000.0)).tolist() == [False, True, True, True]


def test_the_last_step_is_checked_whatever_its_number() -> None:
    for steps in range(1, 60):
        assert is_checked(steps - 1, steps, 1)
    assert sum(is_checked(step, 1000, 1) for step in range(1000)) < 70
    assert [step for step in range(20, 39) if is_checked(step, 1000, 6)] == [23, 29, 35]


@pytest.mark.parametrize("target", ["number", "class"])
@pytest.mark.parametrize("epochs", [4, 5, 40])
def test_models_that_diverge_among_the_finite_numbers_have_failed_whatever_the_epochs(target: str, epochs: int) -> None:
    """Gradient descent at such a rate multiplies its error in every step; after a few epochs it is still finite."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    frame["y"] = frame.a + 0.1 * rng.normal(size=80)
    lr = 30.0
    if target == "class":
        frame["y"], lr = np.where(frame.y > 0, "yes", "no"), 1e5
    report = picsc.cross_validate(
        frame, target="y", folds=4, repeats=1, epochs=epochs, optimizer="sgd", lr=lr, strength=0.1
    )
    for name in ("st-cv", "carried"):
        method = report.method(name)
        assert method is not None
        assert method.mean is None
        assert method.failed >= 4
        for unit in method.units:
            assert unit.diverged is not None
            assert 1 <= unit.diverged <= 3
            assert unit.reason == f"diverged at epoch {unit.diverged} with learning rate {lr:g}"
    assert report.failed > 0
    assert f"learning rate {lr:g}" in report.summary[2]
