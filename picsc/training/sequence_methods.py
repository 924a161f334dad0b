"""Methods that train along a sequence of fragments: Algorithm 2, carried parameters, and the controls of both.

Letters: g sequences side by side, n test rows of one sequence, c classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from picsc.datasets.rows import Rows
from picsc.settings import Merge
from picsc.training.algorithm_2 import Algorithm2Settings, FragmentStep, State, initial_state, learn_fragment
from picsc.training.jobs import SequenceTrainer
from picsc.training.methods import Arrays, Correction, Floats, MethodModel, MethodSetup
from picsc.training.sequences import FragmentSequences
from picsc.training.tuning.along_sequences import Tried, axis_of, tune_along
from picsc.training.tuning.grid import Axis

SequenceModel = Literal["merged", "last", "mean", "running"]
"""Models of a sequence: the Fisher-weighted running mean, the last one, the plain mean, and the running mean whose
forgetting is chosen."""
EVALUATED: dict[Merge, SequenceModel] = {"none": "last", "mean": "mean", "fisher": "merged", "running": "running"}
"""Model that Algorithm 2 evaluates, by the setting `merge`."""
Keep = Callable[[str, Callable[[], Arrays]], Arrays]
"""From the name of a part and a function that computes it to the part's arrays."""


@dataclass(frozen=True, slots=True)
class SequenceStep:
    """The models of all sequences after one fragment."""

    t: int
    """Number of the fragment, from 0."""
    state: State
    step: FragmentStep
    strength: Floats
    """Lambda or weight decay, (g,); NaN for training without a correction."""
    trainer: SequenceTrainer
    test: Sequence[Rows]

    def models(self, which: SequenceModel) -> list[MethodModel]:
        """One model of each sequence, with its outputs on the test rows."""
        theta = {"merged": self.state.merged, "last": self.state.theta, "mean": self.state.mean}.get(
            which, self.state.running
        )
        diverged, share = self.step.diverged[:, 0], self.step.penalty_share[:, 0]
        return [
            MethodModel(
                outputs[0],
                int(diverged[g]),
                float(share[g]),
                float(self.strength[g]),
                self.trainer.network(theta[g, 0], self.t, g),
            )
            for g, outputs in enumerate(self.trainer.outputs(theta, self.t, self.test))
        ]


def compute_anew(_: str, compute: Callable[[], Arrays]) -> Arrays:
    """Parts that are kept nowhere."""
    return compute()


def merges(setup: MethodSetup, correction: Correction) -> bool:
    """True if the Fisher-weighted running mean is kept: for Algorithm 2, and for its control with lambda 0.

    Args:
        setup: settings of the run.
        correction: term that is added to the loss.
    """
    control = correction == "none" and setup.algorithm == 2
    return setup.penalty.evaluated == "fisher" and (control or correction == "penalty")


def evaluated_model(setup: MethodSetup, correction: Correction) -> SequenceModel:
    """The model that a method is scored by.

    Reading: where the running mean's forgetting is chosen, every method that chooses something chooses it as well.

    Args:
        setup: settings of the run.
        correction: term that is added to the loss.
    """
    found = EVALUATED[setup.penalty.evaluated]
    if correction == "penalty" or (found == "running" and correction != "none"):
        return found
    return "last"


def train_along(
    setup: MethodSetup,
    sequences: FragmentSequences,
    correction: Correction,
    record: Callable[[SequenceStep], Arrays],
    keep: Keep = compute_anew,
) -> list[Arrays]:
    """Train along the fragments of all sequences.

    Source: Algorithm 2 with `penalty`; without, parameters are carried from fragment to fragment and nothing is held
        back.

    Args:
        setup: trainer and settings; a penalty of strength `auto` or `posterior` and every weight decay are chosen on
            the first fragments' rows, see `picsc.training.tuning.along_sequences`.
        sequences: g of them.
        correction: term that is added to the loss.
        record: what to keep of a fragment besides the state after it.
        keep: keeps the part `choice` and one part `fragment-T` per fragment, T from 1 on, for an interrupted run.

    Returns:
        The arrays of each fragment: the state after it, and what `record` returned.
    """
    penalty = setup.penalty
    trainer = setup.trainer.sequence_trainer(sequences.fragments, sequences.seeds, sequences.scaled_on)
    state = initial_state(trainer)
    zeros = torch.zeros(len(sequences.fragments), 1, dtype=torch.float64).to(state.theta)
    settings = Algorithm2Settings(
        zeros, zeros, penalty.alpha, penalty.gamma, penalty.when_quiet, merges(setup, correction)
    )
    settings = replace(
        settings,
        posterior=penalty.strength == "posterior" and correction in ("penalty", "isotropic"),
        metric="isotropic" if correction == "isotropic" else "fisher",
    )
    choice = _choice(setup, sequences, correction, settings, keep)
    strength = choice["chosen"]
    used = torch.from_numpy(strength[:, None]).to(state.theta)
    if "keep" in choice:
        settings = replace(settings, keep=torch.from_numpy(choice["keep"][:, None]).to(state.theta))
    if correction in ("penalty", "isotropic"):
        settings = replace(settings, strength=used)
    elif correction == "decay":
        settings = replace(settings, weight_decay=used)
    parts = []
    for t in range(len(sequences.fragments[0])):

        def train_fragment(state: State = state, t: int = t) -> Arrays:
            after, step = learn_fragment(state, trainer, t, settings)
            return {**after.arrays(), **record(SequenceStep(t, after, step, strength, trainer, sequences.test))}

        part = keep(f"fragment-{t + 1}", train_fragment)
        state = State.of(part, zeros.device)
        parts.append(part)
    return parts


def final_models(
    setup: MethodSetup, sequences: FragmentSequences, correction: Correction, which: SequenceModel | None = None
) -> list[MethodModel]:
    """The model of each sequence after its last fragment; `diverged` is the first epoch of divergence on the way.

    Args:
        setup: trainer and settings.
        sequences: g of them.
        correction: term that is added to the loss.
        which: the model; None is the one that the method is scored by.
    """
    which = which or evaluated_model(setup, correction)
    models: list[MethodModel] = []

    def record(step: SequenceStep) -> Arrays:
        if step.t == len(sequences.fragments[0]) - 1:
            models.extend(step.models(which))
        return {"diverged": step.step.diverged[:, 0].cpu().numpy()}

    diverged = np.stack([part["diverged"] for part in train_along(setup, sequences, correction, record)])
    first = diverged[(diverged > 0).argmax(0), np.arange(len(models))]
    return [replace(model, diverged=int(epoch)) for model, epoch in zip(models, first, strict=True)]


def _choice(
    setup: MethodSetup, sequences: FragmentSequences, correction: Correction, settings: Algorithm2Settings, keep: Keep
) -> Arrays:
    """What is chosen, or given, for each sequence, (g,) each.

    `chosen` is lambda, its multiplier or weight decay, NaN without a correction; `keep`, where a running mean is
    chosen, is the share of the past that it keeps.
    """
    g, given, running = len(sequences.fragments), setup.penalty.strength, setup.penalty.evaluated == "running"
    if correction == "none" and not running:
        return {"chosen": np.full(g, np.nan)}
    fixed = correction == "penalty" and not isinstance(given, str)
    if fixed and not running:
        return {"chosen": np.full(g, given, np.float64)}

    def choose() -> Arrays:
        values = axis_of(correction, posterior=settings.posterior)
        if fixed:
            values = Axis((float(given),), most=0.0)
        found = tune_along(
            setup.trainer, sequences, setup.likelihood, Tried(settings, values, correction == "decay", running)
        )
        arrays: Arrays = {"chosen": found.value if correction != "none" else np.full(g, np.nan)}
        return arrays | ({"keep": found.keep} if running else {})

    return keep("choice", choose)
