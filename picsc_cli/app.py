"""`picsc`: the commands, and the version.

Heavy imports stand inside the commands, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from picsc_cli.commands import data as data_commands
from picsc_cli.commands import recipe as recipe_commands
from picsc_cli.commands.audit import audit
from picsc_cli.commands.compare import compare
from picsc_cli.commands.config import config
from picsc_cli.commands.cv import cv
from picsc_cli.commands.fed import fed
from picsc_cli.commands.fed_app import fed_app
from picsc_cli.commands.predict import predict
from picsc_cli.commands.run import run
from picsc_cli.commands.view import view
from picsc_cli.console import exits, streams
from picsc_cli.console.help import PanelledCommand, SayingGroup

app = typer.Typer(
    name="picsc",
    cls=SayingGroup,
    help="Audit the pieces of one data set for partition-induced covariate shift, and correct training for it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # loading rich for --help would double its time
    context_settings={
        "help_option_names": ["-h", "--help"],
        "default_map": {
            "help": False,
            "install_completion": False,
            "show_completion": False,
        },  # with None, Typer 0.29 loads pydantic to learn that it is no bool
    },
)


def main() -> None:
    """Entry point of the console script."""
    streams.prepare()
    try:
        app(prog_name="picsc")
    except SystemExit as done:
        exits.leave(done)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        streams.write_stdout(f"picsc {version('picsc')}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Audit the pieces of one data set for partition-induced covariate shift, and correct training for it."""


for command in (audit, cv, compare, fed, fed_app, predict, run, view):
    app.command(cls=PanelledCommand)(command)
app.command(
    cls=PanelledCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},  # they are another command's
)(config)
app.add_typer(recipe_commands.app)
app.add_typer(data_commands.app)
