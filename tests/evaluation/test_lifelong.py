"""Measures of a matrix of scores, by hand."""

import numpy as np
import pytest

from picsc.evaluation.lifelong import lifelong_scores

NAN = float("nan")


def test_measures_by_hand() -> None:
    found = lifelong_scores(np.array([[0.9, 0.2, 0.1], [0.6, 0.8, 0.3], [0.7, 0.5, 0.9]]))
    assert found.all_pieces == pytest.approx(0.7)
    assert found.seen == pytest.approx((0.9 + 0.7 + 0.7) / 3)
    assert found.forgetting == pytest.approx(((0.9 - 0.7) + (0.8 - 0.5)) / 2)
    assert found.forward == pytest.approx((0.2 + 0.3) / 2)


def test_a_piece_that_later_ones_help_with_is_forgotten_less_than_nothing() -> None:
    assert lifelong_scores(np.array([[0.5, 0.1], [0.8, 0.9]])).forgetting == pytest.approx(-0.3)


def test_pieces_without_a_score_are_left_out_and_one_piece_has_no_transfer() -> None:
    found = lifelong_scores(np.array([[0.9, NAN], [0.6, NAN]]))
    assert (found.all_pieces, found.forgetting) == (pytest.approx(0.6), pytest.approx(0.3))
    assert np.isnan(found.forward)
    one = lifelong_scores(np.array([[0.4]]))
    assert (one.all_pieces, one.seen) == (0.4, 0.4)
    assert np.isnan([one.forgetting, one.forward]).all()
