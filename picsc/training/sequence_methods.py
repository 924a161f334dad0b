"""Methods that train along a sequence of fragments: Algorithm 2, carried parameters, and both with weight decay.

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
from picsc.training.jobs import SequenceTrainer, TrainingJob
from picsc.training.methods import Arrays, Correction, Floats, MethodModel, MethodSetup
from picsc.training.tuning import tune_prequentially

SequenceModel = Literal["merged", "last", "mean"]
"""Models of a sequence: the Fisher-weighted running mean, the last one, the plain running mean."""
EVALUATED: dict[Merge, SequenceModel] = {"none": "last", "mean": "mean", "fisher": "merged"}
"""Model that Algorithm 2 evaluates, by the setting `merge`."""
Keep = Callable[[str, Callable[[], Arrays]], Arrays]
"""From the name of a part and a function that computes it to the part's arrays."""


@dataclass(frozen=True, slots=True)
class FragmentSequences:
    """g sequences of equally many fragments, each of which trains one model, and the rows that test it."""

    fragments: Sequence[Sequence[Rows]]
    """Training rows of each sequence, fragment by fragment."""
    scaled_on: Sequence[Rows] | None
    """Rows that each sequence's encoding is fitted on once; None lets it grow with the fragments."""
    test: Sequence[Rows]
    """Test rows of each sequence's model."""
    seeds: Sequence[int]
    """Seed of each sequence's initial weights."""

    @classmethod
    def of_jobs(cls, jobs: Sequence[TrainingJob]) -> FragmentSequences:
        """The fragments of each job in the order of their numbers; equally many of each."""
        return cls(
            [[job.train[job.fragment == k] for k in range(int(job.fragment.max()) + 1)] for job in jobs],
            [job.train for job in jobs],
            [job.test for job in jobs],
            [job.seed for job in jobs],
        )


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
        theta = {"merged": self.state.merged, "last": self.state.theta, "mean": self.state.mean}[which]
        diverged, share = self.step.diverged[:, 0], self.step.penalty_share[:, 0]
        return [
            MethodModel(outputs[0], int(diverged[g]), float(share[g]), float(self.strength[g]))
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
    return setup.penalty.merge == "fisher" and (control or correction == "penalty")


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
        setup: trainer and settings; a penalty of strength `auto` and every weight decay are chosen by the first
            fragments' predictions of the next one.
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
    strength = _strengths(setup, sequences, correction, settings, keep)
    used = torch.from_numpy(strength[:, None]).to(state.theta)
    if correction == "penalty":
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


def final_models(setup: MethodSetup, sequences: FragmentSequences, correction: Correction) -> list[MethodModel]:
    """The model of each sequence after its last fragment; `diverged` is the first epoch of divergence on the way."""
    which = EVALUATED[setup.penalty.merge] if correction == "penalty" else "last"
    models: list[MethodModel] = []

    def record(step: SequenceStep) -> Arrays:
        if step.t == len(sequences.fragments[0]) - 1:
            models.extend(step.models(which))
        return {"diverged": step.step.diverged[:, 0].cpu().numpy()}

    diverged = np.stack([part["diverged"] for part in train_along(setup, sequences, correction, record)])
    first = diverged[(diverged > 0).argmax(0), np.arange(len(models))]
    return [replace(model, diverged=int(epoch)) for model, epoch in zip(models, first, strict=True)]


def _strengths(
    setup: MethodSetup, sequences: FragmentSequences, correction: Correction, settings: Algorithm2Settings, keep: Keep
) -> Floats:
    """Lambda or weight decay of each sequence, (g,); NaN without a correction."""
    g, given = len(sequences.fragments), setup.penalty.strength
    if correction == "none":
        return np.full(g, np.nan)
    if correction == "penalty" and given != "auto":
        return np.full(g, given, np.float64)

    def choose() -> Arrays:
        chosen = tune_prequentially(
            setup.trainer,
            sequences.fragments,
            sequences.seeds,
            sequences.scaled_on,
            setup.likelihood,
            settings,
            penalised=correction == "penalty",
        )
        return {"chosen": chosen}

    return keep("choice", choose)["chosen"]
