"""One real client ready to train: its rows, encoded as all clients encode theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.encoding import of_table
from picsc.errors import DataError
from picsc.federated.clients.build_mlps import EncodedRows, mlps
from picsc.federated.clients.evaluation import own_rows as tested_on
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.flower.asked import Asked, Encoding
from picsc.federated.flower.node_rows import NodeRows, typed
from picsc.federated.own_rows import own_rows


def clients_of(
    rows: NodeRows, encoding: Encoding, asked: Asked, numbers: NDArray[np.int64] | None = None
) -> ClientMlps:
    """The client, ready to train: the same object as in a simulation, with one client in it.

    Args:
        rows: of the client.
        encoding: of all clients.
        asked: settings, seed and number of the client, number of its first row.
        numbers: number of each row among the rows of all clients; None counts on from its first row.
    """
    settings, n = asked.settings, rows.table.n
    train, test = own_rows(n, settings, seed=asked.seed, client=asked.client)
    table = replace(typed(rows, encoding.agreed), name=rows.table.name)
    units = encoding.units
    encoded = EncodedRows(
        encoding.encoder().transform(table).matrix,
        _target(rows, encoding),
        encoding.agreed.target.kind,
        encoding.outputs,
        of_table(table),
        1.0 if units is None else units.unit,
        np.arange(asked.first, asked.first + n) if numbers is None else numbers,
    )
    tested = tested_on([torch.from_numpy(test)])
    return mlps(encoded, (train,), (train,), tested, settings, torch.device("cpu"))


def _target(rows: NodeRows, encoding: Encoding) -> NDArray[np.generic]:
    """Class codes in the order of all clients, or numbers in standard deviations of all training rows."""
    target = rows.table.target
    assert target is not None  # noqa: S101 - `read_rows` refuses files without one
    units = encoding.target_units
    if units is not None:
        return units.scaled(target.values)
    place = {level: i for i, level in enumerate(encoding.agreed.target.levels)}
    unknown = [level for level in target.levels if level not in place]
    if unknown:
        raise DataError(f"{rows.source}: class {unknown[0]!r} was not there when the federation began; start it anew")
    codes: NDArray[np.generic] = np.array([place[level] for level in target.levels], np.int64)[target.values]
    return codes
