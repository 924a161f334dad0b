"""Completion of option values in shells: choices, columns of the file on the line, data sets, recipes.

It runs between two key strokes, so it imports nothing heavy and reads one line of one file.
"""

from __future__ import annotations

import csv
import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

_MOST_BYTES = 1 << 20
"""Bytes of a header that are read; a longer one is left alone."""
_DELIMITERS = ",;\t|"
_TEXT = {".csv", ".tsv", ".tab", ".txt"}
_LINES = ("_TYPER_COMPLETE_ARGS", "COMP_WORDS")
"""Variables in which shells hand over the line; bash uses the last one."""
Completion = Callable[[str], list[str]]
"""From the beginning of a value to the values that it may become."""


def completion(choices: Sequence[str], metavar: str) -> Completion | None:
    """The completion of an option's values; None where nothing is known of them.

    Args:
        choices: the words that the option takes.
        metavar: name of the value in `--help`; `COL` are columns, and `,..` a list with commas.
    """
    many = metavar.endswith(",..")

    def of_choices(incomplete: str) -> list[str]:
        return _listed(choices, incomplete, many=many)

    def of_columns(incomplete: str) -> list[str]:
        return _listed(columns(_words()), incomplete, many=many)

    return of_choices if choices else of_columns if metavar in ("COL", "COL,..") else None


def _words() -> list[str]:
    """The words of the line. The parser knows only those before the option whose value is asked for."""
    line = next((os.environ[name] for name in _LINES if name in os.environ), "")
    try:
        return shlex.split(line)
    except ValueError:  # an open quotation mark
        return line.split()


def columns(words: Sequence[str]) -> list[str]:
    """Names of the columns of the first file of delimited text among the words of a line."""
    for word in words:
        if Path(word).suffix.lower() in _TEXT:
            with suppress(OSError, UnicodeDecodeError, csv.Error):
                with Path(word).open("rb") as file:
                    header = file.readline(_MOST_BYTES).decode("utf-8-sig").rstrip("\r\n")
                delimiter = max(_DELIMITERS, key=header.count)
                return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    return []


def data_sets(incomplete: str) -> list[str]:
    """Data sets by name, apart from those that only a server knows."""
    from picsc.datasets.catalog.inventory import inventory

    return _listed([entry.name for entry in inventory(None)[1]], incomplete, many=False)


def recipes(incomplete: str) -> list[str]:
    """Recipes that come with picsc; files are the shell's own business."""
    from picsc.recipes.bundled import bundled

    return _listed(list(bundled()), incomplete, many=False)


def _listed(names: Sequence[str], incomplete: str, *, many: bool) -> list[str]:
    """The names that begin so; of a list, names for its last place that it does not hold yet."""
    before, comma, last = incomplete.rpartition(",") if many else ("", "", incomplete)
    held = set(before.split(",")) if comma else set()
    return [f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in held]
