"""The options of `picsc fed` alone: clients, methods, rounds; the rest stands in `options` and `training_options`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from picsc_cli.options.common import refuse_contradictions

if TYPE_CHECKING:
    from picsc.settings import PartitionSettings

_CLIENTS, _METHODS, _TRAINING, _RUN, _OUTPUT = "Clients", "Methods", "Training", "Run", "Output"

By = Annotated[
    str | None, typer.Option("--by", metavar="COL", help="One client per value of a column.", rich_help_panel=_CLIENTS)
]
Clients = Annotated[
    int | None, typer.Option("--clients", metavar="N", help="Invent so many clients.", rich_help_panel=_CLIENTS)
]
Partition = Annotated[
    str | None,
    typer.Option(
        "--partition",
        metavar="NAME",
        help="iid, dirichlet, classes, quantity or noise.",
        rich_help_panel=_CLIENTS,
    ),
]
Concentration = Annotated[
    float | None,
    typer.Option(
        "--concentration", metavar="A", help="Of dirichlet and quantity (default 0.5).", rich_help_panel=_CLIENTS
    ),
]
Classes = Annotated[
    int | None,
    typer.Option("--classes", metavar="N", help="Classes of a client (default 2).", rich_help_panel=_CLIENTS),
]
Noise = Annotated[
    float | None,
    typer.Option("--noise", metavar="STD", help="Of the noisiest client (default 0.1).", rich_help_panel=_CLIENTS),
]
MostRows = Annotated[
    int | None,
    typer.Option(
        "--most-rows",
        metavar="N",
        help="Most rows that a client learns from (default: all).",
        rich_help_panel=_CLIENTS,
    ),
]
MinRows = Annotated[
    int | None,
    typer.Option("--min-rows", metavar="N", help="Of an invented client (default 10).", rich_help_panel=_CLIENTS),
]
Validation = Annotated[
    float | None,
    typer.Option(
        "--validation", metavar="SHARE", help="Of a client's rows, to judge (default 0.2).", rich_help_panel=_CLIENTS
    ),
]

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME,..",
        help="fedavg, fedprox, scaffold, picsc, .. (default: all).",
        rich_help_panel=_METHODS,
    ),
]
Proximal = Annotated[
    float | None,
    typer.Option("--mu", metavar="MU", help="Penalty of fedprox (default 0.01).", rich_help_panel=_METHODS),
]
Strength = Annotated[
    float | None,
    typer.Option("--lambda", metavar="VALUE", help="Penalty of Eq. 16 (default 0.1).", rich_help_panel=_METHODS),
]
Delta = Annotated[
    float | None,
    typer.Option("--delta", metavar="D", help="Prior of the Fisher mean (default 0.0001).", rich_help_panel=_METHODS),
]
Aggregate = Annotated[
    str | None,
    typer.Option(
        "--aggregate", metavar="NAME", help="Of picsc: fisher, mean or auto (default auto).", rich_help_panel=_METHODS
    ),
]
Mean = Annotated[
    str | None,
    typer.Option("--mean", metavar="NAME", help="Weigh by rows or clients (default rows).", rich_help_panel=_METHODS),
]
ServerRate = Annotated[
    float | None,
    typer.Option(
        "--server-lr", metavar="RATE", help="Length of the server's step (default 1.0).", rich_help_panel=_METHODS
    ),
]
ServerMomentum = Annotated[
    float | None,
    typer.Option(
        "--server-momentum", metavar="M", help="Share of it that is kept (default 0.0).", rich_help_panel=_METHODS
    ),
]

Model = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME", help="mlp, lenet, bag, lstm or auto (default auto).", rich_help_panel=_TRAINING
    ),
]
Hidden = Annotated[
    int | None,
    typer.Option("--hidden", metavar="N", help="Hidden units (default 32, of lstm 256).", rich_help_panel=_TRAINING),
]
Rounds = Annotated[
    int | None, typer.Option("--rounds", metavar="N", help="Rounds (default 30).", rich_help_panel=_TRAINING)
]
Epochs = Annotated[
    int | None,
    typer.Option("--epochs", metavar="N", help="A client's passes in a round (default 2).", rich_help_panel=_TRAINING),
]
Steps = Annotated[
    int | None,
    typer.Option("--steps", metavar="N", help="A client's steps, instead of epochs.", rich_help_panel=_TRAINING),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size", metavar="N", help="Rows a step (default 32, not tables 64).", rich_help_panel=_TRAINING
    ),
]
Rate = Annotated[
    str | None,
    typer.Option(
        "--lr", metavar="RATE", help="Number or auto: chosen by method (default auto).", rich_help_panel=_TRAINING
    ),
]
Momentum = Annotated[
    float | None,
    typer.Option("--momentum", metavar="M", help="Of a client's SGD (default 0.0).", rich_help_panel=_TRAINING),
]
WeightDecay = Annotated[
    float | None,
    typer.Option("--weight-decay", metavar="W", help="Of clients (default 0.0).", rich_help_panel=_TRAINING),
]
Sample = Annotated[
    float | None,
    typer.Option(
        "--sample", metavar="SHARE", help="Of the clients, in a round (default 1.0).", rich_help_panel=_TRAINING
    ),
]

Repeats = Annotated[
    int | None,
    typer.Option("--repeats", metavar="N", help="Seeds (default 3, not tables 1).", rich_help_panel=_RUN),
]
TargetAccuracy = Annotated[
    float | None,
    typer.Option(
        "--target-accuracy",
        metavar="A",
        help="Count rounds until A (default: fedavg's last).",
        rich_help_panel=_RUN,
    ),
]
AllowFailures = Annotated[
    int | None,
    typer.Option(
        "--allow-failures", metavar="N", help="Clients that may fail a round (default 0).", rich_help_panel=_RUN
    ),
]
AuditOnly = Annotated[
    bool,
    typer.Option("--audit-only", help="Only say which clients are shifted, by summaries.", rich_help_panel=_RUN),
]

Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Accuracy over rounds, as .svg or .html.", rich_help_panel=_OUTPUT),
]


def of_partition(
    settings: PartitionSettings, *, concentration: float | None, classes: int | None, noise: float | None
) -> None:
    """Refuse options that the way to invent clients does not listen to.

    Args:
        settings: with the way.
        concentration: as it was given.
        classes: likewise.
        noise: likewise.

    Raises:
        SettingsError: one was given that another way listens to.
    """
    made = settings.partition
    refuse_contradictions(
        (
            concentration is not None and made not in ("dirichlet", "quantity"),
            "--concentration goes with --partition dirichlet or quantity",
        ),
        (classes is not None and made != "classes", "--classes goes with --partition classes"),
        (noise is not None and made != "noise", "--noise goes with --partition noise"),
    )
