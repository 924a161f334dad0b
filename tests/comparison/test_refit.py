"""The model that `picsc compare --save-model` saves: which method, on which rows, with weights for which target."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.comparison.compare import compare_dataset, prepare
from picsc.comparison.refit import check_refit, refit
from picsc.comparison.summary import recommended
from picsc.datasets.images import from_images
from picsc.datasets.memory import from_memory
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.saved_models.folder import save_model
from picsc.saved_models.refitted import Refitted
from picsc.settings import CompareSettings
from picsc.settings.by_keyword import from_keywords

QUICK = {"epochs": 15, "repeats": 1, "test_on": ("new.csv",), "methods": ("st-cv", "iw")}


def rows(n: int, *, mean: float, seed: int) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    x, z = generator.normal(mean, 1, n), generator.normal(size=n)
    return pd.DataFrame({"x": x, "z": z, "y": (x**2 + generator.normal(size=n) > 1).astype(int)})


TRAIN, NEW = rows(150, mean=0, seed=0), rows(90, mean=0.7, seed=1)


def read(frame: pd.DataFrame, settings: CompareSettings) -> Dataset:
    data = from_memory(frame, None, settings.read)
    assert isinstance(data, Dataset)
    return data


def saved(method: Any, new: pd.DataFrame = NEW, **keywords: Any) -> Refitted:
    settings = from_keywords(CompareSettings, "compare", {"target": "y", **QUICK, **keywords})
    data, target = read(TRAIN, settings), read(new, settings) if settings.test_on else None
    report = compare_dataset(data, settings, target=target)
    return refit(data, settings, report, method, target=target)


def test_the_weights_are_for_all_rows_of_the_target() -> None:
    made = saved("iw")
    settings = from_keywords(CompareSettings, "compare", {"target": "y", **QUICK})
    order = prepare(read(TRAIN, settings), read(NEW, settings), settings, keep=False).plan.tasks[0].train
    weights = np.empty(len(order))  # they are estimated out of fold, and so depend on the order of the rows
    weights[order] = picsc.ShiftWeighter("iw").fit(TRAIN[["x", "z"]].iloc[order], NEW[["x", "z"]]).weights_
    codes = np.where(TRAIN["y"] == made.model.classes[0], 0, 1)
    own = picsc.PicscClassifier(strength=0, epochs=15).fit(TRAIN[["x", "z"]], codes, sample_weight=weights)
    found, expected = made.model.predict_proba(NEW), own.predict_proba(NEW[["x", "z"]])
    np.testing.assert_allclose(found, expected, atol=1e-4)
    plain = saved("st-cv").model.predict_proba(NEW)
    assert np.abs(plain - found).max() > 0.02


def test_a_saved_model_gives_the_same_bits(tmp_path: Path) -> None:
    made = saved("iw")
    save_model(made.model, tmp_path / "model", made.card)
    again = picsc.load_model(tmp_path / "model")
    assert (again.predict_proba(NEW) == made.model.predict_proba(NEW)).all()


@pytest.mark.parametrize("method", ["st-cv", "iw", "kmm", "iwcv", "picsc"])
def test_no_label_of_the_target_is_used(method: str) -> None:
    turned = NEW.assign(y=1 - NEW["y"])
    assert (saved(method).model.theta == saved(method, turned).model.theta).all()


@pytest.mark.parametrize("method", ["diw", "pooled"])
def test_methods_that_use_some_labels_say_so(method: str) -> None:
    turned = NEW.assign(y=1 - NEW["y"])
    made = saved(method)
    assert (made.model.theta != saved(method, turned).model.theta).any()
    assert "10 rows of them, with their labels" in made.card
    assert made.model.training_rows is not None
    assert made.model.training_rows.rows == len(TRAIN) + 10 * (method == "pooled")


def test_the_card_has_the_figures_and_the_target() -> None:
    made = saved("iw")
    assert "- 150 rows\n" in made.card
    assert "target: new.csv, 90 rows; the training rows were weighted by the columns of all of them" in made.card
    assert "| iw (this one) |" in made.card
    assert sorted(made.model.classes.tolist()) == [0, 1]


def test_the_recommended_method_is_that_of_the_advice() -> None:
    settings = from_keywords(CompareSettings, "compare", {"target": "y", **QUICK})
    data, target = read(TRAIN, settings), read(NEW, settings)
    report = compare_dataset(data, settings, target=target)
    made = refit(data, settings, report, target=target)
    assert "train plainly" in report.summary[2]
    assert (made.method, made.recommended) == ("st-cv", True)
    assert recommended(report.methods, report.targets) == "st-cv"
    assert "method: st-cv, the plain method, as the report names no better one" in made.card


@pytest.mark.parametrize("method", ["true-ratio", "cv-choice", "carried", "picsc"])
def test_selected_training_rows(method: str) -> None:
    made = saved(method, test_on=(), bias="x", repeats=2)
    assert "of the random draws of training rows and target, those of the first repeat" in made.card
    assert made.model.training_rows is not None
    assert made.model.training_rows.rows < len(TRAIN)


def test_a_target_with_columns_and_gaps_of_its_own() -> None:
    new = NEW.assign(z=NEW["z"].where(NEW.index > 5))
    made = saved("iw", new)
    assert np.isfinite(made.model.predict_proba(new)).all()


def test_diverged_models_recommend_nothing() -> None:
    settings = from_keywords(
        CompareSettings, "compare", {"target": "y", **QUICK, "lr": 1e6, "optimizer": "sgd", "methods": ("st-cv",)}
    )
    data, target = read(TRAIN, settings), read(NEW, settings)
    report = compare_dataset(data, settings, target=target)
    assert report.failed
    with pytest.raises(DataError, match="no model is saved, because models diverged"):
        refit(data, settings, report, target=target)


@pytest.mark.parametrize(
    ("keywords", "method", "sentence"),
    [
        ({"folds": 3}, None, "--save-model saves a model for one target, and here there are several"),
        ({"folds": 3, "test_on": ("1", "2")}, None, "name the target with --test-on FILE"),
        ({"test_on": ("new.csv",)}, "dob-scv", "it cuts folds that are targets in turn"),
        ({"test_on": ("new.csv",)}, "true-ratio", "known only with --bias"),
        ({"model": "sklearn:tree.DecisionTreeClassifier"}, None, "can save: leave one of the two out"),
    ],
)
def test_what_has_no_single_model_is_refused(keywords: dict[str, Any], method: Any, sentence: str) -> None:
    settings = from_keywords(CompareSettings, "compare", {"target": "y", **keywords})
    with pytest.raises(SettingsError, match=sentence):
        check_refit(read(TRAIN, settings), settings, method)


def test_images_are_refused() -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (20, 1, 16, 16)).astype(np.uint8)
    with pytest.raises(SettingsError, match="--save-model saves models of tables; leave it out for images"):
        check_refit(from_images(pixels, np.arange(20) % 2), CompareSettings())
