"""Tests and intervals of a federation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import picsc
from picsc.evaluation.paired_tests import resampled_t, score_interval
from tests.federated.test_federate import people


def test_seeds_that_draw_test_rows_from_one_table_are_corrected_for_what_they_share() -> None:
    methods = ["fedavg", "fisher-mean", "picsc"]
    options = {"target": "y", "by": "who", "rounds": 6, "epochs": 2, "hidden": 3, "repeats": 4, "lr": 0.5}
    report = picsc.federate(people(rows=40), validation=0.25, methods=methods, **options)
    assert "corrected" in report.test
    other, fedavg = (next(m for m in report.methods if m.method == name) for name in ("fisher-mean", "fedavg"))
    found = other.against("fedavg")
    assert found is not None
    differences = np.subtract(other.seeds, fedavg.seeds)
    error = np.sqrt(differences.var(ddof=1) * (1 / 4 + 0.25 / 0.75))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(differences.mean()) / error, 3), rel=1e-9)
    assert found.interval is not None
    assert found.interval.high - found.accuracy == pytest.approx(stats.t.ppf(0.975, 3) * error, rel=1e-9)
    own = score_interval(resampled_t(np.array(other.seeds)[:, None], 0.25, 0.75), "accuracy")  # type: ignore[arg-type]
    assert other.interval == own
