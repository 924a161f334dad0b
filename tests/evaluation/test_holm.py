"""Holm's correction, and who gets it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from picsc.evaluation.holm import holm, with_holm, with_holm_over_seeds
from picsc.reports.common import Difference
from picsc.reports.fed import FedDifference


def test_the_adjusted_p_values_are_those_of_other_software() -> None:
    """R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"), and statsmodels' multipletests."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.0001, 0.5, 0.9]) == pytest.approx([0.0003, 1.0, 1.0])


def test_what_has_no_p_value_is_no_part_of_the_family() -> None:
    assert holm([0.02, None, 0.03]) == [0.04, None, 0.04]
    assert holm([]) == []
    assert holm([None]) == [None]
    assert holm([0.2]) == [0.2]


def test_any_false_rejection_has_the_probability_of_the_level() -> None:
    """Six tests that share one comparison method, as those of a report do. P(more | level 5 %) < 1e-6."""
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(2000, 1)), rng.normal(size=(2000, 6))
    ps = 2 * norm.sf(np.abs(shared + own) / np.sqrt(2))
    most = binom.isf(1e-6, 2000, 0.05)
    assert sum(min(p for p in holm(list(row)) if p is not None) < 0.05 for row in ps) <= most
    assert sum(row.min() < 0.05 for row in ps) > most


def test_scores_are_adjusted_each_on_its_own() -> None:
    found = with_holm([Difference("a", 0.1, None, 0.01, -0.1, 0.2), Difference("b", 0.1, None, 0.03, -0.1, None)])
    assert [(each.accuracy_p_holm, each.log_loss_p_holm) for each in found] == [(0.02, 0.2), (0.03, None)]
    seeds = with_holm_over_seeds(
        [FedDifference("a", 0.1, None, 0.01, -0.1, 0.2), FedDifference("b", 0.1, None, 0.03, -0.1, 0.01)]
    )
    assert [(each.p_holm, each.log_loss_p_holm) for each in seeds] == [(0.02, 0.2), (0.03, 0.02)]
