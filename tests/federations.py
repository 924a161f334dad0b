"""Small federations drawn at random, for tests of clients and algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from picsc.datasets.encoding import Covariates, of_numbers
from picsc.federated.algorithms.protocol import Algorithm
from picsc.federated.client_summary import Summary, described, summarise
from picsc.federated.clients.evaluation import own_rows
from picsc.federated.clients.local_steps import LocalRecipe
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.clients.networks import ClientModules
from picsc.federated.rounds import RoundSettings, run_round
from picsc.federated.run_state import Contender, RunState, initial_run
from picsc.training.networks import mlp

FEATURES, HIDDEN = 4, 3
ONE_PASS = LocalRecipe(1, 8)


def drawn_clients(
    sizes: Sequence[int],
    recipe: LocalRecipe = ONE_PASS,
    *,
    outputs: int = 3,
    likelihood: str = "classes",
    spread: float = 1.0,
    seed: int = 0,
) -> ClientMlps:
    """Clients of these sizes whose features have means of their own; classes can be learned from the features."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.integers(0, outputs, n) if likelihood == "classes" else rng.normal(size=n).astype(np.float32)
    means = spread * rng.normal(size=(len(sizes), FEATURES))
    centres = rng.normal(size=(outputs, FEATURES))
    signal = centres[y] if likelihood == "classes" else np.outer(y, centres[0])
    x = (rng.normal(size=(n, FEATURES)) + means[owner] + 1.5 * signal).astype(np.float32)
    shuffled = rng.permutation(n)
    x, y, owner = x[shuffled], y[shuffled], owner[shuffled]
    rows = tuple(np.flatnonzero(owner == i).astype(np.int64) for i in range(len(sizes)))
    return ClientMlps(
        x=torch.cat([torch.from_numpy(x), torch.ones(n, 1)], 1),
        y=torch.from_numpy(y),
        train=rows,
        test=own_rows([torch.from_numpy(each) for each in rows]),
        likelihood=likelihood,  # type: ignore[arg-type]
        outputs=outputs,
        hidden=HIDDEN,
        recipe=recipe,
        covariates=of_numbers(FEATURES),
    )


def as_modules(clients: ClientMlps, workers: int = 1) -> ClientModules:
    """The same rows and networks, trained one model at a time by differentiation."""
    x = clients.x[:, :-1]
    return ClientModules(
        take=lambda rows: x[torch.from_numpy(rows)],
        y=clients.y,
        classes=clients.outputs,
        train=clients.train,
        test=clients.test,
        model=lambda seed: mlp(FEATURES, clients.outputs, HIDDEN, seed=seed),
        recipe=clients.recipe,
        workers=workers,
        likelihood=clients.likelihood,
    )


def summary_of(squared_scores: Iterable[Tensor], x: Tensor, covariates: Covariates, **options: Any) -> Summary:
    """The summary of one client from its rows' squared scores and features."""
    return summarise(described(x, covariates, **options), squared_scores)


def run_all(
    algorithm: Algorithm,
    clients: ClientMlps | ClientModules,
    *,
    rounds: int = 3,
    rates: tuple[float, ...] = (0.1,),
    **settings: object,
) -> RunState:
    """All rounds of one algorithm."""
    contender = Contender("one", algorithm, clients, rates)
    run = initial_run(contender, 0)
    settings = {"participants": len(clients.train), **settings}
    for t in range(rounds):
        run_round([contender], [run], RoundSettings(rounds=rounds, seed=0, **settings), t)  # type: ignore[arg-type]
    return run
