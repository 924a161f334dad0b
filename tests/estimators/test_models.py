"""PicscClassifier and PicscRegressor: scikit-learn's own checks, the numbers of `picsc cv`, frames, batches."""

import doctest
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import picsc
from picsc.cross_validation.splits import repeats
from picsc.datasets.memory import from_memory
from picsc.estimators import models
from picsc.settings import CvSettings
from picsc.settings.by_keyword import from_keywords

QUICK: dict[str, Any] = {"strength": 0.1, "epochs": 40}


def sklearn_checks() -> list[Any]:
    """Every check of scikit-learn with the estimator that it is for."""
    generate = getattr(estimator_checks, "estimator_checks_generator", None)
    if generate is None:  # scikit-learn 1.5
        generate = partial(estimator_checks.check_estimator, generate_only=True)
    pairs = [pair for each in (picsc.PicscClassifier, picsc.PicscRegressor) for pair in generate(each(epochs=60))]
    return [
        pytest.param(each, check, id=f"{type(each).__name__}-{check.func.__name__}-{i}")
        for i, (each, check) in enumerate(pairs)
    ]


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast", "ignore:Skipping check")
@pytest.mark.parametrize(("estimator", "check"), sklearn_checks())
def test_scikit_learn_checks(estimator: object, check: Callable[[object], None]) -> None:
    check(estimator)


def mixed(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    """A frame with numbers, words, dates and gaps, and labels in words."""
    generator = np.random.default_rng(seed)
    size = generator.normal(20, 5, n)
    colour = generator.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame(
        {
            "size": np.where(generator.random(n) < 0.1, np.nan, size),
            "colour": colour,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 400, n), "D"),
            "sold": generator.random(n) < 0.5,
        }
    )
    label = np.where(size + 4 * (colour == "red") + generator.normal(0, 1, n) > 21, "late", "early")
    return frame, pd.Series(label, name="arrival")


def folds(x: object, y: object, **keywords: object) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Training rows, their fragments and test rows of every fold of `picsc cv`, in its order."""
    settings = from_keywords(CvSettings, "cv", keywords)
    table = from_memory(x, y, settings.read)
    [repeat] = repeats(table, settings, 1, np.empty(0, np.int64))
    return [(*repeat.training(i), repeat.tested(i)) for i in range(len(repeat.pieces))]


def units_of(report: picsc.CvReport) -> list[Any]:
    """The models of picsc that a report lists, but that of the whole set."""
    [method] = [each for each in report.methods if each.method == "picsc"]
    return [unit for unit in method.units if unit.fragment != "whole set"]


@pytest.mark.parametrize("data", [load_wine, load_iris, load_breast_cancer])
@pytest.mark.parametrize("strength", [0.1, "auto"])
def test_classifier_has_the_numbers_of_cross_validation_fold_by_fold(data: Any, strength: Any) -> None:
    x, y = data(return_X_y=True)
    given: dict[str, Any] = {"strength": strength, "epochs": 30}
    report = picsc.cross_validate(x, y, folds=3, repeats=1, seed=4, methods=["picsc"], **given)
    units = units_of(report)
    found = []
    for unit, (train, fragment, test) in zip(units, folds(x, y, folds=3, seed=4), strict=True):
        model = picsc.PicscClassifier(random_state=4, **given).fit(x[train], y[train], fragments=fragment)
        assert not model.made_fragments_
        assert model.strength_ == unit.strength
        chosen = model.predict_proba(x[test])[np.arange(len(test)), y[test]]
        assert -np.log(chosen).mean() == pytest.approx(unit.log_loss, rel=1e-4)
        found.append(model.score(x[test], y[test]))
    assert found == [unit.accuracy for unit in units]


def test_regressor_has_the_numbers_of_cross_validation_fold_by_fold() -> None:
    x, y = load_diabetes(return_X_y=True)
    report = picsc.cross_validate(x, y, folds=3, repeats=1, seed=4, methods=["picsc"], **QUICK)
    units = units_of(report)
    for unit, (train, fragment, test) in zip(units, folds(x, y, folds=3, seed=4), strict=True):
        model = picsc.PicscRegressor(random_state=4, **QUICK).fit(x[train], y[train], fragments=fragment)
        assert r2_score(y[test], model.predict(x[test])) == pytest.approx(unit.accuracy, abs=1e-5)


def test_batches_one_by_one_have_the_numbers_of_cross_validation() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    given: dict[str, Any] = {"strength": 0.1, "epochs": 30}
    report = picsc.cross_validate(x, y, batches=4, repeats=1, seed=2, methods=["picsc"], **given)
    units = units_of(report)
    settings = from_keywords(CvSettings, "cv", {"batches": 4, "seed": 2})
    [repeat] = repeats(from_memory(x, y, settings.read), settings, 1, np.empty(0, np.int64))
    model = picsc.PicscClassifier(random_state=2, **given)
    test = repeat.validation
    for i, (unit, rows) in enumerate(zip(units, repeat.pieces, strict=True)):
        model.partial_fit(x[rows], y[rows], classes=[0, 1])
        assert model.batches_seen_ == i + 1
        assert bool(unit.flagged) == model.shifted_
        assert model.score(x[test], y[test]) == pytest.approx(unit.accuracy)
        chosen = model.predict_proba(x[test])[np.arange(len(test)), y[test]]
        assert -np.log(chosen).mean() == pytest.approx(unit.log_loss, rel=1e-3)


def test_state_along_batches_does_not_grow() -> None:
    x, y = mixed(600)
    model = picsc.PicscClassifier(**QUICK)
    sizes = []
    for start in range(0, 600, 100):
        model.partial_fit(x.iloc[start : start + 100], y.iloc[start : start + 100], classes=["early", "late"])
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes[1:]) < 1.01 * min(sizes[1:])  # the first also has the counts of its rows
    assert model.score(x, y) > 0.75


def test_batches_go_on_from_a_fitted_model() -> None:
    x, y = mixed(400)
    model = picsc.PicscClassifier(**QUICK).fit(x[:300], y[:300])
    before = model.predict_proba(x[:300])
    model.partial_fit(x[300:], y[300:])
    assert model.batches_seen_ == 2
    assert not model.shifted_  # the rows of fit are not kept, so nothing is compared
    assert 0 < np.abs(model.predict_proba(x[:300]) - before).mean() < 0.2
    with pytest.raises(ValueError, match="not in classes, such as 'never'"):
        model.partial_fit(x[300:], np.where(y[300:] == "late", "never", "early"))


def test_frames_with_words_dates_and_gaps() -> None:
    x, y = mixed()
    model = picsc.PicscClassifier(**QUICK).fit(x, y)
    assert model.classes_.tolist() == ["early", "late"]
    assert model.feature_names_in_.tolist() == ["size", "colour", "when", "sold"]
    assert model.score(x, y) > 0.85
    probabilities = model.predict_proba(x)
    assert (model.classes_[probabilities.argmax(1)] == model.predict(x)).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x.drop(columns="colour"))
    unknown = x.head().assign(colour="mauve")
    missing = x.head().assign(colour=None)
    assert (model.predict_proba(unknown) == model.predict_proba(missing)).all()
    with pytest.raises(ValueError, match="column 'size' holds 'big' in data row 1, where the model knows numbers only"):
        model.predict(x.head().assign(size="big"))


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    x, y = mixed()
    weight = np.random.default_rng(1).integers(0, 4, len(x))
    rows = np.repeat(np.arange(len(x)), weight)
    weighted = picsc.PicscClassifier(**QUICK).fit(x, y, sample_weight=weight / 4)
    repeated = picsc.PicscClassifier(**QUICK).fit(x.iloc[rows], y.iloc[rows])
    assert (weighted.predict_proba(x) == repeated.predict_proba(x)).all()
    odd = picsc.PicscClassifier(**QUICK).fit(x, y, sample_weight=weight + 0.5)
    assert np.abs(odd.predict_proba(x) - weighted.predict_proba(x)).max() > 1e-3


def test_fragments_matter_and_may_be_words() -> None:
    x, y = mixed()
    place = np.where(np.arange(len(x)) % 3 == 0, "north", "south")
    given = picsc.PicscClassifier(**QUICK).fit(x, y, fragments=place)
    coded = picsc.PicscClassifier(**QUICK).fit(x, y, fragments=(place == "south").astype(int))
    made = picsc.PicscClassifier(**QUICK).fit(x, y)
    assert (given.n_fragments_, made.n_fragments_) == (2, 5)
    assert (given.made_fragments_, made.made_fragments_) == (False, True)
    assert (given.predict_proba(x) == coded.predict_proba(x)).all()
    assert (given.predict_proba(x) != made.predict_proba(x)).any()
    alone = picsc.PicscClassifier(**QUICK).fit(x, y, fragments=np.zeros(len(x)))
    assert alone.strength_ == 0
    with pytest.raises(ValueError, match="fragments has rows without a fragment"):
        made.fit(x, y, fragments=np.where(np.arange(len(x)) == 3, np.nan, 1.0))


def test_search_pipelines_and_metadata() -> None:
    x, y = load_wine(return_X_y=True)
    place = np.arange(len(x)) % 6
    search = GridSearchCV(picsc.PicscClassifier(epochs=20), {"strength": [0.0, 0.1], "hidden": [2, 6]}, cv=3)
    assert search.fit(x, y).best_score_ > 0.8
    piped = make_pipeline(StandardScaler(), picsc.PicscClassifier(**QUICK))
    assert cross_val_score(piped, x, y, cv=3).min() > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        model = picsc.PicscClassifier(**QUICK).set_fit_request(fragments=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        routed = cross_validate(
            model, x, y, cv=GroupKFold(3), return_estimator=True,
            params={"fragments": place, "sample_weight": np.ones(len(x)), "groups": place},
        )  # fmt: skip
        piped = make_pipeline(StandardScaler(), picsc.PicscClassifier(**QUICK).set_fit_request(fragments=True))
        in_pipeline = cross_validate(
            piped, x, y, cv=GroupKFold(3), return_estimator=True, params={"fragments": place, "groups": place}
        )
    assert [each.n_fragments_ for each in routed["estimator"]] == [4, 4, 4]  # two of six places are tested
    assert [each[-1].n_fragments_ for each in in_pipeline["estimator"]] == [4, 4, 4]


def test_clones_and_pickles() -> None:
    x, y = mixed()
    model = picsc.PicscClassifier(hidden=3, **QUICK).fit(x, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert (again.predict_proba(x) == model.predict_proba(x)).all()
    assert not hasattr(clone(model), "model_")
    assert clone(model).get_params() == model.get_params()
    assert (clone(model).fit(x, y).predict_proba(x) == model.predict_proba(x)).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"hidden": 0}, "hidden=0: must be a whole number of at least 1"),
        ({"epochs": -1}, "epochs=-1: must be greater than or equal to 1"),
        ({"epochs": 2, "steps": 2}, "epochs= and steps= both say how long"),
        ({"strength": "posterior"}, "strength='posterior' is for models along a sequence"),
        ({"merge": "running"}, "merge='running' is chosen on all batches"),
    ],
)
def test_parameters_that_cannot_be_used(parameters: dict[str, Any], sentence: str) -> None:
    x, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=sentence) as caught:
        picsc.PicscClassifier(**parameters).fit(x, y)
    assert isinstance(caught.value, picsc.SettingsError)


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(models).failed == 0
