"""`picsc data`: which data sets are there, getting one, and what is in one, or in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from picsc.reports import DataReport
from picsc_cli.console import exits, streams
from picsc_cli.console.help import PanelledCommand, SayingGroup
from picsc_cli.console.printable import printable
from picsc_cli.formats.table.data import aligned
from picsc_cli.options import common as options
from picsc_cli.options.bind import NOTHING, Given, takes_settings
from picsc_cli.output import destinations as outputs
from picsc_cli.output.publish import publish
from picsc_cli.resolve import Demonstration, Request, found_project, resolve_settings

if TYPE_CHECKING:
    from picsc.datasets.catalog.inventory import Description

app = typer.Typer(
    name="data",
    cls=SayingGroup,
    help="List, get and describe data sets by name, and show how a file is read.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"default_map": {"help": False}},  # as in `app`, for the sake of `--help`
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the data set.", show_default=False)]
_File = Annotated[str, typer.Argument(metavar="FILE", help="With a table; - is standard input.", show_default=False)]
_Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="FORMAT", help="table or json[:FILE].", rich_help_panel=options.OUTPUT),
]


@app.command("list", cls=PanelledCommand)
def list_sets(data_dir: options.DataDir = None) -> None:
    """List the data sets with a name, and where each is; asks no server."""
    with exits.handle_errors():
        from picsc.datasets.catalog.inventory import inventory

        root, entries = inventory(data_dir)
        rows = [("NAME", "KIND", "SHAPE", "WHERE")]
        rows += [(entry.name, entry.kind, entry.shape or "-", entry.where) for entry in entries]
        streams.write_lines(f"data directory: {printable(str(root))}\n\n" + aligned(rows))


@app.command(cls=PanelledCommand)
def get(name: _Name, data_dir: options.DataDir = None) -> None:
    """Fetch a data set from OpenML into the data directory, with its SHA-256 in a file next to it."""
    with exits.handle_errors(), streams.progress(quiet=False) as progress:
        from picsc.datasets.catalog import inventory

        if progress is not None:
            progress(f"getting {name}")
        got = inventory.get(name, data_dir)
        streams.warn(f"{name} was fetched" if got.new else f"{name} is there already; remove it to fetch it again")
        streams.write_lines(f"{got.sha256}  {printable(str(got.path))}\n")


@app.command(cls=PanelledCommand)
def info(name: _Name, data_dir: options.DataDir = None) -> None:
    """Print source, shape, classes with counts, and SHA-256 of a data set."""
    with exits.handle_errors():
        from picsc.datasets.catalog.inventory import describe

        streams.write_lines(_described(describe(name, data_dir)))


@app.command(cls=PanelledCommand)
@takes_settings("audit", "read")
def show(
    file: _File,
    given: Given = NOTHING,
    isolated: options.Isolated = False,
    output: _Outputs = None,
) -> None:
    """Print how a file is read and what it holds, without auditing it; pyproject.toml counts as for picsc audit."""
    with exits.handle_errors():
        wanted = outputs.parse(output or (), DataReport)
        from picsc.settings import AuditSettings

        request = Request(file, None, None, found_project(isolated=isolated), quiet=True)
        settings = resolve_settings(AuditSettings, given, request, Demonstration("")).settings.read
        outputs.check(wanted, read=(file,))
        from picsc.datasets.inspection import inspect_file

        publish(inspect_file(file, settings), wanted)


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
    return aligned([*facts, ("sha256", found.sha256)])
