"""From one data set to simulated clients: who holds which rows, which of them judge, and what trains on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.images import ImageSet
from picsc.datasets.rows import Rows, with_label
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError, SettingsError
from picsc.fragments import Fragment, cut
from picsc.fragments.partitions import partition
from picsc.reports.common import Finding
from picsc.settings import CutSettings, FedSettings
from picsc.simulation.feature_noise import noisy_images, noisy_table

TABLE_BATCH, OTHER_BATCH = 32, 64
MLP_UNITS, BAG_WIDTH, LSTM_UNITS = 32, 32, 256
TUNING = 0.25
"""Share of a client's training rows that judge learning rates."""


def labelled(data: Dataset | ImageSet | TokenSet, findings: list[Finding]) -> Dataset | ImageSet | TokenSet:
    """The rows with a label."""
    return with_label(data, findings) if isinstance(data, Dataset) and data.target is not None else data


@dataclass(frozen=True, slots=True)
class FederatedSplit:
    """Who holds which rows; all of one repeat."""

    data: Dataset | ImageSet | TokenSet
    """With the clients' noise, if they have any."""
    clients: tuple[Fragment, ...]
    train: tuple[Rows, ...]
    test: tuple[Rows, ...]
    """Rows of each client that judge; empty for all where an official test part does."""
    official: Rows
    noise: NDArray[np.float64] | None
    words: str


def federated_split(data: Dataset | ImageSet | TokenSet, settings: FedSettings, *, seed: int) -> FederatedSplit:
    """Deal rows out to clients, and set those aside that judge.

    Args:
        data: rows with a label.
        settings: how clients come about, and the share that judges.
        seed: of invented partitions, of noise and of the rows set aside.

    Raises:
        SettingsError: the settings name no clients, or such as the data do not have.
        DataError: there are fewer than two clients, or none of them can both learn and judge.
    """
    labels = _labels(data)
    official = data.test if isinstance(data, ImageSet | TokenSet) else np.empty(0, np.int64)
    pool = np.setdiff1d(np.arange(data.n), official)
    clients, noise, words = _dealt(data, labels, pool, settings, seed)
    if len(clients) < 2:
        raise DataError(f"{data.name}: federated learning needs two clients or more, and there is {len(clients)}")
    if noise is not None and isinstance(data, ImageSet):
        data = noisy_images(data, clients, noise, seed=seed)
    elif noise is not None and isinstance(data, Dataset):
        data = noisy_table(data, clients, noise, seed=seed)
    most = settings.most_rows
    owners = data.owners if isinstance(data, ImageSet | TokenSet) and settings.clients.clients is None else None
    if len(official) and owners is None:
        train = tuple(_some(client.rows, most, [seed, 4, i]) for i, client in enumerate(clients))
        judging = _some(official, None if most is None else most * len(clients), [seed, 5])
        return FederatedSplit(data, clients, train, (), judging, noise, words)
    if len(official):  # the official part has owners too, so every client is judged by its own
        whose = [owners[client.rows[0]] for client in clients]  # type: ignore[index] # not None here
        parts = [(client.rows, official[owners[official] == who]) for client, who in zip(clients, whose, strict=True)]  # type: ignore[index]
    else:
        parts = [set_aside(client.rows, settings.validation, [seed, 2, i]) for i, client in enumerate(clients)]
    train = tuple(_some(part[0], most, [seed, 4, i]) for i, part in enumerate(parts))
    test = tuple(_some(part[1], most, [seed, 5, i]) for i, part in enumerate(parts))
    return FederatedSplit(data, clients, train, test, np.empty(0, np.int64), noise, words)


def _some(rows: Rows, most: int | None, seed: Sequence[int]) -> Rows:
    """At most so many of the rows, drawn at random."""
    if most is None or len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(list(seed)).choice(rows, most, replace=False))


def participants(settings: FedSettings, k: int) -> int:
    """Clients of a round, of k: the share asked for, and two at least."""
    return max(min(k, 2), round(settings.sample * k))


def set_aside(rows: Rows, share: float, seed: Sequence[int]) -> tuple[Rows, Rows]:
    """Divide rows at random; the first part has at least one.

    Args:
        rows: of a client.
        share: of the second part.
        seed: of the draw.

    Returns:
        Two increasing sets of row numbers.
    """
    order = np.random.default_rng(list(seed)).permutation(rows)
    out = min(len(rows) - 1, max(1, round(share * len(rows))))
    return np.sort(order[out:]), np.sort(order[:out])


def _labels(data: Dataset | ImageSet | TokenSet) -> NDArray[np.int64] | None:
    """Class codes, or None for numbers."""
    if not isinstance(data, Dataset):
        return data.labels
    if data.target is None:
        raise SettingsError(f"{data.name}: federated learning needs a target; name one with --target")
    return data.target.values.astype(np.int64) if data.target.kind == "classes" else None


def _dealt(
    data: Dataset | ImageSet | TokenSet,
    labels: NDArray[np.int64] | None,
    pool: Rows,
    settings: FedSettings,
    seed: int,
) -> tuple[tuple[Fragment, ...], NDArray[np.float64] | None, str]:
    wanted = settings.clients
    if wanted.clients is not None:
        if wanted.partition == "noise" and isinstance(data, TokenSet):
            raise SettingsError(f"{data.name}: texts have no features that noise could be added to")
        made = partition(None if labels is None else labels[pool], len(pool), wanted, seed=seed)
        clients = tuple(Fragment(each.kind, each.name, pool[each.rows]) for each in made.fragments)
        return clients, made.noise if made.noise.any() else None, made.words
    if isinstance(data, Dataset):
        if wanted.by is None:
            raise SettingsError(
                f"{data.name}: who are the clients? name a column with --by COL, or invent some with --clients N"
            )
        found = cut(data, CutSettings(by=wanted.by), seed=seed)
        return found.fragments, None, f"{len(found.fragments)} clients by {wanted.by}"
    owners, names = data.owners, data.clients
    if wanted.by is not None or owners is None:
        asked = f"--by {wanted.by}: " if wanted.by is not None else ""
        raise SettingsError(
            f"{asked}{data.name} has no columns"
            f"{' and its images no owners' if owners is None else '; its owners are the clients without --by'}; "
            "invent clients with --clients N"
        )
    order = pool[np.argsort(owners[pool], kind="stable")]
    edges = np.searchsorted(owners[order], np.arange(len(names) + 1))
    clients = tuple(
        Fragment("client", name, np.sort(order[edges[i] : edges[i + 1]]))
        for i, name in enumerate(names)
        if edges[i] < edges[i + 1]
    )
    return clients, None, f"{len(clients)} clients by owner"
