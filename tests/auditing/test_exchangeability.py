import numpy as np
import pytest
import torch

from picsc.auditing.exchangeability import Contrast, PermutationScheme, draw_labels, subsample


def drawn(labels: np.ndarray, scheme: PermutationScheme, draws: int = 50, cells: int = 4_000_000) -> np.ndarray:
    return np.concatenate(list(draw_labels(labels, scheme, draws=draws, seed=3, cells=cells)))


def test_first_draw_is_what_was_observed_and_sizes_never_change() -> None:
    labels = np.repeat(np.arange(4), [5, 9, 1, 20])
    every = drawn(labels, PermutationScheme())
    assert every.shape == (51, 35)
    np.testing.assert_array_equal(every[0], labels)
    np.testing.assert_array_equal(np.sort(every, axis=1), np.tile(labels, (51, 1)))
    assert (every[1:] != labels).any(1).all()


def test_strata_keep_their_labels() -> None:
    rng = np.random.default_rng(0)
    labels, strata = rng.integers(3, size=200), rng.integers(4, size=200)
    every = drawn(labels, PermutationScheme(strata=strata))
    for stratum in range(4):
        inside = every[:, strata == stratum]
        np.testing.assert_array_equal(np.sort(inside, axis=1), np.tile(np.sort(inside[0]), (51, 1)))


def test_units_move_as_a_whole() -> None:
    units = np.repeat(np.arange(30), np.arange(1, 31))
    labels = (units % 5).astype(np.int64)
    every = drawn(labels, PermutationScheme(units=units))
    for unit in range(30):
        inside = every[:, units == unit]
        assert (inside == inside[:, :1]).all()


def test_every_permutation_is_equally_likely() -> None:
    """Two labels on 4 rows: 6 arrangements, each expected 1000 times; chi-square beyond 40.9 has probability 1e-7."""
    every = drawn(np.array([0, 0, 1, 1]), PermutationScheme(), draws=6000)[1:]
    _, counts = np.unique(every, axis=0, return_counts=True)
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 40.9


def test_subsample_is_proportional_within_strata() -> None:
    rng = np.random.default_rng(0)
    labels, strata = rng.integers(3, size=30_000), rng.integers(2, size=30_000)
    kept = subsample(labels, PermutationScheme(strata=strata), rows=3_000, seed=0)
    assert (np.diff(kept) > 0).all()
    whole = np.bincount(labels * 2 + strata)
    np.testing.assert_allclose(np.bincount(labels[kept] * 2 + strata[kept]), whole / 10, atol=1.01)


def test_small_tables_are_not_subsampled() -> None:
    np.testing.assert_array_equal(
        subsample(np.zeros(50, np.int64), PermutationScheme(), rows=50, seed=0), np.arange(50)
    )


@pytest.mark.parametrize("reference", ["rest", (2, 0, 1)])
def test_contrast_splits_sums(reference: object) -> None:
    sums = torch.arange(24.0).reshape(2, 3, 4)
    piece, other = Contrast(3, (0, 1, 2), reference).split(sums)  # type: ignore[arg-type]
    torch.testing.assert_close(piece, sums)
    expected = {"rest": sums.sum(1, keepdim=True) - sums}.get(str(reference), sums[:, [2, 0, 1]])
    torch.testing.assert_close(other, expected)
