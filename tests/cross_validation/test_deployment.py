"""The estimate for the rows that a model will be used on: which one it is, its value, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.errors import DataError, SettingsError
from picsc.reports.cv import CvReport, DeploymentEstimate


def noted(n: int = 150, *, seed: int = 0) -> pd.DataFrame:
    """Rows of 30 persons, whom the columns give away and who differ in their labels; three days each."""
    rng = np.random.default_rng(seed)
    person = np.arange(n) % 30
    mark = np.random.default_rng(9).normal(size=(30, 3))
    x = 3 * mark[person] + 0.3 * rng.normal(size=(n, 3))
    y = np.random.default_rng(8).integers(0, 2, 30)[person] ^ (rng.random(n) < 0.05)
    return pd.DataFrame(x, columns=list("abc")).assign(person=person.astype(str), day=np.arange(n), y=y)


def reported(frame: pd.DataFrame, **options: object) -> CvReport:
    given = {"target": "y", "epochs": 60, "repeats": 2, "strength": 0.1, "folds": 5, **options}
    return picsc.cross_validate(frame, **given)


def estimate(report: CvReport) -> DeploymentEstimate:
    assert report.deployment is not None
    return report.deployment


def test_rows_like_these_have_the_score_of_shuffled_cross_validation() -> None:
    frame = noted().drop(columns=["person", "day"])
    report = reported(frame, deploy="same")
    found, plain = estimate(report), report.method("st-cv")
    assert plain is not None
    assert found.value == pytest.approx(plain.mean)
    assert found.interval is not None
    assert plain.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))
    assert found.line.startswith(f"for rows like these trust accuracy {100 * plain.mean:.1f} % [")
    assert found.line.endswith("2 x 5-fold cross-validation, shuffled and stratified")
    assert report.lines == (*report.summary, found.line)
    assert found.line in repr(report)
    assert report.as_dict()["deployment"]["value"] == found.value


def test_the_estimate_for_rows_like_these_does_not_depend_on_the_pieces() -> None:
    frame = noted().drop(columns=["person"])
    ordered = frame.sort_values("y")
    plain = reported(frame.drop(columns="day"), deploy="same")
    by_batch = reported(ordered.drop(columns="day"), deploy="same", folds=None, batches=2)
    assert estimate(by_batch).estimate == "2 x 10-fold cross-validation, shuffled and stratified"
    assert estimate(by_batch).value == pytest.approx(estimate(plain).value, abs=0.06)
    assert reported(frame.drop(columns="day")).deployment is None


def test_nested_cross_validation_has_its_own_interval() -> None:
    frame = noted().drop(columns=["person", "day"])
    plain, nested = (estimate(reported(frame, deploy="same", deploy_interval=name)) for name in ("resampled", "nested"))
    assert nested.interval_of == "nested cross-validation"
    assert nested.estimate == f"nested {plain.estimate}"
    assert nested.value == pytest.approx(plain.value, abs=0.05)
    assert nested.interval is not None
    assert nested.interval.low < nested.value < nested.interval.high
    assert nested.interval != plain.interval


def test_new_groups_are_not_known_and_further_rows_of_these_groups_are() -> None:
    frame = noted().drop(columns="day")
    new = estimate(reported(frame, deploy="new-groups", group="person", epochs=150))
    same = estimate(reported(frame, deploy="same", group="person", epochs=150))
    assert same.value > new.value + 0.15
    assert new.value < 0.7
    assert {new.interval_of, same.interval_of} == {"t-interval over groups"}
    assert "for new values of person trust accuracy" in new.line
    assert new.line.endswith("2 x 5-fold cross-validation, whole groups of person")
    assert new.interval is not None
    assert new.interval.low < 0.5 < new.interval.high


def test_the_future_is_tested_by_models_of_the_past() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 2))
    late = np.arange(240) >= 120
    y = ((x[:, 0] > 0) ^ late).astype(int)  # the concept turns round in the middle
    frame = pd.DataFrame(x, columns=list("ab")).assign(day=np.arange(240), y=y)
    future = estimate(reported(frame, deploy="future", folds=None, time="day", cuts=4))
    assert future.estimate == "3 forward splits along day, each tested by models of the past"
    # right in the second quarter, wrong in the third, undecided in the fourth
    assert 0.3 < future.value < 0.6
    assert future.interval is not None
    assert future.interval.low < 0.2
    assert future.interval.high > 0.8
    assert future.rows == 180


def shifted(n: int, seed: int, *, mean: float) -> pd.DataFrame:
    """The label follows from `a`, but is noise where `b` is positive."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n) + mean
    y = np.where(b > 0, rng.integers(0, 2, n), a > 0)
    return pd.DataFrame({"a": a, "b": b, "y": y})


@pytest.mark.parametrize("labelled", [True, False])
def test_rows_of_a_file_have_the_score_of_rows_as_they_are_there(tmp_path: Path, labelled: bool) -> None:
    here, there = shifted(800, 0, mean=-0.5), shifted(600, 1, mean=0.5)
    (there if labelled else there.drop(columns="y")).to_csv(tmp_path / "new.csv", index=False)
    report = reported(here, deploy=str(tmp_path / "new.csv"))
    found, plain = estimate(report), report.method("st-cv")
    truth = 0.5 + 0.5 * float((there["b"] <= 0).mean())
    assert plain is not None
    assert plain.mean > truth + 0.1
    assert found.value == pytest.approx(truth, abs=0.07)
    assert found.interval is not None
    assert found.interval.low < truth < found.interval.high
    assert found.effective_rows is not None
    assert 200 < found.effective_rows < 800
    assert f"{found.effective_rows:.0f} effective rows of 800" in found.line
    assert "for rows like those of new trust accuracy" in found.line
    assert "deploy_sha256" in report.manifest


def test_labels_of_the_file_have_no_effect(tmp_path: Path) -> None:
    here, there = shifted(200, 0, mean=-0.5), shifted(100, 1, mean=0.5)
    found = []
    for number, labels in enumerate((there["y"], 1 - there["y"])):
        path = tmp_path / f"{number}.csv"
        there.assign(y=labels).to_csv(path, index=False)
        found.append(estimate(reported(here, deploy=str(path), epochs=10)))
    assert found[0].value == found[1].value


def test_few_effective_rows_and_rows_from_elsewhere_are_warned_about(tmp_path: Path) -> None:
    here = shifted(80, 0, mean=-1.0)
    shifted(200, 1, mean=1.0).to_csv(tmp_path / "far.csv", index=False)
    report = reported(here, deploy=str(tmp_path / "far.csv"), epochs=10)
    (warning,) = [each for each in report.findings if each.code == "few-effective-rows"]
    assert warning.severity == "warning"
    assert f"{estimate(report).effective_rows:.0f} effective rows of 80, fewer than 30" in warning.message
    shifted(200, 1, mean=40.0).to_csv(tmp_path / "elsewhere.csv", index=False)
    report = reported(here, deploy=str(tmp_path / "elsewhere.csv"), epochs=10)
    assert estimate(report).value is None
    assert "there is no estimate to trust: a classifier tells its rows from these" in estimate(report).line
    assert [each.advice for each in report.findings if each.code == "no-estimate"] == [
        "label some of its rows and test on them"
    ]


def test_numbers_have_the_share_of_variance_explained(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    frame = pd.DataFrame(x, columns=list("ab")).assign(y=2 * x[:, 0] + rng.normal(size=200) * 1.1)
    frame.drop(columns="y").to_csv(tmp_path / "same.csv", index=False)
    plain = estimate(reported(frame, deploy="same", epochs=150))
    weighted = estimate(reported(frame, deploy=str(tmp_path / "same.csv"), epochs=150))
    for found in (plain, weighted):
        assert 0.6 < found.value < 0.85
        assert "trust R2 " in found.line
        assert found.interval is not None
        assert found.interval.low < 4 / 5.21 < found.interval.high


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"deploy": "new-groups"}, "new-groups needs group="),
        ({"deploy": "future"}, "future needs time="),
        ({"deploy": ""}, "needs same, new-groups, future or a file"),
        ({"deploy_interval": "nested"}, "goes with deploy='same'"),
        ({"deploy": "future", "folds": None, "time": "day", "mix_time": True}, "its models learn from the past alone"),
    ],
)
def test_what_a_deployment_needs_is_said_before_anything_runs(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        reported(noted(), **options)


def test_a_file_that_lacks_a_column_or_is_not_there_is_refused(tmp_path: Path) -> None:
    here = shifted(80, 0, mean=0.0)
    here[["a"]].to_csv(tmp_path / "lacks.csv", index=False)
    with pytest.raises(DataError, match=r"no usable column 'b'"):
        reported(here, deploy=str(tmp_path / "lacks.csv"))
    with pytest.raises(DataError, match="no such file"):
        reported(here, deploy=str(tmp_path / "none.csv"))


def test_images_have_an_estimate_for_images_like_these_and_none_for_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 48)
    images = (100 * rng.random((48, 16, 16)) + 100 * y[:, None, None]).astype(np.uint8)
    options = {"folds": 3, "epochs": 1, "repeats": 1, "strength": 0.1}
    found = estimate(picsc.cross_validate(images, y, deploy="same", deploy_interval="nested", **options))
    assert found.estimate == "nested 3-fold cross-validation, shuffled and stratified"
    assert found.value is not None
    assert found.rows == 48
    with pytest.raises(SettingsError, match="a file of rows goes with a table"):
        picsc.cross_validate(images, y, deploy=str(tmp_path / "new.csv"), **options)
