import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, roc_auc_score

from picsc.equations.likelihood import log_likelihood
from picsc.errors import DataError
from picsc.evaluation.metrics import Score, row_accuracy, row_log_loss, score, scores_of_models

NOTHING = Score(None, None, None, None, "no labelled row")


def log_probabilities(shape: tuple[int, ...], seed: int = 0) -> NDArray[np.float64]:
    logits = 2 * np.random.default_rng(seed).normal(size=shape)
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)


def test_two_classes_equal_scikit_learn() -> None:
    outputs, rng = log_probabilities((200, 2)), np.random.default_rng(1)
    y, weights = rng.integers(2, size=200), rng.exponential(size=200)
    found = score(outputs, y, "classes", weights)
    guess = outputs.argmax(1)
    assert found.accuracy == pytest.approx(accuracy_score(y, guess), rel=1e-12)
    assert found.weighted_accuracy == pytest.approx(accuracy_score(y, guess, sample_weight=weights), rel=1e-12)
    assert found.log_loss == pytest.approx(log_loss(y, np.exp(outputs)), rel=1e-12)
    assert found.auc == pytest.approx(roc_auc_score(y, outputs[:, 1]), rel=1e-12)
    assert found.reason == ""


def test_ties_count_half() -> None:
    margin = np.round(np.random.default_rng(2).normal(size=100))
    y = np.random.default_rng(3).integers(2, size=100)
    outputs = np.stack([-margin / 2, margin / 2], axis=1)
    assert score(outputs, y, "classes").auc == pytest.approx(roc_auc_score(y, margin), rel=1e-12)
    assert score(np.zeros((4, 2)), np.array([0, 1, 1, 1]), "classes").auc == 0.5


def test_numbers_equal_scikit_learn() -> None:
    rng = np.random.default_rng(4)
    y, means, weights = rng.normal(3, 2, size=50), rng.normal(3, 2, size=50), rng.exponential(size=50)
    found = score(means, y, "numbers", weights)
    assert found.accuracy == pytest.approx(r2_score(y, means), rel=1e-12)
    assert found.weighted_accuracy == pytest.approx(r2_score(y, means, sample_weight=weights), rel=1e-12)
    assert (found.auc, found.reason) == (None, "numbers have no AUC")


def test_log_loss_is_the_one_that_models_are_trained_with() -> None:
    logits = torch.from_numpy(np.random.default_rng(5).normal(size=(30, 4)))
    y = torch.from_numpy(np.random.default_rng(6).integers(4, size=30))
    trained = -log_likelihood(logits, y, "classes").mean().item()
    assert score(logits.log_softmax(1).numpy(), y.numpy(), "classes").log_loss == pytest.approx(trained, rel=1e-12)
    number = torch.arange(30.0, dtype=torch.float64) / 7
    trained = -log_likelihood(logits[:, 0], number, "numbers").mean().item()
    assert score(logits[:, 0].numpy(), number.numpy(), "numbers").log_loss == pytest.approx(trained, rel=1e-12)


def test_a_test_part_of_one_class_has_no_auc() -> None:  # stratifying by a group's proxy gives such folds
    group = np.repeat([0, 1, 2, 3], [10, 10, 10, 2])
    y = np.where(group == 1, 1, 0)
    y[:2] = 1
    outputs = log_probabilities((32, 2))
    found = score(outputs[group >= 2], y[group >= 2], "classes")
    assert (found.auc, found.reason) == (None, "one class only")
    assert found.accuracy == (outputs[group >= 2].argmax(1) == 0).mean()
    assert found.log_loss is not None


def test_more_than_two_classes_equal_scikit_learn() -> None:
    outputs, y = log_probabilities((120, 3)), np.random.default_rng(9).choice(3, 120, p=[0.8, 0.15, 0.05])
    found = score(outputs, y, "classes")
    assert found.auc == pytest.approx(roc_auc_score(y, np.exp(outputs), multi_class="ovr", average="macro"), rel=1e-12)
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, outputs.argmax(1)), rel=1e-12)
    assert found.reason == ""


def test_a_class_without_a_row_leaves_no_auc_and_the_balance_of_the_others() -> None:
    outputs, y = log_probabilities((10, 3)), np.arange(10) % 2
    found = score(outputs, y, "classes")
    assert (found.auc, found.reason) == (None, "a class has no row")
    recalls = [(outputs.argmax(1) == y)[y == c].mean() for c in (0, 1)]
    assert found.balanced_accuracy == pytest.approx(np.mean(recalls))


def test_the_majority_class_has_half_the_balanced_accuracy_whatever_its_share() -> None:
    outputs, y = np.log(np.array([[0.9, 0.1]])).repeat(100, axis=0), (np.arange(100) == 0).astype(np.int64)
    found = score(outputs, y, "classes")
    assert (found.accuracy, found.balanced_accuracy, found.auc) == (0.99, 0.5, 0.5)


def test_weighted_and_plain_accuracy_differ_under_shift() -> None:
    """Fitting with weights and scoring without them would hide what the weights are for."""
    x = np.random.default_rng(7).normal(size=(4000, 2))
    y = (x[:, 0] * np.where(x[:, 1] > 0, 1, -1) > 0).astype(np.int64)  # the rule turns round at x2 = 0
    margin = x[:, 0]  # right where x2 > 0
    weights = np.exp(1.5 * x[:, 1] - 1.5**2 / 2)  # density ratio of a target centred at x2 = 1.5
    found = score(np.stack([-margin, margin], axis=1), y, "classes", weights)
    assert found.accuracy == pytest.approx(0.5, abs=0.05)
    assert found.weighted_accuracy is not None
    assert found.accuracy is not None
    assert found.weighted_accuracy - found.accuracy > 0.3


def test_nothing_to_test_is_a_reason_and_no_number() -> None:
    assert score(np.empty((0, 3)), np.empty(0, np.int64), "classes") == NOTHING
    assert score(np.empty(0), np.empty(0), "numbers") == NOTHING
    assert score(log_probabilities((4, 2)), np.full(4, -1), "classes", np.ones(4)) == NOTHING


def test_rows_without_a_label_count_for_nothing() -> None:
    outputs, y = np.log(np.array([[0.25, 0.75], [0.5, 0.5]])).repeat(10, axis=0), np.arange(20) % 2
    missing = np.where(np.arange(20) < 5, -1, y)
    assert score(outputs, missing, "classes") == score(outputs[5:], y[5:], "classes")
    numbers = np.where(np.arange(20) < 5, np.nan, y)
    assert score(outputs[:, 0], numbers, "numbers") == score(outputs[5:, 0], numbers[5:], "numbers")


@pytest.mark.parametrize("value", [0.1, 0.0, -7.3])
def test_a_constant_target_has_no_r2_but_a_log_loss(value: float) -> None:
    found = score(np.zeros(3), np.full(3, value), "numbers")
    assert found.accuracy is None
    assert found.log_loss == pytest.approx(value**2 / 2)
    assert found.reason == "constant target; numbers have no AUC"


def test_a_diverged_model_has_no_number() -> None:
    outputs = log_probabilities((2, 6, 2))
    outputs[0, 3] = np.nan
    first, second = scores_of_models(outputs, np.arange(6) % 2, "classes")
    assert first == Score(None, None, None, None, "outputs are not finite")
    assert second.reason == ""
    assert score(np.array([np.inf, 0, 1]), np.arange(3.0), "numbers").reason == "outputs are not finite"
    assert score(np.array([1e200, 0, 1]), np.arange(3.0), "numbers").log_loss is None


def test_a_label_of_probability_zero_has_no_log_loss_but_an_accuracy() -> None:
    found = score(np.array([[math.log(0.5), math.log(0.5)], [-math.inf, 0]]), np.array([1, 0]), "classes")
    assert (found.accuracy, found.log_loss, found.auc) == (0, None, 0)
    assert found.reason == "log-loss is not finite"


def test_models_at_once_equal_one_after_another() -> None:
    rng = np.random.default_rng(8)
    y, weights = rng.integers(-1, 2, size=(5, 40)), rng.exponential(size=40)
    outputs = log_probabilities((5, 40, 2)).astype(np.float32)
    together = list(scores_of_models(outputs, y, "classes", weights))
    assert together == [score(outputs[m], y[m], "classes", weights) for m in range(5)]
    shared = list(scores_of_models(outputs[..., 0], y[0] * 1.5, "numbers", weights))
    assert shared == [score(outputs[m, :, 0], y[0] * 1.5, "numbers", weights) for m in range(5)]


def test_rows_average_to_the_scores() -> None:
    outputs, y = log_probabilities((3, 25, 4)), np.arange(25) % 4
    found = scores_of_models(outputs, y, "classes")
    np.testing.assert_allclose(row_accuracy(outputs, y, "classes").mean(1), found.accuracy)
    np.testing.assert_allclose(row_log_loss(outputs, y, "classes").mean(1), found.log_loss)
    number = np.where(y == 3, np.nan, y)
    found = scores_of_models(outputs[..., 0], number, "numbers")
    np.testing.assert_allclose(np.nanmean(row_accuracy(outputs[..., 0], number, "numbers"), 1), found.accuracy)


def test_columns_beyond_the_classes_are_padding() -> None:
    outputs, y = log_probabilities((10, 2)), np.arange(10) % 2
    padded = np.concatenate([outputs, np.full((10, 3), 9.0)], axis=1)
    assert score(padded, y, "classes", classes=2) == score(outputs, y, "classes")


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1)), min_size=1, max_size=30))
def test_auc_is_symmetric_and_a_share_of_pairs(rows: list[tuple[int, int]]) -> None:
    margin, y = np.array(rows, np.float64).T
    first, second = margin[y == 0], margin[y == 1]
    pairs = [(a < b) + (a == b) / 2 for a in first for b in second]
    expected = pytest.approx(np.mean(pairs)) if pairs else None
    outputs = np.stack([0 * margin, margin], axis=1)
    assert score(outputs, y.astype(np.int64), "classes").auc == expected


def test_wrong_input_is_refused() -> None:
    outputs, y = log_probabilities((4, 2)), np.array([0, 1, 1, 0])
    with pytest.raises(DataError, match="label 2 is none of the 2 classes"):
        score(outputs, y + 1, "classes")
    with pytest.raises(DataError, match=r"outputs of shape \(1, 4, 2\) with labels of shape \(3,\)"):
        score(outputs, y[:3], "classes")
    with pytest.raises(DataError, match="tested row 2 has -1"):
        score(outputs, y, "classes", np.array([1.0, -1, 1, 1]))
    with pytest.raises(DataError, match="one for each of 4 rows"):
        score(outputs, y, "classes", np.ones(3))


def test_weights_that_are_all_zero_give_no_weighted_score() -> None:
    found = score(log_probabilities((4, 2)), np.array([0, 1, 1, 0]), "classes", np.zeros(4))
    assert (found.weighted_accuracy, found.reason) == (None, "no weighted score")
