"""The audit from summaries: known numbers, its level on equal clients, its power on shifted ones."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency
from torch import Tensor

from picsc.datasets.encoding import Covariates, of_numbers
from picsc.equations.covariate_kl import part_kl
from picsc.equations.divergence import fisher_gap
from picsc.equations.moment_kl import Moments, moments_kl
from picsc.errors import DataError, NumericsError
from picsc.federated.client_summary import Summary
from picsc.federated.summary_tests import ClientVerdict, run_client_tests
from picsc.fisher.diagonal import empirical_fisher, row_scores
from picsc.runtime.threads import one_thread
from picsc.training.networks import mlp
from tests.federations import summary_of

SIZES = (20, 50, 200, 600)
MIXED = Covariates((0, 1), (2,), ((3, 6),))


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


def mixed_rows(n: int, generator: torch.Generator) -> Tensor:
    """Two numbers, one of them with a long tail, a missing flag, and three levels of which one is rare."""
    z = torch.randn(n, 2, generator=generator)
    z[:, 1] = (z[:, 1].exp() - 1.65) / 2.16
    gone = (torch.rand(n, 1, generator=generator) < 0.1).float()
    level = torch.multinomial(torch.tensor([0.7, 0.27, 0.03]), n, True, generator=generator)
    return torch.cat([z, gone, torch.nn.functional.one_hot(level, 3).float()], 1)


def clients(seed: int, kind: str) -> tuple[list[Tensor], list[Tensor], Covariates]:
    """Rows and labels of one distribution, dealt to clients of SIZES."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(sum(SIZES), 10, generator=generator) if kind == "normal" else mixed_rows(sum(SIZES), generator)
    y = (torch.rand(len(x), generator=generator) < (2 * x[:, 0] + x[:, 1]).sigmoid()).long()
    return list(x.split(SIZES)), list(y.split(SIZES)), of_numbers(10) if kind == "normal" else MIXED


def audited(xs: Sequence[Tensor], ys: Sequence[Tensor], covariates: Covariates, seed: int) -> tuple[ClientVerdict, ...]:
    """Train a network on all rows for a while, summarise every client, test all."""
    x, y = torch.cat(list(xs)), torch.cat(list(ys))
    model = mlp(x.shape[1], 2, 4, seed=seed)
    adam = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(25):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        adam.step()
    summaries = [
        summary_of(
            [row_scores(model, x_k, y_k).square()],
            x_k,
            covariates,
            seed=10 * seed + k,
            label_counts=y_k.bincount(minlength=2),
        )
        for k, (x_k, y_k) in enumerate(zip(xs, ys, strict=True))
    ]
    return run_client_tests(summaries, covariates)


def scored(n: int, seed: int = 0, d: int = 7) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=generator).square(), mixed_rows(n, generator)


def test_client_and_rest_are_those_of_the_pooled_rows() -> None:
    xs, ys, covariates = clients(3, "mixed")
    model = mlp(6, 2, 4, seed=0)
    summaries = [
        summary_of([row_scores(model, x, y).square()], x, covariates, seed=0) for x, y in zip(xs, ys, strict=True)
    ]
    found = run_client_tests(summaries, covariates)[1]
    rest_x, rest_y = torch.cat([xs[0], *xs[2:]]), torch.cat([ys[0], *ys[2:]])
    rest = empirical_fisher(model, rest_x, rest_y)
    gap = fisher_gap(empirical_fisher(model, xs[1], ys[1]), rest)
    kl = moments_kl(moments(xs[1]), moments(rest_x), covariates)
    assert found.n == 50
    assert found.fisher_gap == pytest.approx(float(gap), rel=1e-5)
    assert found.fisher_gap_relative == pytest.approx(float(gap / rest.norm()), rel=1e-5)
    assert found.kl == pytest.approx(float(kl), rel=1e-5)
    assert found.tau == pytest.approx(float(gap * kl), rel=1e-5)


def moments(x: Tensor) -> Moments:
    wide = x.double()
    return Moments(torch.tensor([float(len(x))], dtype=torch.float64), wide.sum(0), wide.square().sum(0))


def test_numbers_have_the_covariate_kl_of_rows() -> None:
    x = torch.randn(90, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    first = (torch.arange(90) < 30).double()
    by_rows = part_kl(x, first[None], of_numbers(4))[0]
    torch.testing.assert_close(moments_kl(moments(x[:30]), moments(x[30:]), of_numbers(4)), by_rows)


def test_levels_have_the_kl_of_shares_with_a_pooled_row_each() -> None:
    first, rest = torch.tensor([[1.0, 0.0]] * 3 + [[0.0, 1.0]]), torch.tensor([[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 4)
    p = torch.tensor([3 + 0.5, 1 + 0.5], dtype=torch.float64) / 5
    q = torch.tensor([2 + 0.5, 4 + 0.5], dtype=torch.float64) / 7
    torch.testing.assert_close(
        moments_kl(moments(first), moments(rest), Covariates((), (), ((0, 2),))), (p * (p / q).log()).sum()
    )


def test_equal_distributions_of_unequal_sizes_have_no_kl() -> None:
    x = mixed_rows(40, torch.Generator().manual_seed(1))
    assert float(moments_kl(moments(x), moments(x.repeat(25, 1)), Covariates((), (2,), ((3, 6),)))) < 1e-12


def test_constants_and_levels_that_nobody_has_add_nothing() -> None:
    x = torch.cat([torch.full((30, 1), 7.3), torch.zeros(30, 2)], 1)
    assert float(moments_kl(moments(x[:4]), moments(x[4:]), Covariates((0,), (), ((1, 3),)))) == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 60), st.lists(st.integers(0, 60), max_size=4), st.integers(0, 2**31))
def test_chunks_do_not_matter(n: int, cuts: list[int], seed: int) -> None:
    squares, x = scored(n, seed)
    ends = sorted({0, n, *(cut for cut in cuts if cut < n)})
    chunks = [squares[start:stop] for start, stop in pairwise(ends)]
    whole, cut = (summary_of(part, x, MIXED, seed=1, draws=9, most_rows=40) for part in ([squares], iter(chunks)))
    for field in ("fisher", "means", "variances", "gap_halves", "kl_halves"):
        torch.testing.assert_close(getattr(cut, field), getattr(whole, field))


def test_halves_are_even_distinct_and_of_a_bounded_number_of_rows() -> None:
    squares, x = torch.eye(31), torch.randn(31, 2, generator=torch.Generator().manual_seed(0))
    found = summary_of([squares], x, of_numbers(2), seed=0, draws=5, most_rows=21)
    assert found.halves_n == 20
    torch.testing.assert_close(found.gap_halves, torch.full((5,), 20**0.5 / 10))  # 20 rows, each +1/10 or -1/10
    assert len(found.kl_halves.unique()) == 5


def test_nothing_that_is_sent_grows_with_the_rows() -> None:
    sizes = []
    for n in (40, 4000):
        squares, x = scored(n)
        found = summary_of([squares], x, MIXED, seed=0, label_counts=torch.tensor([n, 0, 0]))
        tensors = [value for field in fields(found) if isinstance(value := getattr(found, field.name), Tensor)]
        assert found.bytes == 4 * (7 + 6 + 6 + 99 + 99 + 3 + 2) == 4 * (sum(each.numel() for each in tensors) + 2)
        assert all(
            each.dtype == torch.float32 and each.untyped_storage().nbytes() == 4 * each.numel() for each in tensors
        )
        sizes.append(found.bytes)
    assert sizes[0] == sizes[1]


def test_same_seed_same_halves_other_seed_others() -> None:
    squares, x = scored(100)
    one, same, other = (summary_of([squares], x, MIXED, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.halves, same.halves)
    assert not torch.equal(one.halves, other.halves)


def test_a_tiny_client_is_never_flagged_and_says_why() -> None:
    tiny, rest = ([*scored(n, seed=n)] for n in (3, 100))
    summaries = [
        summary_of([tiny[0] * 1000], tiny[1] + 50, MIXED, seed=0),
        summary_of([rest[0]], rest[1], MIXED, seed=1),
    ]
    found = run_client_tests(summaries, MIXED)
    assert (found[0].p, found[0].p_adjusted, found[0].p_gap, found[0].fires) == (None, None, None, False)
    assert found[0].reason == "3 rows make no halves with a variance: need 4"
    assert found[1].reason == ""
    assert run_client_tests([summaries[0], summaries[0]], MIXED)[1].p is None


def test_p_gamma_and_trigger_agree() -> None:
    for seed in range(3):
        xs, ys, covariates = clients(seed, "normal")
        for found in audited([xs[0], xs[1] + 0.3, *xs[2:]], ys, covariates, seed):
            assert found.fires == (found.p <= 0.05)
            assert 0.01 <= found.p <= found.p_adjusted <= 1


@pytest.mark.parametrize("kind", ["normal", "mixed"])
def test_equal_clients_are_flagged_no_more_often_than_the_level(kind: str) -> None:
    """Audits share nothing: at a true rate of 0.05 a bound is passed once in 10 million seeds (binomial tail)."""
    audits = 40
    found = [audited(*clients(1000 + seed, kind), seed) for seed in range(audits)]
    most = binom.ppf(1 - 1e-7, audits, 0.05)
    for k in range(len(SIZES)):
        assert sum(each[k].fires for each in found) <= most
    for p in ("p_adjusted", "p_gap", "p_kl", "label_p_adjusted"):
        assert sum(min(getattr(client, p) for client in each) <= 0.05 for each in found) <= most


def test_halves_predict_tau_of_unequal_clients() -> None:
    """Without long tails the scaled null is right at its middle: p at most 0.5 in 24 to 64 % of clients.

    The share is 0.44 with a standard error of 0.035, since clients of an audit are not independent.
    """
    ps = [client.p for seed in range(100) for client in audited(*clients(2000 + seed, "normal"), seed)[1:]]
    assert 0.24 < sum(p <= 0.5 for p in ps) / len(ps) < 0.64


def test_a_moved_column_is_seen_in_the_covariates() -> None:
    fired = moved = labels = 0
    for seed in range(8):
        xs, ys, covariates = clients(seed, "normal")
        xs[2][:, 0] += 0.8
        found = audited(xs, ys, covariates, seed)
        fired += found[2].fires
        moved += found[2].p_kl <= 0.05
        labels += found[2].label_p_adjusted <= 0.05
    assert fired >= 7
    assert moved >= 7
    assert labels <= 5  # the labels were drawn before the column moved: 6 of 8 at level 0.05 have probability 4e-7


def test_flipped_labels_are_seen_by_the_model_alone() -> None:
    matters = moved = 0
    for seed in range(8):
        xs, ys, covariates = clients(seed, "normal")
        ys[2] = 1 - ys[2]
        found = audited(xs, ys, covariates, seed)[2]
        matters += found.p_gap <= 0.05
        moved += found.p_kl <= 0.05
    assert matters >= 7
    assert moved <= 5


def test_other_class_frequencies_are_found() -> None:
    squares, x = scored(100)
    counts = [torch.tensor([50, 50, 0]), torch.tensor([52, 48, 0]), torch.tensor([80, 20, 0])]
    found = run_client_tests(
        [summary_of([squares], x, MIXED, seed=k, label_counts=c) for k, c in enumerate(counts)], MIXED
    )
    p = chi2_contingency([[80, 20], [102, 98]], correction=False).pvalue
    assert found[2].label_p == pytest.approx(p)
    assert found[2].label_p_adjusted == pytest.approx(3 * p)
    assert found[2].label_kl > 3 * found[0].label_kl
    assert found[2].fisher_gap == pytest.approx(0, abs=1e-6)
    assert found[2].tau == 0


def test_labels_of_one_class_or_without_counts_show_nothing() -> None:
    squares, x = scored(20)
    bare = summary_of([squares], x, MIXED, seed=0)
    assert run_client_tests([bare, bare], MIXED)[0].label_p is None
    alike = summary_of([squares], x, MIXED, seed=0, label_counts=torch.tensor([20, 0]))
    assert run_client_tests([alike, alike], MIXED)[0].label_p == 1


def test_summaries_that_do_not_fit_are_refused() -> None:
    squares, x = scored(20)
    fit = summary_of([squares], x, MIXED, seed=0)
    with pytest.raises(DataError, match="20 rows of features and 19 rows of squared scores"):
        summary_of([squares[:19]], x, MIXED, seed=0)
    with pytest.raises(DataError, match="0 rows of features"):
        summary_of([squares[:0]], x[:0], MIXED, seed=0)
    with pytest.raises(NumericsError, match="not finite"):
        summary_of([squares / 0], x, MIXED, seed=0)
    with pytest.raises(DataError, match="at least 2 clients"):
        run_client_tests([fit], MIXED)
    for changed, message in (
        (summary_of([squares[:, :5]], x, MIXED, seed=0), "client 1 has 5 parameters: need 7"),
        (summary_of([squares], x[:, :3], of_numbers(3), seed=0), "client 1 has 3 features: need 6"),
        (summary_of([squares], x, MIXED, seed=0, draws=19), "client 1 has 19 draws: need 99"),
    ):
        with pytest.raises(DataError, match=message):
            run_client_tests([fit, changed], MIXED)


def test_a_summary_cannot_be_changed() -> None:
    squares, x = scored(10)
    found: Summary = summary_of([squares], x, MIXED, seed=0)
    with pytest.raises(AttributeError):
        found.n = 3  # type: ignore[misc]
