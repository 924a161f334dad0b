"""The audit of a table that is not read into memory, stage by stage.

Letters: n rows of the table, m rows of the sample, K pieces, L labels.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.attribution.attribute import attribute
from picsc.auditing.cutting import cut_data
from picsc.auditing.design import build_design, compared_rows
from picsc.auditing.effects.column_bounds import check_column_settings
from picsc.auditing.exchangeability import STATISTICS_SEED
from picsc.auditing.ks_and_g_tests import THRESHOLDS
from picsc.auditing.long_tables.whole_counts import WholeCounts
from picsc.auditing.many_rows.first_pass import Sampled, counted, first_pass
from picsc.auditing.many_rows.parquet_parts import ParquetParts, parquet_parts
from picsc.auditing.many_rows.piece_of_row import OUTSIDE, UNKNOWN, Ints, fold_ends, folds_of_classes, folds_of_rows
from picsc.auditing.many_rows.second_pass import LabelledRows, LabelOf, second_pass
from picsc.auditing.piece_tests import ComparedRows, run_piece_tests
from picsc.auditing.report import audit_report
from picsc.auditing.verdict import N_MIN
from picsc.datasets.canonical_order import canonical
from picsc.datasets.columns.precision import at_common_precision
from picsc.datasets.columns.targets import pick
from picsc.datasets.files.many import FILE
from picsc.datasets.load import from_file
from picsc.datasets.order_columns import without_order_columns
from picsc.fragments import cut
from picsc.fragments.cutting import DEFAULT_FOLDS
from picsc.fragments.pieces import Cut, Fragment
from picsc.fragments.split_column import class_codes
from picsc.fragments.validation import class_findings
from picsc.phrases import counted as counted_in_words
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset
    from picsc.reports.audit import AuditReport
    from picsc.settings import AuditSettings

ROWS_IN_MEMORY = 500_000
"""Most rows of a table that is read into memory although its files can be read in parts."""
SAMPLE = 200_000
"""Rows of the sample."""
_OF_CLASSES = ("one-class-piece", "class-missing-from-pieces", "rare-class")
"""Findings that the counts of all rows make, and not the sample."""


def audit_in_parts(
    source: str | Path, settings: AuditSettings, progress: Callable[[str], None] = lambda _: None
) -> AuditReport | None:
    """Audit parquet files of very many rows in two passes.

    Args:
        source: a file, a folder, or a pattern.
        settings: all of the audit's knobs.
        progress: called with a few words on each step.

    Returns:
        The report; None where the table is no such one, or has to be in memory for what is asked: another file as
        reference, pieces in an order, groups, shuffled folds, or columns whose words stand for numbers.

    Raises:
        PicscError: the table cannot be read, cut or tested as asked.
    """
    if not _can_be_cut(settings):
        return None
    parts = parquet_parts(os.fspath(source))
    if parts is None or parts.n <= max(ROWS_IN_MEMORY, settings.read.min_table_rows - 1):
        return None
    by = settings.cut.by or settings.cut.split_column
    name = by or _target_name(parts, settings)
    if name is not None and name not in parts.names:
        return None  # reading it in memory says so in the right words
    progress(f"sampling {SAMPLE:,} of {parts.n:,} rows")
    column = counted(name, settings.read)
    sampled = first_pass(parts, column, m=min(SAMPLE, parts.n), seed=STATISTICS_SEED)
    read = settings.read.model_copy(update={"min_table_rows": 0})  # the sample has fewer rows than the table
    dataset = from_file(parts.table(sampled.frame), parts.where, read, keys=settings.keys)
    if not by and dataset.target is not None and dataset.target.name != name:
        return None
    dataset = without_order_columns(dataset, settings.read.keep)
    check_column_settings(dataset, settings)
    found = _by_value(dataset, sampled, settings) if by else _folds(dataset, sampled, parts.n, settings)
    if found is None or not _plain(dataset):
        return None
    rows = LabelledRows(parts, sampled, column, found.label_of, len(found.sizes))
    return _report(dataset, rows, found, settings, progress)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The pieces of the whole table, and of the sample."""

    cut: Cut
    """Of the sample."""
    label_of: LabelOf
    sizes: tuple[int, ...]
    """Rows of each piece of the whole table."""
    unseen: int = 0
    """Rows whose value no sampled row has."""


def _can_be_cut(settings: AuditSettings) -> bool:
    """True if the piece of a row follows from its number, its class or its value alone."""
    cutting = settings.cut
    asked = (cutting.batches, cutting.time, cutting.group, settings.clients.clients, settings.gamma)
    other_format = settings.read.format not in (None, "parquet")
    if any(each is not None for each in asked) or cutting.shuffle or settings.other_files or other_format:
        return False
    blocks = settings.block != "auto" and settings.block > 1
    return not blocks and settings.reference != "previous" and cutting.splitter in (None, "kfold", "stratified")


def _target_name(parts: ParquetParts, settings: AuditSettings) -> str | None:
    read = settings.read
    if read.target is None and not read.no_target and parts.target is not None:
        return parts.target
    asked = (*settings.keys, *read.drop, read.target)
    picked = pick(
        [each for each in parts.names if each != FILE or FILE in asked], read, keys=settings.keys, where=parts.where
    )
    return None if picked is None else picked[0]


def _plain(dataset: Dataset) -> bool:
    """True if a value's code follows from the value alone: no exact values, words among numbers, or two precisions."""
    parts = (*dataset.columns, *(() if dataset.target is None else (dataset.target,)))
    if any(part.exact is not None or part.absent is not None for part in parts):
        return False
    settled = at_common_precision(dataset)
    same = all(a.values is b.values for a, b in zip(dataset.columns, settled.columns, strict=True))
    targets = dataset.target, settled.target
    return same and (targets[0] is None or targets[1] is None or targets[0].values is targets[1].values)


def _folds(dataset: Dataset, sampled: Sampled, n: int, settings: AuditSettings) -> _Pieces | None:
    """Unshuffled folds, balanced over classes where there are some."""
    k, target = settings.cut.folds or DEFAULT_FOLDS, dataset.target
    classes = target is not None and target.kind == "classes"
    splitter = settings.cut.splitter or ("stratified" if classes else "kfold")
    strata, ends = None, None
    if splitter == "kfold":
        sizes = tuple(n // k + (i < n % k) for i in range(k))

        words = f"{k} folds, unshuffled"
    else:
        values = sampled.spelled
        if target is None or not classes or values is None or not set(target.levels) <= set(values.code):
            return None
        ends = fold_ends(values.count, k)
        sizes = tuple(int(each) for each in np.diff(ends, axis=1, prepend=0).sum(0))
        strata, words = class_codes(target), f"{k} stratified folds, unshuffled"

    def label_of(rows: Ints, codes: Ints, ranks: Ints) -> Ints:
        return folds_of_rows(rows, n, k) if ends is None else folds_of_classes(codes, ranks, ends)

    labels = label_of(sampled.rows, sampled.codes, sampled.ranks)
    fragments = tuple(Fragment("fold", f"fold {i + 1}", np.flatnonzero(labels == i)) for i in range(k))
    made = Cut(
        fragments, words, ordered=False, contiguous=False, units=None, strata=strata,
        unassigned=np.empty(0, np.int64), settings=settings.cut,
    )  # fmt: skip
    return _Pieces(made, label_of, sizes) if _large_enough(made) else None


def _by_value(dataset: Dataset, sampled: Sampled, settings: AuditSettings) -> _Pieces | None:
    """One piece for each value of a column."""
    values = sampled.spelled
    if values is None:
        return None
    made = cut(dataset, settings.cut, seed=settings.seed)
    labels = np.full(dataset.n, OUTSIDE, np.int64)
    for i, fragment in enumerate(made.fragments):
        labels[fragment.rows] = i
    of_code = np.full(len(values.code), UNKNOWN, np.int64)
    of_code[sampled.codes] = labels
    if not np.array_equal(of_code[sampled.codes], labels) or not _large_enough(made):
        return None

    def label_of(_: Ints, codes: Ints, __: Ints) -> Ints:
        found: Ints = of_code[codes]
        return found

    rows = np.asarray(values.count, np.int64)
    sizes = tuple(int(rows[of_code == i].sum()) for i in range(len(made.fragments)))
    return _Pieces(made, label_of, sizes, int(rows[of_code == UNKNOWN].sum()))


def _large_enough(made: Cut) -> bool:
    """True if the sample holds enough rows of every piece for a verdict."""
    return all(len(fragment.rows) >= N_MIN for fragment in made.fragments)


def _report(
    dataset: Dataset, every: LabelledRows, found: _Pieces, settings: AuditSettings, progress: Callable[[str], None]
) -> AuditReport:
    """Test the pieces, and report them at the size of the whole table."""
    parts = every.parts
    pieces = cut_data(dataset, settings, progress, with_table=False, splits=found.cut)
    compared = compared_rows(pieces.dataset, pieces.cut, None)
    design = build_design(pieces.dataset, pieces.cut, settings, None, compared=compared, findings=pieces.findings)
    compared, order = canonical(compared, design.labels, design.scheme.units)
    sized = tuple(
        replace(piece, rows=rows, first_row=None) for piece, rows in zip(design.pieces, found.sizes, strict=True)
    )
    design = replace(design.reordered(order), pieces=sized)
    missing: dict[str, int] = {}
    of_classes: list[Finding] = []

    def whole(inputs: TestInputs, rows: Dataset, of: Design) -> WholeCounts:
        progress(f"counting {parts.n:,} rows")
        table = second_pass(every, inputs, rows, settings.read)
        coded = (*inputs.columns, *(() if inputs.target is None else (inputs.target,)))
        missing.update({each.name: int(table[each.name][:, -1].sum()) for each in coded})
        if rows.target is not None and rows.target.kind == "classes":
            of_classes.extend(class_findings(table[rows.target.name][:, :-1], rows.target, pieces.cut))
        return _whole(table, found.sizes, rows, of, settings.seed)

    rows = ComparedRows(compared, pieces.inputs, whole=whole)
    tests = run_piece_tests(rows, design, settings, progress)
    tests = attribute(tests, rows, design, settings, progress)
    others = [each for each in pieces.findings if each.code not in _OF_CLASSES]
    told = replace(pieces, findings=(_note(parts, dataset, found), *others, *of_classes))
    report = audit_report(told, design, tests, settings, None)
    share = parts.n / dataset.n
    columns = tuple(
        replace(each, missing=missing.get(each.name, round(each.missing * share))) for each in report.data.columns
    )
    null = replace(report.null, kind="permutation-subsampled")
    return replace(report, data=replace(report.data, rows=parts.n, columns=columns), null=null)


def _whole(table: dict[str, Ints], sizes: tuple[int, ...], rows: Dataset, design: Design, seed: int) -> WholeCounts:
    """Counts of the whole table, with its rows by label and stratum."""
    strata = design.scheme.strata
    if strata is None or rows.target is None:
        return WholeCounts(table, np.asarray(sizes, np.int64)[:, None], np.zeros(rows.n, np.int64), seed)
    ids, first, place = np.unique(strata, return_index=True, return_inverse=True)
    codes = rows.target.values[first].astype(np.int64)
    of_target = table[rows.target.name]
    by_stratum = np.stack([of_target[:, code] for code in codes], 1)  # the code of a missing label, -1, is the last one
    assert len(ids) == by_stratum.shape[1]  # noqa: S101
    return WholeCounts(table, by_stratum, place.reshape(-1).astype(np.int64), seed)


def _note(parts: ParquetParts, dataset: Dataset, found: _Pieces) -> Finding:
    """A note on what was counted in all rows and what in the sample, and how far off each can be."""
    smallest = min(len(fragment.rows) for fragment in found.cut.fragments)
    off = math.sqrt(math.log(2 / 0.05) / (2 * smallest))
    unseen = ""
    if found.unseen:
        unseen = f"; {counted_in_words(found.unseen, 'row')} with a value that no sampled row has are in no piece"
    counts = (
        f"{parts.n:,} rows were read in parts: columns are tested by the counts of all rows, numbers at {THRESHOLDS} "
        f"places, so that a KS distance is at most {1 / THRESHOLDS:.4f} too small"
    )
    by_sample = (
        f"kinds of columns, joint distribution, model and remarks on rows by a random sample of {dataset.n:,} rows, in "
        f"which a share of the smallest piece is off by at most {off:.3f} (95 %)"
    )
    not_done = "; neighbouring rows were not compared"
    return Finding("read-in-parts", "note", f"{counts}; {by_sample}{not_done}{unseen}")
