"""The choice of rates and constants: the same number of tries for every method, which run as they will run."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import picsc
from picsc.errors import SettingsError
from picsc.federated import all_repeats, tuning
from picsc.federated.algorithms.by_name import CONSTANTS, algorithm
from picsc.federated.algorithms.picsc import Picsc
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.repeats import ChosenTask
from picsc.federated.resumable_rounds import RepeatTask
from picsc.federated.tuning import TRIES, Choice, Try, candidates, choose, limits, widened, without_choice
from picsc.settings import FED_METHODS, FedMethod, FedSettings, validated
from tests.federated.test_federate import settings_of, table


@pytest.mark.parametrize("given", [{}, {"proximal": 0.5, "strength": 2.0, "delta": 0.01}])
@pytest.mark.parametrize("method", FED_METHODS)
def test_every_method_has_the_same_number_of_different_candidates(method: FedMethod, given: dict[str, float]) -> None:
    pairs = [(value, rate) for value, rates in candidates(method, FedSettings(**given)) for rate in rates]
    assert len(set(pairs)) == len(pairs) == TRIES
    assert {min(rate for _, rate in pairs), max(rate for _, rate in pairs)} == {0.01, 1.0}
    values = {value for value, _ in pairs}
    own = CONSTANTS.get(method)
    if own is None:
        assert values == {None}
    else:
        assert values == ({given[own.setting]} if given else set(own.axis.values))


def test_a_given_rate_takes_the_constants_as_they_are() -> None:
    for method, own in CONSTANTS.items():
        assert without_choice(method, FedSettings(), 0.2) == (0.2, own.default, False)
        assert without_choice(method, FedSettings(**{own.setting: 3.0}), 0.2) == (0.2, 3.0, False)
    assert without_choice("scaffold", FedSettings(), 0.2) == (0.2, None, False)


def test_picsc_is_algorithm_2_alone() -> None:
    """Eq. 14 to 16 and the plain mean, and no part of another method."""
    assert algorithm("picsc", FedSettings(), 0.3) == Picsc(0.3, controls=False, preconditioned=False)
    assert algorithm("picsc-scaffold", FedSettings(), 0.3) == Picsc(0.3)


def test_the_trigger_is_used_while_candidates_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = ClientMlps.summaries

    def watched(self: ClientMlps, client: int, theta: object, *, seed: int) -> object:
        seen.append(len(theta))  # type: ignore[arg-type]
        return original(self, client, theta, seed=seed)  # type: ignore[arg-type]

    monkeypatch.setattr(ClientMlps, "summaries", watched)
    settings = settings_of(methods=("fedavg", "picsc"), repeats=1)
    report = picsc.federate_dataset(table(settings), settings)
    clients, rounds = 4, 3
    tried = sum(seen) - clients * rounds  # less the rounds of the chosen one
    assert tried >= clients * rounds * TRIES
    assert tried % (clients * rounds) == 0
    fedavg, ours = report.methods
    assert fedavg.constants == ()
    assert 0.001 <= ours.constants[0] <= 1e4
    assert ours.words.endswith(f"; lambda {ours.constants[0]:g}")
    assert fedavg.lr[0] in (0.003, *tuning.FINE_RATES.values, 3.0)
    assert ours.lr[0] in (0.003, *tuning.RATES.values, 3.0)


def tried(method: FedMethod, constant: float | None, **accuracies: float) -> list[Try]:
    """Candidates by their rates (r1 is 0.1, r03 is 0.03, ...); an accuracy below 0 is a model that diverged."""
    return [
        Try(method, Choice(float("0." + name[1:]), constant), max(value, 0.0), 1.0, failed=value < 0)
        for name, value in accuracies.items()
    ]


def test_a_rate_that_diverges_in_one_repeat_is_refused_in_all() -> None:
    one = tried("fedavg", None, r1=0.7, r2=0.8, r3=0.9)
    other = tried("fedavg", None, r1=0.9, r2=-1, r3=0.6)
    assert choose("fedavg", one, {}).rate == 0.3
    refused = limits([*one, *other])
    assert refused == {("fedavg", (None, False)): 0.2}
    assert [choose("fedavg", each, refused).rate for each in (one, other)] == [0.1, 0.1]
    assert choose("fedavg", tried("fedavg", None, r1=-1, r2=-1), {("fedavg", (None, False)): 0.1}).rate == 0.1


def test_a_rate_is_refused_with_its_own_constant_only() -> None:
    both = [*tried("fedprox", 0.01, r1=0.5, r3=-1), *tried("fedprox", 0.1, r1=0.4, r3=0.9)]
    assert choose("fedprox", both, limits(both)) == Choice(0.3, 0.1)


def test_of_equal_accuracies_the_smaller_log_loss_is_chosen() -> None:
    first, second = tried("fedavg", None, r1=0.7, r2=0.7)
    assert choose("fedavg", [first, second._replace(log_loss=0.5)], {}).rate == 0.2


def test_a_grid_is_widened_where_the_best_candidate_is_at_its_end() -> None:
    settings = FedSettings()

    def of(method: FedMethod, best: Choice) -> list[Try]:
        return [
            Try(method, Choice(rate, constant), float((rate, constant, False) == best), 1.0, failed=False)
            for constant, rates in candidates(method, settings)
            for rate in rates
        ]

    assert widened("fedavg", of("fedavg", Choice(0.1, None)), settings) == []
    assert widened("fedavg", of("fedavg", Choice(1.0, None)), settings) == [("fedavg", (None, False), (3.0,))]
    assert widened("fedavg", of("fedavg", Choice(0.01, None)), settings) == [("fedavg", (None, False), (0.003,))]
    assert widened("picsc", of("picsc", Choice(0.1, 1.0)), settings) == [("picsc", (10.0, False), tuning.RATES.values)]
    assert widened("picsc", of("picsc", Choice(1.0, 0.1)), settings) == [
        ("picsc", (0.1, False), (3.0,)),
        ("picsc", (0.01, False), tuning.RATES.values),
    ]
    given = FedSettings(strength=0.5)
    held = [each for each in of("picsc", Choice(0.1, 1.0)) if each.choice.constant == 1.0]
    assert widened("picsc", held, given) == []


def test_a_run_that_diverges_is_begun_again_with_the_next_best_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The candidates of all repeats are stable; the run of one of them is not."""
    settings = settings_of(methods=("fedavg",), repeats=2)
    seen: list[tuple[int, float]] = []
    original = all_repeats.run_repeat

    def failing(chosen: ChosenTask, progress: object = None) -> object:
        runs = original(chosen)
        for method, run in runs.items():
            seen.append((run.seed, run.rate))
            if run.rate >= 0.2:
                broken = {**run.records, "failed_round": np.asarray(2.0)}
                runs[method] = replace(run, records=broken)
        return runs

    def tune(task: RepeatTask, progress: object = None) -> tuple[Try, ...]:
        best = {0: {"r05": 0.6, "r1": 0.7, "r3": 0.9}, 1: {"r05": 0.6, "r1": 0.5, "r2": 0.8}}[task.repeat]
        return tuple(tried("fedavg", None, **best))

    monkeypatch.setattr(all_repeats, "run_repeat", failing)
    monkeypatch.setattr(all_repeats, "tune_repeat", tune)
    report = picsc.federate_dataset(table(settings), settings)
    assert [rate for _, rate in seen] == [0.3, 0.2, 0.1, 0.05]
    [fedavg] = report.methods
    assert fedavg.lr == (0.1, 0.05)
    assert report.failed == 0


def test_natural_or_whitened_columns_are_chosen_for_every_method_with_its_rate() -> None:
    settings = settings_of(methods=("fedavg", "picsc"), repeats=1, inputs="auto")
    report = picsc.federate_dataset(table(settings), settings)
    assert report.model.endswith("columns natural or whitened by method")
    for method in report.methods:
        assert re.search(r"; whitened columns in [01] of 1 run$", method.words)
    settings = settings_of(methods=("fedavg",), repeats=1, inputs="standard")
    same = settings_of(methods=("fedavg",), repeats=1, whiten=True)
    one, other = (picsc.federate_dataset(table(each), each) for each in (settings, same))
    assert one.methods == other.methods
    assert one.model.endswith("whitened columns")


def test_the_better_columns_are_chosen() -> None:
    natural, whitened = (
        [Try("fedavg", Choice(0.1, None, white), accuracy, 1.0, failed=False)]
        for white, accuracy in ((False, 0.6), (True, 0.7))
    )
    assert choose("fedavg", [*natural, *whitened], {}).whitened
    assert not choose("fedavg", [*natural, *whitened], {("fedavg", (None, True)): 0.1}).whitened


def test_whitening_is_asked_for_once_and_chosen_only_with_a_rate() -> None:
    with pytest.raises(SettingsError, match="--whiten is --inputs standard"):
        validated(FedSettings, whiten=True, inputs="natural")
    with pytest.raises(SettingsError, match="leave out --lr"):
        validated(FedSettings, inputs="auto", lr=0.1)
    asked = [
        validated(FedSettings, **given).whitenings
        for given in ({}, {"whiten": True}, {"inputs": "standard"}, {"inputs": "auto"})
    ]
    assert asked == [(False,), (True,), (True,), (False, True)]
