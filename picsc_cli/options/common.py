"""The options of every command: names, help in one line, and the help panel each stands in.

A default is stated here for `--help` only (which must not load pydantic); `picsc.settings` holds it, and a test
compares the two. An option that was not given is None and leaves the default to the settings.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from picsc.errors import SettingsError
from picsc_cli.gates import FailOn

DATA, PIECES, VERDICT, RUN, OUTPUT = "Data", "Pieces", "Verdict", "Run", "Output"
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
    typer.Option("--dataset", metavar="NAME", help="Data set by name instead of a file.", rich_help_panel=DATA),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="Folder of data sets by name (or set PICSC_DATA).", rich_help_panel=DATA
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COL",
        help="Column to predict (default by name, else the last).",
        rich_help_panel=DATA,
    ),
]
NoTarget = Annotated[
    bool,
    typer.Option("--no-target", help="No target: ask only whether the data moved.", rich_help_panel=DATA),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task", metavar="TASK", help="classification, regression or auto (default auto).", rich_help_panel=DATA
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COL,..",
        help="Columns to treat as categories.",
        rich_help_panel=DATA,
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option("--numeric", metavar="COL,..", help="Columns to treat as numbers.", rich_help_panel=DATA),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="COL,..", help="Columns to leave out.", rich_help_panel=DATA)
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line is data; columns are called c1, c2, ...", rich_help_panel=DATA),
]
RenameDuplicates = Annotated[
    bool,
    typer.Option("--rename-duplicates", help="Rename repeated column names: a, a.1, ...", rich_help_panel=DATA),
]

Folds = Annotated[
    int | None,
    typer.Option("--folds", metavar="K", help="Cross-validation folds (default 10).", rich_help_panel=PIECES),
]
Batches = Annotated[
    int | None, typer.Option("--batches", metavar="K", help="Batches of rows in file order.", rich_help_panel=PIECES)
]
By = Annotated[
    str | None, typer.Option("--by", metavar="COL", help="One piece per value of a column.", rich_help_panel=PIECES)
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COL",
        help="Order by a column and cut; equal times stay together.",
        rich_help_panel=PIECES,
    ),
]
Every = Annotated[
    str | None,
    typer.Option("--every", metavar="SPAN", help="Length of a --time piece, such as 30d.", rich_help_panel=PIECES),
]
Cuts = Annotated[
    int | None, typer.Option("--cuts", metavar="K", help="Number of --time pieces.", rich_help_panel=PIECES)
]
Gap = Annotated[
    str | None,
    typer.Option("--gap", metavar="SPAN", help="Left out between --time pieces, such as 7d.", rich_help_panel=PIECES),
]
GroupMissing = Annotated[
    str | None,
    typer.Option(
        "--group-missing", metavar="HOW", help="Rows without --group: refuse, own, together.", rich_help_panel=PIECES
    ),
]
Group = Annotated[
    str | None,
    typer.Option("--group", metavar="COL", help="Column whose values folds must not divide.", rich_help_panel=PIECES),
]
SplitterName = Annotated[
    str | None,
    typer.Option(
        "--splitter",
        metavar="NAME",
        help="kfold, stratified[-group], group, dob-scv or ms-scv.",
        rich_help_panel=PIECES,
    ),
]
Shuffle = Annotated[bool, typer.Option("--shuffle", help="Shuffle rows before cutting folds.", rich_help_panel=PIECES)]

ReferenceWord = Annotated[
    str | None,
    typer.Option(
        "--reference",
        metavar="REF",
        help="rest, previous, first or a file (default rest or previous).",
        rich_help_panel=VERDICT,
    ),
]
Level = Annotated[
    float | None,
    typer.Option(
        "--level",
        metavar="P",
        help="Chance of any false alarm (default 0.05).",
        rich_help_panel=VERDICT,
    ),
]
MinEffect = Annotated[
    float | None,
    typer.Option(
        "--min-effect", metavar="D", help="Smallest effect worth a verdict (default 0.05).", rich_help_panel=VERDICT
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        "--gamma",
        metavar="TAU",
        help="Raw threshold of the paper's tau.",
        rich_help_panel=VERDICT,
    ),
]
Draws = Annotated[
    int | None,
    typer.Option("--draws", metavar="B", help="Permutations of the null (default 999).", rich_help_panel=VERDICT),
]
Block = Annotated[
    int | None,
    typer.Option(
        "--block", metavar="L", help="Rows that move together in the null (default 1).", rich_help_panel=VERDICT
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Seed of every random draw (default 0).", rich_help_panel=RUN),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Processor cores; never changes a number (default: all).", rich_help_panel=RUN
    ),
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        "--run-dir", metavar="DIR", help="Keeps finished parts (default: picsc's cache).", rich_help_panel=RUN
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with an interrupted run, to the same bytes.", rich_help_panel=RUN),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option(
        "--recipe", metavar="FILE", help="Settings of a recipe, and its data if none given.", rich_help_panel=RUN
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
AuditOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="FORMAT",
        help="table, json, csv, markdown, junit or github[:FILE].",
        rich_help_panel=OUTPUT,
    ),
]
OutputsWithCsv = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="FORMAT",
        help="table, json, csv or, with a file, csv:FILE; repeatable.",
        rich_help_panel=OUTPUT,
    ),
]
OutputsOfRecipes = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="FORMAT",
        help="table, json, csv, markdown or, with a file, csv:FILE.",
        rich_help_panel=OUTPUT,
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


def names(texts: list[str] | None) -> tuple[str, ...] | None:
    """Column names of a repeatable option, each a comma list; a name with a comma goes in double quotes."""
    if texts is None:
        return None
    return tuple(name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip())


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


def drop_none(**values: object) -> dict[str, object]:
    """The options that were given: what is None is left to the default of the settings."""
    return {name: value for name, value in values.items() if value is not None}
