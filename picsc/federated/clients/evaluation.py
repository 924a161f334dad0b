"""Scores of global models on the test rows of each client.

Letters: a models, T test rows, k clients, m groups of rows, c classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from picsc.equations.likelihood import Likelihood


@dataclass(frozen=True, slots=True)
class TestRows:
    """Test rows, and their weight in the score of each client."""

    rows: Tensor
    """Row numbers, int64 (T,)."""
    group: Tensor
    """Number of the client that holds the row, or of the row's class, int64 (T,)."""
    group_weights: Tensor | None
    """Weight of each group in each client's score, (k, m), rows sum to 1; None where groups are clients."""
    clients: int
    """Number of clients, k."""


class ClientScores(NamedTuple):
    """Scores of global models."""

    accuracy: Tensor
    """(a, k): accuracy, or 1 - mean squared error over the variance of all training rows; NaN without test rows."""
    log_loss: Tensor
    """(a, k), nats per row."""
    whole: Tensor
    """(a,): accuracy on the test rows of all clients together."""


def own_rows(rows: list[Tensor]) -> TestRows:
    """Test rows where each client is scored on rows of its own.

    Args:
        rows: of each client; may be empty.
    """
    owner = torch.repeat_interleave(torch.tensor([len(each) for each in rows]))
    return TestRows(torch.cat(rows), owner, None, len(rows))


def shared_rows(rows: Tensor, labels: Tensor, shares: Tensor) -> TestRows:
    """Test rows where one test part serves all clients, weighted to each client's mix of classes.

    Reading: the benchmarks score on the whole part only; accuracy on a client's mix of classes is what the client
        would see if the part's rows of a class are like its own.

    Args:
        rows: of the test part.
        labels: class codes of all rows.
        shares: of the classes in each client's training rows, (k, c).
    """
    group = labels[rows]
    there = torch.bincount(group, minlength=shares.shape[1]) > 0
    kept = shares.float() * there
    return TestRows(rows, group, kept / kept.sum(1, keepdim=True), len(shares))


def client_scores(outputs: Tensor, y: Tensor, test: TestRows, likelihood: Likelihood) -> ClientScores:
    """Score every model for every client.

    Args:
        outputs: of the test rows: log-probabilities (a, T, c), or means (a, T).
        y: their class codes or numbers in standard deviations of the training rows, (T,).
        test: the test rows, and their weight for each client.
        likelihood: of the target.
    """
    if likelihood == "numbers":
        error = (outputs - y).double().square()
        good, loss = 1 - error, error / 2
    else:
        good = (outputs.argmax(-1) == y).double()
        loss = -outputs.gather(-1, y[None, :, None].expand(len(outputs), -1, 1))[..., 0].double()
    broken = ~outputs.isfinite().flatten(1).all(1)
    good, loss = (values.masked_fill(broken[:, None], torch.nan) for values in (good, loss))
    return ClientScores(_by_client(good, test), _by_client(loss, test), good.mean(1))


def _by_client(values: Tensor, test: TestRows) -> Tensor:
    m = test.clients if test.group_weights is None else test.group_weights.shape[1]
    sums = values.new_zeros(len(values), m).index_add_(1, test.group, values)
    count = torch.bincount(test.group, minlength=m)
    if test.group_weights is None:
        return sums / count  # 0 / 0 is NaN, as wanted
    return (sums / count.clamp(min=1)) @ test.group_weights.double().T
