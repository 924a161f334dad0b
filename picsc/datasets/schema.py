"""The columns of a table against those of its reference file: lost, new, of another kind, with new levels.

What both have and hold alike is compared by the tests; the rest is named here and left out of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.datasets.table import POOLED, Column, LeftOut
from picsc.errors import DataError
from picsc.phrases import counted, listed
from picsc.reports.audit import SCHEMA_CODES
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.datasets.table import Dataset, Target
    from picsc.reports.common import Severity

_LOST, _NEW, _KIND, _LEVELS = SCHEMA_CODES
Pair = tuple["Dataset", "Dataset"]
_BY_CHANCE = {"constant", "identifier", "of rare levels"}
"""Kinds that a column of any kind may have in some rows."""


@dataclass(frozen=True, slots=True)
class Against:
    """A table and its reference file with the columns that both have, and what is remarkable about the two."""

    data: Dataset
    """The table; columns that cannot be compared are among those left out."""
    reference: Dataset
    """The reference, with the columns of the table and in their order."""
    findings: tuple[Finding, ...]
    """Findings on the columns of the one and of the other."""
    apart: frozenset[str]
    """Names of the columns of the table that these findings tell of, and no other need name."""


def match_columns(
    data: Dataset, reference: Dataset, besides: Collection[str] = (), *, alone: Pair | None = None
) -> Against:
    """Match the columns of a table with those of its reference file by name.

    Reading: levels that only chance keeps out of the reference are no news. So a level that is rare in the table, and
        pooled there, is new only for a column of whose levels the reference pools none.

    Args:
        data: the table that is audited.
        reference: the rows that it is compared with.
        besides: columns that take no part, being dropped or those that cut the table.
        alone: the two tables with the kinds that each of them has by itself, where those of `data` and `reference`
            were decided on the rows of both.

    Raises:
        DataError: the two have no column in common that can be compared.
    """
    kinds, others = _kinds(data, besides), _kinds(reference, besides)
    where = f"file {reference.name}"
    columns = {column.name: column for column in reference.columns}
    common = [each for each in data.columns if each.name in columns and kinds.get(each.name) == others.get(each.name)]
    differ = _differences(kinds, others, where)
    own = differ if alone is None else _differences(_kinds(alone[0], besides), _kinds(alone[1], besides), where)
    changed = {name: how for name, (how, by_chance) in own.items() if not by_chance}
    odd = {name: how for name, (how, _) in differ.items() if name not in changed}
    new = [name for name in kinds if name not in others]
    lost = [name for name in others if name not in kinds]
    if not common:
        raise DataError(
            f"{data.name} and reference {reference.name} have no column in common that can be compared; the columns of "
            f"the one are {listed(list(kinds))}, of the other {listed(list(others))}"
        )
    reasons = {**dict.fromkeys(new, f"not in {where}"), **{name: how for name, (how, _) in differ.items()}}
    findings = (
        *_named(_LOST, "warning", lost, f"of {where} missing here", f"add what is missing, or take it out of {where}"),
        *_named(_NEW, "note", new, f"not in {where}, and not compared", ""),
        *_described(_KIND, "warning", changed, "of another kind", "mend them, or say --categorical or --numeric"),
        *_levels(data, reference, alone or (data, reference)),
        *_described("column-not-compared", "note", odd, "left out of one of the two, and not compared", ""),
    )
    kept = {column.name for column in common}
    left = [
        LeftOut(column.name, column.kind, int(column.missing.sum()), reasons[column.name])
        for column in data.columns
        if column.name not in kept
    ]
    return Against(
        replace(data, columns=tuple(common), left_out=(*data.left_out, *left)),
        replace(reference, columns=tuple(columns[column.name] for column in common)),
        findings,
        frozenset(differ) | frozenset(column.name for column in left),
    )


def _kinds(dataset: Dataset, besides: Collection[str]) -> dict[str, str]:
    """Kind of each column but the target; booleans are categories of two levels."""
    held: dict[str, str] = {column.name: "categorical" if column.coded else column.kind for column in dataset.columns}
    held |= {
        column.name: column.kind if column.kind != "categorical" else "of rare levels" for column in dataset.left_out
    }
    return {name: kind for name, kind in held.items() if name not in besides}


def _differences(kinds: dict[str, str], others: dict[str, str], where: str) -> dict[str, tuple[str, bool]]:
    """How the kinds of columns of both tables differ, and whether chance may be the reason."""
    return {
        name: (f"{others[name]} in {where}, {kind} here", bool({kind, others[name]} & _BY_CHANCE))
        for name, kind in kinds.items()
        if name in others and kind != others[name]
    }


def _named(code: str, severity: Severity, names: list[str], words: str, advice: str) -> Iterator[Finding]:
    if names:
        quoted = listed([repr(name) for name in names])
        yield Finding(code, severity, f"{counted(len(names), 'column')} {words}: {quoted}", advice)


def _described(code: str, severity: Severity, columns: dict[str, str], words: str, advice: str) -> Iterator[Finding]:
    if columns:
        described = listed([f"{name!r} ({how})" for name, how in columns.items()])
        yield Finding(code, severity, f"{counted(len(columns), 'column')} {words}: {described}", advice)


def _levels(data: Dataset, reference: Dataset, alone: Pair) -> Iterator[Finding]:
    """A finding on levels, and classes of the target, that occur in the data and not in the reference."""
    others = {column.name: column for column in reference.columns if column.coded}
    rare = _rare_levels(*alone)
    found = {
        column.name: [*_new(column, others[column.name]), *rare.get(column.name, ())]
        for column in data.columns
        if column.name in others
    }
    target, other = data.target, reference.target
    if target is not None and other is not None and (target.name, target.kind) == (other.name, "classes"):
        found[target.name] = _new(target, other)
    named = [f"{name!r} ({listed([repr(level) for level in levels], 3)})" for name, levels in found.items() if levels]
    if named:
        message = f"levels that file {reference.name} does not have in {counted(len(named), 'column')}: {listed(named)}"
        yield Finding(_LEVELS, "warning", message, f"a model of file {reference.name} has never seen them")


def _new(part: Column | Target, other: Column | Target) -> list[str]:
    """Levels that occur in the one and not in the other."""
    known = {other.levels[code] for code in np.unique(other.values[other.values >= 0]).astype(np.int64).tolist()}
    known |= {POOLED, *(other.pooled if isinstance(other, Column) else ())}
    here = np.unique(part.values[part.values >= 0]).astype(np.int64).tolist()
    return [part.levels[code] for code in here if part.levels[code] not in known]


def _rare_levels(data: Dataset, reference: Dataset) -> dict[str, list[str]]:
    """Rare levels that a table has, and its reference does not, of columns of which the reference pools no level."""
    others = {column.name: column for column in reference.columns if column.coded and not column.pooled}
    both = [(column, others[column.name]) for column in data.columns if column.pooled and column.name in others]
    return {column.name: [level for level in column.pooled if level not in other.levels] for column, other in both}
