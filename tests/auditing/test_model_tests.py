import numpy as np
import pytest
import torch

from picsc.auditing.exchangeability import Contrast
from picsc.auditing.model_tests import label_sizes, label_sums, model_shift, moment_kl
from picsc.equations.divergence import PRIOR_PRECISION, fisher_kl

RNG = np.random.default_rng(0)
LABELS = RNG.integers(3, size=(4, 90))
REST = Contrast(3, (0, 1, 2), "rest")


def test_sums_by_label_are_the_loop() -> None:
    rows = torch.from_numpy(RNG.normal(size=(90, 5)))
    found = label_sums(rows, LABELS, REST)
    for draw in range(4):
        for label in range(3):
            torch.testing.assert_close(found[draw, label], rows[torch.from_numpy(LABELS[draw] == label)].sum(0))
    np.testing.assert_array_equal(label_sizes(LABELS, REST), [np.bincount(draw, minlength=3) for draw in LABELS])


def test_sums_by_many_labels_are_the_product_with_their_indicator() -> None:
    rows = torch.from_numpy(RNG.normal(size=(300, 2)))
    labels = RNG.integers(100, size=(3, 300))
    found = label_sums(rows, labels, Contrast(100, tuple(range(100)), "rest"))
    indicator = torch.nn.functional.one_hot(torch.from_numpy(labels), 100).double()
    torch.testing.assert_close(found, indicator.transpose(1, 2) @ rows)


def test_fisher_quantities_are_those_of_the_two_sides() -> None:
    gradient = torch.from_numpy(RNG.normal(size=(90, 7)))
    squares = gradient.square()
    pooled = squares.mean(0)
    found = model_shift(
        label_sums(gradient, LABELS, REST), label_sums(squares, LABELS, REST), label_sizes(LABELS, REST), pooled, REST
    )
    mine = torch.from_numpy(LABELS[1] == 2)
    piece, rest = squares[mine].mean(0), squares[~mine].mean(0)
    g = gradient[mine].mean(0) - gradient[~mine].mean(0)
    assert found.gap[1, 2].item() == pytest.approx((piece - rest).norm().item(), rel=1e-12)
    assert found.reference_norm[1, 2].item() == pytest.approx(rest.norm().item(), rel=1e-12)
    assert found.kl[1, 2].item() == pytest.approx(fisher_kl(piece, rest).item(), rel=1e-12)
    assert found.score[1, 2].item() == pytest.approx((g**2 / (pooled + PRIOR_PRECISION)).sum().item(), rel=1e-12)


def test_equal_halves_do_not_differ() -> None:
    gradient = torch.from_numpy(RNG.normal(size=(20, 3))).repeat(2, 1)
    labels = np.repeat([0, 1], 20)[None]
    contrast = Contrast(2, (0, 1), "rest")
    found = model_shift(
        label_sums(gradient, labels, contrast),
        label_sums(gradient.square(), labels, contrast),
        label_sizes(labels, contrast),
        gradient.square().mean(0),
        contrast,
    )
    assert max(each.abs().max().item() for each in (found.gap, found.kl, found.score)) < 1e-12


def test_moment_kl_of_a_moved_column() -> None:
    """Means 0 and 1 apart, variances near 1: KL near 1/2."""
    values = RNG.normal(size=(4000, 1))
    labels = (np.arange(4000) % 2)[None]
    values[labels[0] == 1] += 1.0
    x = torch.from_numpy(values)
    contrast = Contrast(2, (0, 1), "rest")
    sums, squares = label_sums(x, labels, contrast), label_sums(x.square(), labels, contrast)
    kl = moment_kl(sums, squares, label_sizes(labels, contrast)[..., None], contrast)
    assert kl[0, :, 0].tolist() == pytest.approx([0.5, 0.5], abs=0.1)


def test_equal_values_have_no_kl_whatever_their_number_and_spread() -> None:
    """Twenty values and the same three times over, within a thousandth of the spread of all rows."""
    values = torch.linspace(-1, 1, 20, dtype=torch.float64)[:, None] * 1e-3
    sums, squares = values.sum(0), values.square().sum(0)
    sides = [
        torch.stack([each, 3 * each])[None] for each in (sums, squares, torch.full((1,), 20.0, dtype=torch.float64))
    ]
    kl = moment_kl(*sides, Contrast(2, (0, 1), "rest"))
    assert kl.abs().max() < 1e-9


def test_moment_kl_of_a_side_without_values_is_zero() -> None:
    zeros = torch.zeros(1, 2, 1).double()
    sizes = torch.tensor([[[0.0], [5.0]]]).double()
    assert moment_kl(zeros, zeros + 1, sizes, Contrast(2, (0, 1), "rest")).tolist() == [[[0.0], [0.0]]]
