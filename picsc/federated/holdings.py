"""Holdings: the rows of one data set dealt out to simulated clients, each with training rows and test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.data import Data
from picsc.datasets.rows import Rows, with_label
from picsc.errors import DataError, SettingsError
from picsc.federated.own_rows import at_most, bounded, set_aside
from picsc.fragments import Cut, Fragment, cut, cut_clients
from picsc.fragments.partitions import partition
from picsc.fragments.unlabelled import pieces_without_label
from picsc.phrases import counted
from picsc.reports.common import Finding
from picsc.settings import CutSettings, FedSettings
from picsc.simulation.feature_noise import with_feature_noise

SHOWN = 5
"""Most clients that a message names."""


def labelled(data: Data, findings: list[Finding], settings: FedSettings) -> Data:
    """The rows that have a label; all rows where there is no target.

    Args:
        data: the table, the images or the texts.
        findings: receives a warning if rows have no label, and one that names clients who have no others.
        settings: the column of the clients.
    """
    if data.kind != "table" or data.target is None:
        return data
    findings += pieces_without_label(data, settings.clients.by, "client")
    return with_label(data, findings)


@dataclass(frozen=True, slots=True)
class FederatedSplit:
    """Clients with their training rows and test rows, for one repeat."""

    data: Data
    """With the feature noise of the clients, if they have any."""
    clients: tuple[Fragment, ...]
    """Name of each client, and all rows that it holds, K."""
    train: tuple[Rows, ...]
    """Training rows of each client, K."""
    test: tuple[Rows, ...]
    """Test rows of each client, K; empty where an official test part serves all clients."""
    official_test: Rows
    """Test rows that serve all clients; empty where each has its own."""
    noise: NDArray[np.float64] | None
    """Standard deviation of each client's feature noise, (K,); None without noise."""
    made: Cut
    """The clients as pieces of the data."""

    @property
    def description(self) -> str:
        """Origin of the clients, in words."""
        return self.made.words


def federated_split(data: Data, settings: FedSettings, *, seed: int) -> FederatedSplit:
    """Deal rows out to clients, and set test rows aside.

    Args:
        data: rows with a label.
        settings: origin of the clients, and the share of test rows.
        seed: of invented partitions, of noise and of test rows.

    Raises:
        SettingsError: the settings name no clients, or clients that the data do not have.
        DataError: there are fewer than two clients.
    """
    labels = _labels(data)
    official_test = data.test
    pool = np.setdiff1d(np.arange(data.n), official_test)
    made, noise = _deal(data, labels, pool, settings, seed)
    clients = made.fragments
    if len(clients) < 2:
        raise DataError(f"{data.name}: federated learning needs two clients or more, and there is {len(clients)}")
    if noise is not None and data.kind != "texts":
        data = with_feature_noise(data, clients, noise, seed=seed)
    most = settings.most_rows
    owners = data.owners if settings.clients.clients is None else None
    if len(official_test) and owners is None:
        train = tuple(at_most(client.rows, most, [seed, 4, i]) for i, client in enumerate(clients))
        shared = at_most(official_test, None if most is None else most * len(clients), [seed, 5])
        return FederatedSplit(data, clients, train, (), shared, noise, made)
    if len(official_test):  # the official part has owners too, so every client is tested on its own rows
        assert owners is not None  # noqa: S101 - for the type checker
        parts = [(client.rows, official_test[owners[official_test] == owners[client.rows[0]]]) for client in clients]
    else:
        parts = [set_aside(client.rows, settings.validation, [seed, 2, i]) for i, client in enumerate(clients)]
    parts = [bounded(part, settings, seed, i) for i, part in enumerate(parts)]
    train, test = tuple(part[0] for part in parts), tuple(part[1] for part in parts)
    return FederatedSplit(data, clients, train, test, np.empty(0, np.int64), noise, made)


def refuse_small_clients(split: FederatedSplit, settings: FedSettings) -> None:
    """Refuse clients with so few rows that the server could read these off the statistics that are sent.

    Raises:
        DataError: a client has fewer rows than the settings ask for; the message names it.
    """
    least = settings.min_client_rows
    small = small_clients(split, least)
    if not small:
        return
    size = min(len(client.rows) for client in split.clients)
    raise DataError(
        f"{split.data.name}: {_named(small)} fewer than {least} rows, down to {size}: the statistics of so few rows "
        f"give them away; merge or leave out such clients, or for a simulation only lower --min-client-rows to {size}"
    )


def small_clients_finding(split: FederatedSplit, settings: FedSettings) -> list[Finding]:
    """A warning where a lowered bound lets small clients in."""
    usual = FedSettings().min_client_rows
    small = small_clients(split, usual)
    if not small or settings.min_client_rows >= usual:
        return []
    return [
        Finding(
            "small-clients",
            "warning",
            f"{_named(small)} fewer than {usual} rows: the server could read rows off what they send",
            f"use this as a simulation only; with real clients, keep --min-client-rows at {usual} or more",
        )
    ]


def small_clients(split: FederatedSplit, least: int) -> tuple[str, ...]:
    """Names of the clients with fewer rows than this."""
    return tuple(client.name for client in split.clients if len(client.rows) < least)


def _named(clients: Sequence[str]) -> str:
    """The first few names, and `has` or `have`."""
    names = ", ".join(clients[:SHOWN]) + (f" and {len(clients) - SHOWN} more" if clients[SHOWN:] else "")
    return f"{counted(len(clients), 'client')} ({names}) {'has' if len(clients) == 1 else 'have'}"


def participants(settings: FedSettings, k: int) -> int:
    """Number of clients in a round, of k: the share in the settings, at least two."""
    return max(min(k, 2), round(settings.sample * k))


def _labels(data: Data) -> NDArray[np.int64] | None:
    """Class codes; None for a numeric target."""
    if data.kind != "table":
        return data.labels
    if data.target is None:
        raise SettingsError(f"{data.name}: federated learning needs a target; name one with --target")
    return data.target.values.astype(np.int64) if data.target.kind == "classes" else None


def _deal(
    data: Data,
    labels: NDArray[np.int64] | None,
    pool: Rows,
    settings: FedSettings,
    seed: int,
) -> tuple[Cut, NDArray[np.float64] | None]:
    """The clients with their origin in words, and the noise of each if they have any."""
    wanted = settings.clients
    if wanted.clients is not None:
        if wanted.partition == "noise" and data.kind == "texts":
            raise SettingsError(f"{data.name}: texts have no features that noise could be added to")
        if data.kind == "table":
            dealt = cut_clients(data, wanted, CutSettings(), seed=seed)
            return dealt.cut, dealt.noise if dealt.noise.any() else None
        made = partition(None if labels is None else labels[pool], len(pool), wanted, seed=seed)
        clients = tuple(Fragment(each.kind, each.name, pool[each.rows]) for each in made.fragments)
        return _clients(clients, made.words, data.n), made.noise if made.noise.any() else None
    if data.kind == "table":
        if wanted.by is None:
            raise SettingsError(
                f"{data.name}: who are the clients? name a column with --by COL, or invent some with --clients N"
            )
        found = cut(data, CutSettings(by=wanted.by), seed=seed)
        return replace(found, words=f"{len(found.fragments)} clients by {wanted.by}"), None
    owners, names = data.owners, data.clients
    if wanted.by is not None or owners is None:
        prefix = f"--by {wanted.by}: " if wanted.by is not None else ""
        raise SettingsError(
            f"{prefix}{data.name} has no columns"
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
    return _clients(clients, f"{len(clients)} clients by owner", data.n), None


def _clients(clients: tuple[Fragment, ...], words: str, n: int) -> Cut:
    """Clients of images or texts as pieces of them."""
    held = np.concatenate([client.rows for client in clients])
    return Cut(
        fragments=clients,
        words=words,
        ordered=False,
        contiguous=False,
        units=None,
        strata=None,
        unassigned=np.setdiff1d(np.arange(n), held),
    )
