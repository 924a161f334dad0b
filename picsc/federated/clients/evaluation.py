"""Scores of global models on the test rows of each client.

Letters: a models, T test rows, k clients, m groups of rows, c classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import scores_of_models
from picsc.training.divergence import largest_loss


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
    """(a, k): accuracy, or for numbers one minus the client's mean squared error over the variance within clients;
    NaN without test rows, and for numbers also where no client's own numbers vary."""
    log_loss: Tensor
    """(a, k), nats per row; NaN without test rows."""
    whole: Tensor
    """(a,): accuracy, or R^2, on the test rows of all clients together."""
    diverged: Tensor
    """bool (a,): True where the log-loss on these rows is beyond all reason; rows without a loss do not count."""
    balanced: Tensor
    """(a,): balanced accuracy on the test rows of all clients together; NaN for numbers."""
    auc: Tensor
    """(a,): area under the ROC curve on the test rows of all clients together; NaN where there is none."""


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
        y: their class codes, or numbers in the units of the outputs, (T,).
        test: the test rows, and their weight for each client.
        likelihood: of the target.
    """
    together = scores_of_models(outputs.cpu().numpy(), y.cpu().numpy(), likelihood)
    whole, balanced, auc = (
        torch.from_numpy(each) for each in (together.accuracy, together.balanced_accuracy, together.auc)
    )
    if likelihood == "numbers":
        error = (outputs - y).double().square()
        good, loss = error, error / 2
    else:
        good = (outputs.argmax(-1) == y).double()
        loss = -outputs.gather(-1, y[None, :, None].expand(len(outputs), -1, 1))[..., 0].double()
    diverged = loss.nanmean(1) > largest_loss(y, None, likelihood, outputs.shape[-1])  # no number: its features' fault
    broken = ~outputs.isfinite().flatten(1).all(1)
    good, loss = (values.masked_fill(broken[:, None], torch.nan) for values in (good, loss))
    accuracy = _by_client(good, test)
    if likelihood == "numbers":
        accuracy = 1 - accuracy / _variance_within_clients(y, test)
    return ClientScores(accuracy, _by_client(loss, test), whole, diverged, balanced, auc)


def _variance_within_clients(y: Tensor, test: TestRows) -> Tensor:
    """Mean over clients of the variance of their own test rows, a scalar; NaN where none of them varies.

    One number for all clients: a client whose own rows hardly vary would otherwise have an R^2 of minus thousands, and
    the mean over clients would be that client's. The mean of the scores is the R^2 of all clients about their own
    means, so that differences between clients, which a constant for each could predict, do not count in it.
    """
    numbers = y.double()
    group = test.group.to(y.device)
    centre = _by_client(numbers[None], test)[0]
    variance = _by_client((numbers - centre[group]).square()[None], test)[0]
    ends = [
        numbers.new_full((test.clients,), torch.nan).scatter_reduce(0, group, numbers, reduce, include_self=False)
        for reduce in ("amin", "amax")
    ]
    variance = torch.where(ends[0] < ends[1], variance, 0.0)  # exactly: rounding leaves a constant some above 0
    several = torch.bincount(group, minlength=test.clients) > 1  # one row says nothing of how rows vary
    mean = variance[several].mean()
    return torch.where(mean > 0, mean, torch.nan)


def _by_client(values: Tensor, test: TestRows) -> Tensor:
    m = test.clients if test.group_weights is None else test.group_weights.shape[1]
    sums = values.new_zeros(len(values), m).index_add_(1, test.group, values)
    count = torch.bincount(test.group, minlength=m)
    if test.group_weights is None:
        return sums / count  # 0 / 0 is NaN, as wanted
    return (sums / count.clamp(min=1)) @ test.group_weights.double().T
