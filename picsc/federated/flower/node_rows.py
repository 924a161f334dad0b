"""The rows of one real client: its own file, and what the client says of it before training. Loads no torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.files.read import read_frame
from picsc.datasets.files.table import FileTable
from picsc.datasets.load import from_file
from picsc.datasets.new_rows import KnownColumns, known_columns, new_rows
from picsc.datasets.rows import with_label
from picsc.datasets.running_encoding import numeric_values
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.federated.cell_sizes import fewest_in_cell
from picsc.federated.flower.asked import Asked, SentScales
from picsc.federated.flower.scales import sent_scale
from picsc.federated.flower.schema import Agreed
from picsc.federated.own_rows import own_rows
from picsc.settings import FedSettings


@dataclass(frozen=True, slots=True)
class NodeRows:
    """The file of one client."""

    source: str
    table: Dataset
    """Its rows with a label."""
    file: FileTable
    """As it was stored."""
    present: NDArray[np.int64]
    """Numbers of the rows with a label in the file."""
    known: KnownColumns
    """How its values are written."""


def read_rows(source: str | Path, settings: FedSettings, fewest: int) -> NodeRows:
    """Read the file of a client.

    Args:
        source: path of the file, of any format that picsc reads.
        settings: how to read it.
        fewest: fewest rows that this client takes part with, whatever the server asks for.

    Raises:
        DataError: it cannot be read, has no target, or too few rows.
    """
    read = settings.read
    file = read_frame(source, read)
    table = from_file(file, source, read)
    if table.target is None:
        raise DataError(f"{source}: federated learning needs a target; name one with --target")
    present = np.flatnonzero(~table.target.missing)
    known = known_columns(table, read)
    table = with_label(table, [])
    least = max(fewest, settings.min_client_rows)
    if table.n < least:
        raise DataError(
            f"{table.name} has {table.n} rows with a label, fewer than {least}: the statistics of so few rows give "
            "them away"
        )
    return NodeRows(str(source), table, file, present, known)


def scales_of(rows: NodeRows, agreed: Agreed, asked: Asked) -> SentScales:
    """Means and deviations over the training rows, which the client sends once.

    Args:
        rows: of the client.
        agreed: the columns that take part.
        asked: seed and number of the client.
    """
    train, _ = own_rows(rows.table.n, asked.settings, seed=asked.seed, client=asked.client)
    fewest = fewest_in_cell(asked.settings.min_client_rows)
    table = typed(rows, agreed)
    columns = tuple(sent_scale(values[train], fewest) for values in numeric_values(table))
    target = rows.table.target
    assert target is not None  # noqa: S101 - `read_rows` refuses files without one
    if target.kind == "classes":
        return SentScales(train=len(train), columns=columns)
    y = target.values.astype(np.float64)
    own, everything = sent_scale(y[train], fewest), sent_scale(y, fewest)
    return SentScales(train=len(train), columns=columns, target=own, target_all=everything)


def typed(rows: NodeRows, agreed: Agreed) -> Dataset:
    """The rows with the columns that all clients have, by their kinds and levels.

    Args:
        rows: of the client.
        agreed: the columns.
    """
    known = replace(rows.known, columns=agreed.empty_columns())
    assert rows.table.target is not None  # noqa: S101 - `read_rows` refuses files without one
    frame = rows.file.frame.iloc[rows.present].drop(columns=rows.table.target.name)
    return new_rows(frame, known, where=rows.source)[0]
