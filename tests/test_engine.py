from collections.abc import Iterator

import pytest
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

from picsc.engine import AdamState, adam_step, fit_reference, minibatches, task_loss, train
from picsc.errors import DataError, NumericsError
from picsc.models import mlp
from picsc.threads import one_thread


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


CHOSEN = {"likelihood": "classes", "steps": 25, "lr": 0.05, "batch_size": 16, "seed": 4}


def blobs(n: int = 60, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(n) % 3
    return torch.randn(n, 5, generator=generator, dtype=dtype) + y[:, None], y


def vector(model: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_adam_step_is_torchs_adam(weight_decay: float) -> None:
    x, y = blobs()
    ours, theirs = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    optimiser = torch.optim.Adam(theirs.parameters(), lr=0.05, weight_decay=weight_decay)
    parameters = list(ours.parameters())
    state = AdamState([torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters])
    for _ in range(20):
        gradients = torch.autograd.grad(task_loss(ours, x, y, "classes"), parameters)
        adam_step(parameters, gradients, state, lr=0.05, weight_decay=weight_decay)
        optimiser.zero_grad()
        task_loss(theirs, x, y, "classes").backward()
        optimiser.step()
    torch.testing.assert_close(vector(ours), vector(theirs), rtol=1e-12, atol=1e-14)


def test_training_on_all_rows_is_the_plain_loop() -> None:
    x, y = blobs()
    model, twin = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    log = train(model, x, y, likelihood="classes", steps=10, lr=0.05, batch_size=60, seed=0)
    optimiser = torch.optim.Adam(twin.parameters(), lr=0.05)
    losses = []
    for _ in range(10):
        loss = nn.functional.cross_entropy(twin(x), y)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    torch.testing.assert_close(torch.tensor(log.loss), torch.tensor(losses), rtol=1e-12, atol=0)
    torch.testing.assert_close(vector(model), vector(twin), rtol=1e-12, atol=1e-14)


def test_same_seed_same_bytes_other_seed_other_bytes() -> None:
    x, y = blobs(dtype=torch.float32)
    first, again, other = (mlp(5, 3, seed=1) for _ in range(3))
    logs = [train(model, x, y, **{**CHOSEN, "seed": seed}) for model, seed in ((first, 4), (again, 4), (other, 5))]
    assert logs[0] == logs[1]
    assert torch.equal(vector(first), vector(again))
    assert not torch.equal(vector(first), vector(other))


def test_training_leaves_the_global_generator_alone() -> None:
    x, y = blobs()
    before = torch.get_rng_state()
    train(mlp(5, 3, seed=1, dtype=torch.float64), x, y, **CHOSEN)
    fit_reference(x, y, likelihood="classes", outputs=3, seed=0)
    assert torch.equal(torch.get_rng_state(), before)


def test_an_epoch_visits_every_row_at_most_once_and_all_but_the_remainder() -> None:
    drawn = list(minibatches(50, 8, 14, seed=0))
    assert [len(rows) for rows in drawn] == [8] * 14
    epochs = [torch.cat(drawn[:6]), torch.cat(drawn[6:12])]
    assert [len(epoch.unique()) for epoch in epochs] == [48, 48]
    assert not torch.equal(epochs[0], epochs[1])


def test_all_rows_are_one_batch_when_they_fit() -> None:
    assert list(minibatches(8, 8, 3, seed=0)) == [None, None, None]


def test_every_row_is_as_likely_in_every_place() -> None:
    """4,000 draws of 2 of 5 rows: each row's count is binomial(4000, 0.4); five sigma are left by 3e-6 of all seeds."""
    counts = torch.cat([next(iter(minibatches(5, 2, 1, seed=seed))) for seed in range(4000)]).bincount()
    assert counts.sub(1600).abs().max() < 5 * (4000 * 0.4 * 0.6) ** 0.5


def test_the_breast_cancer_reference_fits() -> None:
    table, labels = load_breast_cancer(return_X_y=True)
    x = torch.tensor((table - table.mean(0)) / table.std(0), dtype=torch.float32)
    y = torch.tensor(labels)
    right = [
        (fit_reference(x, y, likelihood="classes", outputs=2, seed=seed)(x).argmax(1) == y).float().mean()
        for seed in range(3)
    ]
    assert min(right) > 0.97


def test_the_reference_of_numbers_explains_them() -> None:
    x = blobs(400)[0]
    x = (x - x.mean(0)) / x.std(0)
    y = (x[:, 0] - x[:, 1]) / (x[:, 0] - x[:, 1]).std()
    model = fit_reference(x, y, likelihood="numbers", outputs=1, seed=0)
    assert task_loss(model, x, y, "numbers").item() < 0.01  # half the unexplained variance; 0.5 is none explained


def test_frozen_parameters_stay() -> None:
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    model[0].requires_grad_(False)
    before = vector(model[0])
    after = vector(model[2])
    train(model, x, y, **CHOSEN)
    assert torch.equal(vector(model[0]), before)
    assert not torch.equal(vector(model[2]), after)


def test_a_loss_that_leaves_the_finite_numbers_names_step_and_learning_rate() -> None:
    x, y = blobs(dtype=torch.float32)
    with pytest.raises(NumericsError, match=r"step 1 of 25 with learning rate 1e\+30"):
        train(mlp(5, 3, seed=1), x, y, **{**CHOSEN, "lr": 1e30})


def test_parameters_broken_by_the_last_step_are_found() -> None:
    class Root(nn.Module):
        """Finite at 0, where its slope is not."""

        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.zeros(5))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * self.w.sqrt()).sum(1)

    x, y = blobs()
    with pytest.raises(NumericsError, match=r"last of 1 steps with learning rate 0\.05"):
        train(Root(), x, y, **{**CHOSEN, "steps": 1, "likelihood": "numbers"})


def test_rows_that_do_not_match_are_refused() -> None:
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    with pytest.raises(DataError, match="60 rows of x and 59 of y"):
        train(model, x, y[1:], **CHOSEN)
    with pytest.raises(DataError, match="0 rows of x"):
        train(model, x[:0], y[:0], **CHOSEN)
    with pytest.raises(DataError, match=r"labels run from 0 to 2: a model with 2 outputs"):
        fit_reference(x, y, likelihood="classes", outputs=2, seed=0)
