"""The verb `audit`: cut one table or set of images, test every piece, and report which are shifted and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from picsc.auditing.attribution import attribute
from picsc.auditing.cutting import cut_data
from picsc.auditing.design import build_design, compared_rows
from picsc.auditing.image_view import refuse_table_options
from picsc.auditing.piece_tests import ComparedRows, run_piece_tests
from picsc.auditing.report import audit_report
from picsc.datasets.files.libsvm import libsvm_choices
from picsc.datasets.images import ImageSet
from picsc.datasets.load import from_frame, load
from picsc.datasets.open import open_data
from picsc.datasets.texts import TokenSet, no_text
from picsc.reports.common import AuditReport
from picsc.settings import (
    REFERENCES,
    AuditSettings,
    CutSettings,
    GroupMissing,
    PartitionName,
    PartitionSettings,
    ReadSettings,
    Splitter,
    Task,
    validated,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from picsc.datasets.table import Dataset
    from picsc.settings import AuditSettings


def audit(
    data: pd.DataFrame | ImageSet | ArrayLike | str | Path,
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
    gap: str | None = None,
    group: str | None = None,
    group_missing: GroupMissing = "refuse",
    splitter: Splitter | None = None,
    shuffle: bool = False,
    clients: int | None = None,
    partition: PartitionName | None = None,
    concentration: float = 0.5,
    classes: int = 2,
    noise: float = 0.1,
    min_rows: int = 10,
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
        data: a DataFrame, the path of a file, an array of shape (n, f), or images: an `ImageSet` or an array of shape
            (n, s, s) or (n, c, s, s), see `picsc.auditing.image_view`.
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
        gap: length after the end of a time piece whose rows are in no piece, such as `7d`.
        group: column whose values stay in one fold.
        group_missing: rows without a value of `group`: refuse, own (each is a group) or together (they are one); with
            `by`, together makes them a piece.
        splitter: kfold, stratified, group, stratified-group, dob-scv or ms-scv.
        shuffle: shuffle rows before cutting folds.
        clients: number of invented clients.
        partition: how they are invented: iid (the default), dirichlet, classes, quantity or noise.
        concentration: Dirichlet parameter of `dirichlet` and `quantity`; smaller is more unequal.
        classes: classes of each client, of `classes`.
        noise: standard deviation of the noisiest client's noise, of `noise`, in standard deviations of a column or in
            the range of a pixel.
        min_rows: fewest rows of an invented client.
        reference: rest, previous, first, the path of a file, or a DataFrame.
        level: family-wise error rate.
        min_effect: smallest effect worth a verdict, see `picsc.auditing.verdict`.
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
            gap=gap,
            group=group,
            group_missing=group_missing,
            splitter=splitter,
            shuffle=shuffle,
        ),
        clients=validated(
            PartitionSettings,
            clients=clients,
            partition=partition,
            concentration=concentration,
            classes=classes,
            noise=noise,
            min_rows=min_rows,
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
    given = [path for path in (data, reference) if isinstance(path, str | Path) and path not in REFERENCES]
    read = libsvm_choices(given, read)
    dataset = open_data(data, y, read, keys=settings.keys)
    if isinstance(dataset, ImageSet):
        refuse_table_options(settings, with_table=settings.reference == "file")
    if isinstance(reference, str) and reference not in REFERENCES:
        other = load(reference, read)
    elif reference is None or isinstance(reference, str):
        other = None
    else:
        other = from_frame(reference, read, name="reference")
    return audit_dataset(dataset, settings, reference=other)


def audit_dataset(
    data: Dataset | ImageSet | TokenSet,
    settings: AuditSettings,
    *,
    reference: Dataset | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Audit a table or images that are already read: cut, design, test, attribute, report.

    Args:
        data: n rows; of images, all but an official test part.
        settings: all of the audit's knobs.
        reference: rows that every piece is compared with, instead of other pieces.
        progress: called with a few words on each step.

    Raises:
        PicscError: the data cannot be cut or tested as asked.
    """
    progress = progress or (lambda _: None)
    progress("cutting")
    pieces = cut_data(no_text(data), settings, progress, with_table=reference is not None)
    rows = ComparedRows(compared_rows(pieces.dataset, pieces.cut, reference), pieces.inputs)
    design = build_design(pieces.dataset, pieces.cut, settings, reference)
    tests = run_piece_tests(rows, design, settings, progress)
    tests = attribute(tests, rows, design, settings, progress)
    return audit_report(pieces, design, tests, settings, reference)
