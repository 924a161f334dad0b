"""Models with batches of their own kind, and the same quantities computed row by row from their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import log_softmax

from tests.pytorch.models import Attention, Recurrent, ResNet, Transformer
from tests.reference import PENALTIES_BY_LOOP

N = 9
Case = tuple[nn.Module, Any]


def _tokens() -> Tensor:
    return torch.randint(11, (N, 6))


def _labels() -> Tensor:
    return torch.randint(3, (N,))


def _resnet() -> Case:
    model = ResNet(channels=2, classes=3, blocks=1, stages=2)
    model(torch.randn(20, 1, 6, 6))  # running statistics that are not 0 and 1
    return model, (torch.randn(N, 1, 6, 6, dtype=torch.float64), _labels())


def _masked() -> Case:
    mask = torch.ones(N, 6, dtype=torch.int64)
    mask[3:, 4:] = 0
    return Transformer(), {"input_ids": _tokens(), "attention_mask": mask, "labels": _labels()}


CASES: dict[str, Callable[[], Case]] = {
    "transformer block": _masked,
    "resnet": _resnet,
    "lstm": lambda: (Recurrent(), (_tokens(), _labels())),
    "encoder layer": lambda: (Attention(), [_tokens(), _labels()]),
}


def case(name: str) -> Case:
    """A model in training mode, in float64, and one batch of N rows."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model, batch = CASES[name]()
        return model.double().train(), batch


def row(batch: Any, i: int) -> tuple[Any, Tensor]:
    """Inputs and label of one row."""
    if isinstance(batch, dict):
        cut = {name: value[i : i + 1] for name, value in batch.items()}
        return cut, cut.pop("labels")
    return batch[0][i : i + 1], batch[1][i : i + 1]


def log_density(model: nn.Module, batch: Any, i: int) -> Tensor:
    """Log p(y | x) of one row alone."""
    x, y = row(batch, i)
    output = model(**x)["logits"] if isinstance(x, dict) else model(x)
    return log_softmax(output, 1)[0, y[0]]


def fishers_by_row(model: nn.Module, batch: Any, fragments: Tensor, *, graph: bool = False) -> Tensor:
    """Eq. 1 of every fragment from one row after the other, (k, d); the model is left in evaluation mode."""
    model.eval()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with sdpa_kernel(SDPBackend.MATH):
        squares = []
        for i in range(len(fragments)):
            found = torch.autograd.grad(log_density(model, batch, i), parameters, create_graph=graph)
            squares.append(torch.cat([each.flatten() for each in found]).square())
    return torch.stack([torch.stack(squares)[fragments == j].mean(0) for j in fragments.unique()])


def penalty_by_row(model: nn.Module, batch: Any, fragments: Tensor, reading: str) -> Tensor:
    """Algorithm 1's penalty through the graph of every row."""
    return PENALTIES_BY_LOOP[reading](fishers_by_row(model, batch, fragments, graph=True))
