"""Weights of rows in training, scores and tests of every method of cv and compare."""

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.errors import DataError, SettingsError
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport

METHODS = ["st-cv", "iw", "iwcv", "kmm", "diw", "ulsif", "rulsif", "picsc"]


def table(n: int = 90, *, numbers: bool = False) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(n, 3))
    z = x[:, 0] + generator.normal(size=n)
    w = generator.integers(1, 6, n) * 1.0
    return pd.DataFrame(x, columns=list("abc")).assign(
        part=np.arange(n) % 3, w=w, y=10 * z if numbers else (z > 0).astype(int)
    )


def run(frame: pd.DataFrame, **options: object) -> CvReport:
    return picsc.cross_validate(
        frame, **{"target": "y", "epochs": 8, "repeats": 1, "strength": 0.1, "split_column": "part", **options}
    )


def compared(frame: pd.DataFrame, **options: object) -> CompareReport:
    options = {"target": "y", "epochs": 5, "repeats": 1, "methods": METHODS, "split_column": "part", **options}
    return picsc.compare(frame, **options)


def numbers_of(report: CvReport | CompareReport) -> object:
    body = report.as_dict()
    return [body["summary"], body["methods"]]


@pytest.mark.parametrize("numbers", [False, True])
def test_equal_weights_change_nothing(numbers: bool) -> None:
    frame = table(numbers=numbers)
    plain = run(frame.drop(columns="w"), metrics=["mae"] if numbers else ["roc_auc", "brier"])
    same = run(frame.assign(w=3.0), sample_weight="w", metrics=["mae"] if numbers else ["roc_auc", "brier"])
    for one, other in zip(plain.methods, same.methods, strict=True):
        assert other.mean == pytest.approx(one.mean, rel=1e-4)
        assert other.log_loss == pytest.approx(one.log_loss, rel=1e-4)
        assert other.metrics[0].mean == pytest.approx(one.metrics[0].mean, rel=1e-4)


def test_a_row_of_weight_0_is_no_row_for_any_method() -> None:
    frame = table()
    frame.loc[frame.index % 7 == 0, "w"] = 0
    kept = frame[frame.w > 0].reset_index(drop=True)
    assert numbers_of(run(frame, sample_weight="w")) == numbers_of(run(kept, sample_weight="w"))
    assert numbers_of(compared(frame, sample_weight="w")) == numbers_of(compared(kept, sample_weight="w"))
    assert "rows-of-weight-0" in {each.code for each in run(frame, sample_weight="w").findings}


def test_every_method_of_cv_trains_and_is_scored_by_weights() -> None:
    frame = table()
    plain, weighted = run(frame.drop(columns="w")), run(frame, sample_weight="w")
    assert [method.method for method in weighted.methods] == [method.method for method in plain.methods]
    for one, other in zip(plain.methods, weighted.methods, strict=True):
        assert other.log_loss != one.log_loss, one.method
        assert other.mean != one.mean, one.method
        assert other.auc != one.auc, one.method
    assert "w" not in [column.name for column in weighted.data.columns if column.used]


def test_every_method_of_compare_trains_and_is_scored_by_weights() -> None:
    frame = table()
    plain, weighted = compared(frame.drop(columns="w")), compared(frame, sample_weight="w")
    for one, other in zip(plain.methods, weighted.methods, strict=True):
        assert other.log_loss != one.log_loss, one.method
        assert other.accuracy != one.accuracy, one.method


def test_batches_are_tested_over_weighted_rows() -> None:
    frame = table()
    options = {"split_column": None, "batches": 3, "metrics": ["brier"]}
    plain, weighted = run(frame.drop(columns="w"), **options), run(frame, sample_weight="w", **options)
    for one, other in zip(plain.methods, weighted.methods, strict=True):
        assert other.metrics[0].interval != one.metrics[0].interval
        assert other.interval is not None
        assert other.mean is not None
        assert other.interval.low < other.mean < other.interval.high


def test_the_estimate_for_deployment_is_weighted() -> None:
    frame = table().assign(g=np.arange(90) // 3)
    for more in ({}, {"deploy_interval": "nested"}):
        plain, weighted = (
            run(frame, deploy="same", sample_weight=name, folds=4, split_column=None, **more) for name in (None, "w")
        )
        assert plain.deployment is not None
        assert weighted.deployment is not None
        assert weighted.deployment.interval is not None
        assert weighted.deployment.value != plain.deployment.value
    groups = run(frame, deploy="new-groups", sample_weight="w", folds=4, split_column=None, group="g")
    assert groups.deployment is not None
    assert groups.deployment.value is not None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, -2.0], r"sample_weight='w': memory holds -2 in row 2; weights must be numbers of at least 0"),
        ([1.0, np.nan], r"sample_weight='w': memory holds no finite number in row 2"),
        ([1.0, np.inf], r"sample_weight='w': memory holds no finite number in row 2"),
        (["1", "heavy"], r"sample_weight='w': memory holds 'heavy' in row 2"),
        (["light", "heavy"], r"sample_weight='w': memory holds no numbers; choose another"),
        ([0, 0], r"sample_weight='w': memory holds 0 in all 90 rows: some weight must be above 0"),
    ],
)
def test_bad_weights_are_one_sentence(values: list[object], message: str) -> None:
    frame = table()
    frame["w"] = [*values, *[values[0]] * 88]
    with pytest.raises(DataError, match=message):
        run(frame, sample_weight="w")
    with pytest.raises(DataError, match=message):
        compared(frame, sample_weight="w")


def test_the_row_is_that_of_the_file_although_rows_without_a_label_are_left_out() -> None:
    frame = table().astype({"y": float})
    frame.loc[:9, "y"] = np.nan
    frame.loc[20, "w"] = -1
    with pytest.raises(DataError, match="holds -1 in row 21"):
        run(frame, sample_weight="w")
    with pytest.raises(DataError, match="holds -1 in row 21"):
        run(frame, weights="w")


def test_one_kind_of_weights() -> None:
    with pytest.raises(SettingsError, match="leave one out"):
        run(table().assign(v=1.0), weights="w", sample_weight="v")
