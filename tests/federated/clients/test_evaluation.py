import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score

from picsc.federated.clients.evaluation import client_scores, own_rows


def test_r2_of_clients_is_about_the_mean_of_each_and_that_of_all_together_about_the_mean_of_all() -> None:
    """Clients whose means are far apart: a model that knows only the client explains all clients, and none of them."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=40) + np.repeat([0.0, 100.0], 20)
    outputs = np.stack([np.repeat([0.0, 100.0], 20), y + 0.1 * rng.normal(size=40)])
    test = own_rows([torch.arange(20), torch.arange(20, 40)])
    found = client_scores(torch.from_numpy(outputs), torch.from_numpy(y), test, "numbers")
    deviations = y - np.repeat([y[:20].mean(), y[20:].mean()], 20)
    for m in range(2):
        assert found.whole[m] == pytest.approx(r2_score(y, outputs[m]))
        errors = (y - outputs[m]) ** 2
        assert found.accuracy[m].mean() == pytest.approx(1 - errors.sum() / (deviations**2).sum())
        ratio = (1 - found.accuracy[m, 0]) / (1 - found.accuracy[m, 1])
        assert ratio == pytest.approx(errors[:20].sum() / errors[20:].sum())
    assert found.whole[0] > 0.99
    assert found.accuracy[0].mean() < 0.01


def test_one_client_whose_numbers_hardly_vary_does_not_decide_the_mean() -> None:
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(size=200), 1 + 1e-3 * rng.normal(size=20)])
    outputs = np.concatenate([0.5 * y[:200], np.zeros(20)])[None]
    test = own_rows([torch.arange(k * 20, k * 20 + 20) for k in range(11)])
    found = client_scores(torch.from_numpy(outputs), torch.from_numpy(y), test, "numbers")
    assert r2_score(y[200:], outputs[0, 200:]) < -1e5
    assert found.accuracy[0, -1] == pytest.approx(
        1 - 1 / np.mean([y[k * 20 : k * 20 + 20].var() for k in range(11)]), rel=0.01
    )
    assert found.accuracy.mean() > 0.5


def test_a_client_of_one_value_is_scored_by_the_variance_of_the_others() -> None:
    y = torch.tensor([0.1, 0.1, 0.1, 5.0, 1.0, 2.0, 3.0])
    test = own_rows([torch.arange(3), torch.arange(3, 4), torch.empty(0, dtype=torch.int64), torch.arange(4, 7)])
    found = client_scores(y[None] + 0.5, y, test, "numbers")
    expected = 1 - 0.25 / (2 / 3 / 2)  # of the clients with several rows one does not vary, one by 2/3
    assert found.accuracy[0, [0, 1, 3]].tolist() == pytest.approx([expected] * 3)
    assert found.accuracy[0, 2].isnan()
    assert found.log_loss.isnan().tolist() == [[False, False, True, False]]


def test_clients_whose_numbers_never_vary_have_no_r2() -> None:
    y = torch.tensor([0.1, 0.1, 0.1, 5.0])
    found = client_scores(y[None] + 0.5, y, own_rows([torch.arange(3), torch.arange(3, 4)]), "numbers")
    assert found.accuracy.isnan().all()


def test_balanced_accuracy_and_auc_are_those_of_all_test_rows() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(60) < 0.2).astype(np.int64)
    margin = rng.normal(size=60) + y
    outputs = torch.from_numpy(np.stack([-margin, margin], 1)).log_softmax(1)[None]
    found = client_scores(outputs, torch.from_numpy(y), own_rows([torch.arange(30), torch.arange(30, 60)]), "classes")
    assert found.balanced[0] == pytest.approx(balanced_accuracy_score(y, margin > 0))
    assert found.auc[0] == pytest.approx(roc_auc_score(y, margin))
