"""Accuracy by client over rounds, against sums written out."""

from __future__ import annotations

import numpy as np
import pytest

from picsc.federated.client_history import client_history
from picsc.federated.method_run import Run

NAN = float("nan")


def run(*accuracy: tuple[float, ...]) -> Run:
    """One run with these accuracies, a row for each round."""
    return Run(0, ("a", "b"), 0.1, None, False, 1, 1, 1, {"accuracy": np.array(accuracy, dtype=np.float64)})


def test_means_over_seeds_and_best_minus_last() -> None:
    found = client_history([run((0.2, 0.5), (0.8, 0.4), (0.6, 0.3)), run((0.4, 0.1), (0.2, 0.2), (0.4, 0.7))])
    assert found is not None
    assert found.rounds == (1, 2, 3)
    assert [list(map(float, row)) for row in found.accuracy] == [  # type: ignore[arg-type]
        pytest.approx([0.3, 0.3]),
        pytest.approx([0.5, 0.3]),
        pytest.approx([0.5, 0.5]),
    ]
    assert found.forgetting == pytest.approx(((0.2 + 0.2) / 2 + 0.0) / 2)


def test_a_client_without_test_rows_has_no_number_and_counts_nowhere() -> None:
    found = client_history([run((0.5, NAN), (0.4, NAN))])
    assert found is not None
    assert found.accuracy == ((0.5, None), (0.4, None))
    assert found.forgetting == pytest.approx(0.1)


def test_many_rounds_are_some_at_equal_distances_with_first_and_last() -> None:
    found = client_history([run(*((t / 100, 0.5) for t in range(100)))])
    assert found is not None
    assert len(found.rounds) == 12
    assert (found.rounds[0], found.rounds[-1]) == (1, 100)
    assert set(np.diff(found.rounds)) == {9}
    assert found.accuracy[-1] == (0.99, 0.5)


def test_a_run_that_was_given_up_leaves_forgetting_unknown() -> None:
    found = client_history([run((0.5, 0.5), (NAN, NAN))])
    assert found is not None
    assert found.forgetting is None
    assert client_history([run((NAN, NAN))]) is None
