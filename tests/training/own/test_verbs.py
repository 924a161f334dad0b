"""Models of the user in cv, compare and audit."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import picsc
from picsc.errors import DataError, PicscError, SettingsError
from picsc.reports.cv import CvReport

OWN = str(Path(__file__).parents[2] / "data" / "own_model.py")
FOREST = "sklearn:ensemble.RandomForestClassifier"


def table(n: int = 90, *, numbers: bool = False) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(n, 3))
    z = x[:, 0] + x[:, 1] + 0.5 * generator.normal(size=n)
    return pd.DataFrame(x, columns=list("abc")).assign(
        part=np.arange(n) % 3, w=generator.integers(1, 5, n), y=5 + 2 * z if numbers else (z > 0).astype(int)
    )


def run(frame: pd.DataFrame, model: str, **options: object) -> CvReport:
    options = {"target": "y", "repeats": 1, "split_column": "part", "epochs": 6, **options}
    return picsc.cross_validate(frame, model=model, **options)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_estimator_scores_as_scikit_learns_own_cross_validation(weighted: bool) -> None:
    frame = table()
    more = {"sample_weight": "w"} if weighted else {}
    report = run(frame if weighted else frame.drop(columns="w"), "sklearn:linear_model.LogisticRegression", **more)
    plain = report.method("st-cv")
    assert plain is not None
    for k, found in enumerate(plain.fragments):
        train, test = frame[frame.part != k], frame[frame.part == k]
        scaler = StandardScaler().fit(train[list("abc")])
        model = LogisticRegression().fit(
            scaler.transform(train[list("abc")]), train.y, sample_weight=train.w if weighted else None
        )
        right = model.predict(scaler.transform(test[list("abc")])) == test.y
        assert found == pytest.approx(np.average(right, weights=test.w if weighted else None))


def test_what_needs_gradients_is_null_with_the_reason() -> None:
    report = run(table(), FOREST, model_options=["n_estimators=5"], deploy="same", folds=3, split_column=None)
    assert [method.method for method in report.methods] == ["st-cv", "subsample"]
    assert report.methods[0].whole is not None
    body = report.as_dict()["not_applicable"]
    assert [each["method"] for each in body] == ["picsc", "weight-decay", "carried", "average"]  # type: ignore[attr-defined]
    assert all(each["value"] is None and "no gradients" in each["reason"] for each in body)  # type: ignore[attr-defined]
    assert "model-without-gradients" in {each.code for each in report.findings}
    assert report.deployment is not None
    assert report.deployment.value is not None
    assert report.manifest["model"]["import"] == "sklearn.ensemble.RandomForestClassifier"  # type: ignore[index]
    again = run(table(), FOREST, model_options=["n_estimators=5"], deploy="same", folds=3, split_column=None)
    assert again.as_dict() == report.as_dict()


def test_an_estimator_of_numbers() -> None:
    frame = table(numbers=True).drop(columns="w")
    report = run(frame, "sklearn:linear_model.Ridge", metrics=["rmse"])
    plain = report.method("st-cv")
    assert plain is not None
    train, test = frame[frame.part != 0], frame[frame.part == 0]
    scaler = StandardScaler().fit(train[list("abc")])
    predicted = Ridge().fit(scaler.transform(train[list("abc")]), train.y).predict(scaler.transform(test[list("abc")]))
    assert plain.metrics[0].pieces[0] == pytest.approx(np.sqrt(((predicted - test.y) ** 2).mean()), rel=1e-4)


def test_batches_and_a_class_that_a_piece_lacks() -> None:
    frame = table().sort_values("y", ignore_index=True).drop(columns="w")
    report = run(frame, FOREST, model_options=["n_estimators=3"], batches=3, split_column=None)
    assert [method.method for method in report.methods] == ["st-cv", "st-cv, batches so far", "subsample"]
    assert all(method.mean is not None for method in report.methods)


def test_an_estimator_in_compare() -> None:
    options = {"target": "y", "split_column": "part", "repeats": 1}
    report = picsc.compare(table(), model="sklearn:linear_model.LogisticRegression", **options)
    assert [method.method for method in report.methods] == ["st-cv", "iw", "kmm"]
    assert {each.method for each in report.not_applicable} >= {"picsc", "diw", "iwcv"}
    weighted = picsc.compare(table(), model=FOREST, sample_weight="w", model_options=["n_estimators=3"], **options)
    assert all(method.accuracy is not None for method in weighted.methods)
    with pytest.raises(SettingsError, match="its fit takes no sample_weight"):
        picsc.compare(table(), model="sklearn:neighbors.KNeighborsClassifier", **options)


@pytest.mark.parametrize("name", ["make", "Skipping"])
def test_a_module_has_everything_that_the_papers_network_has(name: str) -> None:
    own = run(table(60), f"{OWN}:{name}", split_column=None, folds=2, strength=0.1)
    assert [method.method for method in own.methods] == [
        "st-cv", "picsc", "weight-decay", "carried", "average", "subsample",
    ]  # fmt: skip
    assert all(method.mean is not None and method.failed == 0 for method in own.methods)
    assert own.not_applicable == ()
    assert own.methods[1].penalty_share
    assert own.manifest["model"]["function"] == name  # type: ignore[index]
    again = run(table(60), f"{OWN}:{name}", split_column=None, folds=2, strength=0.1)
    assert again.as_dict() == own.as_dict()


def test_a_module_along_batches_with_algorithm_2_and_its_trigger() -> None:
    report = run(table(60).drop(columns="w"), f"{OWN}:make", batches=3, split_column=None, strength=0.1)
    ours = report.method("picsc")
    assert ours is not None
    assert ours.flagged is not None
    assert ours.mean is not None
    assert ours.failed == 0


def test_a_module_of_numbers_with_dropout_is_the_same_by_seed(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "from torch import nn\n\ndef make(inputs):\n"
        "    return nn.Sequential(nn.Linear(inputs, 6), nn.ReLU(), nn.Dropout(0.3), nn.Linear(6, 1))\n"
    )
    frame = table(60, numbers=True)
    options = {"split_column": None, "batches": 2, "strength": 0.1}
    first, again = (run(frame, f"{file}:make", **options) for _ in range(2))
    assert first.as_dict() == again.as_dict()
    assert all(method.mean is not None for method in first.methods)


def test_batch_normalisation_has_what_needs_no_gradients_of_rows_and_serves_in_an_audit(tmp_path: Path) -> None:
    file = tmp_path / "norm.py"
    file.write_text(
        "from torch import nn\n\ndef make(inputs, outputs):\n"
        "    return nn.Sequential(nn.Linear(inputs, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, outputs))\n"
    )
    frame = table(60).drop(columns="w")
    report = run(frame, f"{file}:make", strength=0.1)
    assert [method.method for method in report.methods] == ["st-cv", "subsample"]
    assert all(method.mean is not None and not method.failed for method in report.methods)
    assert "(BatchNorm1d) mixes rows" in report.not_applicable[0].reason
    audited = picsc.audit(frame, target="y", by="part", model=f"{file}:make", draws=99)
    assert audited.fragments[0].verdict != "error"


def test_other_processes_train_the_same_models() -> None:
    options = {"split_column": None, "folds": 2, "strength": 0.1, "metrics": ["brier"]}
    one, two = (run(table(60).drop(columns="w"), f"{OWN}:make", jobs=jobs, **options) for jobs in (1, 2))
    assert one.methods == two.methods


def test_a_module_in_compare() -> None:
    options = {"target": "y", "split_column": "part", "repeats": 1, "epochs": 3, "methods": ["st-cv", "iw", "diw"]}
    report = picsc.compare(table(60).drop(columns="w"), model=f"{OWN}:make", **options)
    assert all(method.accuracy is not None for method in report.methods)


def test_the_reference_model_of_an_audit() -> None:
    frame = table(120).drop(columns="w")
    frame.loc[frame.part == 2, "a"] += 3
    own = picsc.audit(frame, target="y", by="part", model=f"{OWN}:make", draws=99)
    plain = picsc.audit(frame, target="y", by="part", draws=99)
    assert [each.verdict for each in own.fragments] == [each.verdict for each in plain.fragments]
    assert own.manifest["model"]["function"] == "make"  # type: ignore[index]
    with pytest.raises(SettingsError, match="the reference model of an audit needs gradients"):
        picsc.audit(frame, target="y", by="part", model=FOREST)


@pytest.mark.parametrize(
    ("model", "numbers", "message"),
    [
        (f"{OWN}:five_outputs", False, r"outputs of shape \(2, 5\) for 2 rows: 2 classes need a logit each"),
        (f"{OWN}:make", False, "does not take 2 rows of 3 encoded columns"),
        ("sklearn:svm.LinearSVC", False, "it has no predict_proba, and log-loss needs probabilities"),
        (FOREST, True, "it is a classifier, and the target holds numbers"),
        ("sklearn:linear_model.Ridge", False, "it has no predict_proba"),
    ],
)
def test_what_does_not_fit_is_one_sentence(model: str, numbers: bool, message: str) -> None:
    options = {"model_options": ["inputs=7"]} if model.endswith(":make") else {}
    with pytest.raises(PicscError, match=message) as raised:
        run(table(numbers=numbers).drop(columns="w"), model, **options)
    assert isinstance(raised.value, SettingsError | DataError)
