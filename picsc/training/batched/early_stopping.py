"""Stopping each of many networks when the rows held out of its problem stop gaining.

Shape letters here: g problems, a models per problem. The rule is `picsc.training.early_stopping.Watch`'s; models do not
wait for one another, so that how many are trained side by side changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.training.batched.layout import Stack
from picsc.training.batched.mlp import Weights, row_losses

LOOK_EVERY = 10
"""Epochs between two questions whether any model is left; each makes the host wait for the device."""


@dataclass(slots=True)
class StackWatch:
    """Follows all models of a stack through their epochs and remembers their best parameters."""

    held: Stack
    """The rows held out, one tile per problem."""
    patience: int
    """Epochs without a lower loss after which a model's training is over."""
    best: Weights
    """Parameters after the epoch with the lowest loss; those at the start while there is none."""
    lowest: Tensor
    """That loss, (g, a); infinite while there is none."""
    since: Tensor
    """Epochs since then, (g, a)."""
    epochs: Tensor
    """Epochs that each model was trained for, (g, a)."""
    running: Tensor
    """Whether training goes on, (g, a)."""

    def look(self, weights: Weights) -> None:
        """Look at the models after an epoch."""
        loss = held_out_loss(weights, self.held)
        better = self.running & (loss < self.lowest)
        self.lowest = torch.where(better, loss, self.lowest)
        for kept, now in zip(self.best, weights, strict=True):
            kept.copy_(torch.where(better[..., None, None], now, kept))
        self.since = torch.where(better, 0, self.since + 1)
        self.epochs = self.epochs + self.running
        self.running = self.running & (self.since < self.patience)

    def over(self, epoch: int) -> bool:
        """Whether no model is left to train, asked after some epochs only."""
        return epoch % LOOK_EVERY == LOOK_EVERY - 1 and not bool(self.running.any())

    def diverged(self, first: Tensor) -> Tensor:
        """Epoch in which a model left the finite numbers while it was trained, else 0.

        Args:
            first: the same of models that are trained on and on, (g, a).
        """
        met = torch.where(first <= self.epochs, first, 0)
        return torch.where((met == 0) & self.lowest.isinf(), self.epochs, met)


def watch(weights: Weights, held: Stack, patience: int) -> StackWatch:
    """Before the first epoch.

    Args:
        weights: of (g, a) models.
        held: the rows held out.
        patience: epochs without a lower loss.
    """
    first = weights.hidden
    best = Weights(first.clone(), weights.out.clone())
    none = torch.zeros(first.shape[:2], dtype=torch.int64, device=first.device)
    return StackWatch(held, patience, best, first.new_full(none.shape, torch.inf), none, none, none == 0)


def held_out_loss(weights: Weights, held: Stack) -> Tensor:
    """Mean negative log-likelihood of the rows held out, (g, a), nats.

    Args:
        weights: of (g, a) models.
        held: rows of their problems, one tile each.
    """
    return (row_losses(weights, held) * held.weight).sum((-2, -1))
