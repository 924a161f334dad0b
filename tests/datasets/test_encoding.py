"""The matrix that models see."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.encoding import encode, fit
from picsc.datasets.load import from_arrays, from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings


@pytest.fixture
def dataset() -> Dataset:
    frame = pd.DataFrame(
        {
            "age": [1.5, 2.5, np.nan, 3.5] * 5,
            "colour": ["red", "green", None, "red"] * 5,
            "flag": [True, False, False, True] * 5,
            "size": [0.5, 0.5, 0.5, 9.5] * 5,
        }
    )
    return from_frame(frame, ReadSettings(no_target=True))


def test_layout(dataset: Dataset) -> None:
    encoded = encode(dataset)
    assert encoded.names == (
        "age",
        "age missing",
        "colour=red",
        "colour=green",
        "colour missing",
        "flag=True",
        "flag=False",
        "size",
    )
    assert encoded.matrix.dtype == np.float32
    r = np.sqrt(1.5)
    s = 1 / np.sqrt(3)
    expected = [
        [-r, 0, 1, 0, 0, 1, 0, -s],
        [0, 0, 0, 1, 0, 0, 1, -s],
        [0, 1, 0, 0, 1, 0, 1, -s],
        [r, 0, 1, 0, 0, 1, 0, 3 * s],
    ]
    np.testing.assert_allclose(encoded.matrix, expected * 5, rtol=1e-6, atol=1e-7)


def test_numbers_are_fitted_on_the_rows_given(dataset: Dataset) -> None:
    """Ages 1.5 and 2.5 have mean 2 and deviation 1/2; size is constant there, so it is 0 everywhere."""
    encoder = fit(dataset, np.array([0, 1]))
    encoded = encoder.transform(dataset, np.array([3, 0]))
    np.testing.assert_allclose(encoded.matrix[:, 0], [3.0, -1.0], rtol=1e-6)
    np.testing.assert_array_equal(encoded.matrix[:, -1], [0, 0])


def test_shape_does_not_depend_on_the_rows(dataset: Dataset) -> None:
    """No missing value and one colour among the training rows: the columns are there all the same."""
    assert encode(dataset, np.array([0, 3])).names == encode(dataset).names


def test_clipped() -> None:
    values = np.append(1e-5 * np.random.default_rng(0).normal(size=500), [1e9, -1e9, 1e308])
    table = from_arrays(values[:, None])
    encoder = fit(table, np.arange(500))
    assert encoder.transform(table).matrix[-3:, 0].tolist() == [8.0, -8.0, 8.0]
    assert np.isfinite(encode(table).matrix).all()


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_unit_does_not_matter(scale: float) -> None:
    values = np.random.default_rng(0).normal(size=50)
    np.testing.assert_allclose(
        encode(from_arrays(values[:, None] * scale)).matrix, encode(from_arrays(values[:, None])).matrix, atol=1e-6
    )


def test_dates_far_from_1970_keep_their_differences() -> None:
    days = pd.to_datetime(["2261-01-03", "2261-01-01", "2261-01-02"] * 5)
    matrix = encode(from_frame(pd.DataFrame({"day": days}), ReadSettings(no_target=True))).matrix
    np.testing.assert_allclose(matrix[:3, 0], [np.sqrt(1.5), -np.sqrt(1.5), 0], atol=1e-6)


def test_all_missing_among_the_training_rows(dataset: Dataset) -> None:
    encoded = fit(dataset, np.array([2, 6])).transform(dataset)
    np.testing.assert_array_equal(encoded.matrix[:, 0], 0)
    np.testing.assert_array_equal(encoded.matrix[:4, 1], [0, 0, 1, 0])


def test_other_table_is_refused(dataset: Dataset) -> None:
    other = from_arrays(np.random.default_rng(0).normal(size=(9, 2)))
    with pytest.raises(DataError, match="not those of the table that the encoding was fitted on"):
        fit(dataset).transform(other)


def test_memory_is_the_result_and_a_few_columns() -> None:
    n, f = 20_000, 50
    table = from_arrays(np.random.default_rng(0).normal(size=(n, f)))
    tracemalloc.start()
    encode(table, np.arange(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * f * 4 + 8 * n * 8
