"""Training jobs of the methods: which rows each model learns from, for how long, and on which rows it is tested."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.cross_validation.cross_validate import _prepare
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.methods import smaller_jobs, whole_jobs
from picsc.datasets.load import from_frame
from picsc.settings import CvSettings, validated


def sums(n: int, seed: int = 0) -> pd.DataFrame:
    """Ten columns whose sum decides the class: more rows help."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10))
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(10)])
    return frame.assign(y=np.where(x.sum(1) + 0.5 * rng.normal(size=n) > 0, "u", "v"))


def experiment(n: int = 60, **settings: object) -> Experiment:
    frame = sums(n).assign(person=[f"p{i}" for i in np.arange(n) // 3])
    given = validated(CvSettings, read={"target": "y"}, repeats=2, **settings)
    return _prepare(from_frame(frame, given.read, keys=given.keys), given).experiment


@pytest.mark.parametrize("folds", [2, 5, 20])
def test_the_cost_of_a_smaller_sample_compares_rows_as_folds_do_and_tests_them_alike(folds: int) -> None:
    found = experiment(cut={"folds": folds})
    whole, fewer = whole_jobs(found), smaller_jobs(found)
    assert len(fewer) == 2 * folds
    for r, top in enumerate(whole):
        own = fewer[r * folds : (r + 1) * folds]
        assert np.mean([len(job.train) for job in own]) == pytest.approx(len(top.train) * (folds - 1) / folds)
        for job in own:
            assert set(job.train) < set(top.train) or len(job.train) == len(top.train)
            np.testing.assert_array_equal(job.test, top.test)


def test_no_group_is_learned_from_and_tested_where_rows_are_taken_away() -> None:
    found = experiment(cut={"folds": 4, "group": "person"})
    group = found.repeats[0].groups
    assert group is not None
    for job in smaller_jobs(found):
        assert not set(group[job.train]) & set(group[job.test])


def test_many_folds_cost_little_by_the_smaller_sample_and_two_cost_much() -> None:
    """Leaving a twentieth out costs about nothing, and never is it a gain of points; half of 60 rows costs much."""
    cost = {}
    for folds in (2, 20):
        report = picsc.cross_validate(
            sums(60), target="y", folds=folds, repeats=8, epochs=60, strength=0.0, methods=["st-cv"]
        )
        assert report.loss is not None
        cost[folds] = report.loss.smaller_sample
    assert -0.02 < cost[20] < 0.04
    assert cost[2] > 0.05
