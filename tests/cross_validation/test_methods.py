"""Training jobs of the methods: which rows each model learns from, for how long, and on which rows it is tested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.cross_validation.cross_validate import prepare
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.methods import (
    batches_so_far,
    equal_jobs,
    jobs_of,
    measured_pieces,
    smaller_jobs,
    whole_jobs,
)
from picsc.datasets.load import from_frame
from picsc.errors import SettingsError
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
    return prepare(from_frame(frame, given.read, keys=given.keys), given).experiment


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


@pytest.mark.parametrize("batch_size", [None, 8])
def test_algorithm_1_has_the_batches_so_far_and_the_updates_of_one(batch_size: int | None) -> None:
    found = experiment(200, cut={"batches": 4}, train={"batch_size": batch_size, "epochs": 3})
    jobs, alone = batches_so_far(found), jobs_of(found, found.repeats)
    assert len(jobs) == 8
    for position, job in enumerate(jobs):
        i, r = divmod(position, 2)
        for j in range(i + 1):
            np.testing.assert_array_equal(job.train[job.fragment == j], found.repeats[r].pieces[j])
        assert job.fragment.max() == i
        assert job.updates == found.setup.trainer.updates(len(alone[4 * r + i].train))


@pytest.mark.slow
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


def interacting(n: int) -> pd.DataFrame:
    """A product of two columns decides the class, which takes many updates to learn."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4))
    frame = pd.DataFrame(x, columns=list("abcd"))
    return frame.assign(y=np.where(x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=n) > 0, "u", "v"))


def test_what_fewer_updates_cost_is_not_called_the_smaller_sample() -> None:
    settings = {"target": "y", "batches": 10, "repeats": 1, "strength": 0.0, "batch_size": 64}
    report = picsc.cross_validate(interacting(4000), epochs=3, **settings)
    loss = report.loss
    assert loss is not None
    assert loss.fewer_updates is not None
    assert loss.fewer_updates > 0.05
    assert abs(loss.smaller_sample) < 0.08
    assert loss.total == pytest.approx(loss.smaller_sample + loss.fewer_updates + loss.shift)
    equal = picsc.cross_validate(interacting(4000), steps=150, **settings)
    assert equal.loss is not None
    assert equal.loss.fewer_updates is None
    plain = {each.method: each.mean or 0.0 for each in equal.methods}["st-cv"]
    assert plain > 0.05 + ({each.method: each.mean or 0.0 for each in report.methods}["st-cv"])


def test_models_of_all_rows_at_once_have_equally_many_updates() -> None:
    assert equal_jobs(experiment(cut={"batches": 5})) == []


def test_subsamples_that_stand_for_all_are_of_all_sizes() -> None:
    found = experiment(200, cut={"batches": 9}, train={"batch_size": 8, "epochs": 3})
    repeat = replace(found.repeats[0], pieces=tuple(np.arange(n) for n in (9, 1, 8, 2, 7, 3, 6, 4, 5)))
    assert [len(repeat.pieces[i]) for i in measured_pieces(repeat)] == [2, 5, 8]
    jobs = equal_jobs(found)
    assert len(jobs) == 6
    assert {job.updates for job in jobs} == {found.setup.trainer.updates(len(found.repeats[0].whole()[0]))}


def test_epochs_and_steps_do_not_go_together() -> None:
    with pytest.raises(SettingsError, match="leave one out"):
        picsc.cross_validate(sums(60), target="y", epochs=3, steps=3)
