"""Early stopping of many networks: training of each ends when the loss on rows held out of its problem no longer falls.

The rule is that of `picsc.training.early_stopping`, for all models of a stack at once, on the same loss:
tests/training/batched/test_early_stopping.py holds the losses equal. Models do not wait for one another, so the number
that is trained side by side changes nothing. Shape letters here: g problems, a models per problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.training.batched.layout import Stack
from picsc.training.batched.mlp import Weights, mean_loss

ASK_EVERY = 10
"""Epochs between two questions whether any model is left; each makes the host wait for the device."""


@dataclass(slots=True)
class StackEarlyStopping:
    """Follows all models of a stack through their epochs and remembers their best parameters."""

    held_out: Stack
    """The rows held out, one tile per problem."""
    patience: int
    """Epochs without a lower loss after which a model's training is over."""
    best: Weights
    """Parameters after the epoch with the lowest loss; those at the start while there is none."""
    lowest: Tensor
    """Lowest loss so far, (g, a), nats per row; infinite while there is none."""
    since: Tensor
    """Epochs since the lowest loss, (g, a)."""
    epochs: Tensor
    """Epochs of training that each model has had, (g, a)."""
    running: Tensor
    """True while training of a model goes on, (g, a)."""

    def evaluate(self, weights: Weights) -> None:
        """Evaluate the models after an epoch, and stop those that have not improved for `patience` epochs."""
        loss = mean_loss(weights, self.held_out)
        better = self.running & (loss < self.lowest)
        self.lowest = torch.where(better, loss, self.lowest)
        for kept, now in zip(self.best, weights, strict=True):
            kept.copy_(torch.where(better[..., None, None], now, kept))
        self.since = torch.where(better, 0, self.since + 1)
        self.epochs = self.epochs + self.running
        self.running = self.running & (self.since < self.patience)

    def over(self, epoch: int) -> bool:
        """True if no model is left to train; asked after every tenth epoch only, and false after others."""
        return epoch % ASK_EVERY == ASK_EVERY - 1 and not bool(self.running.any())

    def diverged(self, first: Tensor) -> Tensor:
        """Epoch, counted from 1, in which a model left the finite numbers while it was trained; 0 if it did not.

        Args:
            first: the same epochs if no training were stopped, (g, a).
        """
        met = torch.where(first <= self.epochs, first, 0)
        return torch.where((met == 0) & self.lowest.isinf(), self.epochs, met)


def early_stopping(weights: Weights, held_out: Stack, patience: int) -> StackEarlyStopping:
    """Early stopping before the first epoch.

    Args:
        weights: initial weights of (g, a) models.
        held_out: the rows held out.
        patience: epochs without a lower loss after which training is over.
    """
    first = weights.hidden
    best = Weights(first.clone(), weights.out.clone())
    none = torch.zeros(first.shape[:2], dtype=torch.int64, device=first.device)
    return StackEarlyStopping(held_out, patience, best, first.new_full(none.shape, torch.inf), none, none, none == 0)
