from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.stats import binom, hypergeom

from picsc.auditing import null_statistics
from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme
from picsc.auditing.ks_and_g_tests import Coded, code_levels, count
from picsc.auditing.long_tables.rare_codes import rare_rows
from picsc.auditing.long_tables.scaled_counts import drawn_counts
from picsc.auditing.multiplicity import evidence, step_down
from picsc.auditing.permutations import label_draws

N, EVENTS = 4_000, 12
MadeColumns = Callable[[np.random.Generator], tuple[Coded, ...]]
CONTRAST = Contrast(4, (0, 1, 2, 3), "rest")


def column() -> Coded:
    """Three common levels, and one that few rows have."""
    rng = np.random.default_rng(1)
    codes = rng.choice(3, N, p=[0.6, 0.3, 0.1])
    codes[rng.permutation(N)[:EVENTS]] = 3
    return code_levels("level", codes, 4)


def drawn(labels: Ints, rows: int, scheme: PermutationScheme, draws: int = 1500) -> torch.Tensor:
    """Counts (B + 1, L, t) of that column."""
    null = label_draws(
        lambda at: torch.ones(len(at), 1).double(),
        Design(labels, CONTRAST, scheme),
        rows=rows,
        draws=draws,
        seed=0,
        rare=rare_rows([column()], labels=4, rows=rows),
    )
    return torch.cat([counts.double() for counts in drawn_counts(column(), null)])


SCHEMES = {
    "rows": PermutationScheme(),
    "strata": PermutationScheme(strata=np.arange(N) % 2),
    "units": PermutationScheme(units=np.arange(N) // 5),
}


def labels_of(scheme: str) -> Ints:
    rng = np.random.default_rng(0)
    return np.repeat(rng.permutation(N // 5) % 4, 5) if scheme == "units" else rng.permutation(N) % 4


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_counts_of_a_subsample_are_those_of_all_rows(scheme: str) -> None:
    """1,500 draws know a mean to 0.026 standard deviations and a deviation to 2 %; a sample of 400 rows knows the
    shares of a code to a few percent."""
    labels = labels_of(scheme)
    whole, part = (drawn(labels, rows, SCHEMES[scheme]) for rows in (N, 400))
    torch.testing.assert_close(part[0], whole[0])
    torch.testing.assert_close(part.sum(-1), whole[:1].sum(-1).expand(1501, 4), atol=0.01, rtol=0)
    apart = [each[1:] - each[1:].mean(1, keepdim=True) for each in (whole, part)]
    spread = apart[0][..., :4].std(0)
    assert ((apart[1] - apart[0])[..., :4].mean(0).abs() <= 0.25 * spread).all()
    np.testing.assert_allclose(apart[1][..., :4].std(0), spread, rtol=0.2)


def test_rare_levels_have_the_very_distribution_of_all_rows() -> None:
    """Whole numbers, and rarely all in one piece; the bound of the largest distance of 1,500 draws has p < 1e-6."""
    rare = drawn(labels_of("rows"), 400, PermutationScheme())[1:, 1, 3]
    assert (rare == rare.round()).all()
    seen = np.array([(rare <= k).double().mean() for k in range(EVENTS)])
    assert np.abs(seen - hypergeom(N, EVENTS, N // 4).cdf(range(EVENTS))).max() < 0.07


def test_the_observed_counts_are_those_of_the_whole_table() -> None:
    labels = labels_of("rows")
    torch.testing.assert_close(
        drawn(labels, 400, PermutationScheme(), draws=9)[0], count(column(), labels[None], CONTRAST)[0].double()
    )


def events(rng: np.random.Generator) -> tuple[Coded, ...]:
    """Four columns of 10 events each in 8,000 rows."""
    codes = np.repeat([1, 0], [10, 7_990])
    return tuple(code_levels(f"event {j}", rng.permutation(codes), 2) for j in range(4))


def words(rng: np.random.Generator) -> tuple[Coded, ...]:
    """One column of 60 levels, by Zipf's law; the rarest have about 10 of 8,000 rows."""
    return (code_levels("word", (rng.zipf(1.5, 8_000) - 1).clip(max=59), 60),)


@pytest.mark.parametrize("columns_of", [events, words])
def test_rare_levels_of_a_long_table_are_no_shift(
    columns_of: Callable[[np.random.Generator], tuple[Coded, ...]],
) -> None:
    """Two of ten events are left in an eighth of the rows, and whatever chance does to ten looks large beside them.

    At level 0.05 more than 9 of 60 have probability 2e-3; a null of the eighth alone called 30 of the events.
    """
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        inputs = null_statistics.TestInputs(
            columns=columns_of(rng),
            target=None,
            beside=(),
            encoded=np.zeros((8_000, 1), np.float32),
            contributions=lambda at: torch.zeros(len(at), 1),
            parameters=0,
            f_numeric=0,
            rows_per_draw=1_000,
        )
        labels = rng.permutation(8_000) % 4
        rare = rare_rows(inputs.every_column, labels=4, rows=1_000)
        design = Design(labels, CONTRAST, PermutationScheme())
        null = label_draws(inputs.contributions, design, rows=1_000, draws=99, seed=seed, rare=rare)
        drawn_columns = null_statistics.columns_of(inputs, null)
        p_columns = step_down(evidence(drawn_columns.joint).value)
        p_kl = step_down(evidence(null.effective * drawn_columns.kl).value)
        alarms += bool(torch.cat([p_columns, p_kl]).min() <= 0.025)
    assert alarms <= 9
    assert binom.sf(9, 60, 0.05) < 2e-3
