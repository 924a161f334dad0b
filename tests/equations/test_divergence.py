import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Normal, kl_divergence

from picsc.equations.divergence import categorical_kl, fisher_gap, fisher_kl, gaussian_kl, smoothed_variance

torch.set_default_dtype(torch.float32)


@pytest.fixture
def pairs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.rand(6, 9, generator=generator, dtype=torch.float64) + 0.1 for _ in range(2))


def test_gaussian_kl_is_torchs(pairs: tuple[torch.Tensor, torch.Tensor]) -> None:
    p, q = pairs
    expected = kl_divergence(Normal(p, q.sqrt()), Normal(q, p.sqrt()))
    torch.testing.assert_close(gaussian_kl(p, q, q, p), expected, rtol=1e-12, atol=1e-14)


def test_fisher_kl_is_that_of_the_cramer_rao_gaussians(pairs: tuple[torch.Tensor, torch.Tensor]) -> None:
    p, q = pairs
    theta = torch.zeros_like(p)
    expected = kl_divergence(Normal(theta, (p + 0.01).rsqrt()), Normal(theta, (q + 0.01).rsqrt())).sum(-1)
    torch.testing.assert_close(fisher_kl(p, q), expected, rtol=1e-12, atol=1e-14)


def test_categorical_kl_is_torchs_after_jeffreys_smoothing() -> None:
    p, q = torch.tensor([[3.0, 0.0, 7.0]]).double(), torch.tensor([[1.0, 4.0, 5.0]]).double()
    expected = kl_divergence(Categorical(p + 0.5), Categorical(q + 0.5))
    torch.testing.assert_close(categorical_kl(p, q), expected, rtol=1e-7, atol=0)


def test_equal_arguments_have_no_divergence(pairs: tuple[torch.Tensor, torch.Tensor]) -> None:
    p, _ = pairs
    assert fisher_gap(p, p).abs().max() == 0
    assert fisher_kl(p, p).abs().max() == 0
    assert gaussian_kl(p, p, p, p).abs().max() == 0
    assert categorical_kl(p, p).abs().max() == 0


def test_fisher_gap_is_the_frobenius_norm(pairs: tuple[torch.Tensor, torch.Tensor]) -> None:
    p, q = pairs
    np.testing.assert_allclose(fisher_gap(p, q), np.linalg.norm(p.numpy() - q.numpy(), axis=-1), rtol=1e-12)


def test_level_missing_from_the_reference_stays_finite() -> None:
    assert categorical_kl(torch.tensor([0.0, 30.0]), torch.tensor([100.0, 0.0])).isfinite()


def test_equal_values_keep_a_variance() -> None:
    zero, one = torch.zeros(()), torch.ones(())
    assert smoothed_variance(zero, torch.tensor(9.0), one) == pytest.approx(0.1)
