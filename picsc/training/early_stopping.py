"""Stopping a training run when rows that were held out stop gaining. Letters: n rows, c classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from picsc.equations.likelihood import Likelihood, log_likelihood
from picsc.training.objectives import pixels_together

PREDICTED_AT_ONCE = 512
"""Rows of one pass unless the caller says otherwise."""


@dataclass(slots=True)
class Watch:
    """Follows a model through its epochs and remembers its best state."""

    model: nn.Module
    x: Tensor
    """Inputs of the rows held out."""
    y: Tensor
    likelihood: Likelihood
    patience: int
    """Epochs without a lower loss after which training is over."""
    weight: Tensor | None = None
    """Of the rows held out, (n,), not all 0; None weighs all alike."""
    losses: list[float] = field(default_factory=list)
    """Mean negative log-likelihood after each epoch, nats."""
    best: dict[str, Tensor] = field(default_factory=dict)
    """State of the model after the epoch with the lowest loss; empty while no loss was finite."""

    def over(self) -> bool:
        """Look at the model after an epoch; whether training is over. The host waits for the device here."""
        predicted = predict(self.model, self.x, likelihood=self.likelihood)
        losses = -log_likelihood(predicted, self.y, self.likelihood)
        mean = losses.mean() if self.weight is None else (self.weight * losses).sum() / self.weight.sum()
        loss = float(mean)
        lowest = min((one for one in self.losses if one == one), default=float("inf"))
        self.losses.append(loss)
        if loss < lowest:
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}
            return False
        since = len(self.losses) - 1 - self.losses.index(lowest) if lowest in self.losses else len(self.losses)
        return since >= self.patience

    def restore(self) -> None:
        """Give the model its best state back."""
        if self.best:
            self.model.load_state_dict(self.best)


def predict(
    model: nn.Module, x: Tensor, *, likelihood: Likelihood = "classes", chunk: int = PREDICTED_AT_ONCE
) -> Tensor:
    """What a model says about rows, in evaluation mode.

    Args:
        model: nothing of it is changed.
        x: inputs (n, ...).
        likelihood: `classes` or `numbers`.
        chunk: rows per pass; the result does not depend on it.

    Returns:
        Log-probabilities (n, c) in nats, or means (n,); without a graph, in the model's precision and on its device.
    """
    with _evaluating(model):
        parts = [_predicted(model, part, likelihood) for part in torch.split(x, chunk)]
    return torch.cat(parts)


@torch.inference_mode()
def _predicted(model: nn.Module, x: Tensor, likelihood: Likelihood) -> Tensor:
    output = model(pixels_together(x))
    return output.reshape(len(x)) if likelihood == "numbers" else log_softmax(output.reshape(len(x), -1), 1)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Batch normalisation and dropout as in use; every layer's mode is as before afterwards."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
