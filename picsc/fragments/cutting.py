"""Cuts of a table into pieces: folds, contiguous batches, one piece per value of a column, or pieces of time.

A piece is a set of row numbers, never a copy of rows. Folds come from scikit-learn's splitters, so they are the folds
of a user's own cross-validation; DOB-SCV and MS-SCV, which depend on the columns, are implemented here.

Letters: n rows, k pieces.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from picsc.datasets.encoding import encode
from picsc.datasets.table import Dataset, Target
from picsc.errors import DataError, SettingsError
from picsc.fragments.dob_scv import balanced_folds, shifted_folds
from picsc.fragments.groups import batches_of_groups, groups_of
from picsc.fragments.keys import distinct, key, sorted_ranks, spelled, times_of
from picsc.fragments.pieces import Cut, Fragment, in_no_piece
from picsc.fragments.split_column import class_codes, of_split_column
from picsc.fragments.timeline import cut_times
from picsc.phrases import share
from picsc.reports.common import Finding
from picsc.settings import CutSettings, Splitter

DEFAULT_FOLDS = 10
"""Number of folds if the settings name no way to cut."""
_BY_DISTANCE = {"dob-scv": (balanced_folds, "DOB-SCV"), "ms-scv": (shifted_folds, "MS-SCV")}
"""Splitters that depend on the columns, with their names for reports."""
_MADE_TO_DIFFER = (
    Finding(
        "made-to-differ",
        "note",
        "MS-SCV makes folds differ as much as it can: a shift between them says nothing about the table",
        "score models on --splitter stratified or dob-scv",
    ),
)
MOST_PIECES = 1000
"""A column with more values than this is an identifier rather than a way to cut."""


def cut(dataset: Dataset, settings: CutSettings, *, seed: int) -> Cut:
    """Cut a table as the settings say; without folds, batches, by or time into 10 folds.

    Source: "Notation and the fragment sequence": batches and folds are F_i with an order, clients without.
    Reading: folds have no order here. A class with fewer rows than folds is kept and named by `validate`; the
        requested number of folds is never lowered. Rows without a label are a stratum of their own.

    Args:
        dataset: the table; `keys` holds the columns that the settings name.
        settings: the way to cut.
        seed: seed of the only random draw, the shuffle before folds; without `settings.shuffle` it has no effect.
            DOB-SCV and MS-SCV always draw, with or without a shuffle.

    Returns:
        Disjoint, non-empty pieces that cover every row but the unassigned ones.

    Raises:
        SettingsError: the splitter does not go with the target or the columns, or `every` cannot be read.
        DataError: the table cannot be cut this way; the message says what would work.
    """
    groups = groups_of(dataset, settings)
    if settings.batches is not None:
        return _batches(dataset.n, settings.batches, settings, groups)
    if settings.by is not None:
        return _by(dataset, settings.by, settings)
    if settings.split_column is not None:
        made = _by(dataset, settings.split_column, settings)
        return of_split_column(made, settings.split_column, dataset.target)
    if settings.time is not None:
        return _time(dataset, settings.time, settings)
    return _folds(dataset, settings.folds or DEFAULT_FOLDS, settings, seed, groups)


def uncut(dataset: Dataset, settings: CutSettings) -> Cut:
    """All rows as one piece, for a comparison with another table.

    Args:
        dataset: the table.
        settings: the settings of the cut; they ask for no more than one piece.
    """
    return Cut(
        fragments=(Fragment("whole", "all rows", np.arange(dataset.n, dtype=np.int64)),),
        words="all rows as one piece",
        ordered=False,
        contiguous=False,
        units=None,
        strata=None,
        unassigned=np.empty(0, dtype=np.int64),
        settings=settings,
    )


def _folds(dataset: Dataset, k: int, settings: CutSettings, seed: int, groups: NDArray[np.int64] | None) -> Cut:
    n, target = dataset.n, dataset.target
    _check_count(n, k, "folds")
    splitter = settings.splitter or _default_splitter(target, settings)
    state = seed if settings.shuffle else None
    shuffled = "shuffled" if settings.shuffle else "unshuffled"
    strata = units = None
    findings: tuple[Finding, ...] = ()
    if splitter in _BY_DISTANCE:
        dealt, named = _BY_DISTANCE[splitter]
        strata = _strata(target, k, splitter, named)
        if not dataset.columns:
            problem = f"--splitter {splitter}: {dataset.name} has no columns to measure distances on"
            raise SettingsError(f"{problem}; use --splitter stratified")
        words = f"{k} {named} folds"
        pieces = _rows_of_codes(dealt(strata, encode(dataset).matrix, k, seed=seed), k)
        findings = _MADE_TO_DIFFER if splitter == "ms-scv" else ()
    elif splitter == "stratified":
        strata = _strata(target, k, splitter, "stratified")
        words = f"{k} stratified folds, {shuffled}"
        pieces = _parts(StratifiedKFold(k, shuffle=settings.shuffle, random_state=state), n, y=strata)
    elif splitter in ("group", "stratified-group") and settings.group is not None and groups is not None:
        units = groups
        count = int(units.max()) + 1
        _check_groups(count, k, settings.group, "folds")
        words = f"{k} folds of whole groups of {settings.group}, {shuffled}"
        if splitter == "stratified-group":
            words = f"{k} stratified folds of whole groups of {settings.group}, {shuffled}"
            classes = _strata(target, k, splitter, "stratified")
            dealer = StratifiedGroupKFold(k, shuffle=settings.shuffle, random_state=state)
            pieces = _parts(dealer, n, y=classes, groups=units)
            _refuse_empty(pieces, settings.group)
        elif settings.shuffle:  # GroupKFold can shuffle since scikit-learn 1.6; the result is KFold over the groups
            owners = _parts(KFold(k, shuffle=True, random_state=state), count)
            pieces = [np.flatnonzero(np.isin(units, owner)) for owner in owners]
        else:
            pieces = _parts(GroupKFold(k), n, groups=units)
    else:
        words = f"{k} folds, {shuffled}"
        pieces = _parts(KFold(k, shuffle=settings.shuffle, random_state=state), n)
    return Cut(
        fragments=tuple(Fragment("fold", f"fold {i}", rows) for i, rows in enumerate(pieces, start=1)),
        words=words,
        ordered=False,
        contiguous=not settings.shuffle and units is None and splitter not in _BY_DISTANCE,
        units=units,
        strata=strata,
        unassigned=np.empty(0, dtype=np.int64),
        settings=settings.model_copy(update={"splitter": splitter}) if settings.group is not None else settings,
        findings=findings,
    )


def _default_splitter(target: Target | None, settings: CutSettings) -> Splitter:
    """The splitter of folds where none is named: balanced over classes where there are some, and of whole groups."""
    if target is not None and target.kind == "classes":
        return "stratified" if settings.group is None else "stratified-group"
    return "kfold" if settings.group is None else "group"


def _batches(n: int, k: int, settings: CutSettings, groups: NDArray[np.int64] | None) -> Cut:
    _check_count(n, k, "batches")
    words, contiguous = f"{k} batches in row order", True
    pieces = np.array_split(np.arange(n, dtype=np.int64), k)
    if groups is not None and settings.group is not None:
        _check_groups(int(groups.max()) + 1, k, settings.group, "batches")
        pieces = _rows_of_codes(batches_of_groups(groups, k), k)
        words = f"{k} batches of whole groups of {settings.group}, in the order of the groups' first rows"
        contiguous = all(len(rows) == rows[-1] - rows[0] + 1 for rows in pieces)
    return Cut(
        fragments=tuple(Fragment("batch", f"batch {i}", rows) for i, rows in enumerate(pieces, start=1)),
        words=words,
        ordered=True,
        contiguous=contiguous,
        units=groups,
        strata=None,
        unassigned=np.empty(0, dtype=np.int64),
        settings=settings,
    )


def _by(dataset: Dataset, column: str, settings: CutSettings) -> Cut:
    codes, values = distinct(key(dataset, column))
    rank = sorted_ranks(values)
    codes = np.append(rank, -1)[codes]  # code -1 indexes the last entry
    values = [values[i] for i in np.argsort(rank)]
    names = [spelled(value) for value in values]
    gone = codes < 0
    if settings.group_missing == "together" and gone.any():
        codes[gone] = len(names)
        names.append("(missing)" if "(missing)" not in names else "(no value)")
        gone = codes < 0
    if len(names) > MOST_PIECES:
        raise DataError(
            f"{dataset.name}: column {column!r} has {len(names)} different values, more than the {MOST_PIECES} "
            f"pieces picsc makes; choose a column with fewer values for {_flag(settings)}"
        )
    if len(names) < 2:
        held = f"only the value {names[0]!r}" if names else "no value"
        raise DataError(
            f"{dataset.name}: column {column!r} holds {held} in {dataset.n} rows, so there is nothing to compare; "
            f"choose another column for {_flag(settings)}"
        )
    pieces = _rows_of_codes(codes, len(names))
    left = (f"column {column!r} has no value there", "fill them in, or --group-missing together makes them a piece")
    return Cut(
        fragments=tuple(Fragment("group", f"{column}={name}", rows) for name, rows in zip(names, pieces, strict=True)),
        words=f"one piece for each of {len(names)} values of {column}",
        ordered=False,
        contiguous=False,
        units=None,
        strata=None,
        unassigned=np.flatnonzero(gone),
        settings=settings,
        findings=(in_no_piece(int(gone.sum()), dataset.n, *left),) if gone.any() else (),
    )


def _flag(settings: CutSettings) -> str:
    """The option that names the column with one piece per value."""
    return "--by" if settings.by is not None else "--split-column"


def _time(dataset: Dataset, column: str, settings: CutSettings) -> Cut:
    parts = cut_times(
        times_of(dataset, column),
        column,
        every=settings.every,
        cuts=settings.cuts,
        gap=settings.gap,
        most=MOST_PIECES,
        table=dataset.name,
    )
    findings = [*parts.findings, *_sorted_here(key(dataset, column), column)]
    if parts.between or parts.missing:
        reasons = [
            *([f"{parts.between} less than {settings.gap} after the end of the piece before"] if parts.between else []),
            *([f"column {column!r} has no value {_there(parts.missing, parts.between)}"] if parts.missing else []),
        ]
        advice = "fill in the missing values if these rows should count" if parts.missing else ""
        findings.append(in_no_piece(parts.between + parts.missing, dataset.n, ", ".join(reasons), advice))
    pieces = _rows_of_codes(parts.codes, len(parts.names))
    return Cut(
        fragments=tuple(Fragment("time", name, rows) for name, rows in zip(parts.names, pieces, strict=True)),
        words=parts.words,
        ordered=True,
        contiguous=True,
        units=None,
        strata=None,
        unassigned=np.flatnonzero(parts.codes < 0),
        settings=settings,
        findings=tuple(findings),
    )


def _sorted_here(times: NDArray[Any], column: str) -> list[Finding]:
    """A note that rows were ordered by time, where the table has them in another order."""
    timed = times[~pd.isna(times)]
    back = int((timed[1:] < timed[:-1]).sum())
    if not back:
        return []
    message = f"rows were ordered by {column!r}: {share(back, len(timed))} stand after a later one in the table"
    return [Finding("rows-ordered", "note", message)]


def _there(missing: int, between: int) -> str:
    return f"in {missing}" if between else "there"


def _check_count(n: int, k: int, what: str) -> None:
    if not 2 <= k <= n:
        bound = f"need 2 <= k <= {n}" if n >= 2 else "need at least 2 rows"
        raise DataError(f"cannot cut {n} row{'' if n == 1 else 's'} into {k} {what}: {bound}; choose --{what}")


def _check_groups(groups: int, k: int, column: str, what: str) -> None:
    if groups >= k:
        return
    if groups < 2:
        raise DataError(
            f"{groups} group < {k} {what}: column {column!r} puts all rows into one group; choose another --group"
        )
    raise DataError(
        f"{groups} groups < {k} {what}: column {column!r} has too few groups for {what} of whole groups; use "
        f"--by {column} (one piece per group) or --{what} {groups} at most"
    )


def _strata(target: Target | None, k: int, splitter: str, named: str) -> NDArray[np.int64]:
    """Class codes, with rows without a label as one more class, after a check that some class reaches k rows."""
    if target is None or target.kind != "classes":
        held = "the table has no target" if target is None else f"target {target.name!r} holds numbers"
        raise SettingsError(f"--splitter {splitter} needs classes, but {held}; use --splitter kfold")
    codes = class_codes(target)
    largest = int(np.bincount(codes).max())
    if largest < k:
        fewer = f"--folds {largest} or fewer, " if largest >= 2 else ""
        raise DataError(
            f"cannot cut {len(codes)} rows into {k} {named} folds: the largest class of {target.name!r} has "
            f"{largest} row{'' if largest == 1 else 's'}; use {fewer}--splitter kfold --shuffle, or merge classes"
        )
    return codes


def _refuse_empty(pieces: list[NDArray[np.int64]], column: str) -> None:
    """Refuse empty folds, which scikit-learn may make if one group holds nearly all rows."""
    empty = [i for i, rows in enumerate(pieces, start=1) if not len(rows)]
    if empty:
        raise DataError(
            f"stratified folds of whole groups leave fold {empty[0]} of {len(pieces)} folds without rows: the groups "
            f"of {column!r} are too unequal; use --splitter group, which balances sizes alone, or fewer --folds"
        )


def _parts(
    splitter: KFold | StratifiedGroupKFold,
    n: int,
    *,
    y: NDArray[np.int64] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> list[NDArray[np.int64]]:
    """The test rows of each split of a scikit-learn splitter, increasing."""
    with warnings.catch_warnings():
        # Both warnings concern rare classes, which `validate` reports with names and counts.
        for message in ("The least populated class in y has only", "The number of unique classes is greater than"):
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        return [np.sort(test).astype(np.int64) for _, test in splitter.split(np.zeros(n), y, groups)]


def _rows_of_codes(codes: NDArray[np.int64], k: int) -> list[NDArray[np.int64]]:
    """Rows of each code 0..k-1, increasing; rows with a negative code belong to no piece."""
    order = np.argsort(codes, kind="stable").astype(np.int64)
    edges = np.searchsorted(codes[order], np.arange(k + 1))
    return [order[start:stop] for start, stop in pairwise(edges)]
