"""A part of a table's rows, and two tables stacked on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.exact import Exact, absent_followed_by, exact_of_floats
from picsc.datasets.columns.joining import followed_by
from picsc.datasets.table import POOLED, Column, Dataset, LeftOut, Target
from picsc.errors import DataError
from picsc.reports.common import Finding

Part = TypeVar("Part", Column, Target)
Rows = NDArray[np.int64]
"""Row numbers, counted from 0."""


def take(dataset: Dataset, rows: NDArray[np.int64]) -> Dataset:
    """The table with some of its rows only; the table itself if `rows` holds all of them.

    Args:
        dataset: n rows.
        rows: increasing row numbers, (m,).
    """
    if len(rows) == dataset.n:
        return dataset
    target = dataset.target
    return replace(
        dataset,
        n=len(rows),
        columns=tuple(of_rows(column, rows) for column in dataset.columns),
        left_out=left_out_of_rows(dataset.left_out, rows),
        raws={},
        target=None if target is None else of_rows(target, rows),
        keys={name: values[rows] for name, values in dataset.keys.items()},
        times={name: values[rows] for name, values in dataset.times.items()},
    )


def of_rows(part: Part, rows: NDArray[np.int64]) -> Part:
    """A column, or the target, with some of its rows, in any order."""
    raw = getattr(part, "raw", None)  # only a column of pooled levels has one
    if raw is not None:
        held: Any = part
        part = replace(held, raw=raw.take(rows))
    return replace(
        part,
        values=cast("Any", part.values[rows]),
        exact=None if part.exact is None else part.exact.take(rows),
        absent=None if part.absent is None else part.absent.take(rows),
    )


def left_out_of_rows(left_out: Sequence[LeftOut], rows: NDArray[np.int64]) -> tuple[LeftOut, ...]:
    """The columns that are left out, with some of their rows, in any order."""
    return tuple(
        each if each.raw is None else replace(each, missing=int(each.raw.missing[rows].sum()), raw=each.raw.take(rows))
        for each in left_out
    )


def with_label(dataset: Dataset, findings: list[Finding]) -> Dataset:
    """The table with only the rows that have a label.

    Args:
        dataset: n rows and a target.
        findings: a warning is appended where rows lack a label.
    """
    assert dataset.target is not None  # noqa: S101 - callers refuse tables without a target
    rows = np.flatnonzero(~dataset.target.missing).astype(np.int64)
    left = dataset.n - len(rows)
    if left:
        findings.append(
            Finding("rows-without-label", "warning", f"{left} of {dataset.n} rows have no label and take no part")
        )
    return take(dataset, rows)


def stack(dataset: Dataset, reference: Dataset) -> Dataset:
    """The rows of `dataset`, then those of `reference`, under the columns of `dataset`.

    Args:
        dataset: n rows; its names and levels come first.
        reference: m rows with the same columns; additional columns are ignored.

    Raises:
        DataError: the reference lacks a column, or a column of it holds values of another kind.
    """
    others = {column.name: column for column in reference.columns}
    missing = [column.name for column in dataset.columns if column.name not in others]
    if missing:
        left_out = {column.name: column.reason for column in reference.left_out}
        reason = f" ({left_out[missing[0]]})" if missing[0] in left_out else ""
        raise DataError(
            f"reference {reference.name}: no usable column {missing[0]!r}{reason}, "
            f"which {dataset.name} has; drop it with --drop {missing[0]}"
        )
    return replace(
        dataset,
        n=dataset.n + reference.n,
        columns=tuple(_column(column, others[column.name], reference.name) for column in dataset.columns),
        target=None if dataset.target is None else _target(dataset.target, reference),
        left_out=_left_out(dataset, reference),
        keys={},
        times=_times(dataset, reference),
        raws={},
    )


def _left_out(dataset: Dataset, reference: Dataset) -> tuple[LeftOut, ...]:
    """The columns that are left out, with the values of both where both have them."""
    others = {each.name: each for each in reference.left_out}
    found = []
    for each in dataset.left_out:
        other = others.get(each.name)
        if each.raw is None or other is None or other.raw is None:
            found.append(replace(each, raw=None))
        else:
            missing = each.missing + other.missing
            found.append(replace(each, missing=missing, raw=followed_by(each.raw, other.raw)))
    return tuple(found)


def _times(dataset: Dataset, reference: Dataset) -> dict[str, NDArray[np.generic]]:
    """Times that order the rows of the one or of the other, of columns that both have."""
    both = [column.name for column in dataset.left_out if column.orders and column.name in reference.times]
    return {name: np.concatenate([dataset.times[name], reference.times[name]]) for name in both}


def _column(column: Column, other: Column, where: str) -> Column:
    if column.coded != other.coded:
        raise DataError(
            f"reference {where}: column {column.name!r} is {other.kind}, but {column.kind} in the data; "
            f"say which with --categorical or --numeric"
        )
    if not column.coded:
        return replace(
            column,
            values=np.concatenate([column.values, other.values]),
            exact=_both_exact(column, other),
            absent=absent_followed_by(column.absent, len(column.values), other.absent, len(other.values)),
        )
    levels, codes = _merged(column.levels, other.levels, cast("NDArray[np.int64]", other.values))
    raw = None if column.raw is None or other.raw is None else followed_by(column.raw, other.raw)
    return replace(column, levels=levels, values=np.concatenate([column.values, codes.astype(np.int32)]), raw=raw)


def _both_exact(column: Column | Target, other: Column | Target) -> Exact | None:
    """The exact values of both, where those of one are needed."""
    if column.exact is None and other.exact is None:
        return None
    first, second = (
        each.exact or exact_of_floats(cast("NDArray[np.float64]", each.values)) for each in (column, other)
    )
    return first.followed_by(second)


def _target(target: Target, reference: Dataset) -> Target:
    other = reference.target
    if other is None or other.name != target.name or other.kind != target.kind:
        raise DataError(
            f"reference {reference.name}: no target {target.name!r} of the same kind; name it or --no-target"
        )
    if target.kind == "numbers":
        return replace(
            target,
            values=np.concatenate([target.values, other.values]),
            exact=_both_exact(target, other),
            absent=absent_followed_by(target.absent, len(target.values), other.absent, len(other.values)),
        )
    levels, codes = _merged(target.levels, other.levels, cast("NDArray[np.int64]", other.values))
    return replace(target, levels=levels, values=np.concatenate([target.values, codes]))


def _merged(
    levels: tuple[str, ...], more: tuple[str, ...], codes: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Levels of both, the first's first and the pooled one last, and the second's codes into them; -1 stays -1."""
    kept = [level for level in (*levels, *more) if level != POOLED]
    pooled = [POOLED] if POOLED in (*levels, *more) else []
    merged = (*dict.fromkeys(kept), *pooled)
    if merged[: len(levels)] != levels:  # the first has pooled levels and the second brings new ones: pool those too
        merged = levels
    place = {level: i for i, level in enumerate(merged)}
    moved = np.array([place.get(level, place.get(POOLED, -1)) for level in more], dtype=np.int64)
    return merged, np.where(codes < 0, -1, moved[codes])
