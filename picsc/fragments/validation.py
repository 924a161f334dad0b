"""Checks of a cut, before any result is computed from it.

They concern classes, rows, groups and times, and change nothing. Letters: n rows, c classes, k pieces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.look_alikes import look_alikes
from picsc.datasets.table import Dataset, Target
from picsc.fragments.autocorrelation import neighbours_alike
from picsc.fragments.duplicates import conflicting_labels, duplicates_across
from picsc.fragments.keys import group_codes, times_of
from picsc.fragments.pieces import Cut
from picsc.fragments.repeated_ids import repeated_ids
from picsc.fragments.row_order import in_order, piece_of_row
from picsc.phrases import counted, listed, share
from picsc.reports.common import Finding

FEW_ROWS = 20
"""Pieces with fewer rows than this give little evidence."""


def validate(dataset: Dataset, cut: Cut) -> tuple[Finding, ...]:
    """Findings on problems and peculiarities of a cut.

    They concern empty, small and one-class pieces, rare classes, duplicated rows and groups across pieces, order in
    time, and neighbouring rows that depend on each other.

    Args:
        dataset: the table.
        cut: its pieces.

    Returns:
        Findings in a fixed order, each code at most once per column; empty if there are none.
    """
    piece = piece_of_row(dataset.n, cut)
    findings = [*cut.findings, *_sizes(cut)]
    by_class = _classes(dataset, cut, piece)
    findings += by_class
    findings += duplicates_across(dataset, piece, [fragment.name for fragment in cut.fragments])
    findings += conflicting_labels(dataset)
    findings += look_alikes(dataset)
    findings += repeated_ids(dataset, cut)
    findings += _groups(dataset, cut, piece)
    findings += _order_of_time(dataset, cut)
    # Rows that are sorted by class resemble their neighbours for that reason, and blocks would not help.
    if (cut.contiguous or cut.whole) and not any(finding.code == "rows-sorted-by-class" for finding in by_class):
        order = in_order(dataset, cut, piece)
        findings += neighbours_alike(dataset.columns, order, piece, cut.strata, alone=cut.whole)
    return tuple(findings)


def _sizes(cut: Cut) -> Iterable[Finding]:
    empty = tuple(fragment.name for fragment in cut.fragments if len(fragment.rows) == 0)
    if empty:
        yield Finding(
            "empty-piece",
            "error",
            f"{counted(len(empty), 'piece')} without rows: {listed(empty)}",
            "cut the table into fewer pieces",
            empty,
        )
    few = [fragment for fragment in cut.fragments if 0 < len(fragment.rows) < FEW_ROWS]
    if few:
        names = [f"{fragment.name} ({len(fragment.rows)})" for fragment in few]
        yield Finding(
            "sizes",
            "note",
            f"{len(few)} of {counted(len(cut.fragments), 'piece')} below {FEW_ROWS} rows: {listed(names)}",
            "only large shifts can be seen in so few rows; " + ("add rows" if cut.whole else "fewer pieces see more"),
            tuple(fragment.name for fragment in few),
        )


def _classes(dataset: Dataset, cut: Cut, piece: NDArray[np.int64]) -> list[Finding]:
    """Findings on the distribution of classes over pieces."""
    target = dataset.target
    if target is None or target.kind != "classes":
        return []
    k, c = len(cut.fragments), len(target.levels)
    labelled = (piece >= 0) & ~target.missing
    codes = target.values.astype(np.int64)
    table = np.bincount(piece[labelled] * c + codes[labelled], minlength=k * c).reshape(k, c)
    order = in_order(dataset, cut, piece)
    in_runs = cut.contiguous and cut.strata is None and _one_run_each(codes[order][~target.missing[order]])
    return class_findings(table, target, cut, in_runs=in_runs)


def class_findings(table: NDArray[np.int64], target: Target, cut: Cut, *, in_runs: bool = False) -> list[Finding]:
    """Findings on the distribution of classes over pieces.

    Args:
        table: (k, c) labelled rows by piece and class.
        target: of classes.
        cut: the pieces.
        in_runs: the rows of every class are consecutive.
    """
    present = np.flatnonzero(table.sum(axis=0))
    if len(present) < 2:
        return []
    table = table[:, present]
    names = [target.levels[code] for code in present]
    pieces = [fragment.name for fragment in cut.fragments]
    rare = _rare_classes(table, names, target)
    if in_runs:
        return [_sorted_by_class(table, cut, pieces), *rare]
    advice = _way_to_classes(cut)
    return [*_one_class(table, names, pieces, advice), *_missing_classes(table, names, pieces, advice), *rare]


def _way_to_classes(cut: Cut) -> str:
    """Advice for pieces that lack classes."""
    if not all(fragment.kind == "fold" for fragment in cut.fragments) or cut.strata is not None:
        return "a model cannot be evaluated there on the classes that the piece lacks"
    if cut.settings.splitter == "group":
        return "deal whole groups out by class (--splitter stratified-group), or cut fewer folds"
    if cut.settings.splitter == "stratified-group":
        return "whole groups go no more evenly: cut fewer folds, or add groups that have these classes"
    return "stratify (--splitter stratified)"


def _one_run_each(codes: NDArray[np.int64]) -> bool:
    """True if the rows of every class are consecutive, which shuffled rows would be less than once in 1000 times."""
    count = np.bincount(codes)
    count = count[count > 0]
    if np.count_nonzero(np.diff(codes)) != len(count) - 1:
        return False
    chance = math.lgamma(len(count) + 1) - math.lgamma(len(codes) + 1) + sum(math.lgamma(size + 1) for size in count)
    return chance < math.log(1e-3)


def _sorted_by_class(table: NDArray[np.int64], cut: Cut, pieces: Sequence[str]) -> Finding:
    single = np.flatnonzero((table > 0).sum(axis=1) == 1).tolist()
    lacking = np.flatnonzero((table == 0).any(axis=1)).tolist()
    if cut.settings.time is not None:
        where, advice = "in order of time the classes come one after the other", "cut folds instead (--folds)"
    elif cut.settings.batches is not None:
        where, advice = "rows are sorted by class", "cut stratified folds instead (--folds)"
    else:
        where, advice = "rows are sorted by class", "shuffle (--shuffle) or stratify (--splitter stratified)"
    message = f"{where}: {len(single)} of {len(pieces)} pieces hold one class only, {len(lacking)} lack a class"
    return Finding("rows-sorted-by-class", "error", message, advice, tuple(pieces[i] for i in lacking))


def _one_class(table: NDArray[np.int64], names: Sequence[str], pieces: Sequence[str], advice: str) -> Iterable[Finding]:
    single = np.flatnonzero((table > 0).sum(axis=1) == 1).tolist()
    if len(single):
        held = [f"{pieces[i]} (class {names[int(table[i].argmax())]!r}, {table[i].max()} rows)" for i in single]
        yield Finding(
            "one-class-piece",
            "warning",
            f"{len(single)} of {counted(len(pieces), 'piece')} hold one class only: {listed(held)}",
            advice,
            tuple(pieces[i] for i in single),
        )


def _missing_classes(
    table: NDArray[np.int64], names: Sequence[str], pieces: Sequence[str], advice: str
) -> Iterable[Finding]:
    """A finding on classes that are missing from pieces although they have enough rows for all."""
    k = len(pieces)
    enough = table.sum(axis=0) >= k
    absent = (table == 0) & enough
    if absent.any():
        classes = [
            f"class {names[j]!r} ({counted(int(table[:, j].sum()), 'row')}) from {absent[:, j].sum()}"
            for j in np.flatnonzero(absent.any(axis=0)).tolist()
        ]
        yield Finding(
            "class-missing-from-pieces",
            "warning",
            f"missing from some of {k} pieces, which is a label shift: {listed(classes)}",
            advice,
            tuple(pieces[i] for i in np.flatnonzero(absent.any(axis=1)).tolist()),
        )


def _rare_classes(table: NDArray[np.int64], names: Sequence[str], target: Target) -> list[Finding]:
    k, count = len(table), table.sum(axis=0)
    rare = np.flatnonzero(count < k).tolist()
    if len(rare) == 0:
        return []
    classes = [f"{names[j]!r} ({counted(int(count[j]), 'row')})" for j in rare]
    message = f"{len(rare)} of {len(names)} classes of {target.name!r} have fewer rows than the {k} pieces: "
    advice = "they cannot be in every piece; merge or leave out these classes, or cut fewer pieces"
    return [Finding("rare-class", "warning", message + listed(classes), advice)]


def _groups(dataset: Dataset, cut: Cut, piece: NDArray[np.int64]) -> Iterable[Finding]:
    """A finding on groups of --group that lie in more than one piece."""
    column = cut.settings.group
    if column is None:
        return
    group = group_codes(dataset, column, cut.settings.group_missing)
    inside = (piece >= 0) & (group >= 0)
    groups = int(group.max(initial=-1)) + 1
    k = len(cut.fragments)
    lowest, highest = np.full(groups, k), np.full(groups, -1)
    np.minimum.at(lowest, group[inside], piece[inside])
    np.maximum.at(highest, group[inside], piece[inside])
    crossing = lowest < highest
    if crossing.any():
        rows = inside & crossing[np.where(inside, group, 0)]
        yield Finding(
            "group-across-pieces",
            "warning",
            f"{crossing.sum()} of {counted(groups, 'group')} of {column!r} lie in more than one piece "
            f"({share(int(rows.sum()), dataset.n)} rows)",
            f"keep groups together: --folds {k} --splitter group --group {column}",
            tuple(cut.fragments[i].name for i in np.unique(piece[rows])),
        )


def _order_of_time(dataset: Dataset, cut: Cut) -> Iterable[Finding]:
    """Findings on sequences of pieces that are not in order of time, and on folds that ignore time."""
    times = _times(dataset, cut)
    if cut.ordered:
        for column, values in times.items():
            yield from _overlaps(column, values, cut)
    elif times and all(fragment.kind == "fold" for fragment in cut.fragments):
        columns = ", ".join(repr(column) for column in times)
        yield Finding(
            "folds-mix-time",
            "note",
            f"the table has dates ({columns}), and folds mix earlier with later rows",
            f"--time {next(iter(times))} cuts in order of time",
        )


def _times(dataset: Dataset, cut: Cut) -> dict[str, NDArray[Any]]:
    """The columns of times; for pieces of time only their own column."""
    if cut.settings.time is not None:
        return {cut.settings.time: times_of(dataset, cut.settings.time)}
    times: dict[str, NDArray[Any]] = {name: values for name, values in dataset.keys.items() if values.dtype.kind == "M"}
    dates = {column.name for column in dataset.left_out if column.kind == "datetime"}
    times |= {name: values for name, values in dataset.times.items() if values.dtype.kind == "M" or name in dates}
    for column in dataset.columns:
        if column.kind == "datetime" and column.name not in times:
            times[column.name] = column.values
    return times


def _overlaps(column: str, values: NDArray[Any], cut: Cut) -> Iterable[Finding]:
    """Findings on rows with a time before, or equal to, the latest time of the piece before theirs."""
    early: dict[str, int] = {}
    tied: dict[str, int] = {}
    later = 0
    missing = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    timed = [fragment.rows[~missing[fragment.rows]] for fragment in cut.fragments]
    for before, now, fragment in zip(timed, timed[1:], cut.fragments[1:], strict=False):
        if len(before) and len(now):
            latest, times = values[before].max(), values[now]
            early[fragment.name], tied[fragment.name] = int((times < latest).sum()), int((times == latest).sum())
            later += len(now)
    earlier, ties = sum(early.values()), sum(tied.values())
    if earlier:
        names = tuple(name for name, count in early.items() if count)
        mixed = 2 * earlier > later
        yield Finding(
            "time-overlap",
            "note" if mixed else "warning",
            f"{share(earlier, later)} rows have a {column!r} before the latest one of the piece before theirs: "
            + listed([f"{name} ({early[name]})" for name in names]),
            f"if {column} says when a row came, cut with --time {column}",
            names,
        )
    if ties:
        names = tuple(name for name, count in tied.items() if count)
        yield Finding(
            "time-ties",
            "note",
            f"{share(ties, later)} rows have a {column!r} equal to the latest one of the piece before theirs, "
            f"which is no overlap: {listed([f'{name} ({tied[name]})' for name in names])}",
            f"--time {column} keeps equal times in one piece",
            names,
        )
