import numpy as np
import pytest

from picsc.datasets.columns.precision import merged


def single(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    ("values", "distinct"),
    [
        (np.array([0.1, 0.2, 0.3, 0.7]), 4),
        (np.array([1e-30, 2.5, -0.1, 1e30]), 4),
        (np.round(np.random.default_rng(0).normal(200, 50, 30_000), 2), None),
    ],
)
def test_values_in_float32_equal_those_in_float64(values: np.ndarray, distinct: int | None) -> None:
    both = np.concatenate([values, single(values)])
    settled = merged(both)
    assert len(np.unique(settled)) == (distinct or len(np.unique(values)))
    np.testing.assert_array_equal(settled[: len(values)], settled[len(values) :])
    np.testing.assert_allclose(settled, both, rtol=1e-7)


def test_what_an_operation_leaves_is_no_difference() -> None:
    settled = merged(np.array([1.0, 0.9999999999999997, 0.1 + 0.2, 0.3, np.nan, np.inf]))
    assert settled[0] == settled[1] != settled[2] == settled[3]
    around = 0.3 + np.spacing(0.3) * np.arange(-2, 3)
    assert len(np.unique(merged(np.append(around, 0.4)))) == 2
    assert np.isnan(settled[4])
    assert settled[5] == np.inf


@pytest.mark.parametrize(
    "values",
    [
        np.array([1e7, 1e7 + 1, 2e7]),
        1.6e9 + np.arange(1000.0),  # seconds since 1970, which float32 has in steps of 128
        np.random.default_rng(1).normal(size=2000),
        1e15 + np.arange(100.0),
        np.array([0.1, 0.1000001, 0.1000002]),
        np.array([np.nan, np.nan]),
        np.array([]),
    ],
)
def test_real_differences_stay(values: np.ndarray) -> None:
    np.testing.assert_array_equal(merged(values), values)


def test_a_long_column_is_merged_as_a_short_one() -> None:
    values = np.round(np.random.default_rng(2).normal(size=150_000), 1)
    settled = merged(np.concatenate([values, single(values)]))
    assert len(np.unique(settled)) == len(np.unique(values))
