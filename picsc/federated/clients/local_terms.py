"""What a federated algorithm tells a client's optimiser, and what the client has afterwards.

Every algorithm here changes local training by a quadratic and a linear term, so that one loop trains them all. Letters:
k clients, a models of each (an algorithm with its candidates), d parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class LocalTerms(NamedTuple):
    """What is added to the gradient of every local step; None adds nothing, to the bit."""

    stiffness: Tensor | None = None
    """Added to the gradient as stiffness * (theta - anchor), (k or 1, a, d)."""
    anchor: Tensor | None = None
    """(k or 1, a, d)."""
    drift: Tensor | None = None
    """Subtracted from theta, times the learning rate, after the optimiser's step, (k or 1, a, d)."""
    scale: Tensor | None = None
    """What the sum of gradient and drift is multiplied with, (k or 1, a, d), positive."""

    def of(self, part: slice) -> LocalTerms:
        """For some of the clients."""
        return LocalTerms(*(each if each is None or each.shape[0] == 1 else each[part] for each in self))


def side_by_side(guides: Sequence[LocalTerms], theta: Sequence[Tensor]) -> LocalTerms:
    """The guidance of several algorithms as one; what one of them lacks is filled in so that it changes nothing.

    Args:
        guides: of each algorithm.
        theta: what each algorithm's clients start from, (1, a_i, d).
    """
    filled = {"stiffness": 0.0, "anchor": 0.0, "drift": 0.0, "scale": 1.0}
    joined: dict[str, Tensor | None] = {}
    for name, value in filled.items():
        parts = [getattr(guide, name) for guide in guides]
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
    """What the clients of a round have after local training."""

    theta: Tensor
    """(k, a, d); not finite where a model diverged."""
    steps: Tensor
    """Local steps of each client, (k,)."""
    lr: Tensor
    """Learning rate of each model, (a,)."""
