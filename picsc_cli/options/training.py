"""The options of what trains models: methods, penalty and training; the rest stands in `options`."""

from __future__ import annotations

from typing import Annotated

import typer

_PIECES, _METHODS, _TRAINING, _RUN = "Pieces", "Methods", "Training", "Run"

NoShuffle = Annotated[bool, typer.Option("--no-shuffle", help="Cut folds in file order.", rich_help_panel=_PIECES)]
Validation = Annotated[
    float | None,
    typer.Option(
        "--validation", metavar="SHARE", help="Rows that judge batches (default 0.2).", rich_help_panel=_PIECES
    ),
]
KeepRare = Annotated[
    bool,
    typer.Option("--keep-rare", help="Classes rarer than folds: train on them, never test.", rich_help_panel=_PIECES),
]
Weights = Annotated[
    str | None, typer.Option("--weights", metavar="COL", help="Column of row weights.", rich_help_panel=_PIECES)
]

Methods = Annotated[
    list[str] | None,
    typer.Option("--method", metavar="NAME,..", help="st-cv, picsc; controls are added.", rich_help_panel=_METHODS),
]
Algorithm = Annotated[
    int | None,
    typer.Option(
        "--algorithm",
        metavar="1|2",
        help="Of the paper (default 1; 2 for batches and time).",
        rich_help_panel=_METHODS,
    ),
]
Penalty = Annotated[
    str | None,
    typer.Option("--penalty", metavar="NAME", help="kl, frobenius or trace (default kl).", rich_help_panel=_METHODS),
]
Strength = Annotated[
    str | None,
    typer.Option(
        "--lambda",
        metavar="VALUE",
        help="Weight of the penalty (default auto: inner CV).",
        rich_help_panel=_METHODS,
    ),
]
Merge = Annotated[
    str | None,
    typer.Option(
        "--merge",
        metavar="NAME",
        help="fisher, mean or none, in algorithm 2 (default fisher).",
        rich_help_panel=_METHODS,
    ),
]
Warmup = Annotated[
    float | None,
    typer.Option(
        "--warmup",
        metavar="SHARE",
        help="Steps over which algorithm 1's lambda rises (default 0.5).",
        rich_help_panel=_METHODS,
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option("--alpha", metavar="A", help="Weight of the past in Eq. 15 (default 0.9).", rich_help_panel=_METHODS),
]
Gamma = Annotated[
    float | None,
    typer.Option("--gamma", metavar="G", help="Threshold of tau (default: calibrated).", rich_help_panel=_METHODS),
]
WhenQuiet = Annotated[
    str | None,
    typer.Option(
        "--when-quiet",
        metavar="NAME",
        help="Unflagged pieces: train or skip (default train).",
        rich_help_panel=_METHODS,
    ),
]

Epochs = Annotated[
    int | None,
    typer.Option("--epochs", metavar="N", help="Passes over the training rows.", rich_help_panel=_TRAINING),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--lr",
        metavar="RATE",
        help="Learning rate (default 0.02, images 0.001, texts 0.003).",
        rich_help_panel=_TRAINING,
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size", metavar="N", help="Rows a step (default: all of small tables).", rich_help_panel=_TRAINING
    ),
]
Optimizer = Annotated[
    str | None,
    typer.Option("--optimizer", metavar="NAME", help="adam or sgd (default adam).", rich_help_panel=_TRAINING),
]
Patience = Annotated[
    int | None,
    typer.Option(
        "--patience", metavar="N", help="Stop early after N epochs (default never).", rich_help_panel=_TRAINING
    ),
]
Device = Annotated[
    str | None,
    typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or mps (default auto).", rich_help_panel=_TRAINING),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="NAME",
        help="float32, tf32 or bfloat16 (default float32).",
        rich_help_panel=_TRAINING,
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats", metavar="N", help="Runs by other seeds (default 5, images and texts 1).", rich_help_panel=_RUN
    ),
]
