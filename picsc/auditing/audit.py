"""The verb `audit`: cut one table or set of images, test every piece, say whether it shifted and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from picsc.auditing import design
from picsc.auditing.fold_balance import balance, more_balanced
from picsc.auditing.image_view import image_features, image_rows, refuse_table_options, with_noise
from picsc.auditing.piece_tests import run_piece_tests
from picsc.auditing.summary import set_aside, summary
from picsc.auditing.table_view import audit_table, too_wide
from picsc.auditing.verdict import overall
from picsc.datasets.description import data_info, encoding_guessed, left_out
from picsc.datasets.files.libsvm import libsvm_choices
from picsc.datasets.images import ImageSet
from picsc.datasets.load import from_frame, load
from picsc.datasets.open import open_data
from picsc.datasets.texts import TokenSet, no_text
from picsc.fragments import Cut, cut, cut_clients, validate
from picsc.reports.common import AuditReport, Finding, NullInfo
from picsc.runtime.versions import versions
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
from picsc.simulation.feature_noise import noisy_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from picsc.auditing.null_statistics import TestInputs
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
    """Audit a table or images that are already read.

    Args:
        data: n rows; of images, all but an official test part.
        settings: all of the audit's knobs.
        reference: rows that every piece is compared with, instead of other pieces.
        progress: told what is being done, a few words at a time.

    Raises:
        PicscError: the data cannot be cut or tested as asked.
    """
    tell = progress or (lambda _: None)
    tell("cutting")
    dataset, pieces, table, told = _prepared(no_text(data), settings, tell, with_table=reference is not None)
    findings = [*told, *_split(dataset, pieces, settings), *design.conservative(pieces), *left_out(dataset)]
    findings += encoding_guessed(dataset, reference)
    named = design.reference_name(settings, pieces, reference)
    everything, labels = design.labelled(dataset, pieces, reference)
    contrast, tested = design.contrast(pieces, named, with_file=reference is not None)
    design.check_size(len(tested), settings)
    exchange = design.exchange(pieces, labels, settings, dataset.n)
    if settings.gamma is not None:
        findings.append(_raw_threshold(settings.gamma))
    paired = design.pieces(pieces.fragments, tested, named)
    judged, drawn, aside, mean_kl = run_piece_tests(
        everything, table, labels, contrast, exchange, paired, settings, tell=tell
    )
    findings += set_aside([judged[k].name for k in aside], "pieces")
    balanced = balance(pieces, mean_kl, with_file=reference is not None)
    findings += more_balanced(balanced, settings.level)
    whole = overall(judged)
    return AuditReport(
        verdict=whole,
        summary=summary(whole, judged, tuple(findings), pieces, named, settings),
        level=settings.level,
        min_effect=settings.min_effect,
        reference=named,
        pieces=pieces.words,
        null=NullInfo(
            kind="permutation" if drawn == everything.n else "permutation-subsampled",
            unit=design.unit(pieces, settings),
            draws=settings.draws,
            rows=drawn,
        ),
        data=data_info(dataset),
        findings=tuple(findings),
        fragments=judged,
        settings=settings.model_dump(mode="json", exclude={"jobs"}),
        manifest=manifest(dataset, reference, settings),
        balance=balanced,
    )


def _prepared(
    data: Dataset | ImageSet, settings: AuditSettings, tell: Callable[[str], None], *, with_table: bool
) -> tuple[Dataset, Cut, Callable[[Dataset], TestInputs], list[Finding]]:
    """The rows, their pieces, how to make what the tests see of some of them, and what is to be told of all this."""
    if isinstance(data, ImageSet):
        refuse_table_options(settings, with_table=with_table)
        pieces, noise = _pieces(image_rows(data), settings)
        tell("training the reference model")
        features = image_features(with_noise(data, pieces.fragments, noise, seed=settings.seed), seed=settings.seed)
        return features.dataset, pieces, features.table, [features.finding]

    def table(rows: Dataset) -> TestInputs:
        tell("training the reference model")
        return audit_table(rows, seed=settings.seed)

    pieces, noise = _pieces(data, settings)
    return noisy_table(data, pieces.fragments, noise, seed=settings.seed), pieces, table, too_wide(data)


def _pieces(dataset: Dataset, settings: AuditSettings) -> tuple[Cut, NDArray[np.float64]]:
    """The pieces, and the noise of each, (K,)."""
    if settings.clients.clients is not None:
        made = cut_clients(dataset, settings.clients, settings.cut, seed=settings.seed)
        return made.cut, made.noise
    pieces = cut(dataset, settings.cut, seed=settings.seed)
    return pieces, np.zeros(len(pieces.fragments))


def _split(dataset: Dataset, pieces: Cut, settings: AuditSettings) -> list[Finding]:
    """What the split validator says; blocks are the answer to its warning about neighbours that are alike."""
    found = [f for f in validate(dataset, pieces) if settings.block == 1 or f.code != "lag1-autocorrelation"]
    if any(fragment.kind != "fold" for fragment in pieces.fragments):
        return found
    keeping = "picsc cv --keep-rare always learns from them and never tests them"
    return [replace(f, advice=f"{f.advice}; {keeping}") if f.code == "rare-class" else f for f in found]


def _raw_threshold(gamma: float) -> Finding:
    return Finding(
        "raw-threshold",
        "warning",
        f"verdicts follow tau > gamma = {gamma:g}: tau falls with the number of rows, so one gamma has no error rate",
        "leave --gamma out to compare tau with its calibrated quantile",
    )


def manifest(dataset: Dataset, reference: Dataset | None, settings: AuditSettings) -> dict[str, object]:
    """What it takes to get the same bytes again; no time and no machine name, so that equal runs are equal."""
    return {
        "versions": versions(),
        "seed": settings.seed,
        "data_sha256": dataset.sha256,
        "reference_sha256": None if reference is None else reference.sha256,
    }
