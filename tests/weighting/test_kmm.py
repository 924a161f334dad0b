"""The solver of kernel mean matching and the weights that it gives."""

import math

import pytest
import torch
from torch import Tensor

from picsc.errors import NumericsError, SettingsError
from picsc.weighting import diagnose
from picsc.weighting.kernels import gaussian, median_distance
from picsc.weighting.kmm import Stopping, kmm, noise_ridge, project, solve
from tests.mps_like import MPS, MpsLike
from tests.reference import mean_matching_by_small_steps


def normal(n: int, f: int, seed: int, shift: float = 0.0) -> Tensor:
    """Rows of independent normal columns, in float64."""
    return torch.randn(n, f, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + shift


def problem(n: int, m: int, f: int, shift: float, seed: int = 0) -> tuple[Tensor, Tensor]:
    """K and k of two shifted normal samples."""
    x, z = normal(n, f, seed), normal(m, f, seed + 1, shift)
    sigma = median_distance(x, z, seed=0)
    return gaussian(x, x, sigma), gaussian(x, z, sigma).sum(1) * n / m


def objective(gram: Tensor, towards: Tensor, b: Tensor) -> float:
    """1/2 b'Kb - k'b in float64."""
    b = b.double()
    return float(b @ gram.double() @ b / 2 - towards.double() @ b)


@pytest.mark.parametrize("shift", [0.0, 1.5])
@pytest.mark.parametrize(("bound", "slack"), [(1000.0, None), (3.0, 0.0), (2.0, 0.1), (1.5, None)])
def test_the_objective_is_that_of_plain_small_steps(shift: float, bound: float, slack: float | None) -> None:
    n = 40
    gram, towards = problem(n, 50, 3, shift)
    width = n * slack if slack is not None else n - math.sqrt(n)
    slow = mean_matching_by_small_steps(gram, towards, bound, n - width, n + width)
    fast = solve(gram, towards, bound=bound, slack=slack, stop=Stopping(tolerance=1e-7))
    best = objective(gram, towards, slow)
    assert objective(gram, towards, fast) <= best + 1e-5 * abs(best)
    assert fast.min() >= 0
    assert fast.max() <= bound + 1e-9
    assert abs(float(fast.sum()) - n) <= width + 1e-8


@pytest.mark.parametrize(("f", "shift"), [(1, 0.5), (5, 0.7), (30, 0.3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_allowed_weights_are_better_by_more_than_the_tolerance(f: int, shift: float, dtype: torch.dtype) -> None:
    n = 200
    gram, towards = problem(n, 200, f, shift)
    b = solve(gram.to(dtype), towards.to(dtype))
    best = solve(gram, towards, stop=Stopping(4000, 1e-10))
    gradient = gram @ best - towards
    assert float((gradient * best).abs().max()) < 1e-2 * n, "where a weight is not 0, its slope is (slab inactive)"
    assert float(gradient.min()) > -1e-3 * n, "no weight gains by growing"
    assert objective(gram, towards, b) <= (1 - 1e-4) * objective(gram, towards, best)


def test_identical_samples_keep_the_weight_1_that_they_start_with() -> None:
    x = normal(300, 4, 0)
    torch.testing.assert_close(kmm(x, x.clone(), seed=0), torch.ones(300, dtype=torch.float64), rtol=0, atol=1e-6)
    gram = gaussian(x, x, 2.0)
    found = solve(gram, gram.sum(1), start=normal(300, 1, 3)[:, 0].abs(), stop=Stopping(2000, 0))
    optimum = objective(gram, gram.sum(1), torch.ones(300))
    assert objective(gram, gram.sum(1), found) == pytest.approx(optimum, rel=1e-5)


def test_a_batch_is_solved_as_its_problems_are() -> None:
    problems = [problem(50, 40, 2, shift, seed) for seed, shift in enumerate((0.0, 0.4, 1.0))]
    grams, towards = (torch.stack(parts) for parts in zip(*problems, strict=True))
    together = solve(grams, towards, stop=Stopping(60, 0))
    for one, (gram, k) in zip(together, problems, strict=True):
        torch.testing.assert_close(one, solve(gram, k, stop=Stopping(60, 0)), rtol=1e-6, atol=1e-9)


def test_padding_has_weight_0_and_changes_nothing() -> None:
    gram, towards = problem(50, 40, 2, 0.6)
    padded, wide = torch.full((70, 70), 0.3, dtype=torch.float64), torch.full((70,), 9.0, dtype=torch.float64)
    padded[:50, :50], wide[:50] = gram, towards
    mask = (torch.arange(70) < 50).double()
    found = solve(padded, wide, mask=mask, stop=Stopping(60, 0))
    assert found[50:].tolist() == [0.0] * 20
    torch.testing.assert_close(found[:50], solve(gram, towards, stop=Stopping(60, 0)), rtol=1e-6, atol=1e-9)
    assert solve(padded, wide, mask=mask * 0, stop=Stopping(5, 0)).tolist() == [0.0] * 70


def test_a_warm_start_is_gone_on_from() -> None:
    gram, towards = problem(200, 200, 3, 0.8)
    best = solve(gram, towards, stop=Stopping(5000, 1e-9))
    cold, warm = (solve(gram, towards, start=start, stop=Stopping(3, 0)) for start in (None, best))
    gap = objective(gram, towards, cold) - objective(gram, towards, best)
    assert objective(gram, towards, warm) - objective(gram, towards, best) < 0.01 * gap


def test_a_projection_is_the_nearest_of_many_allowed_points() -> None:
    generator = torch.Generator().manual_seed(0)
    v = 4 * torch.randn(200, 6, generator=generator, dtype=torch.float64)
    upper = 2 * torch.rand(200, 6, generator=generator, dtype=torch.float64)
    least = upper.sum(1, keepdim=True) * 0.4
    most = least + 0.3
    found = project(v, upper, least, most)
    assert bool((found >= 0).all())
    assert bool((found <= upper).all())
    assert bool((found.sum(1, keepdim=True) >= least - 1e-9).all())
    assert bool((found.sum(1, keepdim=True) <= most + 1e-9).all())
    for _ in range(200):
        share = torch.rand(200, 6, generator=generator, dtype=torch.float64)
        other = upper * share
        other = other * (most / other.sum(1, keepdim=True)).clamp(max=1)
        allowed = (other.sum(1, keepdim=True) >= least).double()
        # The angle at the nearest point between v and any other allowed point is not acute.
        assert float((allowed * (v - found) * (other - found)).sum(1).max()) <= 1e-9


def test_the_kernel_is_the_gaussian_of_distances() -> None:
    x, z = torch.tensor([[0.0, 0.0], [3.0, 4.0]]).double(), torch.tensor([[0.0, 0.0], [0.0, 8.0]]).double()
    expected = torch.tensor([[1, math.exp(-64 / 8)], [math.exp(-25 / 8), math.exp(-25 / 8)]], dtype=torch.float64)
    torch.testing.assert_close(gaussian(x, z, 2.0), expected, rtol=1e-12, atol=1e-15)
    assert median_distance(x[:1], z[1:], seed=0) == 8
    assert median_distance(x, x[:1], seed=0) == 5
    assert median_distance(x[:1], x[:1], seed=0) == 1


def test_one_block_does_not_see_the_order_of_rows() -> None:
    """With a ridge the weights are unique; without one, others are as good to the last digits of the objective."""
    x, z = normal(150, 3, 0), normal(100, 3, 1, 0.5)
    order = torch.randperm(150, generator=torch.Generator().manual_seed(5))
    there, here = kmm(x[order], z, seed=0, sigma=2.0, ridge=1.0), kmm(x, z, seed=0, sigma=2.0, ridge=1.0)[order]
    torch.testing.assert_close(there, here, rtol=1e-5, atol=1e-8)


def test_every_block_has_mean_1_and_matches_the_targets() -> None:
    x, z = normal(1001, 1, 0), normal(800, 1, 1, 0.7)
    weights = kmm(x, z, seed=4, block=300)
    dealt = torch.randperm(1001, generator=torch.Generator().manual_seed(4)).tensor_split(4)
    assert [len(rows) for rows in dealt] == [251, 250, 250, 250]
    for rows in dealt:
        assert float(weights[rows].mean()) == pytest.approx(1, abs=1e-12)
        assert float((weights[rows] * x[rows, 0]).mean()) == pytest.approx(float(z.mean()), abs=0.1)
    assert not torch.equal(weights, kmm(x, z, seed=5, block=300))


def test_target_rows_are_matched_in_chunks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    x, z = normal(200, 3, 0), normal(150, 3, 1, 0.5)
    whole = kmm(x, z, seed=0)
    monkeypatch.setattr("picsc.weighting.kmm.CHUNK", 7)
    torch.testing.assert_close(kmm(x, z, seed=0), whole, rtol=1e-5, atol=1e-8)


def test_a_device_without_float64_gives_the_weights_of_the_cpu() -> None:
    """Weights that are as good: single ones are hardly determined, so that rounding moves them."""
    x, z = normal(120, 3, 0).float(), normal(90, 3, 1, 0.5).float()
    with MpsLike():
        there = kmm(x.to(MPS), z.to(MPS), seed=0, sigma=2.0)
        there = there.cpu()
    here = kmm(x, z, seed=0, sigma=2.0)
    gram, towards = gaussian(x, x, 2.0), gaussian(x, z, 2.0).sum(1) * 120 / 90
    assert there.dtype == torch.float32
    assert objective(gram, towards, there) == pytest.approx(objective(gram, towards, here), rel=1e-4)


def test_rows_out_of_reach_and_impossible_bounds_are_refused() -> None:
    x, z = normal(30, 1, 0), normal(30, 1, 1, 200.0)
    with pytest.raises(NumericsError, match="no training row is within reach of a target row at sigma 1:"):
        kmm(x, z, seed=0, sigma=1.0)
    with pytest.raises(SettingsError, match="need bound >= 1"):
        solve(gaussian(x, x, 1.0), x[:, 0], bound=0.5)
    assert diagnose(kmm(x, x, seed=0)).share == pytest.approx(1)


def gaussians(n: int, m: int, f: int, shift: float, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Training rows, target rows moved along the first column, and the true log-weights."""
    generator = torch.Generator().manual_seed(seed)
    x, z = torch.randn(n, f, generator=generator), torch.randn(m, f, generator=generator)
    z[:, 0] += shift
    return x, z, (shift * x[:, 0]).double()


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_of_the_same_distribution_leave_weights_near_1(seed: int) -> None:
    """Plain matching makes noise of them: its effective sample size is about m / (n + m)."""
    x, z, _ = gaussians(300, 30, 10, 0.0, seed)
    assert diagnose(kmm(x, z, seed=0)).share < 0.4
    assert diagnose(kmm(x, z, seed=0, ridge=None)).share > 0.85


def test_the_nearest_weights_to_1_find_a_shift_better_than_exact_ones() -> None:
    """Means over eight draws; the bounds are more than four standard errors below what 30 draws had."""
    found = []
    for seed in range(8):
        x, z, truth = gaussians(600, 120, 5, 0.6, seed)
        plain, held = kmm(x, z, seed=0), kmm(x, z, seed=0, ridge=None)
        agreement, of_plain = (
            float(torch.corrcoef(torch.stack([weights.clamp(min=1e-3).log(), truth]))[0, 1])
            for weights in (held, plain)
        )
        found.append([agreement, agreement - of_plain, float((held * x[:, 0]).mean())])
    agreement, gain, reached = torch.tensor(found).mean(0).tolist()
    assert agreement > 0.74
    assert gain > 0.3
    assert reached > 0.23  # on the way from 0 to 0.6


def test_the_ridge_takes_the_weighted_rows_to_where_noise_alone_would() -> None:
    x, z, _ = gaussians(400, 100, 4, 0.7, 1)
    width = 2.0
    gram, towards = gaussian(x, x, width), gaussian(x, z, width).sum(1) * 4
    target = gaussian(z, z, width)
    inner = float((target.sum() - 100) / 9900)
    ridge = noise_ridge(gram, towards, inner, 100)
    assert 0 < ridge < 400
    own = float((gram.sum() - 400) / (400 * 399))
    noise = (1 - own) / 400 + (1 - inner) / 100

    def distance(ridge: float) -> float:
        b = solve(gram + ridge * torch.eye(400), towards + ridge)
        return float((b * (gram @ b - 2 * towards)).sum() / 400**2 + target.mean())

    assert distance(ridge) <= noise < distance(2 * ridge)


def test_no_ridge_is_needed_where_rows_are_the_same_and_none_helps_far_away() -> None:
    x, z, _ = gaussians(100, 50, 2, 0.0, 0)
    same = gaussian(x, x, 1.5)
    assert noise_ridge(same, same.sum(1), float((same.sum() - 100) / 9900), 100) == float("inf")
    far = gaussian(x, z + 6, 1.5)
    of_target = gaussian(z, z, 1.5)
    assert noise_ridge(same, far.sum(1) * 2, float((of_target.sum() - 50) / 2450), 50) == 0.0
