"""`picsc data`: which data sets are there, getting one, and what is in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from picsc_cli import exits, options, streams
from picsc_cli.help import PanelledCommand

if TYPE_CHECKING:
    from picsc.datasets.inventory import Description

app = typer.Typer(
    name="data",
    help="List, get and describe data sets by name.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"default_map": {"help": False}},  # as in `app`, for the sake of `--help`
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the data set.", show_default=False)]


@app.command("list", cls=PanelledCommand)
def list_sets(data_dir: options.DataDir = None) -> None:
    """List the data sets with a name, and where each is; asks no server."""
    with exits.outcome():
        from picsc.datasets.inventory import inventory

        root, entries = inventory(data_dir)
        rows = [("NAME", "KIND", "SHAPE", "WHERE")]
        rows += [(entry.name, entry.kind, entry.shape or "-", entry.where) for entry in entries]
        streams.write_stdout(f"data directory: {streams.printable(str(root))}\n\n" + _aligned(rows))


@app.command(cls=PanelledCommand)
def get(name: _Name, data_dir: options.DataDir = None) -> None:
    """Fetch a data set from OpenML into the data directory, its SHA-256 beside it."""
    with exits.outcome(), streams.progress(quiet=False) as progress:
        from picsc.datasets import inventory

        if progress is not None:
            progress(f"getting {name}")
        got = inventory.get(name, data_dir)
        streams.say(f"{name} was fetched" if got.new else f"{name} is there already; remove it to fetch it again")
        streams.write_stdout(f"{got.sha256}  {streams.printable(str(got.path))}\n")


@app.command(cls=PanelledCommand)
def info(name: _Name, data_dir: options.DataDir = None) -> None:
    """Print source, shape, classes with counts, and SHA-256 of a data set."""
    with exits.outcome():
        from picsc.datasets.inventory import describe

        streams.write_stdout(_described(describe(name, data_dir)))


def _described(found: Description) -> str:
    """One fact per line."""
    test = f", the last {found.test} of them the test part" if found.test else ""
    missing = f", {found.missing} values missing" if found.missing else ""
    unit = {"images": "", "table": " rows and columns", "text": " rows and tokens"}[found.kind]
    facts = [
        ("name", found.name),
        ("source", found.source),
        (found.kind, f"{found.shape}{unit}{test}{missing}"),
    ]
    if found.paper is not None:
        facts.append(("the paper's", f"{found.paper} rows"))
    if found.clients:
        facts.append(("clients", found.clients))
    if found.target:
        facts.append(("target", found.target if found.classes else f"{found.target} (numbers)"))
    if found.classes:
        facts.append(("classes", ", ".join(f"{name} {count}" for name, count in found.classes)))
    return _aligned([*facts, ("sha256", found.sha256)])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns two blanks apart, the last as long as it is."""
    shown = [[streams.printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in shown
    )
