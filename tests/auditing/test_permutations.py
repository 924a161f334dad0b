import numpy as np
import pytest
import torch

from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.permutations import LabelDraws, label_draws

CONTRAST = Contrast(4, (0, 1, 2, 3), "rest")


def pieces(n: int) -> tuple[np.ndarray, np.ndarray, torch.Tensor]:
    """Labels, strata, and quantities: a normal one, one that a handful of rows dominate, and 1."""
    rng = np.random.default_rng(0)
    labels, strata = rng.integers(4, size=n), rng.integers(2, size=n)
    rare = np.zeros(n)
    rare[rng.permutation(n)[:12]] = 50.0
    quantities = np.column_stack([rng.normal(size=n) + 3 * strata, rare, np.ones(n)])
    return labels, strata, torch.from_numpy(quantities)


def drawn(rows: int, draws: int = 1500, scheme: PermutationScheme | None = None) -> LabelDraws:
    labels, strata, quantities = pieces(4000)
    return label_draws(
        lambda at: quantities[torch.from_numpy(at)],
        Design(labels, CONTRAST, scheme or PermutationScheme(strata=strata)),
        rows=rows,
        draws=draws,
        seed=0,
    )


def sums(rows: int, draws: int = 1500, scheme: PermutationScheme | None = None) -> torch.Tensor:
    return drawn(rows, draws, scheme).reduced(lambda each: each)


def test_observed_sums_are_the_whole_tables_whatever_the_subsample() -> None:
    labels, _, quantities = pieces(4000)
    expected = torch.stack([quantities[torch.from_numpy(labels == label)].sum(0) for label in range(4)])
    torch.testing.assert_close(sums(4000)[0], expected)
    torch.testing.assert_close(sums(400)[0], expected)


def apart(drawn: torch.Tensor) -> torch.Tensor:
    """Each label's means less those of all rows, (B, L, 2): what every statistic is a function of."""
    return drawn[..., :2] / drawn[..., 2:] - (drawn[..., :2].sum(1) / drawn[..., 2:].sum(1))[:, None]


def test_a_subsample_draws_differences_with_the_mean_and_spread_of_the_whole() -> None:
    """1500 draws know a mean to 0.026 and a spread to 2 %; an eighth is over five standard errors of the difference."""
    whole, part = apart(sums(4000)[1:]), apart(sums(400)[1:])
    spread = whole.std(0)
    assert ((part.mean(0) - whole.mean(0)).abs() <= 0.25 * spread).all()
    np.testing.assert_allclose(part.std(0), spread, rtol=0.125)


@pytest.mark.parametrize("rows", [400, 4000])
def test_draws_in_another_order_are_the_same_and_go_with_others(rows: int) -> None:
    null = drawn(rows, draws=200)
    here, there = (each.reduced(lambda each: each) for each in (null, null.in_another_order()))
    torch.testing.assert_close(there, here[torch.tensor([0, *range(2, 201), 1])])
    if null.standing is not None:
        moved = null.in_another_order().standing
        assert moved is not None
        torch.testing.assert_close(moved.rest[1:-1], null.standing.rest[2:])


def test_rows_that_dominate_a_quantity_are_all_kept() -> None:
    """Twelve rows of 50 in 4,000: a draw's sum is a multiple of 50, as in the whole, and the total never changes."""
    rare = sums(400)[1:, :, 1]
    np.testing.assert_allclose(rare / 50, (rare / 50).round(), atol=1e-6)
    assert len(rare.unique()) > 5


def test_sizes_are_those_of_the_whole_table() -> None:
    labels, _, _ = pieces(4000)
    expected = torch.from_numpy(np.bincount(labels)).double().expand(1501, 4)
    torch.testing.assert_close(sums(400)[..., 2], expected)


@pytest.mark.parametrize("rows", [4000, 600])
def test_units_stay_together(rows: int) -> None:
    units = np.arange(4000) // 20
    labels = units % 4
    quantities = torch.ones(4000, 1).double()
    null = label_draws(
        lambda at: quantities[torch.from_numpy(at)],
        Design(labels, CONTRAST, PermutationScheme(units=units)),
        rows=rows,
        draws=20,
        seed=0,
    )
    assert (null.reduced(lambda each: each)[1:] % 20 == 0).all()
