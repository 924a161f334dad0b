"""The verb `audit`: cut one table or set of images, test every piece, say whether it shifted and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

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
    AuditSettings,
)
from picsc.settings.by_keyword import from_keywords
from picsc.simulation.feature_noise import noisy_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset
    from picsc.settings import AuditSettings
    from picsc.settings.keywords import AuditKeywords


def audit(
    data: pd.DataFrame | ImageSet | ArrayLike | str | Path,
    y: ArrayLike | None = None,
    *,
    settings: AuditSettings | None = None,
    reference: str | Path | pd.DataFrame | None = None,
    progress: Callable[[str], None] | None = None,
    **keywords: Unpack[AuditKeywords],
) -> AuditReport:
    """Cut one table into pieces and report of each whether it is shifted: did the data move, and does the model care?

    Args:
        data: a DataFrame, the path of a file, an array of shape (n, f), or images: an `ImageSet` or an array of shape
            (n, s, s) or (n, c, s, s), see `picsc.auditing.image_view`.
        y: labels of shape (n,), when `data` is an array.
        settings: all settings at once; keywords win over them. None is the defaults.
        reference: rest, previous, first, the path of a file, or a DataFrame; None is what the settings say.
        progress: called with a few words whenever a new step begins.
        keywords: single settings by name (folds, by, level, ...): `picsc.settings.keywords.AuditKeywords` and
            docs/settings.md list them all.

    Returns:
        The report that `picsc audit` prints.

    Raises:
        PicscError: the settings or the data cannot be used; the message says what to do.
    """
    named: dict[str, object] = {**keywords}
    if reference is not None:
        named["reference"] = str(reference) if isinstance(reference, str | Path) else "file"
    settings = from_keywords(AuditSettings, "audit", named, settings)
    frame = None if isinstance(reference, str | Path) else reference
    files = settings.other_files if frame is None else ()
    given = [path for path in (data, *files) if isinstance(path, str | Path)]
    read = libsvm_choices(given, settings.read)
    dataset = open_data(data, y, read, keys=settings.keys)
    if isinstance(dataset, ImageSet):
        refuse_table_options(settings, with_table=frame is not None)
    other = load(files[0], read) if files else None
    if frame is not None:
        other = from_frame(frame, read, name="reference")
    return audit_dataset(dataset, settings, reference=other, progress=progress)


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
