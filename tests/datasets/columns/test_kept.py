"""Columns that --keep brings back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

N = 30


def table(values: Any, name: str = "k", *, keep: bool = True) -> Dataset:
    frame = pd.DataFrame({name: values, "x": np.random.default_rng(0).normal(size=N)})
    return from_frame(frame, ReadSettings(no_target=True, keep=(name,) if keep else ()))


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (np.arange(N), "k", "numeric"),
        (np.random.default_rng(1).permutation(N) ** 2, "customer_id", "numeric"),
        (pd.date_range("2020-01-01", periods=N), "k", "datetime"),
        ([f"user-{i}" for i in range(N)], "k", "text"),
    ],
)
def test_identifiers_take_part(values: Any, name: str, kind: str) -> None:
    assert [column.name for column in table(values, name, keep=False).left_out] == [name]
    kept = table(values, name)
    assert kept.left_out == ()
    assert kept.columns[0].kind == kind
    assert kept.columns[0].note.startswith("kept by --keep: ")


def test_nothing_to_test() -> None:
    for values in ([7] * N, [np.nan] * N, [f"user-{i:02d}" for i in range(N)]):
        assert table(values).left_out[0].reason.endswith("--keep finds nothing to test")


def test_other_columns_and_unknown_ones() -> None:
    assert table([0.5, 1.5] * 15).columns[0].note == ""
    with pytest.raises(DataError, match="--keep names no column 'z'"):
        from_frame(pd.DataFrame({"x": [1.0, 2, 3, 5]}), ReadSettings(no_target=True, keep=("z",)))
