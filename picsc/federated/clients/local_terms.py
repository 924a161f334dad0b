"""Local terms: additions of a federated algorithm to the local steps of its clients.

Every algorithm here changes local training by a quadratic and a linear term, so that one loop trains them all. Letters:
k clients, a models of each (an algorithm with its candidates), d parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class LocalTerms(NamedTuple):
    """Terms that change every local step; None changes nothing, to the bit."""

    proximal_weight: Tensor | None = None
    """Stiffness of the term proximal_weight / 2 * (theta - proximal_center)^2, (k or 1, a, d), which is solved exactly
    after each step (`picsc.training.optimizers.proximal_step`), so that no weight diverges; None without one."""
    proximal_center: Tensor | None = None
    """Parameters that the proximal term pulls towards, (k or 1, a, d); None without a proximal term."""
    correction: Tensor | None = None
    """Control variate that is added to the optimiser's direction after momentum, (k or 1, a, d); None adds nothing."""
    preconditioner: Tensor | None = None
    """Factor of the corrected direction, (k or 1, a, d), positive; None leaves the direction as it is."""

    def for_clients(self, part: slice) -> LocalTerms:
        """The terms of some of the clients."""
        return LocalTerms(*(each if each is None or each.shape[0] == 1 else each[part] for each in self))


def join_terms(terms: Sequence[LocalTerms], theta: Sequence[Tensor]) -> LocalTerms:
    """The terms of several algorithms as one; what one of them lacks is filled in so that it changes nothing.

    Args:
        terms: of each algorithm.
        theta: parameters that each algorithm's clients start from, (1, a_i, d).
    """
    filled = {"proximal_weight": 0.0, "proximal_center": 0.0, "correction": 0.0, "preconditioner": 1.0}
    joined: dict[str, Tensor | None] = {}
    for name, value in filled.items():
        parts = [getattr(each, name) for each in terms]
        if all(part is None for part in parts):
            joined[name] = None
            continue
        k = max(len(part) for part in parts if part is not None)
        joined[name] = torch.cat(
            [
                (torch.full_like(at, value) if part is None else part).expand(k, *at.shape[1:])
                for part, at in zip(parts, theta, strict=True)
            ],
            1,
        )
    return LocalTerms(**joined)


class Trained(NamedTuple):
    """The models of a round's clients after local training."""

    theta: Tensor
    """Parameters, (k, a, d); not finite where a model diverged."""
    steps: Tensor
    """Number of local steps of each client, (k,)."""
    lr: Tensor
    """Learning rate of each model, (a,)."""
    diverged: Tensor
    """bool (k, a): True where the loss on a minibatch of the client's rows was beyond all reason afterwards."""
