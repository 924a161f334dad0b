"""Settings as options of a command: the rows that the generator wrote become parameters that Typer reads.

A command declares one parameter `given` where the options shall stand in `--help`; `takes_settings` puts them there and
hands over what was given, table by table.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import typer

from picsc_cli.options.completion import completion
from picsc_cli.options.generated import ROWS
from picsc_cli.options.rows import Row

Given = Mapping[str, Any]
"""Settings that were given, tables inside: `{"cut": {"folds": 5}, "seed": 3}`."""
NOTHING: Given = MappingProxyType({})
_TYPES: dict[str, Any] = {
    "text": str | None, "names": list[str] | None, "whole": int | None, "number": float | None, "switch": bool,
}  # fmt: skip
_TABLE: Given = MappingProxyType({})


def takes_settings(verb: str, table: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a verb's settings; it gets them as one mapping, `given`.

    Args:
        verb: audit, cv, compare or fed.
        table: only the settings of this table, such as `read`; empty for all.
    """
    return takes_rows([row for row in ROWS[verb] if not table or row.setting.startswith(f"{table}.")])


def takes_rows(rows: Sequence[Row]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options; it gets what was given as one mapping, `given`.

    Args:
        rows: the options.
    """
    names = {row.setting.replace(".", "_"): row for row in rows}

    def taking(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        options = [_parameter(name, row) for name, row in names.items()]
        for parameter in own.parameters.values():
            parameters += options if parameter.name == "given" else [parameter]

        def called(**values: Any) -> None:
            given: dict[str, Any] = {}
            for name, row in names.items():
                _put(given, row, values.pop(name))
            command(given=given, **values)

        called.__name__, called.__doc__, called.__module__ = command.__name__, command.__doc__, command.__module__
        called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # what Typer reads
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return called

    return taking


def of_table(given: Given, table: str) -> Given:
    """The given settings of one table.

    Args:
        given: by `takes_settings`.
        table: such as `cut`.
    """
    found: Given = given.get(table, _TABLE)
    return found


def names(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of a repeatable option, each a comma list; a name with a comma goes in double quotes."""
    return tuple(name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip())


def _parameter(name: str, row: Row) -> inspect.Parameter:
    flags = (row.flag, row.opposite) if row.turns else (row.opposite, row.flag)
    option = typer.Option(
        "/".join(filter(None, flags)),
        metavar=row.metavar or None,
        help=row.help,
        rich_help_panel=row.panel,
        autocompletion=completion(row.choices, row.metavar),
    )
    default, kind = (False, bool) if row.value == "switch" else (None, _TYPES[row.value])
    if row.opposite:  # neither was given
        default, kind = None, bool | None
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[kind, option]
    )


def _put(given: dict[str, Any], row: Row, value: Any) -> None:
    """Put a value where its setting stands; what was not given is left to the default of the settings."""
    if value is None or (row.value == "switch" and not value and not row.opposite):
        return
    *tables, name = row.setting.split(".")
    for table in tables:
        given = given.setdefault(table, {})
    given[name] = names(value) if row.value == "names" else _turned(row, value) if row.value == "switch" else value


def _turned(row: Row, value: bool) -> bool:
    """The value of a setting by its switch; of two switches the one that turns it on stands first."""
    return value if row.opposite else row.turns
