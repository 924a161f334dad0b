"""The options of `picsc compare` alone: target, weights, gate; the rest stands in `options` and `training_options`."""

from __future__ import annotations

from typing import Annotated

import typer

from picsc_cli.gates import FailOnWorse

_PIECES, _TARGET, _METHODS, _WEIGHTS, _RUN, _OUTPUT = "Pieces", "Target", "Methods", "Weights", "Run", "Output"

Folds = Annotated[
    int | None,
    typer.Option("--folds", metavar="K", help="Folds, each of them the target in turn.", rich_help_panel=_PIECES),
]
TrainOn = Annotated[
    list[str] | None,
    typer.Option(
        "--train-on", metavar="PIECE,..", help="Pieces to learn from (default: all others).", rich_help_panel=_TARGET
    ),
]
TestOn = Annotated[
    list[str] | None,
    typer.Option(
        "--test-on",
        metavar="PIECE,..|FILE",
        help="The target (default: each piece in turn).",
        rich_help_panel=_TARGET,
    ),
]
Bias = Annotated[
    str | None,
    typer.Option(
        "--bias", metavar="COL|auto", help="Select training rows by a column, at random.", rich_help_panel=_TARGET
    ),
]
BiasStrength = Annotated[
    float | None,
    typer.Option("--bias-strength", metavar="SLOPE", help="Of that selection (default 1.5).", rich_help_panel=_TARGET),
]
LabelNoise = Annotated[
    float | None,
    typer.Option(
        "--label-noise", metavar="SHARE", help="Training labels made wrong (default 0.0).", rich_help_panel=_TARGET
    ),
]
Validation = Annotated[
    float | None,
    typer.Option(
        "--validation",
        metavar="SHARE",
        help="Rows to be the target (default 0.2, --bias 0.3).",
        rich_help_panel=_TARGET,
    ),
]
Adapt = Annotated[
    float | None,
    typer.Option(
        "--adapt", metavar="SHARE", help="Of the target, to be looked at (default 0.5).", rich_help_panel=_TARGET
    ),
]
Labelled = Annotated[
    float | None,
    typer.Option(
        "--labelled", metavar="SHARE", help="Of the target, labels for diw (default 0.1).", rich_help_panel=_TARGET
    ),
]
MostRows = Annotated[
    int | None,
    typer.Option("--most-rows", metavar="N", help="Most training rows (default: all).", rich_help_panel=_TARGET),
]

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME,..",
        help="st-cv, iw, iwcv, kmm, diw, picsc, ulsif, rulsif, ..",
        rich_help_panel=_METHODS,
    ),
]
Algorithm = Annotated[
    int | None,
    typer.Option("--algorithm", metavar="1|2", help="Of the paper (default 1).", rich_help_panel=_METHODS),
]
Fragments = Annotated[
    int | None,
    typer.Option("--fragments", metavar="K", help="Of one piece, for picsc (default 5).", rich_help_panel=_METHODS),
]

WeighOn = Annotated[
    str | None,
    typer.Option(
        "--weigh-on", metavar="NAME", help="raw, layer or auto: by data (default auto).", rich_help_panel=_WEIGHTS
    ),
]
Exponent = Annotated[
    float | None,
    typer.Option(
        "--exponent", metavar="POWER", help="Flattens weights, 0 to 1 (default 1.0).", rich_help_panel=_WEIGHTS
    ),
]
Floor = Annotated[
    float | None,
    typer.Option(
        "--floor", metavar="SHARE", help="Effective rows, else refused (default 0.05).", rich_help_panel=_WEIGHTS
    ),
]
Relative = Annotated[
    float | None,
    typer.Option(
        "--relative", metavar="SHARE", help="Of the target, in rulsif (default 0.5).", rich_help_panel=_WEIGHTS
    ),
]
Bound = Annotated[
    float | None,
    typer.Option("--bound", metavar="B", help="Largest weight of kmm (default 1000.0).", rich_help_panel=_WEIGHTS),
]
Ridge = Annotated[
    str | None,
    typer.Option("--ridge", metavar="R", help="Holds kmm's weights near 1 (default auto).", rich_help_panel=_WEIGHTS),
]
Match = Annotated[
    str | None,
    typer.Option(
        "--match", metavar="NAME", help="losses or features, by diw (default losses).", rich_help_panel=_WEIGHTS
    ),
]

Repeats = Annotated[
    int | None,
    typer.Option("--repeats", metavar="N", help="Seeds (default 10, not tables 1).", rich_help_panel=_RUN),
]

Timings = Annotated[
    bool,
    typer.Option("--timings", help="Seconds in the report, which differ by run.", rich_help_panel=_OUTPUT),
]
Candidate = Annotated[
    str | None,
    typer.Option(
        "--candidate", metavar="METHOD", help="Whom the exit code is about (default picsc).", rich_help_panel=_OUTPUT
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        metavar="PERCENT",
        help="Exit 1 below this accuracy of the candidate.",
        rich_help_panel=_OUTPUT,
    ),
]
FailOn = Annotated[
    FailOnWorse | None,
    typer.Option(
        "--fail-on",
        metavar="WORD",
        help="worse: than st-cv, beyond chance (default never).",
        rich_help_panel=_OUTPUT,
    ),
]
