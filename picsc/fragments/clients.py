"""Invented clients as the pieces of an audit: the clients that `picsc fed` makes from the same rows and seed.

Letters: n rows, N clients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Dataset
from picsc.fragments.partitions import partition
from picsc.fragments.pieces import Cut, Fragment, in_no_piece
from picsc.reports.common import Finding
from picsc.settings import CutSettings, PartitionSettings


@dataclass(frozen=True, slots=True)
class ClientCut:
    """Clients, and the noise that each adds to what it measures."""

    cut: Cut
    noise: NDArray[np.float64]
    """(N,) standard deviation, 0 unless the partition is `noise`."""


def cut_clients(dataset: Dataset, settings: PartitionSettings, asked: CutSettings, *, seed: int) -> ClientCut:
    """Deal the rows of a table out to invented clients.

    Source: Section "Federated learning"; the ways are those of `picsc.fragments.partition`.
    Reading: the null takes rows as exchangeable whatever the way. That is how iid, quantity and noise deal rows; with
        dirichlet and classes the labels differ by construction, and a null that kept each client's labels could not
        see that. So the audit calls the label shift that is there, and a finding says where it comes from.

    Args:
        dataset: n rows. Those without a label are no client's, as in `picsc fed`.
        settings: how many clients, and how they come about.
        asked: the other settings of cutting: a column of groups that the clients may divide.
        seed: same seed, same clients as in `picsc fed`.

    Raises:
        SettingsError: the way needs classes that are not there.
        DataError: too few rows.
    """
    target = dataset.target
    held = np.arange(dataset.n) if target is None else np.flatnonzero(~target.missing)
    labels = None if target is None or target.kind != "classes" else target.values[held].astype(np.int64)
    made = partition(labels, len(held), settings, seed=seed)
    without = dataset.n - len(held)
    left = [in_no_piece(without, dataset.n, "they have no label")] if without else []
    return ClientCut(
        Cut(
            fragments=tuple(Fragment(each.kind, each.name, held[each.rows]) for each in made.fragments),
            words=made.words,
            ordered=False,
            contiguous=False,
            units=None,
            strata=None,
            unassigned=np.setdiff1d(np.arange(dataset.n), held),
            settings=asked,
            findings=(*_by_construction(dataset, settings, made.noise), *left),
        ),
        made.noise,
    )


def _by_construction(dataset: Dataset, settings: PartitionSettings, noise: NDArray[np.float64]) -> list[Finding]:
    """What the way of dealing makes differ."""
    if settings.partition in ("dirichlet", "classes"):
        told = f"--partition {settings.partition} deals labels out unequally: a label shift between clients is wanted"
        return [Finding("made-to-differ", "note", told, "--partition iid deals out rows that are alike")]
    if noise.any() and dataset.columns and not any(column.kind == "numeric" for column in dataset.columns):
        told = f"--partition noise changes nothing: {dataset.name} has no numeric column that noise could be added to"
        return [Finding("no-noise", "warning", told, "choose another --partition")]
    if noise.any():
        told = (
            f"features carry Gaussian noise, none for client 1 and of standard deviation {noise[-1]:g} for client "
            f"{len(noise)}: a shift of the data between clients is wanted, and columns are tested with their noise"
        )
        return [Finding("made-to-differ", "note", told, "--partition iid deals out rows without noise")]
    return []
