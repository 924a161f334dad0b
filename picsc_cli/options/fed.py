"""The options of `picsc fed` alone that are no settings: the audit without training, and the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from picsc_cli.options.common import OUTPUT, RUN

AuditOnly = Annotated[
    bool,
    typer.Option("--audit-only", help="Only say which clients are shifted, by summaries.", rich_help_panel=RUN),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Picture as .png, curves as .svg, or a page as .html.", rich_help_panel=OUTPUT
    ),
]
