"""Block lengths: long enough for the dependence, short enough to be dealt out, or refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from picsc.fragments.block_length import (
    EXCESS,
    SHORT,
    block_length,
    fewest_blocks,
    shortfall,
    upper_time,
    wanted_rows,
)


@pytest.mark.parametrize("phi", [0.5, 0.8, 0.95])
def test_the_variance_of_a_mean_falls_short_as_it_should(phi: float) -> None:
    time, length = (1 + phi) / (1 - phi), wanted_rows((1 + phi) / (1 - phi))
    lag = np.arange(1, length)
    exact = 1 + 2 * ((1 - lag / length) * phi**lag).sum()
    assert exact / time == pytest.approx(1 - shortfall(time) / length, abs=0.005)
    assert exact / time == pytest.approx(1 - SHORT, abs=0.01)


@pytest.mark.parametrize(("phi", "previous"), [(0.8, True), (0.95, True), (0.95, False)])
def test_the_excess_is_the_variance_of_a_difference_over_that_of_permuted_blocks(phi: float, previous: bool) -> None:
    m, k = 400, 5
    found = block_length((1 + phi) / (1 - phi), [m] * k, level=0.05, previous=previous)
    upper = upper_time((1 + phi) / (1 - phi), m * k)
    phi = (upper - 1) / (upper + 1)
    alike = phi ** np.abs(np.subtract.outer(np.arange(2 * m), np.arange(2 * m)))
    other = np.arange(2 * m) // m
    piece = np.where(other == 0, 1 / m, 0.0)
    before = np.where(other == 1, 1 / m, 0.0)
    variance = (piece - before) @ alike @ (piece - before) if previous else 2 * piece @ alike @ piece
    block = np.where(np.arange(2 * m) < found.rows, 1 / found.rows, 0.0)
    of_blocks = 2 * block @ alike @ block * found.rows / m
    assert found.excess == pytest.approx(variance / of_blocks, rel=0.01)
    # a slow wave has the variance that the whole dependence gives it
    far = np.arange(k * m)
    wave = np.linspace(-1, 1, k * m)
    of_wave = wave @ phi ** np.abs(np.subtract.outer(far, far)) @ wave / (wave @ wave)
    of_rows = block @ alike @ block * found.rows
    assert found.excess_of_trend == pytest.approx(of_wave / of_rows, rel=0.05)
    assert found.excess > 1.02


def test_independent_rows_are_blocks_of_one() -> None:
    found = block_length(1.0, [100] * 5, level=0.05, previous=True)
    assert (found.rows, found.excess) == (1, 1.0)


@pytest.mark.parametrize(
    ("k", "level", "blocks"), [(2, 0.05, 5), (5, 0.05, 3), (8, 0.05, 3), (50, 0.05, 2), (5, 0.001, 5)]
)
def test_the_fewest_blocks_make_small_p_values_possible(k: int, level: float, blocks: int) -> None:
    assert fewest_blocks(k, level) == blocks
    assert k / math.comb(k * blocks, blocks) <= level / 2 < k / math.comb(k * (blocks - 1), blocks - 1)


def test_long_pieces_get_what_they_need_and_short_ones_the_longest_that_holds() -> None:
    plenty = block_length(9.0, [4000] * 5, level=0.05, previous=True)
    assert (plenty.rows, plenty.enough) == (plenty.wanted, True)
    assert plenty.wanted == 89
    tight = block_length(39.0, [400] * 5, level=0.05, previous=True)
    assert (tight.rows, tight.wanted, tight.enough) == (133, 390, True)
    assert 1.05 < tight.excess <= EXCESS
    assert not block_length(39.0, [200] * 5, level=0.05, previous=True).enough
    assert not block_length(500.0, [100] * 5, level=0.05, previous=True).enough
