"""ShiftWeighter: the weights of picsc.weighting for frames and arrays, and scores weighted by them."""

import doctest
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import picsc
from picsc.estimators import weights
from picsc.estimators.weights import ImportanceWeightedScorer
from picsc.weighting.kmm import kmm
from picsc.weighting.standardised import standardised


def gaussians(shift: float, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    return generator.normal(size=(n, 2)), generator.normal(size=(n, 2)) + np.array([shift, 0.0])


@pytest.mark.parametrize("method", ["iw", "ulsif", "rulsif", "kmm"])
def test_weighted_training_rows_have_the_target_s_mean(method: str) -> None:
    training, target = gaussians(0.6)
    found = picsc.ShiftWeighter(method).fit(training, target)
    mean = (found.weights_[:, None] * training).mean(0)
    assert found.weights_.mean() == pytest.approx(1)
    assert 0.3 < mean[0] < 0.8
    assert abs(mean[1]) < 0.2
    assert found.effective_rows_ == pytest.approx(found.weights_.sum() ** 2 / (found.weights_**2).sum())
    assert found.effective_share_ == pytest.approx(found.effective_rows_ / 400)
    assert found.largest_ == pytest.approx(found.weights_.max())
    assert 0.6 < found.separation_ < 0.75
    assert (clone(found).fit(training, target).weights_ == found.weights_).all()


def test_weights_are_those_of_the_weighting_itself() -> None:
    training, target = gaussians(0.4)
    x, z = (torch.from_numpy(part.astype(np.float32)) for part in (training, target))
    expected = kmm(*standardised(x, z, 100, most=8.0), seed=5, ridge=None)
    found = picsc.ShiftWeighter(random_state=5).fit(training, target).weights_
    assert found == pytest.approx(expected.numpy(), rel=1e-2, abs=1e-2)


def test_frames_with_words_whose_kinds_are_those_of_both() -> None:
    generator = np.random.default_rng(0)
    north = pd.DataFrame({"place": generator.choice(["a", "b"], 300, p=[0.8, 0.2]), "x": generator.normal(size=300)})
    south = pd.DataFrame({"place": generator.choice(["a", "b"], 300, p=[0.2, 0.8]), "x": generator.normal(size=300)})
    found = picsc.ShiftWeighter("iw").fit_weights(north, south)
    assert found[north["place"] == "b"].mean() > 4 * found[north["place"] == "a"].mean()


def test_weights_that_rest_on_a_few_rows_are_refused() -> None:
    training, target = gaussians(6)
    with pytest.raises(ValueError, match="hardly overlap") as caught:
        picsc.ShiftWeighter("rulsif").fit(training, target)
    assert isinstance(caught.value, picsc.NumericsError)
    with pytest.raises(ValueError, match="method='diw': must be one of iw, ulsif, rulsif, kmm"):
        picsc.ShiftWeighter("diw").fit(training, target)  # type: ignore[arg-type]
    flat = picsc.ShiftWeighter("rulsif", floor=0, exponent=0).fit(training, target)
    assert flat.weights_ == pytest.approx(np.ones(400))


def test_a_weighted_score_is_nearer_to_that_on_the_target() -> None:
    training, target = gaussians(1.0, 1500)
    labels, wanted_labels = ((rows[:, 0] > 0.5).astype(int) for rows in (training, target))
    second = FunctionTransformer(partial(np.delete, obj=0, axis=1))  # the label hangs on the first column
    model = make_pipeline(second, LogisticRegression()).fit(training, labels)
    wanted, plain = model.score(target, wanted_labels), model.score(training, labels)
    scored = ImportanceWeightedScorer(target, "accuracy")(model, training, labels)
    assert abs(scored - wanted) < 0.5 * abs(plain - wanted)
    assert picsc.importance_weighted_score(model, training, labels, target, scoring="accuracy") == scored
    scores = cross_val_score(LogisticRegression(), training, labels, cv=3, scoring=ImportanceWeightedScorer(target))
    assert (scores > 0.9).all()


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(weights).failed == 0
