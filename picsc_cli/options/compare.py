"""The options of `picsc compare` alone that are no settings: the gate of a pipeline, and timings."""

from __future__ import annotations

from typing import Annotated

import typer

from picsc_cli.gates import FailOnWorse
from picsc_cli.options.common import OUTPUT

Timings = Annotated[
    bool,
    typer.Option("--timings", help="Seconds in the report, which differ by run.", rich_help_panel=OUTPUT),
]
Candidate = Annotated[
    str | None,
    typer.Option(
        "--candidate", metavar="METHOD", help="Whom the exit code is about (default picsc).", rich_help_panel=OUTPUT
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        metavar="A",
        help="Exit 1 below this accuracy of the candidate: 90 or 0.9.",
        rich_help_panel=OUTPUT,
    ),
]
FailOn = Annotated[
    FailOnWorse | None,
    typer.Option(
        "--fail-on",
        metavar="WORD",
        help="worse: than st-cv, beyond chance (default never).",
        rich_help_panel=OUTPUT,
    ),
]
