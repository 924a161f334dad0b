"""The options of commands that are no settings: data, recipe, run folder, outputs; and contradictions among options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from picsc.errors import SettingsError
from picsc_cli.gates import FailOn
from picsc_cli.options.completion import data_sets, recipes

if TYPE_CHECKING:
    from picsc.runtime.engines.shards import Shard
    from picsc.settings import PartitionSettings

DATA, RUN, OUTPUT = "Data", "Run", "Output"
"""Help panels."""

DataArgument = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help="File with the table; without it, a demonstration.", show_default=False),
]
DataArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATA", help="Files with tables; without any, a demonstration.", show_default=False),
]
DatasetName = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        metavar="NAME",
        help="Data set by name instead of a file.",
        rich_help_panel=DATA,
        autocompletion=data_sets,
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="Folder of data sets by name (or set PICSC_DATA).", rich_help_panel=DATA
    ),
]


Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Processor cores; never changes a number (default: all).", rich_help_panel=RUN
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="local or dask[:ADDRESS]: where parts run (default local).",
        rich_help_panel=RUN,
    ),
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        "--run-dir", metavar="DIR", help="Keeps finished parts (default: picsc's cache).", rich_help_panel=RUN
    ),
]


@dataclass(frozen=True, slots=True)
class Places:
    """Folders and files of a run that are no settings."""

    data_dir: Path | None
    """Folder of data sets by name."""
    run_dir: Path | None
    """Folder of finished parts."""
    predictions: Path | None = None
    """File of predictions."""
    resume: bool = False
    """Use the finished parts that are there."""
    shard: Shard | None = None
    """Share of the parts that is made; None is all of them, and the report."""


Predictions = Annotated[
    Path | None,
    typer.Option(
        "--predictions",
        metavar="FILE",
        help="Predictions of all test rows, as .csv or .parquet.",
        rich_help_panel=OUTPUT,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Picture of the report, as .png or .svg.", rich_help_panel=OUTPUT),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with an interrupted run, to the same bytes.", rich_help_panel=RUN),
]
ShardOfRun = Annotated[
    str | None,
    typer.Option(
        "--shard", metavar="I/N", help="Only a share of the parts, in a shared --run-dir.", rich_help_panel=RUN
    ),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option(
        "--recipe",
        metavar="RECIPE",
        help="Settings of a recipe, and its data if none given.",
        rich_help_panel=RUN,
        autocompletion=recipes,
    ),
]
Isolated = Annotated[
    bool,
    typer.Option("--isolated", help="Leave out [tool.picsc] of pyproject.toml.", rich_help_panel=RUN),
]

FailOnVerdict = Annotated[
    FailOn | None,
    typer.Option(
        "--fail-on",
        metavar="VERDICT",
        help="Exit 1 at: shift (default), inconclusive or never.",
        rich_help_panel=OUTPUT,
    ),
]
ExitZero = Annotated[
    bool,
    typer.Option("--exit-zero", help="Exit 0 instead of 1; 2 and 3 stay.", rich_help_panel=OUTPUT),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="Fail only on shifts that are new or worse.", rich_help_panel=OUTPUT
    ),
]
WriteBaseline = Annotated[
    Path | None,
    typer.Option(
        "--write-baseline", metavar="FILE", help="Accept the shifts found now, and exit 0.", rich_help_panel=OUTPUT
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="FORMAT",
        help="table, html, json, csv, markdown, ...[:FILE].",
        rich_help_panel=OUTPUT,
    ),
]
SaveModel = Annotated[
    Path | None,
    typer.Option(
        "--save-model", metavar="DIR", help="Train one method once more, and save it.", rich_help_panel=OUTPUT
    ),
]
SaveMethod = Annotated[
    str | None,
    typer.Option(
        "--save-method", metavar="NAME", help="Saved method (default: what the report says).", rich_help_panel=OUTPUT
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Also the columns as understood, and the settings.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Only the three lines of the summary.", rich_help_panel=OUTPUT)
]


DEMONSTRATION = "breast_cancer"
"""Data set of a command that is given none."""
DEMONSTRATION_NOTE = f"no DATA given, so this is a demonstration on scikit-learn's {DEMONSTRATION} table"


def engine_of(name: str) -> str:
    """The name of an engine that `--engine` gives.

    Raises:
        SettingsError: there is none of that name.
    """
    from picsc.settings.fields import check_engine

    try:
        return check_engine(name)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def shard_of(text: str | None, *, resume: bool) -> Shard | None:
    """The share of a run that `--shard` asks for.

    Raises:
        SettingsError: there is no such share, or `--resume` asks for all of them.
    """
    if text is None:
        return None
    from picsc.runtime.engines.shards import Shard

    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise SettingsError(f"--shard {text}: must be I/N with 1 <= I <= N, such as 2/8 for the second of eight")
    if resume:
        raise SettingsError("choose --shard or --resume, not both: a shard goes on with what is there")
    return Shard(int(found[1]), int(found[2]))


def refuse_contradictions(*contradictions: tuple[bool, str]) -> None:
    """Refuse options that contradict each other.

    Raises:
        SettingsError: the sentences of all contradictions that are there.
    """
    there = [sentence for contradiction, sentence in contradictions if contradiction]
    if there:
        raise SettingsError("; ".join(there))


def exclusive(
    file: str | None = None, dataset: str | None = None, *, verbose: bool, quiet: bool
) -> tuple[tuple[bool, str], ...]:
    """The contradictions of options that every command has, for `together`."""
    return (
        (file is not None and dataset is not None, f"choose a file ({file}) or --dataset {dataset}, not both"),
        (verbose and quiet, "choose --verbose or --quiet, not both"),
    )


def of_partition(given: Mapping[str, Any], settings: PartitionSettings) -> tuple[tuple[bool, str], ...]:
    """The contradictions between the way to invent clients and its parameters, for `refuse_contradictions`.

    Args:
        given: options of the table `clients`.
        settings: that hold, with the way.
    """
    way = settings.partition
    return (
        (
            "concentration" in given and way not in ("dirichlet", "quantity"),
            "--concentration goes with --partition dirichlet or quantity",
        ),
        ("classes" in given and way != "classes", "--classes goes with --partition classes"),
        ("noise" in given and way != "noise", "--noise goes with --partition noise"),
    )


def of_shuffle(given: Mapping[str, Any]) -> tuple[bool, str]:
    """The contradiction between `--shuffle` or `--no-shuffle` and pieces that have an order of their own.

    Args:
        given: options of the table `cut`.
    """
    ordered = next((way for way in ("batches", "by", "time") if given.get(way)), "")
    flag = "--shuffle" if given.get("shuffle") else "--no-shuffle"
    return "shuffle" in given and bool(ordered), f"{flag} goes with --folds, not with --{ordered}"
