"""Widened grids: the smallest loss is found wherever it is, and only where a grid ends is it widened."""

import numpy as np
import pytest
from numpy.typing import NDArray

from picsc.training.tuning.grid import Axis, search

AXIS = Axis((0.0, 0.01, 0.1), most=1000.0)


def nearest(wanted: list[float], tried: list[tuple[list[int], tuple[float, ...]]], axis: Axis = AXIS) -> list[float]:
    """Losses are squared distances of logarithms."""

    def losses(which: NDArray[np.intp], values: tuple[float, ...]) -> NDArray[np.float64]:
        tried.append((which.tolist(), values))
        at = np.log10(np.array(values) + 1e-6)
        return (at[None] - np.log10(np.array(wanted)[which] + 1e-6)[:, None]) ** 2

    return search(axis, len(wanted), losses).tolist()


def test_a_choice_at_an_end_is_widened_until_it_is_no_end() -> None:
    tried: list[tuple[list[int], tuple[float, ...]]] = []
    assert nearest([0.0, 0.01, 0.9, 30.0, 1e9], tried) == [0.0, 0.01, 1.0, 30.0, 1000.0]
    assert tried[0] == ([0, 1, 2, 3, 4], AXIS.values)
    assert tried[1:] == [([2, 3, 4], (0.3,)), ([2, 3, 4], (1.0,)), ([2, 3, 4], (3.0,))] + [
        ([3, 4], (value,)) for value in (10.0, 30.0, 100.0)
    ] + [([4], (value,)) for value in (300.0, 1000.0)]


def test_a_grid_without_0_is_widened_downwards_as_far_as_it_may() -> None:
    axis = Axis((0.01, 0.1), most=1.0, least=0.001, digits=(1,))
    tried: list[tuple[list[int], tuple[float, ...]]] = []
    assert nearest([1e-7, 0.03], tried, axis) == [0.001, 0.01]
    assert tried[1:] == [([0, 1], (0.001,))]


def test_of_equal_candidates_the_smallest_wins_and_a_failed_one_is_no_reason_to_widen() -> None:
    def flat(which: NDArray[np.intp], values: tuple[float, ...]) -> NDArray[np.float64]:
        return np.ones((len(which), len(values)))

    def failed(which: NDArray[np.intp], values: tuple[float, ...]) -> NDArray[np.float64]:
        return np.full((len(which), len(values)), np.inf)

    assert search(AXIS, 2, flat).tolist() == [0.0, 0.0]
    assert search(Axis((0.1, 1.0), most=9.0), 1, failed).tolist() == [0.1]


@pytest.mark.parametrize(
    ("value", "above", "below"), [(0.1, 0.3, 0.03), (0.07, 0.1, 0.03), (1.0, 3.0, 0.3), (300.0, 1000.0, 100.0)]
)
def test_candidates_beyond_an_end_are_round(value: float, above: float, below: float) -> None:
    axis = Axis((1.0,), most=1e9, least=1e-9)
    assert (axis.above(value), axis.below(value)) == (above, below)
    assert Axis((0.0,), most=1.0).below(0.0) is None
