"""Predictions of test rows as a file, which any metric can be computed from again."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, log_loss, mean_absolute_error, r2_score, roc_auc_score

import picsc
from picsc.errors import SettingsError
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport


def table(n: int = 60, *, numbers: bool = False) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(n, 3))
    z = x[:, 0] + generator.normal(size=n)
    return pd.DataFrame(x, columns=list("abc")).assign(
        w=generator.integers(1, 5, n), y=100 + 7 * z if numbers else np.where(z > 0, "no", "yes")
    )


def run(frame: pd.DataFrame, file: Path, **options: object) -> tuple[CvReport, pd.DataFrame]:
    options = {"target": "y", "epochs": 6, "repeats": 2, "strength": 0.1, **options}
    report = picsc.cross_validate(frame, predictions=file, **options)
    return report, pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("cut", [{"folds": 3}, {"batches": 3}, {"batches": 3, "algorithm": 1}])
def test_scikit_learn_finds_every_metric_of_the_report_in_the_file(
    tmp_path: Path, ending: str, cut: dict[str, int]
) -> None:
    metrics = ["roc_auc", "average_precision", "log_loss", "accuracy"]
    report, found = run(table(), tmp_path / f"p{ending}", metrics=metrics, sample_weight="w", **cut)
    levels = [f"probability {level}" for level in table().y.unique()]
    assert list(found.columns) == ["row", "repeat", "piece", "method", "truth", "prediction", *levels, "weight"]
    assert set(found.method) == {method.method for method in report.methods}
    for method in report.methods:
        for unit in method.units:
            if unit.fragment == "whole set":
                continue
            part = found[
                (found.method == method.method) & (found.repeat == unit.repeat) & (found.piece == unit.fragment)
            ]
            y, p, w = part.truth == "yes", part["probability yes"], part.weight
            assert unit.metrics["roc_auc"] == pytest.approx(roc_auc_score(y, p, sample_weight=w))
            assert unit.metrics["average_precision"] == pytest.approx(average_precision_score(y, p, sample_weight=w))
            assert unit.metrics["log_loss"] == pytest.approx(log_loss(y, p, sample_weight=w))
            assert unit.accuracy == pytest.approx(np.average(part.prediction == part.truth, weights=w))


def test_rows_are_those_of_the_file_and_numbers_in_its_unit(tmp_path: Path) -> None:
    frame = table(numbers=True)
    frame.loc[:4, "y"] = np.nan
    report, found = run(frame, tmp_path / "p.csv", folds=3, metrics=["mae", "r2"], split_column=None)
    plain = found[found.method == "st-cv"]
    assert sorted(plain[plain.repeat == 1].row) == list(range(6, 61))
    assert np.allclose(plain.truth, frame.y.to_numpy()[plain.row - 1])
    for unit in report.methods[0].units[:6]:
        part = plain[(plain.repeat == unit.repeat) & (plain.piece == unit.fragment)]
        assert unit.metrics["mae"] == pytest.approx(mean_absolute_error(part.truth, part.prediction))
        assert unit.accuracy == pytest.approx(r2_score(part.truth, part.prediction), abs=1e-5)


def test_rows_of_weight_0_are_in_no_line(tmp_path: Path) -> None:
    frame = table()
    frame.loc[3, "w"] = 0
    _, found = run(frame, tmp_path / "p.csv", folds=3, sample_weight="w")
    assert 4 not in set(found.row)
    assert set(found.truth[found.row == 5]) == {frame.y[4]}


def compared(frame: pd.DataFrame, file: Path, **options: object) -> tuple[CompareReport, pd.DataFrame]:
    options = {"target": "y", "epochs": 5, "repeats": 2, "methods": ["st-cv", "iw", "picsc"], **options}
    return picsc.compare(frame, predictions=file, **options), pd.read_csv(file)


def test_predictions_of_compare(tmp_path: Path) -> None:
    report, found = compared(table(), tmp_path / "p.csv", folds=3, metrics=["log_loss"])
    assert set(found.method) == {method.method for method in report.methods}
    for method in report.methods:
        for unit in method.units:
            part = found[(found.method == method.method) & (found.repeat == unit.repeat) & (found.piece == unit.target)]
            assert unit.metrics["log_loss"] == pytest.approx(log_loss(part.truth == "yes", part["probability yes"]))


def test_rows_of_another_file_have_its_numbers(tmp_path: Path) -> None:
    frame = table()
    other = frame.iloc[:20].assign(a=lambda rows: rows.a + 0.5)
    other.loc[0, "y"] = None
    other.to_csv(tmp_path / "other.csv", index=False)
    frame.to_csv(tmp_path / "frame.csv", index=False)
    file = tmp_path / "p.csv"
    picsc.compare(
        tmp_path / "frame.csv", target="y", test_on=[str(tmp_path / "other.csv")], epochs=3, repeats=1,
        methods=["st-cv"], predictions=file,
    )  # fmt: skip
    found = pd.read_csv(file)
    assert found.row.between(2, 20).all()
    assert (found.truth == other.y.to_numpy()[found.row - 1]).all()


def test_the_file_is_the_old_one_or_the_whole_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "p.csv"
    file.write_text("old\n")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(SettingsError, match="it cannot be written: No space left on device"):
        run(table(30), file, folds=2, repeats=1)
    assert file.read_text() == "old\n"
    assert [each.name for each in tmp_path.iterdir()] == ["p.csv"]


@pytest.mark.parametrize(
    ("name", "message"), [("p.txt", r"must end in \.csv or \.parquet"), ("no/p.csv", "does not exist")]
)
def test_a_file_that_cannot_be_written_is_refused_first(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        run(table(30), tmp_path / name, folds=2)
    with pytest.raises(SettingsError, match=message):
        compared(table(30), tmp_path / name, folds=2)
