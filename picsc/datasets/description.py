"""The description of the data in a report: columns, target, digest, and columns left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from picsc.datasets.files.utf8 import NOT_UTF8
from picsc.phrases import listed
from picsc.reports.common import ColumnInfo, DataInfo, Finding

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.images import ImageSet
    from picsc.datasets.table import Column, Dataset
    from picsc.datasets.texts import TokenSet


MOSTLY = 0.5
"""Share of the rows beyond which it is said that their levels are pooled."""


def left_out(dataset: Dataset, besides: Collection[str] = ()) -> list[Finding]:
    """Findings on values that the reader took for missing, and on columns that it left out, one for each kind.

    Args:
        dataset: the table.
        besides: names of columns that another finding tells of.
    """
    findings = []
    told = [column for column in dataset.left_out if column.name not in besides and not column.orders]
    for kind in sorted({column.kind for column in told}):
        columns = [column for column in told if column.kind == kind]
        names = listed([column.name for column in columns])
        reasons = "; ".join(dict.fromkeys(column.reason for column in columns[:5]))
        advice = (
            f"--keep {','.join(column.name for column in columns[:5])} tests it all the same"
            if kind == "identifier"
            else ""
        )
        findings.append(Finding(f"{kind}-left-out", "note", f"left out: {names} ({reasons})", advice))
    return findings


def reading_findings(*datasets: Dataset | None) -> list[Finding]:
    """Findings on how columns of these tables were read, each once; those on a second table name it."""
    found: dict[Finding, None] = {}
    for i, dataset in enumerate(dataset for dataset in datasets if dataset is not None):
        for finding in dataset.findings:
            where = f"file {dataset.name}: " if i else ""
            found.setdefault(replace(finding, message=f"{where}{finding.message}"))
    return list(found)


def mostly_pooled(*datasets: Dataset | None) -> list[Finding]:
    """A note on columns most of whose rows have rare levels, which are pooled; one for each table."""
    findings = []
    for dataset in datasets:
        shares = {} if dataset is None else {c.name: _pooled_share(c) for c in dataset.columns if c.pooled}
        named = [f"{name!r} ({100 * share:.0f} %)" for name, share in shares.items() if share > MOSTLY]
        if named:
            message = f"most rows have rare levels, which are tested as one level and by name, in {listed(named)}"
            findings.append(Finding("mostly-pooled", "note", message))
    return findings


def _pooled_share(column: Column) -> float:
    """Share of the rows with a value that have a pooled level."""
    there = column.values[column.values >= 0]
    return float((there == len(column.levels) - 1).mean()) if len(there) else 0.0


def encoding_guessed(*datasets: Dataset | None) -> list[Finding]:
    """Warnings on files whose bytes are not UTF-8 and whose encoding the user did not give, one for each file."""
    return [
        Finding(
            "encoding-guessed",
            "warning",
            f"{dataset.source} is {choice.how} and was read as {choice.value}, so letters beyond ASCII may be others",
            f"give its encoding, as in --encoding {choice.value}, or save it as UTF-8",
        )
        for dataset in datasets
        if dataset is not None and dataset.reading is not None
        for choice in dataset.reading.choices
        if choice.name == "encoding" and choice.how == NOT_UTF8
    ]


def on_reading(dataset: Dataset, *others: Dataset | None) -> list[Finding]:
    """Findings on the columns that the reader left out, and on how it read the others.

    Args:
        dataset: the table.
        others: tables that it is compared with, whose columns are those of the first.
    """
    return [*left_out(dataset), *reading_doubts(dataset, *others)]


def reading_doubts(*datasets: Dataset | None) -> list[Finding]:
    """Findings on how columns were read, and on what a reader may have guessed wrong: the encoding, and a header."""
    headers = [header_doubted(dataset) for dataset in datasets if dataset is not None]
    found = [*reading_findings(*datasets), *encoding_guessed(*datasets), *mostly_pooled(*datasets)]
    return [*found, *(finding for each in headers for finding in each)]


def header_doubted(dataset: Dataset) -> list[Finding]:
    """A warning on a file whose names look like a first row of data.

    Every numeric column has a number for its name, and every column of categories a category. Numbers in equal steps,
    such as years, are names, and so are six or more in order, such as wavelengths.
    """
    choices = () if dataset.reading is None else dataset.reading.choices
    if not any(choice.name == "header" and choice.value == "yes" and choice.how != "told" for choice in choices):
        return []
    target = dataset.target
    numbers = [column.name for column in dataset.columns if column.kind == "numeric"]
    numbers += [] if target is None or target.kind == "classes" else [target.name]
    levels = [(column.name, column.levels) for column in dataset.columns if column.coded]
    levels += [] if target is None or target.kind == "numbers" else [(target.name, target.levels)]
    values = [value for value in map(_number, numbers) if value is not None]
    steps = {round(after - before, 6) for before, after in pairwise(values)}
    evenly = len(steps) == 1 and (len(values) > 2 or steps == {1.0})
    in_order = evenly or (len(values) >= 6 and min(steps) * max(steps) > 0)
    if not numbers or len(values) < len(numbers) or in_order:
        return []
    if not all(name in held or name.rpartition(".")[0] in held for name, held in levels):
        return []
    message = f"{dataset.source}: the names of the columns look like a row of data: {listed(numbers)}"
    advice = "--no-header reads the first line as data; --header says that it holds names"
    return [Finding("header-doubted", "warning", message, advice)]


def _number(name: str) -> float | None:
    """The number that a name is; None for other names."""
    try:
        return float(name)
    except ValueError:
        return None


def data_info(dataset: Data) -> DataInfo:
    """Describe the data as they were understood; images are one column of pixels, texts one column of codes."""
    if dataset.kind == "images":
        _, channels, side, _ = dataset.pixels.shape
        return _one_column(dataset, ColumnInfo("pixels", f"image {channels} x {side} x {side}", 0, None, True, ""))
    if dataset.kind == "texts":
        kind = f"up to {dataset.width} {dataset.unit}"
        return _one_column(dataset, ColumnInfo("text", kind, 0, len(dataset.vocabulary), True, ""))
    target = dataset.target
    used = [
        ColumnInfo(c.name, c.kind, int(c.missing.sum()), len(c.levels) if c.coded else None, True, c.note)
        for c in dataset.columns
    ]
    unused = [ColumnInfo(c.name, c.kind, c.missing, None, False, c.reason) for c in dataset.left_out]
    return DataInfo(
        name=dataset.name,
        source=dataset.source,
        rows=dataset.n,
        target=None if target is None else target.name,
        target_chosen="none" if target is None else target.chosen,
        task="unlabelled" if target is None else "classification" if target.kind == "classes" else "regression",
        classes=len(target.levels) if target is not None and target.kind == "classes" else None,
        columns=(*used, *unused),
        sha256=dataset.sha256,
        reading=dataset.reading,
    )


def _one_column(dataset: ImageSet | TokenSet, column: ColumnInfo) -> DataInfo:
    return DataInfo(
        name=dataset.name,
        source=dataset.source,
        rows=dataset.n,
        target="class",
        target_chosen="given",
        task="classification",
        classes=len(dataset.classes),
        columns=(column,),
        sha256=dataset.sha256,
    )
