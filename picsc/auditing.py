"""The verb `audit`: cut one table, test every piece, say whether it shifted and why."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from picsc.advice import summary
from picsc.audit_table import audit_table
from picsc.column_notes import column_notes
from picsc.datasets.load import from_arrays, from_frame, load
from picsc.datasets.rows import stack, take
from picsc.errors import DataError, SettingsError
from picsc.fragments import Cut, cut, validate
from picsc.nulls import Contrast, Exchange, Ints, blocks
from picsc.reports import AuditReport, ColumnInfo, DataInfo, Finding, NullInfo, Verdict
from picsc.settings import AuditSettings, CutSettings, ReadSettings, Splitter, Task, validated
from picsc.shift_test import shift_test
from picsc.threads import one_thread
from picsc.verdict import Piece, Rule, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from picsc.datasets.table import Dataset
    from picsc.fragments import Fragment

REFERENCES = ("rest", "previous", "first")
MOST_SETTLED = 10_000_000
"""Most (draw, piece) pairs that are drawn; beyond, ask for fewer draws or pieces."""


def audit(
    data: pd.DataFrame | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    target: str | None = None,
    no_target: bool = False,
    task: Task = "auto",
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    drop: Sequence[str] = (),
    folds: int | None = None,
    batches: int | None = None,
    by: str | None = None,
    time: str | None = None,
    every: str | None = None,
    cuts: int | None = None,
    group: str | None = None,
    splitter: Splitter | None = None,
    shuffle: bool = False,
    reference: str | pd.DataFrame | None = None,
    level: float = 0.05,
    min_effect: float = 0.05,
    gamma: float | None = None,
    draws: int = 999,
    block: int = 1,
    seed: int = 0,
    jobs: int = 1,
) -> AuditReport:
    """Cut one table into pieces and say of each whether it is shifted: did the data move, and does the model care?

    Args:
        data: a DataFrame, the path of a file, or an array of shape (n, f).
        y: labels of shape (n,), when `data` is an array.
        target: column to predict; by default one named target, label, class or y, else the last one.
        no_target: there is no target; only the data question is asked.
        task: whether the target holds classes or numbers.
        categorical: columns to treat as categorical.
        numeric: columns to treat as numeric.
        drop: columns to leave out.
        folds: number of folds; 10 when no way to cut is given.
        batches: number of contiguous batches.
        by: column with one piece per value.
        time: column to order and cut by.
        every: length of a time piece, such as `30d`.
        cuts: number of time pieces.
        group: column whose values stay in one fold.
        splitter: kfold, stratified or group.
        shuffle: shuffle rows before cutting folds.
        reference: rest, previous, first, the path of a file, or a DataFrame.
        level: family-wise error rate.
        min_effect: smallest effect worth a verdict, see `picsc.verdict`.
        gamma: raw threshold of Eq. 14's tau instead of the calibrated test.
        draws: permutations.
        block: rows that move together in the null.
        seed: same seed, same report.
        jobs: cores; never changes a number.

    Returns:
        The report that `picsc audit` prints.

    Raises:
        PicscError: the settings or the data cannot be used; the message says what to do.
    """
    read = validated(
        ReadSettings,
        target=target,
        no_target=no_target,
        task=task,
        categorical=tuple(categorical),
        numeric=tuple(numeric),
        drop=tuple(drop),
    )
    settings = validated(
        AuditSettings,
        read=read,
        cut=validated(
            CutSettings,
            folds=folds,
            batches=batches,
            by=by,
            time=time,
            every=every,
            cuts=cuts,
            group=group,
            splitter=splitter,
            shuffle=shuffle,
        ),
        reference="file" if not isinstance(reference, str | None) else reference,
        level=level,
        min_effect=min_effect,
        gamma=gamma,
        draws=draws,
        block=block,
        seed=seed,
        jobs=jobs,
    )
    keys = tuple(key for key in (by, time, group) if key is not None)
    if isinstance(reference, str) and reference not in REFERENCES:
        other = load(reference, read)
    elif reference is None or isinstance(reference, str):
        other = None
    else:
        other = from_frame(reference, read, name="reference")
    return audit_dataset(_dataset(data, y, read, keys), settings, reference=other)


def _dataset(
    data: pd.DataFrame | ArrayLike | str | Path, y: ArrayLike | None, read: ReadSettings, keys: tuple[str, ...]
) -> Dataset:
    if isinstance(data, str | Path):
        return load(data, read, keys=keys)
    if isinstance(data, pd.DataFrame):
        if y is not None:
            raise SettingsError("y goes with an array; name the target column of a DataFrame with target=")
        return from_frame(data, read, keys=keys)
    return from_arrays(np.asarray(data), None if y is None else np.asarray(y), read)


def audit_dataset(
    dataset: Dataset,
    settings: AuditSettings,
    *,
    reference: Dataset | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Audit a table that is already read.

    Args:
        dataset: n rows.
        settings: all of the audit's knobs.
        reference: rows that every piece is compared with, instead of other pieces.
        progress: told what is being done, a few words at a time.

    Raises:
        PicscError: the table cannot be cut or tested as asked.
    """
    tell = progress or (lambda _: None)
    tell("cutting")
    pieces = cut(dataset, settings.cut, seed=settings.seed)
    findings = [*_split(dataset, pieces, settings), *_reading(dataset)]
    named = _reference_name(settings, pieces, reference)
    everything, labels = _labelled(dataset, pieces, reference)
    contrast, tested = _contrast(pieces, named, with_file=reference is not None)
    _check_size(len(tested), settings)
    exchange = _exchange(pieces, labels, settings, dataset.n)
    if settings.gamma is not None:
        findings.append(_raw_threshold(settings.gamma))
    tell("training the reference model")
    with one_thread():
        table = audit_table(everything, seed=settings.seed)
        tell(f"testing {len(tested)} pieces")
        test = shift_test(
            table,
            labels,
            contrast,
            exchange,
            level=settings.level,
            draws=settings.draws,
            seed=settings.seed,
            jobs=settings.jobs,
        )
    kinds: dict[str, str] = {column.name: column.kind for column in everything.columns}
    rule = Rule(settings.level, settings.min_effect, settings.gamma, kinds)
    judged = verdicts(_pieces(pieces.fragments, tested, named), test, rule, column_notes(everything, labels, contrast))
    overall: Verdict = (
        "shift"
        if any(fragment.verdict == "shift" for fragment in judged)
        else "inconclusive"
        if all(
            fragment.verdict == "inconclusive"
            for fragment in judged
            if fragment.p_data is not None or not fragment.rows
        )
        else "ok"
    )
    return AuditReport(
        verdict=overall,
        summary=summary(overall, judged, tuple(findings), pieces, named, settings),
        level=settings.level,
        min_effect=settings.min_effect,
        reference=named,
        pieces=pieces.words,
        null=NullInfo(
            kind="permutation" if test.rows_drawn == everything.n else "permutation-subsampled",
            unit=_unit(pieces, settings),
            draws=settings.draws,
            rows=test.rows_drawn,
        ),
        data=_info(dataset),
        findings=tuple(findings),
        fragments=judged,
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=_manifest(dataset, reference, settings),
    )


def _reference_name(settings: AuditSettings, pieces: Cut, reference: Dataset | None) -> str:
    if reference is not None:
        return f"file {reference.name}"
    named = settings.reference or ("previous" if pieces.ordered else "rest")
    if named not in REFERENCES:
        raise SettingsError(f"--reference {named}: must be one of {', '.join(REFERENCES)}, or the path of a file")
    return named


def _labelled(dataset: Dataset, pieces: Cut, reference: Dataset | None) -> tuple[Dataset, Ints]:
    """The rows that take part, and the label of each: the piece's position, or K for the rows of a reference file."""
    labels = np.full(dataset.n, -1, np.int64)
    for i, fragment in enumerate(pieces.fragments):
        labels[fragment.rows] = i
    kept = np.flatnonzero(labels >= 0)
    everything, labels = take(dataset, kept), labels[kept]
    if reference is None:
        return everything, labels
    return stack(everything, reference), np.concatenate([labels, np.full(reference.n, len(pieces.fragments), np.int64)])


def _contrast(pieces: Cut, named: str, *, with_file: bool) -> tuple[Contrast, tuple[int, ...]]:
    """Which pieces are tested against which; a sequence's first piece has no previous one."""
    k = len(pieces.fragments)
    if with_file:
        return Contrast(k + 1, tuple(range(k)), (k,) * k), tuple(range(k))
    if named == "previous":
        return Contrast(k, tuple(range(1, k)), tuple(range(k - 1))), tuple(range(1, k))
    if named == "first":
        return Contrast(k, tuple(range(1, k)), (0,) * (k - 1)), tuple(range(1, k))
    return Contrast(k, tuple(range(k)), "rest"), tuple(range(k))


def _check_size(k: int, settings: AuditSettings) -> None:
    if k == 0:
        raise DataError("one piece only: nothing to compare it with; cut into two or more")
    if k * settings.draws > MOST_SETTLED:
        raise SettingsError(f"{k} pieces x {settings.draws} draws: at most {MOST_SETTLED} in all; lower --draws")


def _exchange(pieces: Cut, labels: Ints, settings: AuditSettings, n: int) -> Exchange:
    """What the null may permute: it repeats the way the pieces were made."""
    kept = np.setdiff1d(np.arange(n), pieces.unassigned)
    extra = len(labels) - len(kept)  # the rows of a reference file are strata and units of their own kind

    def extended(ids: Ints | None) -> Ints | None:
        if ids is None:
            return None
        ids = ids[kept]
        return np.concatenate([ids, ids.max() + 1 + np.arange(extra)]) if extra else ids

    if settings.block > 1:
        return Exchange(units=blocks(labels, settings.block, _stream_order(pieces, kept, len(labels))))
    # a file's rows were never stratified together with the pieces, so only rows may change places with them
    return Exchange(units=extended(pieces.units), strata=None if extra else extended(pieces.strata))


def _stream_order(pieces: Cut, kept: Ints, n: int) -> Ints:
    """Rows piece by piece, then the rest; inside a piece in row order."""
    position = np.full(int(kept.max()) + 1, -1, np.int64)
    position[kept] = np.arange(len(kept))
    ordered = np.concatenate([position[fragment.rows] for fragment in pieces.fragments])
    return np.concatenate([ordered, np.arange(len(ordered), n)])


def _unit(pieces: Cut, settings: AuditSettings) -> str:
    if settings.block > 1:
        return f"blocks of {settings.block} rows"
    if pieces.units is not None:
        return f"groups of {settings.cut.group}"
    return "rows" if pieces.strata is None else "rows within classes"


def _pieces(fragments: tuple[Fragment, ...], tested: tuple[int, ...], named: str) -> tuple[Piece, ...]:
    position = {piece: k for k, piece in enumerate(tested)}
    why = "first piece: nothing before it" if named == "previous" else "the reference"
    return tuple(
        Piece(fragment.name, len(fragment.rows), position.get(i), "" if i in position else why)
        for i, fragment in enumerate(fragments)
    )


def _split(dataset: Dataset, pieces: Cut, settings: AuditSettings) -> tuple[Finding, ...]:
    """What the split validator says; blocks are the answer to its warning about neighbours that are alike."""
    found = validate(dataset, pieces)
    return found if settings.block == 1 else tuple(each for each in found if each.code != "lag1-autocorrelation")


def _reading(dataset: Dataset) -> list[Finding]:
    """What the reader left out, one finding for each kind."""
    findings = []
    for kind in sorted({column.kind for column in dataset.left_out}):
        columns = [column for column in dataset.left_out if column.kind == kind]
        names = ", ".join(column.name for column in columns[:5]) + (
            f" and {len(columns) - 5} more" if columns[5:] else ""
        )
        reasons = "; ".join(dict.fromkeys(column.reason for column in columns[:5]))
        findings.append(Finding(f"{kind}-left-out", "note", f"left out: {names} ({reasons})"))
    return findings


def _raw_threshold(gamma: float) -> Finding:
    return Finding(
        "raw-threshold",
        "warning",
        f"verdicts follow tau > gamma = {gamma:g}: tau falls with the number of rows, so one gamma has no error rate",
        "leave --gamma out to compare tau with its calibrated quantile",
    )


def _info(dataset: Dataset) -> DataInfo:
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
    )


def _manifest(dataset: Dataset, reference: Dataset | None, settings: AuditSettings) -> dict[str, object]:
    """What it takes to get the same bytes again; no time and no machine name, so that equal runs are equal."""
    packages = ("picsc", "numpy", "scipy", "pandas", "scikit-learn", "torch")
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in packages}},
        "seed": settings.seed,
        "data_sha256": dataset.sha256,
        "reference_sha256": None if reference is None else reference.sha256,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
