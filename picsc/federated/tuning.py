"""The choice of each method's learning rate and of its own constant, with the same number of tries for every method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from picsc.federated.algorithms.by_name import CONSTANTS, algorithm, fixed_constant
from picsc.federated.build_clients import build
from picsc.federated.method_run import over_clients
from picsc.federated.resumable_rounds import Progress, RepeatTask, run_rounds
from picsc.federated.run_state import Contender

if TYPE_CHECKING:
    import torch

    from picsc.federated.holdings import FederatedSplit
    from picsc.federated.rounds import RoundSettings
    from picsc.settings import FedMethod, FedSettings

RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Learning rates that are tried with each value of a method's own constant."""
FINE_RATES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Learning rates that are tried for a method without a constant, or whose constant is given."""
TRIES = len(FINE_RATES)
"""Number of candidates of every method."""


class Choice(NamedTuple):
    """The rate and the constant that a method trains with."""

    rate: float
    """Local learning rate."""
    constant: float | None
    """mu, lambda or delta, see `CONSTANTS`; None for a method that has none."""


def candidates(method: FedMethod, settings: FedSettings) -> tuple[tuple[float | None, tuple[float, ...]], ...]:
    """The method's own constants with the rates that are tried with each, `TRIES` pairs in all.

    Args:
        method: to choose for.
        settings: constants that are given.
    """
    own = CONSTANTS.get(method)
    if own is None:
        return ((None, FINE_RATES),)
    given = own.given(settings)
    if given is not None:
        return ((given, FINE_RATES),)
    return tuple((value, RATES) for value in own.candidates)


def without_choice(method: FedMethod, settings: FedSettings, rate: float) -> Choice:
    """The constant that goes with a rate that was not chosen."""
    own = CONSTANTS.get(method)
    return Choice(rate, None if own is None else fixed_constant(own, settings))


def choose(
    task: RepeatTask,
    split: FederatedSplit,
    device: torch.device,
    round_settings: RoundSettings,
    progress: Progress,
) -> dict[FedMethod, Choice]:
    """The learning rate and the constant of every method.

    Reading: all methods have the same number of candidates, which run exactly as the chosen one will, trigger included.
        The best mean accuracy over clients and the last fifth of the rounds wins, on rows set aside from every client's
        training rows; of equal ones, the smallest log-loss. The last round alone would favour rates at which accuracy
        still jumps.

    Args:
        task: the repeat.
        split: its clients.
        device: of the models.
        round_settings: of the rounds that follow.
        progress: called with one line about each round.
    """
    kept = task.folder.get(task.part("rates"))
    if kept is None:
        found = _best(task, split, device, round_settings, progress)
        task.folder.put(
            task.part("rates"),
            {
                name: np.array([each.rate, np.nan if each.constant is None else each.constant])
                for name, each in found.items()
            },
        )
        return found
    return {
        method: Choice(float(rate), None if np.isnan(constant) else float(constant))
        for method in task.methods
        for rate, constant in [kept[method]]
    }


def _best(
    task: RepeatTask, split: FederatedSplit, device: torch.device, round_settings: RoundSettings, progress: Progress
) -> dict[FedMethod, Choice]:
    settings = task.settings
    clients = build(split, settings, device=device, workers=task.workers, tuning_seed=task.seed)
    tried = [(method, *pair) for method in task.methods for pair in candidates(method, settings)]
    contenders = [
        Contender(method, algorithm(method, settings, constant), clients, rates) for method, constant, rates in tried
    ]
    runs = run_rounds(task, "tuning", contenders, round_settings, progress)
    best: dict[FedMethod, tuple[tuple[float, float], Choice]] = {}
    for (method, constant, rates), run in zip(tried, runs, strict=True):
        for i, rate in enumerate(rates):
            accuracy = _late(run.accuracy, i)
            score = (-np.inf if np.isnan(accuracy) else accuracy, -np.nan_to_num(_late(run.log_loss, i), nan=np.inf))
            if method not in best or score > best[method][0]:
                best[method] = (score, Choice(rate, constant))
    return {method: choice for method, (_, choice) in best.items()}


def _late(rounds: Sequence[NDArray[np.float64]], candidate: int) -> float:
    """Mean over clients and the last fifth of the rounds, (a, K) each; NaN of a candidate that failed."""
    last = rounds[-max(1, len(rounds) // 5) :]
    return float(over_clients(np.stack([values[candidate] for values in last])).mean())
