import numpy as np
import pytest

from picsc.evaluation.target_units import TargetUnits


def test_predictions_in_other_units_are_the_same_numbers_of_the_file() -> None:
    values = np.random.default_rng(0).normal(50, 7, size=30)
    ours, theirs = TargetUnits.of(values[:10]), TargetUnits.of(values)
    np.testing.assert_allclose(ours.converted(ours.scaled(values), theirs), theirs.scaled(values))
    assert theirs.scaled(values).std() == pytest.approx(1)


def test_a_constant_keeps_its_scale_although_rounding_leaves_it_a_variance() -> None:
    assert np.full(3, 0.1).std() > 0
    assert TargetUnits.of(np.full(3, 0.1)).deviation == 1


def test_single_precision_stays_single() -> None:
    found = TargetUnits(0.0, 2.0).converted(np.ones(3, np.float32), TargetUnits(1.0, 1.0))
    assert found.dtype == np.float32
    assert found.tolist() == [1.0, 1.0, 1.0]
