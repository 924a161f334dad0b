"""The choice of rates and constants: the same number of tries for every method, which run as they will run."""

from __future__ import annotations

import pytest

import picsc
from picsc.federated import tuning
from picsc.federated.algorithms.by_name import CONSTANTS, algorithm
from picsc.federated.algorithms.picsc import Picsc
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.tuning import TRIES, candidates, without_choice
from picsc.settings import FED_METHODS, FedMethod, FedSettings
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
        assert values == ({given[own.setting]} if given else set(own.candidates))


def test_a_given_rate_takes_the_constants_as_they_are() -> None:
    for method, own in CONSTANTS.items():
        assert without_choice(method, FedSettings(), 0.2) == (0.2, own.default)
        assert without_choice(method, FedSettings(**{own.setting: 3.0}), 0.2) == (0.2, 3.0)
    assert without_choice("scaffold", FedSettings(), 0.2) == (0.2, None)


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
    assert sum(seen) == clients * rounds * (TRIES + 1)
    fedavg, ours = report.methods
    assert fedavg.constants == ()
    assert ours.constants[0] in CONSTANTS["picsc"].candidates
    assert ours.words.endswith(f"; lambda {ours.constants[0]:g}")
    assert fedavg.lr[0] in tuning.FINE_RATES
    assert ours.lr[0] in tuning.RATES
