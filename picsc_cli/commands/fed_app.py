"""`picsc fed-app`: a Flower project, with which clients on machines of their own train by the methods of `picsc fed`.

A verb of its own, because the first word after `picsc fed` is the data, and a project has none: every client brings its
own file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from picsc_cli.console import exits, streams
from picsc_cli.options import common as options
from picsc_cli.options.bind import NOTHING, Given, takes_rows
from picsc_cli.options.generated import ROWS
from picsc_cli.resolve import Demonstration, Request, found_project, resolve_settings

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="Folder of the project, new or empty.", show_default=False),
]
NodesOfApp = Annotated[
    int,
    typer.Option("--nodes", metavar="N", min=2, help="Clients that the server waits for.", show_default=False),
]
Patience = Annotated[
    float,
    typer.Option("--patience", metavar="SECONDS", min=1, help="How long a client is waited for."),
]
HERE = ("jobs", "device", "engine")
"""Settings of a simulation on this machine."""
_OWN = [row for row in ROWS["fed"] if not row.setting.startswith("clients.") and row.setting not in HERE]


@takes_rows(_OWN)
def fed_app(
    folder: Folder,
    nodes: NodesOfApp,
    patience: Patience = 600.0,
    given: Given = NOTHING,
    recipe: options.RecipeFile = None,
    isolated: options.Isolated = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a Flower project, for clients on machines of their own.

    The project holds the settings, and no code but the names of picsc's two apps. docs/flower.md says how to start
    the server and the clients, and what leaves a client.

    Exit code: 0 fine, 2 the settings or the folder could not be used, 3 a bug in picsc.
    """
    with exits.handle_errors():
        from picsc.settings import FedSettings

        request = Request("the clients' own files", None, recipe, found_project(isolated=isolated), quiet)
        settings = resolve_settings(FedSettings, given, request, Demonstration("", {})).settings
        from picsc.federated.flower.project import write_project  # loads no torch

        write_project(folder, settings, clients=nodes, patience=patience)
        if not quiet:
            streams.write_lines(f"wrote {folder}: start the server and the clients as docs/flower.md says\n")
