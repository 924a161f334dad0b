"""Dataclasses as flat rows: an interval becomes two columns, and what is a table of its own is left out."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

Row = dict[str, Any]


def flat(value: Any, *, without: tuple[str, ...] = ()) -> Row:
    """The fields of a dataclass by name, those of a nested one as `interval_low`.

    Args:
        value: a dataclass.
        without: names of fields that are left out; so are tuples of dataclasses.
    """
    row: Row = {}
    for field in fields(value):
        inner = getattr(value, field.name)
        if field.name in without or _is_table(inner):
            continue
        if is_dataclass(inner):
            row |= {f"{field.name}_{name}": each for name, each in flat(inner).items()}
        else:
            row[field.name] = inner
    return row


def _is_table(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and is_dataclass(value[0])
