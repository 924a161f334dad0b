import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from picsc.evaluation.paired_tests import (
    Paired,
    compare_across_datasets,
    difference_interval,
    future_t,
    holdout_t,
    repeats_t,
    resampled_t,
    rows_and_repeats_t,
    rows_t,
    score_interval,
)
from picsc.reports.common import Interval


def test_resampled_t_equals_the_formula() -> None:
    differences = np.random.default_rng(0).normal(0.02, 0.05, size=(5, 10))
    found = resampled_t(differences, 20, 180)
    assert found is not None
    t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 50 + 1 / 9))
    half = stats.t.ppf(0.975, 49) * abs(differences.mean() / t)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 49), rel=1e-12)
    assert found.mean == differences.mean()
    assert found.interval.low == pytest.approx(differences.mean() - half, rel=1e-12)
    assert found.interval.high == pytest.approx(differences.mean() + half, rel=1e-12)


def test_without_overlap_it_is_the_ordinary_paired_test() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 12))
    found, ordinary = repeats_t(a - b), stats.ttest_rel(a, b)
    assert found is not None
    assert found.p == pytest.approx(ordinary.pvalue, rel=1e-12)
    interval = ordinary.confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high), rel=1e-12)
    assert rows_t(a, b) == found


def test_p_is_5_percent_where_the_interval_ends_at_zero() -> None:
    differences = np.random.default_rng(2).normal(size=(3, 5))
    found = resampled_t(differences, 1, 4)
    assert found is not None
    moved = resampled_t(differences - found.interval.low, 1, 4)
    assert moved is not None
    assert moved.p == pytest.approx(0.05, rel=1e-9)


def test_failed_units_are_left_out_with_their_rows() -> None:
    differences = np.array([[0.1, np.nan, 0.3], [0.0, 0.2, np.nan]])
    test_rows, train_rows = np.array([10, 90, 10]), np.array([90, 10, 90])
    found = resampled_t(differences, test_rows, train_rows)
    assert found == resampled_t(np.array([[0.1, 0.3, 0.0, 0.2]]), 120, 280)


def test_fewer_than_two_units_give_nothing() -> None:
    assert resampled_t(np.array([[0.1, np.nan]]), 1, 4) is None
    assert resampled_t(np.full((2, 2), np.nan), 1, 4) is None
    assert repeats_t(np.array([0.1])) is None
    assert rows_t(np.array([1.0, np.nan]), np.array([0.0, 1.0])) is None
    assert compare_across_datasets(np.array([0.9]), np.array([0.8])) is None


def test_equal_differences_are_no_evidence_or_no_test() -> None:
    assert resampled_t(np.zeros((2, 5)), 1, 4) == Paired(0, Interval(0, 0), 1.0)
    thirds = np.array([[0.1 + 0.2 - 0.3, 0.0]])  # zero but for rounding
    zero = resampled_t(thirds, 1, 4)
    assert zero is not None
    assert zero.p == 1
    same = repeats_t(np.full(3, 0.25))
    assert same == Paired(
        0.25,
        None,
        None,
        "all 3 differences are equal: they have no spread to compare their mean with",
    )


def test_rows_are_paired() -> None:
    rng = np.random.default_rng(3)
    hard = rng.random(400)  # the same rows are hard for both
    a = (rng.random((20, 400)) > hard).mean(0)
    b = np.clip(a - 0.01 * rng.random(400), 0, 1)
    found = rows_t(a, b)
    assert found is not None
    assert found.p is not None
    assert found.p < 1e-6
    assert stats.ttest_ind(a, b).pvalue > 0.5


def test_signed_ranks_equal_scipy_where_it_is_exact() -> None:
    for seed in range(20):
        a, b = np.random.default_rng(seed).normal(size=(2, 17))
        found = compare_across_datasets(a, b)
        assert found is not None
        assert found.wilcoxon_p == pytest.approx(stats.wilcoxon(a, b, method="exact").pvalue, rel=1e-9)


def p_by_enumeration(differences: NDArray[np.float64]) -> float:
    """Share of all sign patterns whose signed ranks are at least as far from 0; ties of methods keep no sign."""
    ranks = stats.rankdata(np.abs(differences))[differences != 0]
    signs = np.sign(differences[differences != 0])
    sums = np.array([np.dot(ranks, pattern) for pattern in itertools.product([-1, 1], repeat=len(ranks))])
    return float(np.mean(np.abs(sums) >= abs(np.dot(ranks, signs))))


@pytest.mark.parametrize("seed", range(10))
def test_signed_ranks_with_ties_equal_all_sign_patterns(seed: int) -> None:
    hundredths = np.random.default_rng(seed).integers(-3, 5, size=9)
    level = np.linspace(0.1, 0.9, 9)  # equal differences of unequal results differ by rounding
    found = compare_across_datasets(level + hundredths / 100, level)
    assert found is not None
    assert found.wilcoxon_p == pytest.approx(p_by_enumeration(hundredths.astype(np.float64)), rel=1e-12)
    counts = (hundredths > 0).sum(), (hundredths == 0).sum(), (hundredths < 0).sum()
    assert (found.wins, found.ties, found.losses) == counts


def test_methods_that_tie_everywhere_are_equal() -> None:
    found = compare_across_datasets(np.full(5, 0.7), np.full(5, 0.7))
    assert found is not None
    assert (found.wilcoxon_p, found.t.p) == (1.0, 1.0)
    assert (found.wins, found.ties, found.losses) == (0, 5, 0)


def test_better_on_every_set_is_the_smallest_p_there_is() -> None:
    gains = np.random.default_rng(4).random(24) + 0.01
    found = compare_across_datasets(gains, np.zeros(24))
    assert found is not None
    assert found.wilcoxon_p == pytest.approx(2 / 2**24, rel=1e-9)
    missing = compare_across_datasets(np.append(gains, np.nan), np.zeros(25))
    assert missing == found


FOLDS, REPEATS, ROWS, TABLES = 5, 4, 60, 2000


def null_differences() -> NDArray[np.float64]:
    """Fold accuracies of two methods that are equally good on average, (TABLES, REPEATS, FOLDS).

    Both learn a nearest class mean, one from the first half of the features, one from the second; all features are
    alike. A model's own luck with its training rows is what neighbouring folds share.
    """
    rng = np.random.default_rng(5)
    y = np.tile([0.0, 1.0], ROWS // 2)
    x = rng.normal(size=(TABLES, ROWS, 12)) + 0.35 * (2 * y[:, None] - 1)
    result = np.empty((TABLES, REPEATS, FOLDS))
    for repeat in range(REPEATS):
        for fold, test in enumerate(np.array_split(rng.permutation(ROWS), FOLDS)):
            train = np.setdiff1d(np.arange(ROWS), test)
            one, zero = train[y[train] == 1], train[y[train] == 0]
            means = x[:, one].mean(1), x[:, zero].mean(1)
            margin = (x[:, test] - (means[0] + means[1])[:, None] / 2) * (means[0] - means[1])[:, None]
            right = [(margin[..., half].sum(-1) > 0) == (y[test] == 1) for half in (slice(6), slice(6, 12))]
            result[:, repeat, fold] = right[0].mean(-1) - right[1].mean(-1)
    return result


def rejected(p: float | None) -> bool:
    return p is not None and p < 0.05


def test_the_correction_holds_the_level_that_the_ordinary_test_breaks() -> None:
    """Bound: P(more rejections | level 5 %) < 1e-6, so that any seed passes."""
    corrected = ordinary = 0
    for table in null_differences():
        found, naive = resampled_t(table, ROWS / FOLDS, ROWS - ROWS / FOLDS), repeats_t(table.reshape(-1))
        assert found is not None
        assert naive is not None
        corrected += rejected(found.p)
        ordinary += rejected(naive.p)
    bound = stats.binom.isf(1e-6, TABLES, 0.05)
    assert corrected <= bound
    assert ordinary > bound


def test_the_correction_keeps_power() -> None:
    found = resampled_t(np.random.default_rng(6).normal(0.04, 0.03, size=(5, 10)), 20, 180)
    assert found is not None
    assert rejected(found.p)


def test_the_tests_over_sets_hold_their_level() -> None:
    """Bound as above."""
    rng = np.random.default_rng(7)
    both = [compare_across_datasets(*np.round(rng.normal(0.8, 0.05, size=(2, 27)), 2)) for _ in range(1000)]
    bound = stats.binom.isf(1e-6, 1000, 0.05)
    assert sum(found is not None and found.wilcoxon_p < 0.05 for found in both) <= bound
    assert sum(found is not None and rejected(found.t.p) for found in both) <= bound


def test_redrawn_test_rows_have_the_correction_of_rows_and_of_pieces() -> None:
    differences = np.random.default_rng(8).normal(0.02, 0.03, size=(4, 6))
    found = holdout_t(differences, 20, 80)
    assert found is not None
    means = differences.mean(1)
    pieces = np.mean(np.diff(differences, axis=1) ** 2) / 2 / 6
    error = np.sqrt(means.var(ddof=1) * (1 / 4 + 1 / 4) + pieces * 0.6 / 0.8)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(means.mean()) / error, 3), rel=1e-12)
    assert found.half == pytest.approx(stats.t.ppf(0.975, 3) * error, rel=1e-12)


def test_repeats_beyond_those_that_test_every_row_change_degrees_of_freedom_alone() -> None:
    """With a fifth of the rows tested, 1/J is at least a fifth."""
    means = np.random.default_rng(9).normal(size=(20, 1))
    found = holdout_t(means, 20, 80)
    assert found is not None
    error = np.sqrt(means.var(ddof=1) * (1 / 5 + 1 / 4))
    assert found.half == pytest.approx(stats.t.ppf(0.975, 19) * error, rel=1e-12)


def test_a_trend_along_the_pieces_is_no_luck_with_training_rows() -> None:
    noise = np.random.default_rng(10).normal(0, 0.01, size=(5, 20))
    flat, rising = (holdout_t(noise + trend, 20, 80) for trend in (0.1, np.linspace(0, 0.2, 20)))
    assert flat is not None
    assert rising is not None
    assert flat.half == pytest.approx(rising.half, rel=0.25)


def test_pieces_without_a_result_are_left_out_of_the_mean_and_of_its_variance() -> None:
    whole = np.random.default_rng(11).normal(size=(3, 5))
    whole[:, 3] = np.nan
    whole = np.concatenate([whole, np.full((1, 5), np.nan)])
    assert holdout_t(whole, 1, 4) == holdout_t(whole[:3][:, [0, 1, 2, 4]], 1, 4)
    assert holdout_t(whole[2:], 1, 4) is None


def test_rows_and_repeats_add_their_variances() -> None:
    rng = np.random.default_rng(0)
    rows, repeats = rng.normal(0.1, 1, 50), rng.normal(0.1, 0.2, 4)
    found = rows_and_repeats_t([rows], repeats)
    assert found is not None
    parts = [rows.var(ddof=1) / 50, repeats.var(ddof=1) / 4]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 49 + parts[1] ** 2 / 3)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    assert found.mean == pytest.approx(repeats.mean())
    assert found.interval.high - found.mean == pytest.approx(half)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(repeats.mean()) / np.sqrt(sum(parts)), freedom))


def test_one_repeat_is_tested_over_rows_and_several_targets_share_the_mean() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=30), rng.normal(size=20)
    alone = rows_and_repeats_t([a], np.array([a.mean()]))
    both = rows_and_repeats_t([a, b], np.array([(a.mean() + b.mean()) / 2]))
    assert alone is not None
    assert both is not None
    assert alone.p == pytest.approx(stats.ttest_1samp(a, 0).pvalue)
    error = np.sqrt(a.var(ddof=1) / 30 / 4 + b.var(ddof=1) / 20 / 4)
    freedom = error**4 / ((a.var(ddof=1) / 120) ** 2 / 29 + (b.var(ddof=1) / 80) ** 2 / 19)
    assert both.interval.high - both.mean == pytest.approx(stats.t.ppf(0.975, freedom) * error)


def test_rows_and_repeats_without_spread_or_rows() -> None:
    assert rows_and_repeats_t([np.zeros(5)], np.zeros(3)) == Paired(0.0, Interval(0.0, 0.0), 1.0, "")
    same = rows_and_repeats_t([np.full(5, 0.2)], np.full(3, 0.2))
    assert same is not None
    assert (same.p, same.reason) == (None, "all rows and repeats agree")
    assert rows_and_repeats_t([np.array([0.1, np.nan])], np.array([0.1])) is None
    assert rows_and_repeats_t([np.ones(5)], np.array([np.nan])) is None


def test_rows_and_repeats_is_conservative_where_nothing_differs() -> None:
    """Rows tested in half of the repeats each; the bound is that of 400 runs at 5 %, as above."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(400):
        by_row = rng.normal(size=60)
        seeds = rng.normal(scale=0.1, size=6)
        halves = [rng.permutation(60)[:30] for _ in range(6)]
        repeats = np.array([by_row[half].mean() + seed for half, seed in zip(halves, seeds, strict=True)])
        total = rows_and_repeats_t([by_row], repeats)
        assert total is not None
        assert total.p is not None
        rejected += total.p < 0.05
    assert rejected <= stats.binom.isf(1e-6, 400, 0.05)


def test_an_interval_of_an_accuracy_is_inside_the_possible_and_holds_the_mean() -> None:
    for accuracies in ([[0.99, 1.0, 1.0, 0.97, 0.95]], [[0.0, 0.02, 0.3]], [[0.5, 0.52, 0.48, 0.5, 0.51]]):
        values = np.array(accuracies)
        found = score_interval(resampled_t(values, 1, 4), "accuracy")
        assert found is not None
        assert 0 <= found.low < values.mean() < found.high <= 1


def test_the_interval_of_an_accuracy_is_students_where_bounds_are_far() -> None:
    of_score = repeats_t(np.array([0.49, 0.5, 0.51, 0.5]))
    assert of_score is not None
    assert of_score.interval is not None
    found = score_interval(of_score, "accuracy")
    assert found is not None
    assert found.low == pytest.approx(of_score.interval.low, abs=1e-3)
    assert found.high == pytest.approx(of_score.interval.high, abs=1e-3)


@pytest.mark.parametrize("values", [[-0.4, -0.5, -0.3], [0.9, 0.99, 0.999], [-30.0, 0.5, 0.9]])
def test_an_interval_of_r2_is_below_one_and_never_reversed(values: list[float]) -> None:
    found = score_interval(repeats_t(np.array(values)), "R2")
    assert found is not None
    assert found.low < np.mean(values) < found.high < 1


def test_fewer_than_three_results_have_a_test_and_no_interval() -> None:
    two = repeats_t(np.array([0.806, 0.81]))
    assert two is not None
    assert two.p is not None
    assert (two.interval, score_interval(two, "accuracy")) == (None, None)
    assert score_interval(repeats_t(np.full(5, 0.9)), "accuracy") is None  # equal results have no spread


def test_a_difference_of_accuracies_is_at_most_one_and_of_r2_any_number() -> None:
    found = repeats_t(np.array([0.9, -0.9, 0.8]))
    assert difference_interval(found, "accuracy") == Interval(-1.0, 1.0)
    assert found is not None
    assert difference_interval(found, "R2") == found.interval
    assert difference_interval(None, "R2") is None


def test_the_interval_of_a_future_is_that_of_as_many_pieces() -> None:
    means = np.array([0.7, 0.8, 0.75, np.nan, 0.9])
    found = future_t(means)
    known = means[np.isfinite(means)]
    assert found is not None
    assert found.mean == pytest.approx(known.mean())
    assert found.half == pytest.approx(stats.t.ppf(0.975, 3) * known.std(ddof=1) * np.sqrt(2 / 4))
    assert future_t(np.array([0.7])) is None
