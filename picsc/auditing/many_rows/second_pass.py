"""The second pass: rows of the whole table by piece and code, of every column. Letters: n rows, L labels, t codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.ks_and_g_tests import coded_alike
from picsc.auditing.many_rows.piece_of_row import Ints, Ranks
from picsc.datasets.new_rows import KnownColumns, known_columns, new_rows
from picsc.datasets.table import Column

if TYPE_CHECKING:
    import pandas as pd

    from picsc.auditing.many_rows.first_pass import Counted, Sampled
    from picsc.auditing.many_rows.parquet_parts import ParquetParts
    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset, Target
    from picsc.settings import ReadSettings

LabelOf = Callable[[Ints, Ints, Ints], Ints]
"""From numbers of rows, codes of the counted column and ranks in these to labels, negative for rows in no piece."""


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """All rows of a table, and the piece of each."""

    parts: ParquetParts
    """The files, of n rows."""
    sampled: Sampled
    """The first pass."""
    column: Counted
    """The column that it counted."""
    label_of: LabelOf
    labels: int
    """L."""


def second_pass(rows: LabelledRows, inputs: TestInputs, dataset: Dataset, read: ReadSettings) -> dict[str, Ints]:
    """Read all rows again and count them by piece and code.

    Args:
        rows: all rows.
        inputs: the sample as the tests see it, whose codes are counted.
        dataset: the sample.
        read: how its values were understood.

    Returns:
        (L, t) of each column and of the target, by name.

    Raises:
        DataError: a file cannot be read, or holds values of another kind than the sample.
    """
    coded = {each.name: each for each in (*inputs.columns, *(() if inputs.target is None else (inputs.target,)))}
    known = _known(dataset, read, set(coded))
    total = {name: np.zeros(rows.labels * each.t, np.int64) for name, each in coded.items()}
    needed = dict.fromkeys((*known.names, *(() if rows.column.name is None else (rows.column.name,))))
    ranks, start = Ranks(), 0
    for batch in rows.parts.batches():
        frame = rows.parts.frame(batch, codes=True, only=needed)
        label = _labels(frame, start, rows, ranks)
        inside = None if bool((label >= 0).all()) else label >= 0
        label = label if inside is None else label[inside]
        table, _ = new_rows(frame, known, where=rows.parts.where)
        for each in table.columns:
            codes = coded_alike(each.values, coded[each.name])
            place = label * np.int64(coded[each.name].t)
            place += codes if inside is None else codes[inside]
            total[each.name] += np.bincount(place, minlength=len(total[each.name]))
        start += len(batch)
    return {name: found.reshape(rows.labels, -1) for name, found in total.items()}


def _labels(frame: pd.DataFrame, start: int, of: LabelledRows, ranks: Ranks) -> Ints:
    """Labels of the rows of a batch, of which the first is row number `start`."""
    rows = start + np.arange(len(frame))
    if of.sampled.spelled is None:
        none = np.zeros(len(frame), np.int64)
        return of.label_of(rows, none, none)
    found = of.column.codes(frame)
    assert found is not None  # noqa: S101 - the first pass has counted these values
    codes, spellings = found
    code = of.sampled.spelled.code
    own = np.asarray([code[each] for each in spellings], np.int64)[codes]
    return of.label_of(rows, own, ranks.of(own))


def _known(dataset: Dataset, read: ReadSettings, names: set[str]) -> KnownColumns:
    """The columns of the sample, and its target as one more."""
    known = known_columns(dataset, read)
    columns = tuple(column for column in known.columns if column.name in names)
    if dataset.target is not None and dataset.target.name in names:
        columns += (_as_column(dataset.target),)
    return replace(known, columns=columns)


def _as_column(target: Target) -> Column:
    if target.kind == "classes":
        return Column(target.name, "categorical", np.zeros(0, np.int32), target.levels)
    return Column(target.name, "numeric", np.zeros(0))
