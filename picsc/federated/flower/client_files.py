"""Clients of one data set as files of their own, for a federation on nodes of this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.federated.flower.settings_of_clients import refuse_unfit, settings_of_clients
from picsc.federated.holdings import FederatedSplit
from picsc.settings import FedSettings, ReadSettings
from picsc.settings.choices import Task


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """What the nodes of a federation are started with."""

    settings: FedSettings
    """As the clients read their files by."""
    nodes: tuple[Mapping[str, str | int], ...]
    """Configuration of each client's SuperNode."""
    levels: Mapping[str, Sequence[str]]
    """Levels of columns, and classes of the target, which all clients have in common from the start."""


def write_client_files(folder: Path, split: FederatedSplit, settings: FedSettings) -> ClientFiles:
    """Write the rows of each client into a file of its own.

    Reading: columns are written as they were understood in the whole data set: dates and lengths of texts as numbers,
        rare levels as the one that they are pooled into. So a client's own rows decide no kind and no level, and the
        numbers are those of the simulation. The places of the rows in the data set stand in another file, because the
        order of minibatches depends on them.

    Args:
        folder: to write into.
        split: the clients.
        settings: of the federation.

    Raises:
        SettingsError: the data are no table.
    """
    table = split.data
    refuse_unfit(table, settings)
    assert table.kind == "table" and table.target is not None  # noqa: S101, PT018 - `holdings` refuses those without
    coded = [column.name for column in table.columns if column.coded]
    numeric = [column.name for column in table.columns if not column.coded]
    names = [*coded, *numeric]
    task: Task = "classification" if table.target.kind == "classes" else "regression"
    read = ReadSettings(
        target=table.target.name, task=task, categorical=tuple(coded), numeric=tuple(numeric), keep=tuple(names)
    )
    nodes: list[Mapping[str, str | int]] = []
    for i, client in enumerate(split.clients):
        name = f"{i + 1}-{client.name}"
        source, numbers = folder / f"client-{i + 1}.parquet", folder / f"client-{i + 1}.npy"
        pq.write_table(_columns(table, client.rows), source)
        np.save(numbers, client.rows, allow_pickle=False)
        kept = folder / f"kept-{i + 1}"
        nodes.append(
            {
                "data": str(source),
                "name": name,
                "folder": str(kept),
                "row-numbers": str(numbers),
                "min-client-rows": settings.min_client_rows,
            }
        )
    levels: dict[str, Sequence[str]] = {column.name: column.levels for column in table.columns if column.coded}
    levels |= {table.target.name: table.target.levels} if table.target.kind == "classes" else {}
    own = settings_of_clients(settings).model_copy(update={"read": read, "repeats": settings.repeats or 1})
    return ClientFiles(own, tuple(nodes), json.loads(json.dumps(levels)))


def _columns(table: Dataset, rows: Rows) -> pa.Table:
    assert table.target is not None  # noqa: S101 - checked by the caller
    found = {}
    for column in table.columns:
        values = column.values[rows]
        found[column.name] = _words(column.levels, values) if column.coded else values
    target, labels = table.target, table.target.values[rows]
    found[target.name] = _words(target.levels, labels) if target.kind == "classes" else labels
    return pa.table(found)


def _words(levels: Sequence[str], codes: NDArray[Any]) -> pa.Array:
    """Names of codes; none for -1."""
    return pa.array([levels[code] if code >= 0 else None for code in codes.tolist()], pa.string())
