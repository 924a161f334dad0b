import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score

from picsc.federated.clients.evaluation import client_scores, own_rows


def test_r2_is_about_the_mean_of_each_clients_own_test_rows_and_of_all_together() -> None:
    """Clients whose means are far apart: a model that knows only the client explains all clients, and none of them."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=40) + np.repeat([0.0, 100.0], 20)
    outputs = np.stack([np.repeat([0.0, 100.0], 20), y + 0.1 * rng.normal(size=40)])
    test = own_rows([torch.arange(20), torch.arange(20, 40)])
    found = client_scores(torch.from_numpy(outputs), torch.from_numpy(y), test, "numbers")
    for m in range(2):
        assert found.whole[m] == pytest.approx(r2_score(y, outputs[m]))
        for k, rows in enumerate((slice(0, 20), slice(20, 40))):
            assert found.accuracy[m, k] == pytest.approx(r2_score(y[rows], outputs[m, rows]))
    assert found.whole[0] > 0.99
    assert found.accuracy[0].max() < 0.01


def test_a_client_without_variance_or_rows_has_no_r2_and_the_others_have() -> None:
    y = torch.tensor([0.1, 0.1, 0.1, 5.0, 1.0, 2.0, 3.0])
    test = own_rows([torch.arange(3), torch.arange(3, 4), torch.empty(0, dtype=torch.int64), torch.arange(4, 7)])
    found = client_scores(y[None] + 0.5, y, test, "numbers")
    assert found.accuracy.isnan().tolist() == [[True, True, True, False]]
    assert found.log_loss.isnan().tolist() == [[False, False, True, False]]
    assert found.accuracy[0, 3] == pytest.approx(1 - 0.25 / (2 / 3))


def test_balanced_accuracy_and_auc_are_those_of_all_test_rows() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(60) < 0.2).astype(np.int64)
    margin = rng.normal(size=60) + y
    outputs = torch.from_numpy(np.stack([-margin, margin], 1)).log_softmax(1)[None]
    found = client_scores(outputs, torch.from_numpy(y), own_rows([torch.arange(30), torch.arange(30, 60)]), "classes")
    assert found.balanced[0] == pytest.approx(balanced_accuracy_score(y, margin > 0))
    assert found.auc[0] == pytest.approx(roc_auc_score(y, margin))
