"""Training rows and test rows of one client among its own rows. Loads no library of machine learning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from picsc.datasets.rows import Rows
from picsc.settings import FedSettings


def own_rows(n: int, settings: FedSettings, *, seed: int, client: int) -> tuple[Rows, Rows]:
    """Training rows and test rows of one client among its own n, as `federated_split` divides them.

    Args:
        n: number of its rows.
        settings: share of the test rows, and bound on both parts.
        seed: of the draw.
        client: its number.
    """
    return bounded(set_aside(np.arange(n), settings.validation, [seed, 2, client]), settings, seed, client)


def bounded(parts: tuple[Rows, Rows], settings: FedSettings, seed: int, client: int) -> tuple[Rows, Rows]:
    """At most as many training rows, and test rows, as the settings allow.

    Args:
        parts: training rows and test rows.
        settings: the bound.
        seed: of the draws.
        client: number of the client.
    """
    train, test = parts
    return (
        at_most(train, settings.most_rows, [seed, 4, client]),
        at_most(test, settings.most_rows, [seed, 5, client]),
    )


def at_most(rows: Rows, most: int | None, seed: Sequence[int]) -> Rows:
    """The rows, or a random part of this number."""
    if most is None or len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(list(seed)).choice(rows, most, replace=False))


def set_aside(rows: Rows, share: float, seed: Sequence[int]) -> tuple[Rows, Rows]:
    """Divide rows at random; the first part has at least one.

    Args:
        rows: of a client.
        share: of the rows that go into the second part, in (0, 1).
        seed: of the draw.

    Returns:
        Two increasing sets of row numbers.
    """
    order = np.random.default_rng(list(seed)).permutation(rows)
    out = min(len(rows) - 1, max(1, round(share * len(rows))))
    return np.sort(order[out:]), np.sort(order[:out])
