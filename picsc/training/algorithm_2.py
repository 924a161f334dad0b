"""Algorithm 2: parameters carried along a sequence of fragments, held back where a fragment is shifted.

The state is O(d) whatever the length of the sequence. Shape letters here: g sequences side by side, a candidates of
each (penalties or weight decays), d parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.equations.divergence import PRIOR_PRECISION
from picsc.equations.penalties import Anchor, smooth
from picsc.training.jobs import SequenceTrainer


@dataclass(frozen=True, slots=True)
class Algorithm2Settings:
    """How a sequence is learned."""

    strength: Tensor
    """lambda, (g, a); 0 throughout is plain training with carried parameters, and nothing is looked at."""
    weight_decay: Tensor
    """(g, a)."""
    alpha: float = 0.9
    gamma: float | None = None
    """Threshold of tau; None is the calibrated one."""
    when_quiet: Literal["train", "skip"] = "train"
    merge: bool = False
    """Keep the Fisher-weighted running mean."""


@dataclass(frozen=True, slots=True)
class State:
    """All that is kept between two fragments, (g, a, d) each."""

    theta: Tensor
    """theta_t."""
    before: Tensor
    """theta_{t-1}: parameters that have not seen fragment t, nor has theta_{t-1} seen fragment t + 1."""
    fisher: Tensor
    """I_global."""
    merged: Tensor
    """m_t, the Fisher-weighted running mean."""
    mass: Tensor
    """S, its precision."""
    mean: Tensor
    """Plain running mean."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The state as arrays, for a run folder."""
        return {field.name: getattr(self, field.name).cpu().numpy() for field in fields(self)}

    @classmethod
    def of(cls, arrays: dict[str, NDArray[np.generic]], device: torch.device | str) -> State:
        """The inverse of `arrays`."""
        return cls(**{field.name: torch.from_numpy(arrays[field.name]).to(device) for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class FragmentStep:
    """What happened at one fragment, (g, a) each."""

    diverged: Tensor
    """Epoch in which a model left the finite numbers; 0 if it did not."""
    penalty_share: Tensor
    compared: bool
    """Whether the trigger looked at this fragment; never at the first."""
    flagged: Tensor
    tau: Tensor
    gamma: Tensor


def initial_state(learner: SequenceTrainer) -> State:
    """Before the first fragment: I_global = eps * I."""
    theta = learner.start()
    return State(theta, theta, torch.full_like(theta, PRIOR_PRECISION), theta, torch.zeros_like(theta), theta)


@torch.no_grad()
def learn_fragment(
    state: State, learner: SequenceTrainer, t: int, rules: Algorithm2Settings
) -> tuple[State, FragmentStep]:
    """Learn fragment t.

    Source: Algorithm 2; Eq. 14 to 16.
    Reading: Eq. 16 uses I_global of the step before, which the printed order has already overwritten; Eq. 15 then takes
        I_t at theta_t. Tau compares both fragments at theta_{t-2}, which has learned from neither: at theta_{t-1},
        which has learned from one of them, the trigger fires on identically distributed fragments above its level.

    Args:
        state: after fragment t - 1.
        learner: of the fragments.
        t: counted from 0.
        rules: how to learn.

    Returns:
        The state after fragment t, and what happened.
    """
    active = bool((rules.strength != 0).any())
    looked = active and t > 0
    zero = torch.zeros_like(rules.strength)
    tau, gamma = learner.shift(state.before, t) if looked else (zero, zero)
    if rules.gamma is not None:
        gamma = torch.full_like(tau, rules.gamma)
    flagged = tau > gamma if looked else torch.zeros_like(zero, dtype=torch.bool)
    anchor = Anchor(state.theta, state.fisher) if bool(flagged.any()) else None
    fitted = learner.fit(
        state.theta, t, weight_decay=rules.weight_decay, strength=rules.strength * flagged, anchor=anchor
    )
    theta, diverged = fitted.theta, fitted.diverged
    if looked and rules.when_quiet == "skip":
        learned = flagged | (rules.strength == 0)
        theta = torch.where(learned[..., None], theta, state.theta)
        diverged = torch.where(learned, diverged, torch.zeros_like(diverged))
    after = replace(state, theta=theta, before=state.theta, mean=state.mean + (theta - state.mean) / (t + 1))
    if active or rules.merge:
        fisher = learner.fisher(theta, t).to(theta.dtype)
        after = replace(
            after, fisher=torch.where(flagged[..., None], smooth(state.fisher, fisher, rules.alpha), state.fisher)
        )
        if rules.merge:
            precision = fisher + PRIOR_PRECISION
            mass = state.mass + precision
            merged = (state.mass * state.merged + precision * theta) / mass
            after = replace(after, merged=merged, mass=rules.alpha * mass)
    return after, FragmentStep(diverged, fitted.penalty_share, looked, flagged, tau, gamma)
