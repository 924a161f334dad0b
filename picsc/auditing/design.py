"""From a cut to an experiment: what is compared with what, and what may change places under the null.

Letters: n rows, K pieces.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme, blocks
from picsc.auditing.verdict import Piece
from picsc.datasets.rows import stack, take
from picsc.errors import DataError, SettingsError
from picsc.reports.common import Finding
from picsc.settings import REFERENCES

if TYPE_CHECKING:
    from picsc.datasets.table import Dataset
    from picsc.fragments import Cut, Fragment
    from picsc.settings import AuditSettings

FEWEST_ARRANGEMENTS = 10
"""Ways to deal blocks out to pieces, at least so many divided by the level; with fewer, no p-value is small."""
MOST_DRAWN = 10_000_000
"""Most (draw, piece) pairs; beyond, ask for fewer draws or pieces."""


def reference_name(settings: AuditSettings, pieces: Cut, reference: Dataset | None) -> str:
    """Name what the pieces are compared with; a sequence is compared with the piece before, unless told otherwise."""
    if reference is not None:
        return f"file {reference.name}"
    named = settings.reference or ("previous" if pieces.ordered else "rest")
    if named not in REFERENCES:
        raise SettingsError(f"--reference {named}: must be one of {', '.join(REFERENCES)}, or the path of a file")
    return named


def labelled(dataset: Dataset, pieces: Cut, reference: Dataset | None) -> tuple[Dataset, Ints]:
    """The rows that take part, and the label of each: the piece's position, or K for the rows of a reference file."""
    labels = np.full(dataset.n, -1, np.int64)
    for i, fragment in enumerate(pieces.fragments):
        labels[fragment.rows] = i
    kept = np.flatnonzero(labels >= 0)
    everything, labels = take(dataset, kept), labels[kept]
    if reference is None:
        return everything, labels
    return stack(everything, reference), np.concatenate([labels, np.full(reference.n, len(pieces.fragments), np.int64)])


def contrast(pieces: Cut, named: str, *, with_file: bool) -> tuple[Contrast, tuple[int, ...]]:
    """Which pieces are tested against which; a sequence's first piece has no previous one."""
    k = len(pieces.fragments)
    if with_file:
        return Contrast(k + 1, tuple(range(k)), (k,) * k), tuple(range(k))
    if named == "previous":
        return Contrast(k, tuple(range(1, k)), tuple(range(k - 1))), tuple(range(1, k))
    if named == "first":
        return Contrast(k, tuple(range(1, k)), (0,) * (k - 1)), tuple(range(1, k))
    return Contrast(k, tuple(range(k)), "rest"), tuple(range(k))


def among(labels: Ints, kept: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Rows of some pieces, and their labels renumbered from 0 in the order of `kept`."""
    place = np.full(int(labels.max()) + 1, -1, np.int64)
    place[list(kept)] = np.arange(len(kept))
    renumbered = place[labels]
    rows = np.flatnonzero(renumbered >= 0)
    return rows, renumbered[rows]


def check_size(k: int, settings: AuditSettings) -> None:
    """Refuse what cannot be tested: no piece with a reference, or more draws than memory holds."""
    if k == 0:
        raise DataError("one piece only: nothing to compare it with; cut into two or more")
    if k * settings.draws > MOST_DRAWN:
        raise SettingsError(f"{k} pieces x {settings.draws} draws: at most {MOST_DRAWN} in all; lower --draws")


def exchange(pieces: Cut, labels: Ints, settings: AuditSettings, n: int) -> PermutationScheme:
    """What the null may permute: it repeats the way the pieces were made."""
    kept = np.setdiff1d(np.arange(n), pieces.unassigned)
    extra = len(labels) - len(kept)  # the rows of a reference file are strata and units of their own kind

    def extended(ids: Ints | None) -> Ints | None:
        if ids is None:
            return None
        ids = ids[kept]
        return np.concatenate([ids, ids.max() + 1 + np.arange(extra)]) if extra else ids

    if settings.block > 1:
        return PermutationScheme(units=_blocks(labels, _stream_order(pieces, kept, len(labels)), settings))
    # a file's rows were never stratified together with the pieces, so only rows may change places with them
    return PermutationScheme(units=extended(pieces.units), strata=None if extra else extended(pieces.strata))


def _blocks(labels: Ints, order: Ints, settings: AuditSettings) -> Ints:
    """Id of each row's block.

    Raises:
        SettingsError: blocks so long that the null has next to nothing to permute: no p-value could be small.
    """
    fewest, longest = FEWEST_ARRANGEMENTS / settings.level, settings.block
    units = blocks(labels, longest, order)
    ways = _arrangements(labels, units)
    if ways >= fewest:
        return units
    while longest > 1 and _arrangements(labels, blocks(labels, longest, order)) < fewest:
        longest //= 2
    instead = f"--block {longest} or less, or fewer pieces" if longest > 1 else "fewer pieces, or no --block"
    raise SettingsError(
        f"--block {settings.block}: its blocks can be dealt out to the pieces in {ways:.0f} ways only, too few for "
        f"p-values at --level {settings.level:g}; use {instead}"
    )


def _arrangements(labels: Ints, units: Ints) -> float:
    """In how many ways the blocks can be dealt out to the pieces."""
    first = np.unique(units, return_index=True)[1]
    held = np.bincount(labels[first])
    log = math.lgamma(len(first) + 1) - sum(math.lgamma(count + 1) for count in held.tolist())
    return math.exp(min(log, 700.0))


def conservative(pieces: Cut) -> list[Finding]:
    """Say so when pieces are made more alike than the null makes them."""
    made = {
        "dob-scv": "the rows of a class at random, and DOB-SCV folds agree more than that",
        "stratified-group": "whole groups at random, and the classes of stratified folds agree more than that",
    }.get(pieces.settings.splitter or "")
    if made is None:
        return []
    told = f"the null deals {made}: the test is conservative, so p-values err on the large side"
    return [Finding("conservative-null", "note", told)]


def _stream_order(pieces: Cut, kept: Ints, n: int) -> Ints:
    """Rows piece by piece, then the rest; inside a piece in row order."""
    position = np.full(int(kept.max()) + 1, -1, np.int64)
    position[kept] = np.arange(len(kept))
    ordered = np.concatenate([position[fragment.rows] for fragment in pieces.fragments])
    return np.concatenate([ordered, np.arange(len(ordered), n)])


def unit(pieces: Cut, settings: AuditSettings) -> str:
    """Say what the null permutes."""
    if settings.block > 1:
        return f"blocks of {settings.block} rows"
    if pieces.units is not None:
        return f"groups of {settings.cut.group}"
    return "rows" if pieces.strata is None else "rows within classes"


def pieces(fragments: tuple[Fragment, ...], tested: tuple[int, ...], named: str) -> tuple[Piece, ...]:
    """Pair every fragment with its position among the tested ones."""
    position = {piece: k for k, piece in enumerate(tested)}
    why = "first piece: nothing before it" if named == "previous" else "the reference"
    return tuple(
        Piece(
            fragment.name,
            len(fragment.rows),
            position.get(i),
            "" if i in position else why,
            int(fragment.rows[0]) + 1 if len(fragment.rows) else None,
        )
        for i, fragment in enumerate(fragments)
    )
