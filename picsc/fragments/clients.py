"""Simulated clients as the pieces of an audit, the same as `picsc fed` makes from the same rows and seed.

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
    """Clients as pieces, and the feature noise of each."""

    cut: Cut
    noise: NDArray[np.float64]
    """(N,) standard deviation of the noise; 0 unless the partition is `noise`."""


def cut_clients(dataset: Dataset, settings: PartitionSettings, asked: CutSettings, *, seed: int) -> ClientCut:
    """Assign the rows of a table to simulated clients.

    Source: Section "Federated learning"; the partitions are those of `picsc.fragments.partition`.
    Reading: the null assumes exchangeable rows for every partition. That holds for iid, quantity and noise; with
        dirichlet and classes the labels differ by construction, and a null that kept each client's labels could not
        detect that. So the audit reports the label shift that is there, and a finding explains its origin.

    Args:
        dataset: n rows. Rows without a label belong to no client, as in `picsc fed`.
        settings: the number of clients and the partition.
        asked: the other settings of the cut: a column of groups that the clients may divide.
        seed: the same seed gives the same clients as in `picsc fed`.

    Raises:
        SettingsError: the partition needs classes that are not there.
        DataError: there are too few rows.
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
    """Findings on differences between clients that the partition causes."""
    if settings.partition in ("dirichlet", "classes"):
        message = (
            f"--partition {settings.partition} deals labels out unequally: a label shift between clients is wanted"
        )
        return [Finding("made-to-differ", "note", message, "--partition iid deals out rows that are alike")]
    if noise.any() and dataset.columns and not any(column.kind == "numeric" for column in dataset.columns):
        message = (
            f"--partition noise changes nothing: {dataset.name} has no numeric column that noise could be added to"
        )
        return [Finding("no-noise", "warning", message, "choose another --partition")]
    if noise.any():
        message = (
            f"features carry Gaussian noise, none for client 1 and of standard deviation {noise[-1]:g} for client "
            f"{len(noise)}: a shift of the data between clients is wanted, and columns are tested with their noise"
        )
        return [Finding("made-to-differ", "note", message, "--partition iid deals out rows without noise")]
    return []
