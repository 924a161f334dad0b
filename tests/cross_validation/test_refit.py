"""The model that `--save-model` saves: which method, on which rows, with which settings."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import picsc
from picsc.cross_validation.cross_validate import cross_validate_dataset
from picsc.cross_validation.refit import Refitted, refit
from picsc.datasets.images import from_images
from picsc.datasets.memory import from_memory
from picsc.errors import SettingsError
from picsc.fragments import cut
from picsc.settings.by_keyword import from_keywords
from picsc.settings.choices import SAVED_METHODS


def refitted(method: Any = None, **keywords: Any) -> tuple[Refitted, picsc.CvReport, Any, picsc.CvSettings]:
    settings = from_keywords(picsc.CvSettings, "cv", {"epochs": 15, "repeats": 1, "strength": 0.1, **keywords})
    data = from_memory(*load_wine(return_X_y=True), settings.read)
    report = cross_validate_dataset(data, settings)
    return refit(data, settings, report, method), report, data, settings


def test_picsc_is_trained_on_all_rows_with_the_folds_as_fragments() -> None:
    made, _, data, settings = refitted("picsc", folds=3)
    x, y = load_wine(return_X_y=True)
    pieces = [piece.rows for piece in cut(data, settings.cut, seed=0).fragments]
    rows, fragment = np.concatenate(pieces), np.repeat(range(3), [len(piece) for piece in pieces])
    model = picsc.PicscClassifier(strength=0.1, epochs=15).fit(x[rows], y[rows], fragments=fragment)
    assert (made.model.theta == model.model_.theta).all()
    assert (made.model.predict(x) == model.predict(x)).all()
    assert not made.recommended
    assert "named with --save-method" in made.card


@pytest.mark.parametrize("method", SAVED_METHODS)
@pytest.mark.parametrize("pieces", [{"folds": 3}, {"batches": 3}])
def test_every_method_has_a_model_of_all_rows(method: str, pieces: dict[str, int]) -> None:
    made, *_ = refitted(method, **pieces)
    x, y = load_wine(return_X_y=True)
    assert made.model.training_rows is not None
    assert made.model.training_rows.rows == len(x)
    assert (made.model.predict(x) == y).mean() > (0.8 if "folds" in pieces else 0.2)  # batches have a class or two each


def test_the_recommended_method_is_that_of_the_advice() -> None:
    made, report, *_ = refitted(folds=3)
    assert "train without it" in report.summary[2]
    assert (made.method, made.recommended) == ("st-cv", True)
    assert "st-cv (this one)" in made.card
    row = next(line for line in made.card.splitlines() if line.startswith("| picsc |"))
    [ours] = [method for method in report.methods if method.method == "picsc"]
    assert f"{100 * ours.mean:.1f} %" in row  # type: ignore[operator]
    assert report.data.sha256 in made.card


def test_lambda_is_chosen_anew_and_classes_are_numbers() -> None:
    settings = from_keywords(picsc.CvSettings, "cv", {"epochs": 15, "repeats": 1, "folds": 3})
    x, y = load_breast_cancer(return_X_y=True, as_frame=True)
    data = from_memory(x, y, settings.read)
    report = cross_validate_dataset(data, settings)
    made = refit(data, settings, report, "picsc")
    assert made.model.classes.tolist() == [0, 1]
    assert "lambda or weight decay" in made.card


def test_images_are_refused() -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (20, 1, 16, 16)).astype(np.uint8)
    with pytest.raises(SettingsError, match="--save-model saves models of tables; leave it out for images"):
        refit(from_images(pixels, np.arange(20) % 2), picsc.CvSettings(), None)  # type: ignore[arg-type]
