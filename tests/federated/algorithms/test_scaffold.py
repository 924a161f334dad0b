"""SCAFFOLD's control variates."""

from __future__ import annotations

import numpy as np
import torch

from picsc.federated.algorithms.scaffold import Scaffold
from tests.federations import drawn_clients, run_all


def test_a_clients_control_variate_is_option_ii_also_where_clients_are_drawn() -> None:
    """Karimireddy et al., 2020, Eq. 4, option II: c_k - c + (theta_t - theta_k) / (K lr), with c that is not 0."""
    clients = drawn_clients((9, 40, 23))
    run = run_all(Scaffold(), clients, rounds=3, participants=2)
    state, memory, who = run.state, run.memory, np.array([0, 2])
    assert float(state["control"].abs().max()) > 1e-4
    own = {name: values[who] for name, values in memory.items()}
    terms = Scaffold().local_terms(state, own, None)
    rate = torch.tensor([0.1])
    trained = clients.fit(who, state["theta"][None], terms, rate, seed=0, round_number=3)
    uploads, found = Scaffold().upload(state, own, terms, trained, lambda: torch.zeros_like(trained.theta))
    for k in range(2):
        gradient = (state["theta"] - trained.theta[k]) / (float(trained.steps[k]) * 0.1)
        expected = own["control"][k] - state["control"] + gradient
        torch.testing.assert_close(found["control"][k], expected, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(uploads["control"][k], expected - own["control"][k], rtol=1e-5, atol=1e-6)
