"""Plain training on splits that divide groups, beside whole groups: rows, sizes, and when a gap is a finding."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.cross_validation.cross_validate import prepare
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.group_leakage import can_divide, divided_jobs, leakage_findings, whole_groups
from picsc.cross_validation.methods import jobs_of
from picsc.datasets.load import from_frame
from picsc.reports.cv import CvReport, GroupLeakage
from picsc.settings import CvSettings, validated


def people(*, alike: bool, persons: int = 16, rows: int = 20) -> pd.DataFrame:
    """Rows of persons whose class nothing but the person decides (alike), or a column of every row."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(persons), rows)
    centre = 4 * rng.normal(size=(persons, 4)) if alike else np.zeros((persons, 4))
    x = centre[person] + rng.normal(size=(len(person), 4)) * (0.3 if alike else 1.0)
    labels = rng.permutation(np.arange(persons) % 2)[person] if alike else (x[:, 0] > 0).astype(int)
    frame = pd.DataFrame(x, columns=list("abcd")).assign(person=[f"p{i}" for i in person])
    return frame.assign(y=np.where(labels > 0, "u", "v")).sample(frac=1, random_state=0, ignore_index=True)


def compared(frame: pd.DataFrame, **options: object) -> CvReport:
    given = {"epochs": 100, "lr": 0.05, "repeats": 3, "methods": ["st-cv"], "folds": 4, "group": "person"}
    return picsc.cross_validate(frame, target="y", **{**given, **options})


def experiment(**settings: object) -> Experiment:
    frame = people(alike=True)
    number = frame.person.str[1:].astype(int)
    frame["site"] = np.where(number == 0, frame.index % 2, number % 3)  # one person was at two sites
    given = validated(CvSettings, read={"target": "y"}, repeats=2, **settings)
    return prepare(from_frame(frame, given.read, keys=given.keys), given).experiment


def test_rows_of_one_person_that_tell_on_each_other_are_a_warning_with_both_numbers() -> None:
    report = compared(people(alike=True))
    found = report.group_leakage
    assert found is not None
    assert found.divided > 0.9
    assert found.whole < 0.7
    assert found.whole == report.methods[0].mean
    (finding,) = [each for each in report.findings if each.code == "group-leakage"]
    assert finding.severity == "warning"
    assert f"{100 * found.divided:.1f} % when rows of one 'person'" in finding.message
    assert f"{100 * found.whole:.1f} % for groups" in finding.message
    assert json.loads(json.dumps(report.as_dict()))["group_leakage"]["divided"] == found.divided


def test_rows_that_say_nothing_of_each_other_are_none() -> None:
    report = compared(people(alike=False))
    assert report.group_leakage is not None
    assert abs(report.group_leakage.divided - report.group_leakage.whole) < 0.05
    assert "group-leakage" not in {finding.code for finding in report.findings}
    assert compared(people(alike=False), group=None, repeats=1, epochs=5).group_leakage is None


@pytest.mark.parametrize("cut", [{"folds": 4}, {"by": "person"}, {"by": "site"}, {"batches": 4}])
def test_divided_groups_have_the_sizes_of_whole_ones_and_no_row_on_both_sides(cut: dict[str, object]) -> None:
    found = experiment(cut={**cut, "group": "person"})
    groups = found.repeats[0].groups
    assert groups is not None
    assert whole_groups(found) == ("st-cv" if "folds" in cut else "subsample")
    repeats = found.repeats if "folds" in cut else [repeat.recut() for repeat in found.repeats]
    jobs, beside = divided_jobs(found), jobs_of(found, repeats)
    assert len(jobs) == len(beside)
    for job, whole in zip(jobs, beside, strict=True):
        assert (len(job.train), len(job.test), job.seed) == (len(whole.train), len(whole.test), whole.seed)
        assert not set(job.train) & set(job.test)
        assert set(groups[job.train]) & set(groups[job.test])
        assert not set(groups[whole.train]) & set(groups[whole.test])


def test_nothing_is_divided_without_groups_or_where_the_latest_rows_test_all() -> None:
    assert not can_divide(experiment(cut={"folds": 4}))
    assert can_divide(experiment(cut={"batches": 4, "group": "person"}))
    frame = people(alike=True).sort_values("person", ignore_index=True).assign(time=lambda frame: np.arange(len(frame)))
    given = validated(CvSettings, read={"target": "y"}, repeats=2, cut={"time": "time", "group": "person"})
    assert not can_divide(prepare(from_frame(frame, given.read, keys=given.keys), given).experiment)


@pytest.mark.parametrize(
    ("divided", "p", "warned"),
    [(0.98, 0.001, True), (0.98, 0.2, False), (0.98, None, False), (0.44, 0.001, False), (0.2, 0.001, False)],
)
def test_a_gap_counts_if_it_is_beyond_chance_and_of_some_points(
    divided: float, p: float | None, *, warned: bool
) -> None:
    leakage = GroupLeakage("person", divided, 0.43, "st-cv", None, p)
    assert bool(leakage_findings(leakage, "accuracy")) == warned
