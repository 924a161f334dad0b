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
    """Settings of Algorithm 2."""

    strength: Tensor
    """lambda, (g, a); 0 throughout is plain training with carried parameters, without trigger."""
    weight_decay: Tensor
    """Weight decay of every model, (g, a)."""
    alpha: float = 0.9
    """Weight of the past in I_global, in [0, 1] (Eq. 15)."""
    gamma: float | None = None
    """Threshold of tau, >= 0; None is the calibrated one."""
    when_quiet: Literal["train", "skip"] = "train"
    """Treatment of fragments that are not shifted: train without penalty, or leave the parameters as they are."""
    merge: bool = False
    """True keeps the Fisher-weighted running mean of the parameters."""
    posterior: bool = False
    """True weights Eq. 16 by the rows seen so far, and `strength` is a multiplier of that weight."""
    metric: Literal["fisher", "isotropic"] = "fisher"
    """Matrix of Eq. 16: I_global, or as its control the identity with the same trace."""
    one_trigger: bool = False
    """True takes the trigger's decision at the first candidate for all of them: it costs more than training does."""
    keep: Tensor | None = None
    """Share of the past that the running mean keeps at each fragment, (g, a), in [0, 1]; None is 0: the last model."""


@dataclass(frozen=True, slots=True)
class State:
    """The state of Algorithm 2 between two fragments, (g, a, d) each."""

    theta: Tensor
    """theta_t, the parameters after fragment t."""
    before: Tensor
    """theta_{t-1}: parameters that have not seen fragment t, nor has theta_{t-1} seen fragment t + 1."""
    fisher: Tensor
    """I_global, the smoothed Fisher information of Eq. 15; with `posterior` a sum over the rows seen."""
    merged: Tensor
    """m_t, the Fisher-weighted running mean."""
    mass: Tensor
    """S, the precision of m_t."""
    mean: Tensor
    """Plain running mean of theta."""
    running: Tensor
    """Running mean of theta in which every fragment counts `keep` times as much as the one after it."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The state as arrays, for a run folder."""
        return {field.name: getattr(self, field.name).cpu().numpy() for field in fields(self)}

    def rebased(self, trainer: SequenceTrainer, t: int) -> State:
        """The same state in the encoding of fragment t, which has seen its rows; that of t - 1 had not."""
        of_function = {
            name: trainer.rebased(getattr(self, name), t) for name in ("theta", "before", "merged", "mean", "running")
        }
        weights = {name: trainer.rebased_precision(getattr(self, name), t) for name in ("fisher", "mass")}
        return State(**of_function, **weights)

    @classmethod
    def of(cls, arrays: dict[str, NDArray[np.generic]], device: torch.device | str) -> State:
        """The inverse of `arrays`."""
        return cls(**{field.name: torch.from_numpy(arrays[field.name]).to(device) for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class FragmentStep:
    """Result of one fragment, (g, a) each."""

    diverged: Tensor
    """Epoch, counted from 1, in which a model left the finite numbers; 0 if it did not."""
    penalty_share: Tensor
    """Share of the penalty in the gradient, in [0, 1]."""
    compared: bool
    """True if the trigger compared this fragment with the one before; never at the first."""
    flagged: Tensor
    """True where tau exceeds gamma."""
    tau: Tensor
    """Eq. 14; 0 where the trigger did not compare."""
    gamma: Tensor
    """Threshold of tau."""


def initial_state(trainer: SequenceTrainer) -> State:
    """State before the first fragment: I_global = eps * I."""
    theta = trainer.start()
    return State(theta, theta, torch.full_like(theta, PRIOR_PRECISION), theta, torch.zeros_like(theta), theta, theta)


@torch.no_grad()
def learn_fragment(
    state: State, trainer: SequenceTrainer, t: int, settings: Algorithm2Settings
) -> tuple[State, FragmentStep]:
    """Learn fragment t.

    Source: Algorithm 2; Eq. 14 to 16.
    Reading: Eq. 16 uses I_global of the step before, which the printed order has already overwritten; Eq. 15 then takes
        I_t at theta_t. Tau compares both fragments at theta_{t-2}, which has learned from neither: at theta_{t-1},
        which has learned from one of them, the trigger fires on identically distributed fragments above its level.
        An encoding may grow with the fragments; the state is carried over to it first, so that no function changes.
        With `posterior`, Eq. 16 is what the Laplace approximation of the rows seen makes of it. Their posterior has the
        precision sum over rows of I, and in a mean loss over n rows it weighs (theta - mu)' sum (theta - mu) / (2 n):
        I_global is the sum over all fragments, flagged or not, and alpha makes each count less with every one that
        follows. As a mean with lambda 0.1 in its place, as printed, its share of the gradient is about 0.

    Args:
        state: after fragment t - 1, in the encoding of that fragment.
        trainer: trains on the fragments.
        t: number of the fragment, counted from 0.
        settings: of Algorithm 2.

    Returns:
        The state after fragment t in its encoding, and the result of this fragment.
    """
    if t > 0:
        state = state.rebased(trainer, t)
    active = bool((settings.strength != 0).any())
    compared = active and t > 0
    zero = torch.zeros_like(settings.strength)
    tau = gamma = zero
    if compared:
        at = state.before[:, :1] if settings.one_trigger else state.before
        tau, gamma = (each.expand_as(zero) for each in trainer.shift(at, t, calibrated=settings.gamma is None))
    if settings.gamma is not None:
        gamma = torch.full_like(tau, settings.gamma)
    flagged = tau > gamma if compared else torch.zeros_like(zero, dtype=torch.bool)
    anchor = _anchor(state, settings) if bool(flagged.any()) else None
    strength = settings.strength * flagged
    rows = trainer.sizes(t).to(state.theta)[:, None] if settings.posterior else None
    if rows is not None:
        strength = strength / (2 * rows)
    fitted = trainer.fit(state.theta, t, weight_decay=settings.weight_decay, strength=strength, anchor=anchor)
    theta, diverged = fitted.theta, fitted.diverged
    if compared and settings.when_quiet == "skip":
        learned = flagged | (settings.strength == 0)
        theta = torch.where(learned[..., None], theta, state.theta)
        diverged = torch.where(learned, diverged, torch.zeros_like(diverged))
    keep = torch.zeros_like(settings.strength) if settings.keep is None else settings.keep
    after = replace(
        state,
        theta=theta,
        before=state.theta,
        mean=state.mean + (theta - state.mean) / (t + 1),
        running=running_mean(state.running, theta, keep, t),
    )
    if active or settings.merge:
        fisher = trainer.fisher(theta, t).to(theta.dtype)
        if rows is not None:
            after = replace(after, fisher=settings.alpha * state.fisher + rows[..., None] * fisher)
        else:
            smoothed = smooth(state.fisher, fisher, settings.alpha)
            after = replace(after, fisher=torch.where(flagged[..., None], smoothed, state.fisher))
        if settings.merge:
            precision = fisher + PRIOR_PRECISION
            mass = state.mass + precision
            merged = (state.mass * state.merged + precision * theta) / mass
            after = replace(after, merged=merged, mass=settings.alpha * mass)
    return after, FragmentStep(diverged, fitted.penalty_share, compared, flagged, tau, gamma)


def running_mean(past: Tensor, theta: Tensor, keep: Tensor, t: int) -> Tensor:
    """Mean of the parameters after fragments 0 to t, with weights keep^t, ..., keep, 1.

    Args:
        past: that of fragments 0 to t - 1, (g, a, d).
        theta: parameters after fragment t, (g, a, d).
        keep: in [0, 1], (g, a); 0 is theta, 1 the plain mean.
        t: number of the fragment, counted from 0.
    """
    weights = torch.stack([keep**s for s in range(t + 1)]).sum(0)
    return past + (theta - past) / weights[..., None]


def _anchor(state: State, settings: Algorithm2Settings) -> Anchor:
    """Eq. 16's mean and matrix."""
    if settings.metric == "fisher":
        return Anchor(state.theta, state.fisher)
    return Anchor(state.theta, state.fisher.mean(-1, keepdim=True).expand_as(state.fisher))
