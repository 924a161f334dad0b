import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, ks_2samp

from picsc.auditing.exchangeability import Contrast
from picsc.auditing.ks_and_g_tests import (
    Coded,
    ColumnShiftTest,
    code_levels,
    code_numbers,
    count,
    g_statistic,
    shift,
    tell_kinds_apart,
)
from picsc.auditing.wide_ks import scan_columns, sorted_scan
from picsc.datasets.columns.exact import Absent

RNG = np.random.default_rng(0)
REST = Contrast(3, (0, 1, 2), "rest")


@pytest.mark.parametrize("contrast", [REST, Contrast(3, (1, 2), (0, 1)), Contrast(3, (0, 1), (2, 2))])
@pytest.mark.parametrize("digits", [0, 1, 6])
def test_ks_is_scipys(contrast: Contrast, digits: int) -> None:
    values = RNG.normal(size=240).round(digits)
    values[RNG.permutation(240)[:20]] = np.nan
    labels = RNG.integers(3, size=240)
    column = code_numbers("x", values)
    found = shift(column, count(column, labels[None], contrast), contrast)
    for k, piece in enumerate(contrast.pieces):
        other = labels != piece if contrast.reference == "rest" else labels == contrast.reference[k]
        mine, theirs = values[labels == piece], values[other]
        mine, theirs = mine[~np.isnan(mine)], theirs[~np.isnan(theirs)]
        expected = ks_2samp(mine, theirs).statistic
        assert found.effect[0, k].item() == pytest.approx(expected, abs=1e-6)
        size = 1 / (1 / len(mine) + 1 / len(theirs))
        assert found.statistic[0, k].item() == pytest.approx(size * expected**2, rel=1e-4)


def test_quantile_codes_stay_within_a_256th_of_the_exact_distance() -> None:
    values = RNG.normal(size=6000)
    labels = (RNG.random(6000) < 0.4).astype(np.int64)
    values[labels == 1] += 0.2
    column = code_numbers("x", values)
    contrast = Contrast(2, (0, 1), "rest")
    found = shift(column, count(column, labels[None], contrast), contrast).effect[0, 0].item()
    exact = ks_2samp(values[labels == 0], values[labels == 1]).statistic
    assert exact - 1 / 256 <= found <= exact + 1e-6


def test_g_is_scipys_likelihood_ratio() -> None:
    table = RNG.integers(1, 40, (2, 5))
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    found = g_statistic(torch.from_numpy(table[0]).double(), torch.from_numpy(table[1]).double())
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_missing_values_are_tested_apart_and_never_drop_a_row_of_another_column() -> None:
    values = np.arange(100.0)
    values[:30] = np.nan
    labels = np.repeat([0, 1], 50).astype(np.int64)
    contrast = Contrast(2, (0, 1), "rest")
    column = code_numbers("x", values)
    found = shift(column, count(column, labels[None], contrast), contrast)
    assert found.missing_effect[0, 0].item() == pytest.approx(0.6)
    assert found.effect[0, 0].item() == 1.0  # 30..49 against 50..99
    assert found.missing_kl[0, 0] > 0


@pytest.mark.parametrize("scanned", [False, True])
def test_kinds_of_missing_values_are_told_apart(scanned: bool) -> None:
    """Empty cells of the first piece against a word in the second: the missing rates agree, the kinds do not."""
    values = np.tile(np.arange(50.0), 2)
    values[[0, 1, 2, 3, 4, 50, 51, 52, 53, 54]] = np.nan
    words = np.full(100, -1, np.int32)
    words[50:55] = 0
    labels = np.repeat([0, 1], 50).astype(np.int64)
    contrast = Contrast(2, (0, 1), "rest")

    def tested(column: Coded) -> ColumnShiftTest:
        if scanned:
            return scan_columns([column], sorted_scan(labels[None], contrast))[0]
        return shift(column, count(column, labels[None], contrast), contrast)

    plain = code_numbers("x", values)
    together, apart = tested(plain), tested(tell_kinds_apart(plain, Absent(("unknown",), words)))
    assert together.missing_effect[0, 0].item() == 0
    assert apart.missing_effect[0, 0].item() == pytest.approx(0.1)
    assert apart.missing_statistic[0, 0] > 10
    assert apart.missing_kl[0, 0] > 0
    assert torch.equal(apart.effect, together.effect)
    alone = tested(tell_kinds_apart(plain, Absent(("unknown",), np.where(np.isnan(values), 0, -1).astype(np.int32))))
    assert [each[0, 0].item() for each in alone] == [each[0, 0].item() for each in together]


def test_a_piece_without_values_has_no_effect_and_no_evidence() -> None:
    values = np.r_[np.full(40, np.nan), np.arange(60.0)]
    labels = np.repeat([0, 1, 2], [40, 30, 30]).astype(np.int64)
    column = code_numbers("x", values)
    found = shift(column, count(column, labels[None], REST), REST)
    assert found.effect[0, 0].isnan()
    assert found.statistic[0, 0] == 0
    assert found.statistic.isfinite().all()


def test_levels_use_total_variation() -> None:
    codes = np.repeat([0, 1, 0, 1, -1], [30, 10, 20, 20, 20]).astype(np.int32)
    labels = np.repeat([0, 1], [40, 60]).astype(np.int64)
    column = code_levels("c", codes, 2)
    contrast = Contrast(2, (0, 1), "rest")
    found = shift(column, count(column, labels[None], contrast), contrast)
    assert found.effect[0, 0].item() == pytest.approx(0.25)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), min_size=1, max_size=60))
def test_codes_keep_the_order_of_any_numbers(values: list[float]) -> None:
    x = np.array(values)
    column = code_numbers("x", x)
    present = ~np.isnan(x)
    assert (column.codes[~present] == column.t - 1).all()
    assert (column.codes[present] < column.t - 1).all() or not present.any()
    order = np.argsort(x[present], kind="stable")
    assert (np.diff(column.codes[present][order]) >= 0).all()
