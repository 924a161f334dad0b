from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from picsc.runtime.threads import one_thread
from picsc.weighting.diw import BLOCK, dynamic_weights, random_blocks


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("q", [1, 4, 20])
def test_rows_that_are_the_target_s_own_weigh_1(q: int) -> None:
    values = drawn(50, q)
    target = values[torch.randperm(50, generator=torch.Generator().manual_seed(1))]
    torch.testing.assert_close(dynamic_weights(values, target), torch.ones(50).double(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("q", [1, 20])
def test_equal_values_throughout_weigh_1(q: int) -> None:
    """0.1 has no exact mean: distances must not come from rounding."""
    assert torch.equal(dynamic_weights(torch.full((9, q), 0.1), torch.full((7, q), 0.1)), torch.ones(9))


@pytest.mark.parametrize("q", [1, 20])
def test_values_far_from_0_weigh_as_near_it(q: int) -> None:
    values, target = drawn(50, q), drawn(40, q, seed=1) + 0.5
    far = dynamic_weights(values + 1e7, target + 1e7)
    torch.testing.assert_close(far, dynamic_weights(values, target), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("q", [1, 20])
def test_rows_unlike_the_target_weigh_next_to_nothing(q: int) -> None:
    values = torch.cat([drawn(60, q), drawn(40, q, seed=1) + 6])
    weight = dynamic_weights(values, drawn(80, q, seed=2), iterations=50)
    assert weight.mean().item() == pytest.approx(1, abs=1e-12)
    assert weight.min() >= 0
    assert weight[60:].mean() < 0.05
    assert weight[:60].mean() > 1.6


def test_a_shift_of_known_ratio_is_found_in_direction() -> None:
    """Rows standard normal, target normal around 1: the true log-ratio is x - 1/2."""
    values = drawn(400, 1)
    weight = dynamic_weights(values, drawn(400, 1, seed=1) + 1, iterations=50)
    assert np.corrcoef(values[:, 0].exp(), weight)[0, 1] > 0.7


@pytest.mark.parametrize("q", [1, 20])
def test_one_batch_is_one_problem_at_a_time_and_padding_changes_nothing(q: int) -> None:
    values, target = drawn(3, 90, q), drawn(3, 70, q, seed=1) + 0.5
    mask = torch.arange(90) < torch.tensor([90, 75, 40])[:, None]
    of_target = torch.arange(70) < torch.tensor([70, 66, 70])[:, None]
    start = drawn(3, 90, seed=2).abs()
    values = values.masked_fill(~mask[..., None], 1e3)
    target = target.masked_fill(~of_target[..., None], -1e3)
    together = dynamic_weights(values, target, mask=mask, target_mask=of_target, start=start)
    assert (together[~mask] == 0).all()
    for i in range(3):
        n, m = int(mask[i].sum()), int(of_target[i].sum())
        alone = dynamic_weights(values[i, :n], target[i, :m], start=start[i, :n])
        torch.testing.assert_close(together[i, :n], alone, rtol=1e-8, atol=1e-8)
        assert together[i].sum().item() == pytest.approx(n, rel=1e-12)


def test_rows_that_are_there_only_in_the_middle_are_found() -> None:
    values, target = drawn(300, 1), drawn(90, 1, seed=1) + 0.5
    mask = torch.zeros(300, dtype=torch.bool)
    mask[100:180] = True
    weight = dynamic_weights(values, target, mask=mask)
    torch.testing.assert_close(weight[mask], dynamic_weights(values[mask], target), rtol=1e-8, atol=1e-8)


def test_no_rows_no_target_and_no_resemblance() -> None:
    values, target = drawn(2, 6, 1), drawn(2, 5, 1, seed=1)
    nobody = torch.zeros(2, 6, dtype=torch.bool)
    assert torch.equal(dynamic_weights(values, target, mask=nobody), torch.zeros(2, 6).double())
    no_target = torch.zeros(2, 5, dtype=torch.bool)
    assert torch.equal(dynamic_weights(values, target, target_mask=no_target), torch.ones(2, 6).double())
    start = torch.zeros(6).double()
    assert torch.equal(dynamic_weights(values[0], target[0], start=start, iterations=0), torch.ones(6).double())


def test_a_problem_that_left_the_finite_numbers_disturbs_no_other() -> None:
    values, target = drawn(2, 30, 1), drawn(2, 30, 1, seed=1) + 0.5
    alone = dynamic_weights(values[:1], target[:1])
    values[1] = torch.nan
    torch.testing.assert_close(dynamic_weights(values, target)[:1], alone, rtol=1e-12, atol=1e-12)


def test_blocks_cover_every_set_once_and_are_even() -> None:
    sets = [torch.arange(700), torch.arange(3), torch.arange(50) * 2]
    rows, there, of = random_blocks(sets, [torch.Generator().manual_seed(i) for i in range(3)])
    assert of.tolist() == [0, 0, 0, 1, 2]
    assert there.sum(1).tolist() == [234, 233, 233, 3, 50]
    assert rows.shape[1] <= BLOCK
    assert [rows[of == i][there[of == i]].sort().values.tolist() for i in range(3)] == [one.tolist() for one in sets]
    assert not torch.equal(rows[0][there[0]], torch.arange(234))


@pytest.mark.parametrize("q", [1, 12])
def test_a_few_rows_of_the_same_distribution_leave_weights_near_1(q: int) -> None:
    """60 draws; weights that match ten rows exactly would vary by more than 2 in each."""
    generator = torch.Generator().manual_seed(q)
    values, target = torch.randn(60, 200, q, generator=generator), torch.randn(60, 10, q, generator=generator)
    weights = dynamic_weights(values, target, iterations=200)
    assert float(weights.var(-1).median()) < 0.1


def test_much_of_a_large_difference_is_matched_all_the_same() -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.cat([torch.randn(100, 1, generator=generator), 8 + torch.randn(100, 1, generator=generator)])
    weights = dynamic_weights(values, torch.randn(10, 1, generator=generator), iterations=200)
    assert float(weights[100:].sum() / weights.sum()) < 0.1
