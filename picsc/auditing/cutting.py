"""The first stage of an audit: cut a table or images into pieces, and settle what the tests see of each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.effects.column_bounds import tested_names
from picsc.auditing.exchangeability import STATISTICS_SEED
from picsc.auditing.image_view import image_features, image_rows, refuse_table_options, with_noise
from picsc.auditing.streams.choice import cut_in_order
from picsc.auditing.table_view import audit_table, too_wide
from picsc.auditing.verdict import N_MIN
from picsc.datasets.images import ImageSet
from picsc.errors import SettingsError
from picsc.fragments import Cut, cut, cut_clients, uncut, validate
from picsc.phrases import counted
from picsc.simulation.feature_noise import noisy_table
from picsc.training.own.named import NO_GRADIENTS, OwnModel, own_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from picsc.auditing.null_statistics import TestInputs
    from picsc.datasets.table import Dataset
    from picsc.reports.common import Finding
    from picsc.settings import AuditSettings


FEWEST = 2
"""Fewest rows of a piece of a cut by number: one row has no distribution."""


@dataclass(frozen=True, slots=True)
class CutData:
    """A data set in pieces, ready to be tested."""

    dataset: Dataset
    """All rows, with the noise of simulated clients; of images, the reference model's features as columns."""
    cut: Cut
    inputs: Callable[[Dataset], TestInputs]
    """From some of these rows to what the tests see of them; for a table, this trains the reference model."""
    findings: tuple[Finding, ...]
    """Notes on the view of the data, then the findings of the split validator."""


def cut_data(
    data: Dataset | ImageSet,
    settings: AuditSettings,
    progress: Callable[[str], None],
    *,
    with_table: bool,
    splits: Cut | None = None,
) -> CutData:
    """Cut a table or images into pieces.

    Args:
        data: n rows; of images, the official test part is in no piece.
        settings: the cut, the simulated clients, and the seed.
        progress: called with a few words on each step.
        with_table: the pieces are to be compared with another table, so that all rows are one piece unless the settings
            cut them. Images cannot be compared with a table.
        splits: the pieces of a table, in place of those that the settings say.

    Raises:
        PicscError: the data cannot be cut as asked.
    """
    own = reference_of(settings)
    if data.kind == "images":
        if own is not None:
            raise SettingsError(
                f"--model {settings.model}: {data.name} holds images, whose reference model is picsc's own"
            )
        refuse_table_options(settings, with_table=with_table)
        pieces, noise = _cut(image_rows(data), settings, with_table=False)
        progress("training the reference model")
        noisy = with_noise(data, pieces.fragments, noise, seed=settings.seed)
        features = image_features(noisy, seed=STATISTICS_SEED)
        found = (features.finding, *_split_findings(features.dataset, pieces, settings))
        return CutData(features.dataset, pieces, features.table, found)

    def inputs(rows: Dataset) -> TestInputs:
        progress("training the reference model")
        smallest = settings.smallest_among(tested_names(rows))
        return audit_table(rows, seed=STATISTICS_SEED, smallest=smallest, own=own)

    if splits is not None:
        pieces, noise = splits, np.zeros(len(splits.fragments))
    else:
        pieces, noise = _cut(data, settings, with_table=with_table)
    dataset = noisy_table(data, pieces.fragments, noise, seed=settings.seed)
    return CutData(dataset, pieces, inputs, (*too_wide(data), *_split_findings(dataset, pieces, settings)))


def reference_of(settings: AuditSettings) -> OwnModel | None:
    """The user's module that is the reference model; None for the paper's network.

    Raises:
        SettingsError: it cannot be imported, is no model, or has no gradients.
    """
    own = own_model(settings)
    if own is not None and own.kind == "estimator":
        raise SettingsError(f"--model {own.name}: the reference model of an audit needs gradients, and {NO_GRADIENTS}")
    return own


def _cut(dataset: Dataset, settings: AuditSettings, *, with_table: bool) -> tuple[Cut, NDArray[np.float64]]:
    """The pieces, and the noise of each, (K,)."""
    if settings.clients.clients is not None:
        made = cut_clients(dataset, settings.clients, settings.cut, seed=settings.seed)
        return made.cut, made.noise
    one = with_table and settings.cut.uncut
    pieces = uncut(dataset, settings.cut) if one else cut(dataset, settings.cut, seed=settings.seed)
    _refuse_single_rows(pieces)
    return pieces, np.zeros(len(pieces.fragments))


def _refuse_single_rows(pieces: Cut) -> None:
    """Refuse a cut into so many pieces that one has a single row: nothing can be said of the distribution in it.

    Only a number of pieces that was asked for is refused; a single row of a value or of a period is the data's own.

    Raises:
        SettingsError: a piece has fewer rows than `FEWEST`.
    """
    settings, k = pieces.settings, len(pieces.fragments)
    if settings.column is not None or settings.time is not None or pieces.whole:
        return
    smallest, n = min(len(each.rows) for each in pieces.fragments), sum(len(each.rows) for each in pieces.fragments)
    if smallest >= FEWEST:
        return
    what = "batches" if settings.batches is not None else "folds"
    need = f"a piece needs {FEWEST} rows to be compared, and {N_MIN} for a verdict"
    do = f"cut at most {n // N_MIN}" if n >= 2 * N_MIN else f"add rows: two pieces with a verdict have {2 * N_MIN}"
    held = f"one would have {counted(smallest, 'row')}"
    raise SettingsError(f"cannot audit {counted(n, 'row')} in {k} {what}: {held}, and {need}; {do}")


def _split_findings(dataset: Dataset, pieces: Cut, settings: AuditSettings) -> list[Finding]:
    """Findings of the split validator; a null of blocks already answers its warning about neighbours that are alike."""
    answered = cut_in_order(pieces, settings) or (settings.block != "auto" and settings.block > 1)
    found = [f for f in validate(dataset, pieces) if not answered or f.code != "lag1-autocorrelation"]
    if any(fragment.kind != "fold" for fragment in pieces.fragments):
        return found
    keeping = "picsc cv --keep-rare always learns from them and never tests them"
    return [replace(f, advice=f"{f.advice}; {keeping}") if f.code == "rare-class" else f for f in found]
