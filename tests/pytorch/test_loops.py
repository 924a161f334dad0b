"""Algorithm 2 in loops of somebody's own: images with a ResNet, texts with a transformer."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import picsc
from picsc.runtime.threads import one_thread
from tests.pytorch.models import ResNet, Transformer

Loss = Callable[[Any], Tensor]


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


def algorithm_2(model: nn.Module, fragments: Iterable[Any], loss_of: Loss, epochs: int) -> tuple[list[bool], Any]:
    """The loop of docs/pytorch.md."""
    trigger, anchor = picsc.ShiftTrigger(model), picsc.Anchor(model, strength=0.1)
    merged, flags = picsc.PosteriorMean(model), []
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for loader in fragments:
        shifted = trigger.compare(loader).shifted
        model.train()
        for _ in range(epochs):
            for batch in loader:
                loss = loss_of(batch) + (anchor.penalty() if shifted else 0.0)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        fisher = picsc.diagonal_fisher(model, loader)
        anchor.move(fisher if shifted else None)
        merged.update(fisher)
        flags.append(shifted)
    return flags, merged


def digits(negatives: bool, rows: slice) -> tuple[Tensor, Tensor]:
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images[rows], dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    return (1 - x if negatives else x), torch.tensor(labels[rows])


def fragment(negatives: bool, rows: slice) -> DataLoader[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(0)
    return DataLoader(TensorDataset(*digits(negatives, rows)), batch_size=32, shuffle=True, generator=generator)


def learn_digits(channels: int, n: int, epochs: int) -> None:
    torch.manual_seed(0)
    model = ResNet(channels)
    where = [slice(n * i, n * (i + 1)) for i in range(3)]
    fragments = [fragment(negatives, rows) for negatives, rows in zip((False, False, True), where, strict=True)]
    flags, merged = algorithm_2(model, fragments, lambda batch: cross_entropy(model(batch[0]), batch[1]), epochs)
    assert flags == [False, False, True]
    x, y = digits(True, slice(3 * n, 3 * n + 150))
    model.eval()
    accuracy = float((model(x).argmax(1) == y).float().mean())
    assert accuracy > 0.5  # 0.1 is chance
    with merged.applied():
        model.train()
        model(x)  # running statistics of the merged parameters
        model.eval()
        assert bool(model(x).isfinite().all())


def test_a_resnet_with_batch_normalisation_on_digits() -> None:
    learn_digits(channels=8, n=200, epochs=8)


@pytest.mark.slow
def test_a_network_of_the_size_of_resnet_18_on_digits() -> None:
    """11 million parameters, so that the trigger compares sketches."""
    learn_digits(channels=64, n=120, epochs=6)


def test_a_transformer_of_two_layers_on_texts() -> None:
    """Words of a text are drawn by its topic; in the last fragment also by another distribution of topics' words."""
    random = np.random.default_rng(0)

    def texts(n: int, shifted: bool) -> list[dict[str, Tensor]]:
        topic = random.integers(0, 3, n)
        words = 6 * topic[:, None] + random.integers(0, 6, (n, 8))
        noise = random.integers(12, 18, (n, 8)) if shifted else random.integers(0, 18, (n, 8))
        tokens = np.where(random.random((n, 8)) < 0.5, words, noise)
        batch = {"input_ids": torch.tensor(tokens), "labels": torch.tensor(topic)}
        return [{name: values[i : i + 20] for name, values in batch.items()} for i in range(0, n, 20)]

    torch.manual_seed(0)
    model = Transformer(words=18, width=16, layers=2)
    fragments = [texts(120, False), texts(120, False), texts(120, True)]

    def loss_of(batch: dict[str, Tensor]) -> Tensor:
        fold = torch.arange(len(batch["labels"])) % 2
        task = cross_entropy(model(batch["input_ids"])["logits"], batch["labels"])
        return task + 0.01 * picsc.fisher_penalty(model, batch, fold)

    flags, _ = algorithm_2(model, fragments, loss_of, epochs=5)
    assert flags == [False, False, True]
    model.eval()
    found = [(model(each["input_ids"])["logits"].argmax(1), each["labels"]) for each in texts(200, True)]
    assert float(torch.cat([guess == label for guess, label in found]).float().mean()) > 0.6
