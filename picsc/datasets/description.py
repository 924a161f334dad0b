"""The description of the data in a report: columns, target, digest, and columns left out."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from picsc.datasets.files.utf8 import NOT_UTF8
from picsc.phrases import listed
from picsc.reports.common import ColumnInfo, DataInfo, Finding

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.images import ImageSet
    from picsc.datasets.table import Dataset
    from picsc.datasets.texts import TokenSet


def left_out(dataset: Dataset, besides: Collection[str] = ()) -> list[Finding]:
    """Findings on values that the reader took for missing, and on columns that it left out, one for each kind.

    Args:
        dataset: the table.
        besides: names of columns that another finding tells of.
    """
    findings = list(dataset.findings)
    told = [column for column in dataset.left_out if column.name not in besides]
    for kind in sorted({column.kind for column in told}):
        columns = [column for column in told if column.kind == kind]
        names = listed([column.name for column in columns])
        reasons = "; ".join(dict.fromkeys(column.reason for column in columns[:5]))
        findings.append(Finding(f"{kind}-left-out", "note", f"left out: {names} ({reasons})"))
    return findings


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
