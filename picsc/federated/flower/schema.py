"""The columns of a federation's tables: what each client says of its own, and the columns that all agree on.

A client names its columns with their kinds, and the levels that are frequent enough to be a level of their own; rare
ones, and the values of columns that take no part, are not named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from picsc.datasets.encoding import has_indicator
from picsc.datasets.table import POOLED, Column, Dataset
from picsc.errors import DataError
from picsc.phrases import counted

ColumnKind = Literal["numeric", "categorical", "boolean", "datetime", "text"]


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SaidColumn(_Said):
    """What a client says of one column."""

    name: str
    kind: ColumnKind | None
    """None where it takes no part at this client."""
    reason: str = ""
    """The reason for that; empty where it takes part, and where every column could look so by chance: all values equal,
    all missing, or no level with enough rows."""
    levels: tuple[str, ...] = ()
    """Its frequent levels; of a column whose values are all equal that value, as it would be a level."""
    pooled: bool = False
    """It has rare levels, which are not named."""
    missing: bool = False
    """Some of its values are missing."""


class SaidTarget(_Said):
    """What a client says of the column that models predict."""

    name: str
    kind: Literal["classes", "numbers"]
    levels: tuple[str, ...] = ()


class SaidTable(_Said):
    """What a client says of its table."""

    version: str = ""
    """Of picsc at this client."""
    rows: int
    """Number of rows with a label."""
    target: SaidTarget
    columns: tuple[SaidColumn, ...]


class Agreed(_Said):
    """The columns and the target that all clients encode their rows by."""

    columns: tuple[SaidColumn, ...]
    """Those that take part, with the levels of all clients."""
    target: SaidTarget

    def empty_columns(self) -> tuple[Column, ...]:
        """The columns without values, in the form that new rows are read by."""
        numbers, codes = np.empty(0, np.float64), np.empty(0, np.int32)
        return tuple(
            Column(
                each.name,
                each.kind,
                codes if each.kind in ("categorical", "boolean") else numbers,
                each.levels,
                indicator=each.missing,
            )
            for each in self.columns
            if each.kind is not None
        )


def said_of(table: Dataset, names: Sequence[str]) -> SaidTable:
    """What a client says of its table.

    Args:
        table: its rows with a label.
        names: of the columns, in the order of the file.

    Raises:
        DataError: there is no target.
    """
    if table.target is None:
        raise DataError(f"{table.name}: federated learning needs a target; name one with --target")
    present = [
        SaidColumn(
            name=column.name,
            kind=column.kind,
            levels=tuple(level for level in column.levels if level != POOLED),
            pooled=POOLED in column.levels,
            missing=has_indicator(column),
        )
        for column in table.columns
    ]
    absent = []
    for left in table.left_out:
        rare = left.kind == "categorical" and left.raw is not None  # a column that is dropped holds no values
        by_chance = rare or left.kind in ("constant", "empty")
        words = left.raw.as_words().levels if left.kind == "constant" and left.raw is not None else ()
        absent.append(
            SaidColumn(
                name=left.name,
                kind=None,
                reason="" if by_chance else left.reason,
                levels=tuple(words),
                pooled=rare,
                missing=left.missing > 0,
            )
        )
    target, place = table.target, {name: i for i, name in enumerate(names)}
    return SaidTable(
        version=_version(),
        rows=table.n,
        target=SaidTarget(name=target.name, kind=target.kind, levels=target.levels),
        columns=tuple(sorted((*present, *absent), key=lambda column: place.get(column.name, len(place)))),
    )


def agreed(said: Mapping[str, SaidTable], order: Mapping[str, Sequence[str]] | None = None) -> Agreed:
    """The columns that all clients encode by; levels in order of first appearance, client after client.

    Reading: a column whose values are all equal, or all missing, at one client is of the kind that it has at the
        others. One that a client leaves out for another reason is left out everywhere.

    Args:
        said: what each client says, by its name, in the order of the clients.
        order: levels of columns that were agreed on before, by the name of the column; of the target the classes that
            come first.

    Raises:
        DataError: a client has other columns, another target or another picsc than most; the message names it.
    """
    order = order or {}
    _same_version(said)
    _same_target(said)
    names = list(dict.fromkeys(column.name for table in said.values() for column in table.columns))
    held = {client: {column.name: column for column in table.columns} for client, table in said.items()}
    columns = []
    for name in names:
        _all_have(name, held)
        found = _one_column(name, {client: of[name] for client, of in held.items()}, order.get(name, ()))
        if found is not None:
            columns.append(found)
    if not columns:
        raise DataError("the clients have no column in common that takes part")
    first = next(iter(said.values())).target
    levels = _union([order.get(first.name, ()), *(table.target.levels for table in said.values())])
    return Agreed(columns=tuple(columns), target=SaidTarget(name=first.name, kind=first.kind, levels=levels))


def _version() -> str:
    try:
        return version("picsc")
    except PackageNotFoundError:  # run from its source
        return "uninstalled"


def _same_version(said: Mapping[str, SaidTable]) -> None:
    versions = {client: table.version for client, table in said.items()}
    odd = _odd(versions)
    if odd is not None:
        raise DataError(
            f"client {odd[0]} has picsc {versions[odd[0]]}, and the other clients {odd[1]}: install the same version "
            "everywhere"
        )


def _same_target(said: Mapping[str, SaidTable]) -> None:
    kinds = {client: f"{table.target.name!r} ({table.target.kind})" for client, table in said.items()}
    odd = _odd(kinds)
    if odd is not None:
        client, others = odd
        raise DataError(
            f"client {client} predicts {kinds[client]}, and the other clients {others}: name the same column with "
            "--target, or say --task at all of them"
        )


def _all_have(name: str, held: Mapping[str, Mapping[str, SaidColumn]]) -> None:
    having = [client for client, columns in held.items() if name in columns]
    lacking = [client for client in held if client not in having]
    if not lacking:
        return
    if len(lacking) <= len(having):
        raise DataError(
            f"client {lacking[0]} has no column {name!r}, which {counted(len(having), 'client')} of {len(held)} "
            f"{'has' if len(having) == 1 else 'have'}: give it the same columns, or leave this one out everywhere "
            f"with --drop {name}"
        )
    raise DataError(
        f"client {having[0]} has a column {name!r}, which {counted(len(lacking), 'client')} of {len(held)} "
        f"{'does' if len(lacking) == 1 else 'do'} not have: leave it out with --drop {name}"
    )


def _one_column(name: str, held: Mapping[str, SaidColumn], first: Sequence[str]) -> SaidColumn | None:
    """The column as all encode it; None where it takes no part."""
    if any(column.reason for column in held.values()) and not first:
        return None
    kinds = {client: _family(column.kind) for client, column in held.items() if column.kind is not None}
    if not kinds:
        return None  # all equal or missing everywhere
    odd = _odd(kinds)
    if odd is not None:
        client, others = odd
        raise DataError(
            f"client {client}: column {name!r} is {kinds[client]} there and {others} at the other clients; mend its "
            "values, or say --categorical or --numeric for all of them"
        )
    missing = any(column.missing for column in held.values())
    if next(iter(kinds.values())) != "categorical":
        kind = next(column.kind for column in held.values() if column.kind is not None)
        return SaidColumn(name=name, kind=kind, missing=missing)
    said = tuple(level for level in _union([column.levels for column in held.values()]) if level != POOLED)
    levels = tuple(level for level in first if level != POOLED) if first else said
    pooled = POOLED in first if first else any(column.pooled for column in held.values())
    boolean = all(column.kind in ("boolean", None) for column in held.values()) and len(levels) <= 2 and not pooled
    return SaidColumn(
        name=name,
        kind="boolean" if boolean else "categorical",
        levels=(*levels, POOLED) if pooled else levels,
        pooled=pooled,
        missing=missing,
    )


def _family(kind: ColumnKind | None) -> str:
    return "categorical" if kind in ("categorical", "boolean") else str(kind)


def _odd(values: Mapping[str, str]) -> tuple[str, str] | None:
    """The first client that differs from most of them, and what these have; None where all are alike."""
    common = Counter(values.values()).most_common(1)[0][0]
    odd = [client for client, value in values.items() if value != common]
    return (odd[0], common) if odd else None


def _union(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(level for part in parts for level in part))
