"""Simulated clients, who get the rows of a table in the ways of federated benchmarks.

The conventions are those of NIID-Bench (Li et al., 2022), whose names are part of `Partition.words`. Its loops may
never end, and one of its partitions drops rows; here every row has exactly one client, and a draw is repeated at most
`REDRAWS` times. Letters: n rows, N clients, C classes that occur, k classes of a client.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from picsc.errors import DataError, SettingsError
from picsc.fragments.pieces import Fragment
from picsc.settings import PartitionSettings

Ints = NDArray[np.int64]

REDRAWS = 50
"""Most draws until every client has the fewest rows that it needs."""
MOST_SHARES = 20_000_000
"""Most shares, draws times classes times clients, that are drawn in all."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Simulated clients, and a description of the partition."""

    fragments: tuple[Fragment, ...]
    """`client 1` to `client N`; every row is in exactly one."""
    noise: NDArray[np.float64]
    """(N,) standard deviation of each client's feature noise; 0 unless the partition is `noise`."""
    words: str
    """A description such as `10 clients, Dirichlet(0.5) over labels (NIID-Bench: noniid-labeldir)`."""


def partition(labels: Ints | None, n: int, settings: PartitionSettings, *, seed: int) -> Partition:
    """Assign n rows to simulated clients.

    Reading: the paper does not specify its client splits; each is that of NIID-Bench, with these differences.
        iid (`homo`): shuffled rows in N parts whose sizes differ by at most one.
        dirichlet (`noniid-labeldir`): each class is divided by shares from Dir(concentration); a client that has n / N
        rows or more gets none of later classes. The shares are drawn among the other clients only and as logarithms,
        which is the same distribution and never 0 / 0.
        classes (`noniid-#label{k}`): client i has class i mod C and k - 1 random others; a class is shared equally by
        its clients. NIID-Bench drops a class that no client drew; here it goes to the client with the fewest classes,
        of these the one with the fewest rows.
        quantity (`iid-diff-quantity`): shuffled rows in parts whose shares are drawn from Dir(concentration).
        noise (`homo` with Gaussian noise): as iid, and client i = 0 .. N-1 has noise of standard deviation
        noise * i / (N - 1); its authors write a variance, their code a standard deviation.
        NIID-Bench draws dirichlet and quantity until every client has 10 rows, however long that takes. Here the best
        of `REDRAWS` draws is repaired: the largest client gives away random rows until no client lacks any, and `words`
        says how many rows moved. A repair would change the classes of `classes`, so there it is an error.

    Args:
        labels: class codes (n,), none negative; None for a set without classes.
        n: number of rows.
        settings: number of clients and the partition.
        seed: seed of the draws; the same seed gives the same rows.

    Raises:
        SettingsError: there is no number of clients, or the partition needs classes that are not there.
        DataError: there are too few rows; the message says how many clients and rows are possible.
    """
    clients, name = settings.clients, settings.partition or "iid"
    if clients is None:
        raise SettingsError(f"--partition {name} needs --clients N")
    if labels is None and name in ("dirichlet", "classes"):
        raise SettingsError(f"--partition {name} needs a target of classes; choose iid, quantity or noise")
    _enough(n, clients, settings.min_rows)
    rng = np.random.default_rng([seed, 5])
    noise = np.zeros(clients)
    if labels is not None and name == "dirichlet":
        codes = _codes(labels, n)
        owner, moved = _dealt(
            lambda: _by_label(codes, clients, settings.concentration, rng), codes, settings.min_rows, rng
        )
        words = f"Dirichlet({settings.concentration:g}) over labels (NIID-Bench: noniid-labeldir){moved}"
    elif labels is not None and name == "classes":
        owner, homeless = _by_class(_codes(labels, n), clients, settings, seed)
        words = f"{settings.classes} of the classes each (NIID-Bench: noniid-#label{settings.classes}){homeless}"
    elif name == "quantity":
        one = np.zeros(n, np.int64)
        owner, moved = _dealt(
            lambda: _shares(n, clients, settings.concentration, rng)[None], one, settings.min_rows, rng
        )
        words = f"sizes from Dirichlet({settings.concentration:g}) (NIID-Bench: iid-diff-quantity){moved}"
    else:
        owner = rng.permutation(np.arange(n) * clients // n)
        words = "rows at random (NIID-Bench: homo)"
        if name == "noise":
            noise = settings.noise * np.arange(clients) / (clients - 1)
            words += f", Gaussian noise on features from 0 to {settings.noise:g}"
    return Partition(_fragments(owner, clients), noise, f"{clients} clients, {words}")


def _enough(n: int, clients: int, fewest: int) -> None:
    if clients * fewest <= n:
        return
    ways = [f"--clients {n // fewest}"] if n // fewest >= 2 else []
    ways += [f"--min-rows {n // clients}"] if n >= clients else []
    advice = f"use at most {' or '.join(ways)}" if ways else f"--clients {n} with --min-rows 1 is the most"
    raise DataError(f"cannot give {clients} clients {fewest} rows each: there are {n} rows; {advice}")


def _codes(labels: Ints, n: int) -> Ints:
    """Codes 0 .. C-1 of the classes that occur."""
    if labels.shape != (n,):
        raise DataError(f"{n} rows and labels of shape {labels.shape}; give one label per row")
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _fragments(owner: Ints, clients: int) -> tuple[Fragment, ...]:
    order = np.argsort(owner, kind="stable").astype(np.int64)
    edges = np.searchsorted(owner[order], np.arange(clients + 1))
    return tuple(
        Fragment("client", f"client {i}", order[start:stop]) for i, (start, stop) in enumerate(pairwise(edges), start=1)
    )


def _shares(rows: int, clients: int, concentration: float, rng: np.random.Generator) -> Ints:
    """Number of rows that each client gets, by shares from Dir(concentration).

    A gamma variate of a small shape underflows to 0 for every client at once; its logarithm does not.
    """
    shape = max(concentration, 1e-300)  # the quotient below stays finite
    logs = np.log(rng.standard_gamma(shape + 1, clients)) + np.log1p(-rng.random(clients)) / shape
    shares = np.exp(logs - logs.max())
    ends = np.floor(np.cumsum(shares) / shares.sum() * rows).astype(np.int64).clip(max=rows)
    ends[-1] = rows
    return np.diff(np.concatenate([[0], ends]))


def _by_label(codes: Ints, clients: int, concentration: float, rng: np.random.Generator) -> Ints:
    """Numbers of rows of each class and client, (C, N)."""
    n, totals = len(codes), np.bincount(codes)
    counts = np.zeros((len(totals), clients), np.int64)
    sizes = np.zeros(clients, np.int64)
    for label, total in enumerate(totals.tolist()):
        below = np.flatnonzero(sizes * clients < n)  # never empty: otherwise all rows would have gone
        counts[label, below] = _shares(total, len(below), concentration, rng)
        sizes += counts[label]
    return counts


def _dealt(draw: Callable[[], Ints], codes: Ints, fewest: int, rng: np.random.Generator) -> tuple[Ints, str]:
    """Owner of each row after a bounded number of draws and a repair, and words for the repair.

    Args:
        draw: draws the numbers of rows of each class and client, (C, N).
        codes: (n,) class of each row.
        fewest: number of rows that every client needs; n is at least N times as large.
        rng: generator for the choice of rows, given their numbers.
    """
    best, lacking, draws = None, len(codes) + 1, 0
    while best is None or (lacking and draws < REDRAWS and draws * best.size < MOST_SHARES):
        counts, draws = draw(), draws + 1
        lacks = int((fewest - counts.sum(0)).clip(min=0).sum())
        if best is None or lacks < lacking:
            best, lacking = counts, lacks
    owner = np.empty(len(codes), np.int64)
    for label, row in enumerate(best):
        owner[rng.permutation(np.flatnonzero(codes == label))] = np.repeat(np.arange(len(row)), row)
    if lacking:
        _level(owner, best.sum(0), fewest, rng)
    rows = "1 row" if lacking == 1 else f"{lacking} rows"
    return owner, f"; {rows} moved so that every client has {fewest}" if lacking else ""


def _level(owner: Ints, sizes: Ints, fewest: int, rng: np.random.Generator) -> None:
    """Move random rows from the currently largest client, one at a time, to clients that lack some; in place."""
    largest = [(-size, i) for i, size in enumerate(sizes.tolist())]
    heapq.heapify(largest)
    takers = np.repeat(np.arange(len(sizes)), (fewest - sizes).clip(min=0))
    gives = np.zeros(len(sizes), np.int64)
    for _ in takers:
        size, i = largest[0]
        gives[i] += 1
        heapq.heapreplace(largest, (size + 1, i))
    order = rng.permutation(len(owner))
    order = order[np.argsort(owner[order], kind="stable")]  # client by client, in random order within
    place = np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner[order]]
    owner[rng.permutation(order[place < gives[owner[order]]])] = takers


def _by_class(codes: Ints, clients: int, settings: PartitionSettings, seed: int) -> tuple[Ints, str]:
    """Owner of each row if each client has a few classes, and words on classes that no client drew."""
    totals, fewest = np.bincount(codes), settings.min_rows
    if settings.classes > len(totals):
        raise SettingsError(
            f"--classes {settings.classes}: there are {len(totals)} classes; give at most {len(totals)}"
        )
    rng = np.random.default_rng([seed, 5])
    most = -1
    for _ in range(REDRAWS):
        holds, homeless = _holders(totals, clients, settings.classes, rng)
        counts = _shared(totals, holds)
        smallest = int(counts.sum(0).min())
        most = max(most, smallest)
        if smallest >= fewest:
            break
    else:
        raise DataError(_too_few(totals, clients, most, settings, seed))
    owner = np.empty(len(codes), np.int64)
    for label, row in enumerate(counts):
        owner[rng.permutation(np.flatnonzero(codes == label))] = np.repeat(np.arange(clients), row)
    were = "1 class that no client drew was" if homeless == 1 else f"{homeless} classes that no client drew were"
    return owner, f"; {were} given to clients with the fewest classes" if homeless else ""


def _holders(totals: Ints, clients: int, each: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], int]:
    """A mask of the classes of each client, (C, N), and the number of classes that no client drew, now given to one."""
    order = rng.random((clients, len(totals)))
    order[np.arange(clients), np.arange(clients) % len(totals)] = -1  # comes first
    holds = np.zeros((clients, len(totals)), bool)
    np.put_along_axis(holds, np.argpartition(order, each - 1, axis=1)[:, :each], values=True, axis=1)
    holds = holds.T.copy()
    homeless = np.flatnonzero(~holds.any(1))
    if len(homeless):
        sizes, classes = _shared(totals, holds).sum(0), holds.sum(0)
        for label in homeless[np.argsort(-totals[homeless], kind="stable")].tolist():
            taker = np.lexsort((sizes, classes))[0]
            holds[label, taker] = True
            sizes[taker] += totals[label]
            classes[taker] += 1
    return holds, len(homeless)


def _shared(totals: Ints, holds: NDArray[np.bool_]) -> Ints:
    """Numbers of rows of each class and client, (C, N): clients share a class equally, the first ones the remainder."""
    holders = holds.sum(1).clip(min=1)
    extra = np.cumsum(holds, axis=1) <= (totals % holders)[:, None]
    return np.asarray(holds * ((totals // holders)[:, None] + extra), np.int64)


def _too_few(totals: Ints, clients: int, most: int, settings: PartitionSettings, seed: int) -> str:
    """The message for too few rows, with settings that would work with the same seed."""

    def works(fewer: int) -> bool:
        holds, _ = _holders(totals, fewer, settings.classes, np.random.default_rng([seed, 5]))
        return int(_shared(totals, holds).sum(0).min()) >= settings.min_rows

    low, high = 1, clients
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    ways = [f"--clients {low}"] if low >= 2 else []
    ways += [f"--min-rows {most}"] if most else []
    advice = f"use {' or '.join(ways)}, or more --classes" if ways else "use more --classes"
    return (
        f"cannot give {clients} clients {settings.classes} of {len(totals)} classes and {settings.min_rows} rows each: "
        f"the best of {REDRAWS} draws leaves one with {most}; {advice}"
    )
