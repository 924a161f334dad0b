"""The choice of each method's learning rate and of its own constant, with the same number of tries for every method."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from picsc.federated.algorithms.by_name import CONSTANTS, algorithm, fixed_constant
from picsc.federated.build_clients import build
from picsc.federated.method_run import over_clients
from picsc.federated.resumable_rounds import TUNING, Progress, RepeatTask, run_rounds
from picsc.federated.run_state import Contender
from picsc.settings.choices import FedMethod
from picsc.training.tuning.grid import Axis

if TYPE_CHECKING:
    import torch

    from picsc.federated.holdings import FederatedSplit
    from picsc.federated.rounds import RoundSettings
    from picsc.settings import FedSettings

RATES = Axis((0.01, 0.03, 0.1, 0.3, 1.0), most=3.0, least=0.001)
"""Learning rates that are tried with each value of a method's own constant."""
FINE_RATES = Axis((0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1.0), most=3.0, least=0.001)
"""Learning rates that are tried for a method without a constant, or whose constant is given."""
TRIES = len(FINE_RATES.values)
"""Number of candidates of every method, before its grid is widened where the best one is at an end."""
WIDENINGS = 8
"""Most times that the grids are widened."""


class Choice(NamedTuple):
    """The rate and the constant that a method trains with."""

    rate: float
    """Local learning rate."""
    constant: float | None
    """mu, lambda or delta, see `CONSTANTS`; None for a method that has none."""
    whitened: bool = False
    """True trains on whitened columns."""

    @property
    def beside_rate(self) -> Setup:
        """All but the rate."""
        return self.constant, self.whitened


class Try(NamedTuple):
    """One candidate of a method in one repeat."""

    method: FedMethod
    choice: Choice
    accuracy: float
    """Mean over clients and the last fifth of the rounds, on rows set aside; -inf where there is none."""
    log_loss: float
    """The same in nats per row; inf where there is none."""
    failed: bool
    """True if the model diverged."""

    @property
    def score(self) -> tuple[float, float]:
        """Larger is better."""
        return (self.accuracy, -self.log_loss)


Setup = tuple[float | None, bool]
"""A method's constant, and whether it trains on whitened columns."""
Tried = tuple[FedMethod, Setup, tuple[float, ...]]
"""A method, all but its rate, and the rates that are tried with it."""
Limits = Mapping[tuple[FedMethod, Setup], float]
"""By method and all but the rate, the smallest learning rate at which a model diverged."""


def candidates(method: FedMethod, settings: FedSettings) -> tuple[tuple[float | None, tuple[float, ...]], ...]:
    """The method's own constants with the rates that are tried with each, `TRIES` pairs in all.

    Args:
        method: to choose for.
        settings: constants that are given.
    """
    own = CONSTANTS.get(method)
    if own is None:
        return ((None, FINE_RATES.values),)
    given = own.given(settings)
    if given is not None:
        return ((given, FINE_RATES.values),)
    return tuple((value, RATES.values) for value in own.axis.values)


def widened(method: FedMethod, tried: Sequence[Try], settings: FedSettings) -> list[Tried]:
    """Candidates beyond the grid where the best one is at its end; none where it has neighbours on all sides.

    Args:
        method: whose candidates they are.
        tried: the method's candidates so far.
        settings: constants that are given are not widened.
    """
    best = max(tried, key=lambda each: each.score).choice
    own, found = CONSTANTS.get(method), list[Tried]()
    rates = {each.choice.rate for each in tried if each.choice.beside_rate == best.beside_rate}
    beyond = _beyond(RATES, best.rate, rates)
    if beyond is not None:
        found.append((method, best.beside_rate, (beyond,)))
    if own is not None and best.constant is not None and own.given(settings) is None:
        of_same = [each.choice.constant for each in tried if each.choice.whitened == best.whitened]
        further = _beyond(own.axis, best.constant, [constant for constant in of_same if constant is not None])
        if further is not None:
            found.append((method, (further, best.whitened), RATES.values))
    return found


def _beyond(axis: Axis, best: float, tried: Collection[float]) -> float | None:
    """The value beyond the end of what was tried where the best one is at it."""
    if best >= max(tried):
        return axis.above(best)
    return axis.below(best) if best <= min(tried) else None


def without_choice(method: FedMethod, settings: FedSettings, rate: float) -> Choice:
    """The constant that goes with a rate that was not chosen."""
    own = CONSTANTS.get(method)
    return Choice(rate, None if own is None else fixed_constant(own, settings), settings.whitenings[0])


def try_candidates(
    task: RepeatTask,
    split: FederatedSplit,
    device: torch.device,
    round_settings: RoundSettings,
    progress: Progress,
) -> tuple[Try, ...]:
    """Every method's candidates of a learning rate and a constant in one repeat.

    Reading: all methods have the same number of candidates, which run exactly as the chosen one will, trigger included,
        and twice as many where natural or whitened columns are chosen;
        where the best one is at the end of a grid, the next one beyond is tried as well. Accuracies are the mean over
        clients and the last fifth of the rounds, on rows set aside from every client's training rows. The last round
        alone would favour rates at which accuracy still jumps.

    Args:
        task: the repeat.
        split: its clients.
        device: of the models.
        round_settings: of the rounds that follow.
        progress: called with one line about each round.
    """
    settings, found = task.settings, list[Try]()
    clients = {
        whitened: build(split, settings, device=device, workers=task.workers, tuning_seed=task.seed, whitened=whitened)
        for whitened in settings.whitenings
    }
    wanted: list[Tried] = [
        (method, (constant, whitened), rates)
        for whitened in settings.whitenings  # those with the same clients train together
        for method in task.methods
        for constant, rates in candidates(method, settings)
    ]
    for widening in range(1 + WIDENINGS):
        contenders = [
            Contender(method, algorithm(method, settings, constant), clients[whitened], rates)
            for method, (constant, whitened), rates in wanted
        ]
        name = f"{TUNING}-{widening}" if widening else TUNING
        for (method, beside, rates), run in zip(
            wanted, run_rounds(task, name, contenders, round_settings, progress), strict=True
        ):
            for i, rate in enumerate(rates):
                accuracy, log_loss = _late(run.accuracy, i), _late(run.log_loss, i)
                found.append(
                    Try(
                        method,
                        Choice(rate, *beside),
                        -np.inf if np.isnan(accuracy) else accuracy,
                        np.inf if np.isnan(log_loss) else log_loss,
                        bool(run.failed_round[i]),
                    )
                )
        changed = {method for method, _, _ in wanted}
        wanted = [
            each
            for method in task.methods
            if method in changed
            for each in widened(method, [tried for tried in found if tried.method == method], settings)
        ]
        if not wanted:
            break
    return tuple(found)


def limits(tried: Iterable[Try], known: Limits | None = None) -> dict[tuple[FedMethod, Setup], float]:
    """The smallest learning rate at which a model diverged, by method and all but the rate.

    Args:
        tried: candidates of all repeats, or runs with what was chosen.
        known: such rates that are known already.
    """
    found = dict(known or {})
    for each in tried:
        if each.failed:
            key = (each.method, each.choice.beside_rate)
            found[key] = min(each.choice.rate, found.get(key, np.inf))
    return found


def choose(method: FedMethod, tried: Sequence[Try], refused: Limits) -> Choice:
    """The best candidate of a method in one repeat, by accuracy and of equal ones by log-loss.

    Reading: a learning rate at which a model diverged in any repeat, and any larger one, is refused in all of them.

    Args:
        method: to choose for.
        tried: candidates of the repeat.
        refused: rates from which on a method diverges.

    Returns:
        The best one, or if all are refused the smallest rate.
    """
    own = [each for each in tried if each.method == method]
    stable = [each for each in own if each.choice.rate < refused.get((method, each.choice.beside_rate), np.inf)]
    if stable:
        return max(stable, key=lambda each: each.score).choice
    return min(own, key=lambda each: each.choice.rate).choice


def _late(rounds: Sequence[NDArray[np.float64]], candidate: int) -> float:
    """Mean over clients and the last fifth of the rounds, (a, K) each; NaN of a candidate that failed."""
    last = rounds[-max(1, len(rounds) // 5) :]
    return float(over_clients(np.stack([values[candidate] for values in last])).mean())
