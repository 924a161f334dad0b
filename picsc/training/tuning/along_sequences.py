"""Choice of what is used along a sequence of fragments, on their training rows alone.

What is chosen: lambda, or the multiplier of Algorithm 2's anchor, or weight decay; and the forgetting of a running mean
of the models, which needs no training of its own. Letters: g sequences, a candidates, s shares that running means keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.rows import Rows
from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import scores_of_models
from picsc.fragments.groups import of_other_groups
from picsc.training.algorithm_2 import Algorithm2Settings, State, initial_state, learn_fragment, running_mean
from picsc.training.jobs import Trainer
from picsc.training.methods import Correction
from picsc.training.sequences import FragmentSequences
from picsc.training.tuning.grid import Axis, Floats, search
from picsc.training.tuning.inner_cv import DECAYS, STRENGTHS, counts_of, log_losses

MULTIPLIERS = Axis((0.0, 1.0, 3.0, 10.0, 30.0, 100.0), most=1e5)
"""Candidates for the multiplier of the posterior's weight; 0 holds nothing."""
KEPT = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Shares of the past that a running mean keeps: from the last model to the plain mean, which are natural ends."""
LOOK_AHEAD = 4
"""Fragments that a choice is made on where a candidate is as good as it predicts the next one."""
REMEMBERED = 12
"""Fragments that a choice is made on where forgetting counts, which needs many to show."""
HELD_OUT = 5
"""One row in so many is held out of each fragment, where the test rows are like those of all fragments."""
TIE = 1e-6
"""Weight of the log-loss beside the accuracy: far less than one row in any part of a table."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Candidates, and what they are candidates for."""

    settings: Algorithm2Settings
    """Of Algorithm 2, apart from the candidates."""
    values: Axis
    """Candidates for lambda, its multiplier or weight decay."""
    decay: bool
    """True where they are weight decays."""
    running: bool
    """True chooses the running mean's forgetting, too."""


@dataclass(frozen=True, slots=True)
class SequenceChoice:
    """The best candidate of each sequence."""

    value: Floats
    """Lambda, its multiplier or weight decay, (g,)."""
    keep: Floats
    """Share of the past that the running mean keeps, (g,); 0 where it was not chosen."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What candidates learn from, and the rows that they are compared on after each fragment."""

    learned: FragmentSequences
    compared: tuple[tuple[Rows, ...] | None, ...]
    """After each fragment, rows of each sequence; None where nothing is compared."""
    by_accuracy: bool = False
    """True compares accuracies, False log-losses."""


def axis_of(correction: Correction, *, posterior: bool) -> Axis:
    """The candidates of a method.

    Args:
        correction: term that is added to the loss.
        posterior: True for an anchor with the weight of the rows seen.
    """
    if correction == "none":
        return Axis((0.0,), most=0.0)
    return DECAYS if correction == "decay" else MULTIPLIERS if posterior or correction == "isotropic" else STRENGTHS


def tune_along(trainer: Trainer, sequences: FragmentSequences, likelihood: Likelihood, tried: Tried) -> SequenceChoice:
    """The candidate of each sequence that does best on the training rows of its first fragments.

    Reading: where the test rows come after the sequence, a candidate is as good as its models predict the next
        fragment, by log-loss. Where a running mean is chosen and the test rows are like those of all fragments, a fifth
        of every fragment is held out, and a candidate is as good as its models are on that of all fragments seen so
        far, by the accuracy that methods are compared by and of equal ones by log-loss: what they have forgotten
        counts. Rows whose group was learned from are not compared on. The trigger decides at the first candidate for
        all of them there.

    Args:
        trainer: trains the candidates.
        sequences: g of equally many fragments; of fewer than three, each is halved if all have two rows.
        likelihood: of the target.
        tried: the candidates.
    """
    looked = _look(trainer, sequences, held_out=tried.running and sequences.tests_all)
    keeps = KEPT if tried.running else (0.0,)
    best: dict[tuple[int, float], float] = {}

    def losses(which: NDArray[np.intp], values: tuple[float, ...]) -> Floats:
        found = _losses(trainer, looked, likelihood, tried, (which.tolist(), values, keeps))
        for i, of_sequence in zip(which.tolist(), found, strict=True):
            best.update({(i, v): keeps[int(of_sequence[a].argmin())] for a, v in enumerate(values)})
        smallest: Floats = found.min(-1)
        return smallest

    value = search(tried.values, len(sequences.fragments), losses)
    return SequenceChoice(value, np.array([best[i, float(each)] for i, each in enumerate(value)]))


def _look(trainer: Trainer, sequences: FragmentSequences, *, held_out: bool) -> _Look:
    """The first fragments of every sequence, and what is compared after each of them."""
    fragments, groups = [list(sequence) for sequence in sequences.fragments], trainer.groups
    if len(fragments[0]) < 3 and not held_out:
        halved = [[half for rows in sequence for half in _halves(rows, groups)] for sequence in fragments]
        if min(len(half) for sequence in halved for half in sequence):
            fragments = halved
    first = [sequence[: REMEMBERED if held_out else LOOK_AHEAD] for sequence in fragments]
    if held_out:
        parts = [_held_out(sequence, seed, groups) for sequence, seed in zip(first, sequences.seeds, strict=True)]
        if all(len(rows) for kept, out in parts for rows in (*kept, np.concatenate(out))):
            seen = [tuple(np.concatenate(out[: t + 1]) for _, out in parts) for t in range(1, len(first[0]))]
            return _Look(replace(sequences, fragments=[kept for kept, _ in parts]), (None, *seen), by_accuracy=True)
    following = tuple(
        tuple(of_other_groups(sequence[t + 1], groups, np.concatenate(sequence[: t + 1])) for sequence in first)
        for t in range(len(first[0]) - 1)
    )
    return _Look(replace(sequences, fragments=first), (*following, None))


def _held_out(sequence: Sequence[Rows], seed: int, groups: NDArray[np.int64] | None) -> tuple[list[Rows], list[Rows]]:
    """The rows of each fragment that are learned from, and its others."""
    generator = np.random.default_rng([seed, 4])
    everything = np.concatenate(sequence)
    if groups is not None:
        names = np.unique(groups[everything])
        out: NDArray[np.bool_] = np.isin(groups, generator.permutation(names)[: max(1, len(names) // HELD_OUT)])
    else:
        out = np.zeros(int(everything.max()) + 1, np.bool_)
        for rows in sequence:
            out[generator.permutation(rows)[: len(rows) // HELD_OUT]] = True
    return [rows[~out[rows]] for rows in sequence], [rows[out[rows]] for rows in sequence]


def _losses(
    trainer: Trainer,
    looked: _Look,
    likelihood: Likelihood,
    tried: Tried,
    grid: tuple[list[int], tuple[float, ...], tuple[float, ...]],
) -> Floats:
    """Summed log-losses of some sequences' candidates with every share that a running mean keeps, (m, a, s)."""
    which, values, keeps = grid
    some = looked.learned.some(which)
    along = trainer.sequence_trainer(some.fragments, some.seeds, some.scaled_on, candidates=len(values))
    state = initial_state(along)
    candidates = torch.tensor(values).to(state.theta).expand(len(which), -1)
    none = torch.zeros_like(candidates)
    settings = replace(
        tried.settings,
        strength=none if tried.decay else candidates,
        weight_decay=candidates if tried.decay else none,
        one_trigger=tried.running,
    )
    means = [state.theta for _ in keeps]
    losses = np.zeros((len(which), len(values), len(keeps)))
    for t, rows in enumerate(looked.compared):
        if rows is None and not any(later is not None for later in looked.compared[t:]):
            break
        before = means if t == 0 else [along.rebased(mean, t) for mean in means]
        state, _ = learn_fragment(state, along, t, settings)
        means = [
            running_mean(mean, state.theta, torch.full_like(none, keep), t)
            for mean, keep in zip(before, keeps, strict=True)
        ]
        if rows is None:
            continue
        tested = [rows[g] for g in which]
        for s, mean in enumerate(means):
            evaluated = mean if tried.running else _evaluated(state, tried.settings)
            for g, out in enumerate(along.outputs(evaluated, t, tested)):
                y = trainer.targets(tested[g])
                errors = _errors if looked.by_accuracy else log_losses
                losses[g, :, s] += errors(out, y, likelihood, counts_of(trainer, tested[g]))
    return losses


def _errors(
    outputs: NDArray[np.float32], y: NDArray[np.int64] | Floats, likelihood: Likelihood, counts: Floats | None
) -> Floats:
    """Share of wrong classes of some models, (a,), with so little log-loss that it decides between equal ones."""
    losses = log_losses(outputs, y, likelihood, counts)
    finite = np.isfinite(losses)
    if likelihood == "numbers" or not finite.any() or not len(y):
        return losses
    losses[finite] = 1 - scores_of_models(outputs[finite], y, likelihood, sample=counts).accuracy + TIE * losses[finite]
    return losses


def _evaluated(state: State, settings: Algorithm2Settings) -> torch.Tensor:
    """The model that is scored where no running mean is chosen."""
    return state.merged if settings.merge else state.theta


def _halves(rows: Rows, groups: NDArray[np.int64] | None) -> tuple[Rows, Rows]:
    """Every other row, or the rows of every other group."""
    if groups is None:
        return rows[::2], rows[1::2]
    second = np.unique(groups[rows], return_inverse=True)[1].ravel() % 2 == 1
    return rows[~second], rows[second]
