"""Words for models that diverged: the reason of one, and the advice for all of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from picsc.phrases import counted


def divergence_reason(epoch: int, lr: float, strength: float | None = None, *, decayed: bool = False) -> str:
    """The reason why a model that diverged has no result.

    Args:
        epoch: in which it did, counted from 1.
        lr: learning rate.
        strength: lambda or weight decay; None or NaN where the method has none.
        decayed: true if that is a weight decay.
    """
    used = (
        ""
        if strength is None or math.isnan(strength)
        else f"{'weight decay' if decayed else 'lambda'} {strength:g} and "
    )
    return f"diverged at epoch {epoch} with {used}learning rate {lr:g}"


def divergence_advice(diverged: Sequence[tuple[str, str]], *, remedy: str = "lower --lr") -> str:
    """One line for a run of which models diverged: how many, the first of them, and what to do.

    Args:
        diverged: method and reason of each, at least one.
        remedy: what to do.
    """
    method, reason = diverged[0]
    first = f"{method} {reason}" if len(diverged) == 1 else f"the first of {method}, which {reason}"
    return f"{counted(len(diverged), 'model')} diverged ({first}); {remedy}"
