"""The options of how a table is read, alike for every command that reads one.

A command declares one parameter `read` where they shall stand in `--help`; `takes_reading` puts them there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer

from picsc_cli.options import common as options

_DATA = options.DATA

Read = Mapping[str, object]
"""The settings of `picsc.settings.ReadSettings` that were given."""
NOTHING: Read = MappingProxyType({})

FormatName = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="What the file holds (default by suffix).", rich_help_panel=_DATA),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of text (default utf-8, or as marked).", rich_help_panel=_DATA),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="One of , ; | tab space (default: found).", rich_help_panel=_DATA),
]
Quote = Annotated[
    str | None,
    typer.Option("--quote", metavar="NAME", help="double, single or none (default: found).", rich_help_panel=_DATA),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", metavar="NAME", help="point or comma (default: found).", rich_help_panel=_DATA),
]
ZeroBased = Annotated[
    str | None,
    typer.Option("--zero-based", metavar="YES", help="libsvm: yes, no or auto (default auto).", rich_help_panel=_DATA),
]
Features = Annotated[
    int | None,
    typer.Option("--features", metavar="N", help="libsvm: number of features.", rich_help_panel=_DATA),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="xlsx: sheet to read (default the first).", rich_help_panel=_DATA),
]


def _given(
    target: options.Target = None,
    task: options.TaskName = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    drop: options.Drop = None,
    no_header: options.NoHeader = False,
    rename_duplicates: options.RenameDuplicates = False,
    format_name: FormatName = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    quote: Quote = None,
    decimal: Decimal = None,
    zero_based: ZeroBased = None,
    features: Features = None,
    sheet: Sheet = None,
) -> dict[str, object]:
    return options.drop_none(
        target=target,
        task=task,
        categorical=options.names(categorical),
        numeric=options.names(numeric),
        drop=options.names(drop),
        header=False if no_header else None,
        rename_duplicates=rename_duplicates or None,
        format=format_name,
        encoding=encoding,
        delimiter={"\t": "tab", r"\t": "tab", " ": "space"}.get(delimiter or "", delimiter),
        quote=quote,
        decimal=decimal,
        zero_based=zero_based,
        features=features,
        sheet=sheet,
    )


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of how a table is read; it gets them as one mapping, `read`.

    Args:
        command: has a parameter `read`; the options take its place.
    """
    own = inspect.signature(command, eval_str=True)
    ours = inspect.signature(_given, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for parameter in own.parameters.values():
        parameters += ours.parameters.values() if parameter.name == "read" else [parameter]

    def called(**values: Any) -> None:
        read = {name: values.pop(name) for name in ours.parameters}
        command(read=_given(**read), **values)

    called.__name__, called.__doc__, called.__module__ = command.__name__, command.__doc__, command.__module__
    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # what Typer reads
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called
