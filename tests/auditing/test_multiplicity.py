import math

import numpy as np
import pytest
import torch
from scipy.stats import binom, chi2

from picsc.auditing.multiplicity import evidence, p_value, step_down


def test_p_value_counts_the_observed_draw_and_ties() -> None:
    draws = torch.tensor([[2.0], [3.0], [2.0], [1.0]])
    assert p_value(draws).tolist() == [0.75]
    assert p_value(torch.arange(10.0).flip(0)[:, None]).tolist() == [0.1]


def test_evidence_is_increasing_and_near_minus_log_p() -> None:
    generator = torch.Generator().manual_seed(0)
    draws = -2 * torch.rand(4001, 1, generator=generator, dtype=torch.float64).log()  # chi-square with 2 degrees
    draws[0] = 30.0
    found = evidence(draws).value[:, 0]
    assert torch.equal(found.argsort(), draws[:, 0].argsort())
    assert found[0].item() == pytest.approx(-math.log(chi2.sf(30, 2)), rel=0.15)


def test_evidence_inverts_in_its_tail() -> None:
    draws = torch.from_numpy(np.random.default_rng(0).chisquare(3, (1000, 2)))
    found = evidence(draws)
    torch.testing.assert_close(found.statistic_at(found.value.amax(0)), draws.amax(0))


@pytest.mark.parametrize(("scales", "gain"), [((1, 1, 1, 1, 1), 0.6), ((1, 2, 4, 8, 16), 1.1)])
def test_tails_of_alike_pieces_share_their_fit(scales: tuple[float, ...], gain: float) -> None:
    """How far out a value lies is known better from five tails than from one, and other tails do not distort it."""
    scale = torch.tensor(scales, dtype=torch.float64)
    alone, together = [], []
    for seed in range(60):
        draws = torch.from_numpy(np.random.default_rng(seed).exponential(size=(1000, 5))) * scale
        draws[0] = 8 * scale
        together.append(evidence(draws).value[0])
        alone.append(torch.cat([evidence(draws[:, k : k + 1]).value[0] for k in range(5)]))
    one, five = torch.stack(alone), torch.stack(together)
    assert (five.std(0) < gain * one.std(0)).all()
    assert (five.mean(0) - 8).abs().max() < 0.3


def test_a_statistic_that_never_varies_is_no_evidence() -> None:
    assert evidence(torch.full((100, 3), 7.0)).value.abs().max() == 0
    draws = torch.from_numpy(np.random.default_rng(0).exponential(size=(100, 3)))
    draws[:, 1] = 7.0
    found = evidence(draws).value
    assert found[:, 1].abs().max() == 0
    assert found[:, [0, 2]].isfinite().all()


def test_a_null_that_never_moves_says_nothing_about_the_observed_value() -> None:
    draws = torch.full((100, 1), 7.0)
    draws[0] = 9.0
    assert evidence(draws).value.abs().max() == 0


def test_mostly_zero_draws_do_not_hide_a_large_observed_value() -> None:
    draws = torch.zeros(1000, 1)
    draws[0], draws[7] = 1.0, 0.1
    found = evidence(draws).value
    assert p_value(found).item() == pytest.approx(0.001)


def test_step_down_is_between_the_smallest_and_bonferroni() -> None:
    rng = np.random.default_rng(1)
    draws = torch.from_numpy(rng.exponential(size=(1000, 5)))
    draws[0] = torch.tensor([9.0, 5.0, 1.0, 0.2, 6.0])
    adjusted, raw = step_down(draws), p_value(draws)
    assert (adjusted >= raw).all()
    assert (adjusted <= (5 * raw).clamp(max=1) + 0.01).all()
    assert torch.equal(adjusted.argsort(stable=True), raw.argsort(stable=True))


def test_step_down_equals_the_textbook_loop() -> None:
    draws = torch.from_numpy(np.random.default_rng(2).exponential(size=(300, 6)))
    order = draws[0].argsort(descending=True).tolist()
    expected, running = [0.0] * 6, 0.0
    for i, hypothesis in enumerate(order):
        largest = draws[:, order[i:]].amax(1)
        running = max(running, (largest >= draws[0, hypothesis]).double().mean().item())
        expected[hypothesis] = running
    np.testing.assert_allclose(step_down(draws), expected)


def test_family_wise_error_holds() -> None:
    """400 null families of 8 dependent hypotheses at level 0.1; the bound fails with probability 1e-7."""
    rng = np.random.default_rng(3)
    false = 0
    for _ in range(400):
        shared = rng.normal(size=(200, 1))
        draws = torch.from_numpy((rng.normal(size=(200, 8)) + shared) ** 2)
        false += bool((step_down(evidence(draws).value) <= 0.1).any())
    assert false <= binom.ppf(1 - 1e-7, 400, 0.1)


def test_an_excess_lowers_the_observed_value_alone() -> None:
    draws = torch.from_numpy(np.random.default_rng(0).exponential(size=200))
    draws[0] = 5.0
    lower = draws.clone()
    lower[0] = 4.0
    assert torch.equal(evidence(draws, 1.25).value, evidence(lower).value)
