"""Integrated autocorrelation times against theory, and independent rows that must not be called dependent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from picsc.datasets.table import Column, Target
from picsc.fragments.dependence import Dependence, Layout, autocovariances, dependence, integrated_time

Array = np.ndarray


def stream(n: int, phi: float, seed: int = 0) -> Array:
    """A stationary autoregression of order one with a standard deviation of 1."""
    noise = np.random.default_rng(seed).normal(size=n) * np.sqrt(1 - phi**2)
    noise[0] /= np.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise))


def layout(n: int, pieces: int, per_time: int = 1) -> Layout:
    piece = np.arange(n) * pieces // n
    return Layout(np.arange(n), piece, None if per_time == 1 else np.arange(n) // per_time)


def numbers(name: str, x: Array) -> Column:
    return Column(name, "numeric", x)


def found(x: Array, pieces: int = 5) -> Dependence | None:
    return dependence([numbers("x", x)], layout(len(x), pieces))


@pytest.mark.parametrize("phi", [0.5, 0.8, 0.9, 0.95])
def test_the_time_of_an_autoregression_is_that_of_theory(phi: float) -> None:
    """Ranks remember a little less than values do: 0.965 phi becomes (6 / pi) arcsin(phi / 2)."""
    rank = 6 / np.pi * np.arcsin(phi ** np.arange(1, 2000) / 2)
    theory = 1 + 2 * rank.sum()
    assert theory <= (1 + phi) / (1 - phi) <= 1.1 * theory
    times = [getattr(found(stream(20_000, phi, seed)), "time", 1.0) for seed in range(10)]
    assert np.mean(times) == pytest.approx(theory, rel=0.08)


def test_the_means_of_short_pieces_are_corrected_for() -> None:
    """With 250 rows per piece and an IAT of 19, a tenth of each autocovariance is lost to the means of the pieces."""
    times = [getattr(found(stream(2_000, 0.9, seed), pieces=8), "time", 1.0) for seed in range(30)]
    assert 15.5 < np.mean(times) < 20.5


def test_a_dependence_that_is_longer_than_short_pieces_is_not_taken_for_a_short_one() -> None:
    """Pieces of 50 rows, and an IAT of 99."""
    times = [getattr(found(stream(400, 0.98, seed), pieces=8), "time", 1.0) for seed in range(30)]
    assert np.median(times) > 40
    assert np.quantile(times, 0.1) > 8


def test_no_higher_order_makes_the_time_shorter_than_nearest_neighbours_do() -> None:
    """In short pieces the deviations from a mean add up to 0, which a high order takes for the end of a dependence."""
    sizes = np.full(15, 40)
    for seed in range(30):
        x = stream(600, 0.9, seed).reshape(15, 40)
        products = autocovariances((x - x.mean(1, keepdims=True)).reshape(-1), sizes, 16)
        time = integrated_time(products, sizes)
        if time > 15:  # near the length of a piece, where the correction for the means has not settled
            continue
        raw = products[:2] / np.array([600, 585])
        lost = time / 40 * raw[0] / (1 - time / 40)  # the variance of a piece's own mean
        nearest = (raw[1] + lost) / (raw[0] + lost)
        assert time >= 0.99 * (1 + nearest) / (1 - nearest)


def test_independent_rows_are_called_dependent_as_rarely_as_the_level_says() -> None:
    """At 5 %, more than 24 of 200 have a probability below 1e-4; 40 columns share the level."""
    called = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        columns = [numbers(f"x{i}", rng.normal(size=400)) for i in range(10 if seed % 2 else 1)]
        words = Column("w", "categorical", rng.integers(4, size=400).astype(np.int32), tuple("abcd"))
        called += dependence([*columns, words], layout(400, 5)) is not None
    assert called <= 24


def test_a_jump_between_pieces_is_no_dependence() -> None:
    called = sum(
        found(np.repeat([0.0, 50.0], 200) + np.random.default_rng(seed).normal(size=400), pieces=2) is not None
        for seed in range(40)
    )
    assert called <= 9  # at 5 % each, more have a probability of 1e-4


@pytest.mark.parametrize(
    ("column", "of"),
    [
        (Column("c", "boolean", (stream(4000, 0.9) > 0).astype(np.int32), ("no", "yes")), "level"),
        (Target("c", "classes", (stream(4000, 0.9) > 0).astype(np.int64), ("no", "yes"), "by hand"), "level"),
        (numbers("c", np.where(stream(4000, 0.9) > 1, np.nan, np.random.default_rng(5).normal(size=4000))), "missing"),
        (numbers("c", np.exp(stream(4000, 0.98)) * np.random.default_rng(5).normal(size=4000)), "distance from"),
    ],
    ids=["levels", "target", "missing values", "spread"],
)
def test_levels_missing_values_and_spread_are_series_too(column: Column | Target, of: str) -> None:
    calm = numbers("calm", np.random.default_rng(9).normal(size=4000))
    longest = dependence([calm, column], layout(4000, 5))
    assert longest is not None
    assert (longest.name, longest.columns) == ("c", 1)
    assert longest.of.startswith(of)
    assert longest.time > 3


def test_a_weak_dependence_that_lasts_is_found_although_neighbours_are_hardly_alike() -> None:
    """The lag-1 autocorrelation of ranks is about 0.09 and would be at the edge of chance in 600 rows."""
    seeds = range(20)
    slow = [0.33 * stream(2000, 0.98, seed) + np.random.default_rng(seed + 99).normal(size=2000) for seed in seeds]
    assert sum(found(x) is not None for x in slow) >= 17


def test_an_effect_of_the_day_is_no_dependence_of_days() -> None:
    """21 rows a day: the rows are alike within a day, and days are independent."""
    rng = np.random.default_rng(1)
    x = np.repeat(rng.normal(size=100), 21) + rng.normal(size=2100)
    by_row = found(x)
    assert by_row is not None
    assert by_row.time > 5
    assert dependence([numbers("x", x)], layout(2100, 5, per_time=21)) is None
    slow = np.repeat(stream(1000, 0.8), 21) + rng.normal(size=21_000)
    by_day = dependence([numbers("x", slow)], layout(21_000, 5, per_time=21))
    assert by_day is not None
    assert 6.5 < by_day.time < 11


def test_constants_and_two_outliers_side_by_side_are_no_dependence() -> None:
    assert found(np.full(300, 0.1)) is None
    assert found(np.full(300, np.nan)) is None
    rare = np.zeros(1000, np.int32)
    rare[500:502] = 1
    assert dependence([Column("c", "categorical", rare, ("a", "b"))], layout(1000, 5)) is None
    assert dependence([numbers("x", np.arange(4.0))], layout(4, 4)) is None
