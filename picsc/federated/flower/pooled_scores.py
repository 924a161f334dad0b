"""Scores of global models over all clients, from the few numbers that each client sends of its test rows.

Letters: K clients, a models.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from picsc.equations.likelihood import Likelihood
from picsc.federated.clients.evaluation import ClientScores
from picsc.training.divergence import largest_loss


def pooled_scores(
    scores: Sequence[Tensor], tests: Sequence[Tensor], likelihood: Likelihood, outputs: int
) -> ClientScores:
    """The scores of some models for all clients; see `picsc.federated.clients.evaluation.client_scores`.

    Reading: balanced accuracy and the area under the ROC curve of all clients need more than sums, and are NaN.

    Args:
        scores: accuracy and log-loss of each model on the client's own test rows, (2, a) of each client, float64.
        tests: number of the client's test rows, and of numbers their mean and variance, (3,) of each client.
        likelihood: of the target.
        outputs: number of classes; 1 for numbers.
    """
    accuracy, loss = torch.stack(list(scores), 2)  # (a, K) each
    n, mean, variance = torch.stack(list(tests), 1)
    share = n / n.sum()
    if likelihood == "classes":
        whole, typical = (accuracy * share).sum(1), loss.new_zeros(1)
    else:
        error = 2 * loss  # of a number, the log-loss is half its squared error
        several = (n > 1) & (variance > 0)
        within = (variance * several)[n > 1].mean() if bool(several.any()) else loss.new_tensor(torch.nan)
        accuracy = 1 - error / within
        centre = (mean * share).sum()
        around = ((variance + (mean - centre).square()) * share).sum()
        whole = 1 - (error * share).sum(1) / around
        typical = ((variance + mean.square()) * share).sum().sqrt()[None]
    diverged = (loss * share).sum(1) > largest_loss(typical, None, likelihood, outputs)
    nothing = torch.full_like(whole, torch.nan)
    return ClientScores(accuracy, loss, whole, diverged, nothing, nothing)
