"""Sizes of columns that moved: values by hand, and how often the intervals hold the truth."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from picsc.auditing.design import Design
from picsc.auditing.effects.columns import column_sizes
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.table_view import audit_table
from picsc.datasets.memory import from_memory
from picsc.reports.common import Interval
from picsc.settings import ReadSettings

TWO = Contrast(2, (0, 1), "rest")


def sizes_of(frame: pd.DataFrame, labels: np.ndarray, units: np.ndarray | None = None):
    dataset = from_memory(frame, None, ReadSettings(no_target=True))
    design = Design(labels.astype(np.int64), TWO, PermutationScheme(units=units))
    return column_sizes(dataset, audit_table(dataset, seed=0), design)


def two(n: int) -> np.ndarray:
    return np.repeat([0, 1], n)


def test_means_and_spreads_are_those_of_the_values() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(3.0, 2.0, 100), rng.normal(1.0, 1.0, 100)])
    found = sizes_of(pd.DataFrame({"x": x, "other": rng.normal(size=200)}), two(100))("x", "values", 0)
    piece, reference = x[:100], x[100:]
    error = np.sqrt(piece.var(ddof=1) / 100 + reference.var(ddof=1) / 100)
    assert found["mean_difference"] == pytest.approx(piece.mean() - reference.mean())
    assert found["effect_in_sd"] == pytest.approx((piece.mean() - reference.mean()) / reference.std())
    assert found["sd_ratio"] == pytest.approx(piece.std() / reference.std())
    half = (found["mean_interval"].high - found["mean_interval"].low) / 2
    assert 1.96 * error < half < 2.0 * error  # Student's t of about 150 degrees of freedom


def test_missing_rates_have_newcombes_interval() -> None:
    """Newcombe (1998), table II: 56 of 70 against 48 of 80 has the interval [0.0524, 0.3339]."""
    x = np.arange(150.0) % 37
    x[:56], x[70 : 70 + 48] = np.nan, np.nan
    labels = np.repeat([0, 1], [70, 80])
    frame = pd.DataFrame({"x": x, "other": np.random.default_rng(0).normal(size=150)})
    found = sizes_of(frame, labels)("x", "missing", 0)
    assert found["points"] == pytest.approx(20.0)
    assert (found["points_interval"].low, found["points_interval"].high) == pytest.approx((5.24, 33.39), abs=0.01)
    assert found["interval"].low == pytest.approx(0.0524, abs=1e-4)


def test_the_level_that_changed_most_is_named() -> None:
    plan = ["A"] * 50 + ["B"] * 30 + ["NEW"] * 20 + ["A"] * 55 + ["B"] * 40 + ["NEW"] * 5
    frame = pd.DataFrame({"plan": plan, "other": np.random.default_rng(0).normal(size=200)})
    sizes = sizes_of(frame, two(100))
    found = sizes("plan", "values", 0)
    assert (found["level"], found["points"]) == ("NEW", pytest.approx(15.0))
    assert found["interval"].low < 0.15 < found["interval"].high
    assert sizes("plan", "values", 1)["points"] == pytest.approx(-15.0)


def test_disjoint_values_have_a_distance_of_one_and_an_interval_below_it() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.permutation(100), 200 + rng.permutation(100)])
    frame = pd.DataFrame({"x": x, "other": rng.normal(size=200)})
    found = sizes_of(frame, two(100))("x", "values", 0)["interval"]
    assert found.high == 1.0
    assert 0.9 < found.low < 1.0


def test_groups_that_are_alike_inside_widen_every_interval() -> None:
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(40), 25)
    x = rng.normal(size=40)[units] + 0.1 * rng.normal(size=1000)
    frame = pd.DataFrame({"x": x, "other": rng.normal(size=1000)})
    frame.loc[np.isin(units, rng.choice(40, 10, replace=False)), "other"] = np.nan
    alone, together = sizes_of(frame, two(500)), sizes_of(frame, two(500), units)
    for key in (("x", "values"), ("other", "missing")):
        for name in ("interval",) if key[1] == "values" else ("points_interval",):
            narrow, wide = (width(each(*key, 0)[name]) for each in (alone, together))
            assert wide > 2 * narrow
    mean_alone, mean_together = (width(each("x", "values", 0)["mean_interval"]) for each in (alone, together))
    assert mean_together == pytest.approx(5 * mean_alone, rel=0.15)  # 25 rows of a group count as one


def test_few_groups_have_no_interval() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "other": rng.normal(size=400)})
    found = sizes_of(frame, two(200), np.repeat(np.arange(8), 50))("x", "values", 0)
    assert found["mean_difference"] is not None
    assert (found["interval"], found["mean_interval"]) == (None, None)


def width(interval: Interval) -> float:
    return interval.high - interval.low


Drawn = Callable[[np.random.Generator], tuple[pd.DataFrame, np.ndarray | None]]
D = 2 * norm.cdf(0.25) - 1
"""KS distance of two normal distributions whose means are half a standard deviation apart."""


def apart(rng: np.random.Generator) -> tuple[pd.DataFrame, None]:
    x = rng.normal(size=800)
    x[:400] += 0.5
    return pd.DataFrame({"x": x, "other": x}), None


def grouped(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    units = np.repeat(np.arange(60), 20)
    x = np.sqrt(0.5) * (rng.normal(size=60)[units] + rng.normal(size=1200))
    x[:600] += 0.5
    return pd.DataFrame({"x": x, "other": x}), units


def levels(rng: np.random.Generator) -> tuple[pd.DataFrame, None]:
    piece = rng.choice(8, 500, p=[0.25, 0.05, *[0.7 / 6] * 6])
    plan = np.concatenate([piece, rng.choice(8, 500, p=[0.15, 0.15, *[0.7 / 6] * 6])])
    return pd.DataFrame({"x": [f"level {each}" for each in plan], "other": rng.normal(size=1000)}), None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawn", "field", "truth"),
    [
        (apart, "interval", D),
        (apart, "mean_difference", 0.5),
        (apart, "sd_ratio", 1.0),
        (grouped, "interval", D),
        (grouped, "mean_difference", 0.5),
        (grouped, "sd_ratio", 1.0),
        (levels, "interval", 0.1),
    ],
)
def test_nineteen_of_twenty_intervals_hold_the_truth(drawn: Drawn, field: str, truth: float) -> None:
    """400 tables: with a coverage of 95 %, fewer than 92 % hold the truth with probability 0.004."""
    held = 0
    name = {"mean_difference": "mean_interval", "sd_ratio": "sd_ratio_interval"}.get(field, field)
    for seed in range(400):
        frame, units = drawn(np.random.default_rng(seed))
        interval = sizes_of(frame, two(len(frame) // 2), units)("x", "values", 0)[name]
        held += interval.low <= truth <= interval.high
    assert held >= 0.92 * 400, held
