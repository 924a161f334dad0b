"""Numbers and labels of the rows that a run uses, as its file has them."""

from __future__ import annotations

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.row_weights import row_weights
from picsc.datasets.table import Dataset
from picsc.errors import SettingsError
from picsc.runtime.predictions_file import Truths


def truths_of(data: Data, table: Dataset, sample_weight: str | None) -> Truths:
    """Number in the file, label and weight of every row of a table that a run uses.

    Args:
        data: as it was read.
        table: the rows with a label, and with a weight above 0 where there are weights.
        sample_weight: column of weights; None without.
    """
    if table.target is None:
        raise SettingsError(f"{table.name}: predictions need a target; name one with --target")
    numbers = np.arange(1, table.n + 1)
    if data.kind == "table" and data.target is not None:
        numbers = np.flatnonzero(~data.target.missing) + 1
        if sample_weight is not None:
            numbers = numbers[row_weights(data, sample_weight)[numbers - 1] > 0]
    weights = None if sample_weight is None else row_weights(table, sample_weight)
    return Truths(numbers, table.target.values, table.target.levels, weights)
