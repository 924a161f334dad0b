"""The design of an audit: which piece is compared with what, and what its null hypothesis permutes.

Letters: n rows, K pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme
from picsc.auditing.streams.choice import Stream, blocks_asked_for, blocks_chosen, cut_in_order, dealt
from picsc.datasets.canonical_order import renumbered
from picsc.datasets.rows import stack, take
from picsc.errors import DataError, SettingsError
from picsc.reports.common import Finding
from picsc.settings import REFERENCES
from picsc.settings.audit import too_few_draws

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from picsc.datasets.table import Dataset
    from picsc.fragments import Cut
    from picsc.settings import AuditSettings

MOST_DRAWN = 10_000_000
"""Most (draw, piece) pairs; beyond, the audit asks for fewer draws or pieces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the report: everything that a verdict needs besides its statistics."""

    name: str
    rows: int
    position: int | None
    """Position among the tested pieces, from 0; None when the piece has no reference, and so is not tested."""
    why_untested: str = ""
    """Reason why the piece is not tested; "" when it is."""
    first_row: int | None = None
    """Data row that the piece begins with, from 1; None without rows."""


@dataclass(frozen=True, slots=True)
class Design:
    """The comparison that an audit makes of n rows."""

    labels: Ints
    """(n,) label of each row: the position of its piece, or one more label for rows that are in no piece."""
    contrast: Contrast
    """Labels that are tested, and what each is compared with."""
    scheme: PermutationScheme
    """Rows that may change places under the null."""
    pieces: tuple[Piece, ...] = ()
    """All pieces in the order of the report, tested or not; () when only the statistics are wanted."""
    reference: str = "rest"
    """Name of what the pieces are compared with: rest, previous, first, or `file` and its name."""
    unit: str = "rows"
    """Unit that the null permutes, in words."""
    stream: Stream = field(default_factory=lambda: Stream(None))
    """Blocks of a stream, and the reason for their length."""

    def reordered(self, order: Ints) -> Design:
        """The design of the same rows in another order, (n,), with units and strata numbered in that order."""
        units, strata = (
            None if ids is None else renumbered(ids[order]) for ids in (self.scheme.units, self.scheme.strata)
        )
        return replace(self, labels=self.labels[order], scheme=PermutationScheme(units, strata))

    def too_few_units(self, level: float) -> dict[int, str]:
        """Reasons why no p-value of a piece can be at most `level`: too few units to deal out, whatever their rows say.

        Against the rest, every draw that puts the same units together, in this piece or in another of as many units,
        repeats the observed comparison; against single pieces, every draw that also repeats the reference's units.

        Returns:
            A reason by the position of each such piece; {} where rows move alone.
        """
        if self.scheme.units is None:
            return {}
        first = np.unique(self.scheme.units, return_index=True)[1]
        held = np.bincount(self.labels[first], minlength=self.contrast.labels)
        found = {}
        for k, piece in enumerate(self.contrast.pieces):
            own, total = int(held[piece]), len(first)
            if self.contrast.reference == "rest":
                ways, repeats = dealt(own, total - own), int((held == own).sum())
            else:
                other = int(held[self.contrast.reference[k]])
                ways, repeats = dealt(own, other, total - own - other), 1
            if repeats > level * ways:
                p = f"whatever their rows say, p cannot be below {min(repeats / ways, 1):.2g}"
                found[k] = f"only {total} {self.unit}, {own} of them here: {p}"
        return found

    def among(self, kept: tuple[int, ...]) -> tuple[Ints, Design]:
        """Compare some of the pieces with one another only.

        Args:
            kept: positions of the tested pieces that remain; they are renumbered from 0 in this order.

        Returns:
            Row numbers of these pieces, increasing, and the design of those rows.
        """
        contrast = Contrast(len(kept), tuple(range(len(kept))), "rest")
        return self._of_some({k: i for i, k in enumerate(kept)}, kept, contrast)

    def against(self, reference: tuple[int, ...], others: tuple[int, ...]) -> tuple[Ints, Design]:
        """Compare some of the pieces with a few others together.

        Args:
            reference: positions of the tested pieces whose rows together are the reference.
            others: positions of the tested pieces that are compared; they are renumbered from 0 in this order.

        Returns:
            Row numbers of all these pieces, increasing, and the design of those rows.
        """
        contrast = Contrast(len(others) + 1, tuple(range(len(others))), (len(others),) * len(others))
        label = {k: i for i, k in enumerate(others)} | dict.fromkeys(reference, len(others))
        return self._of_some(label, others, contrast)

    def pairs(self) -> tuple[Design, tuple[tuple[int, int], ...]]:
        """Compare every piece with every other one by itself: the design without pieces, and the pairs of positions."""
        labels = self.contrast.pieces
        found = tuple((i, j) for i in range(len(labels)) for j in range(i))
        first, second = (tuple(labels[pair[side]] for pair in found) for side in (0, 1))
        return replace(self, contrast=Contrast(self.contrast.labels, first, second), pieces=()), found

    def _of_some(self, label: Mapping[int, int], tested: tuple[int, ...], contrast: Contrast) -> tuple[Ints, Design]:
        """The rows of some pieces, each with the label of its position in `label`, and their design."""
        place = np.full(int(self.labels.max()) + 1, -1, np.int64)
        place[list(label)] = list(label.values())
        renumbered = place[self.labels]
        rows = np.flatnonzero(renumbered >= 0)
        by_position = {piece.position: piece for piece in self.pieces}
        fewer = replace(
            self,
            labels=renumbered[rows],
            contrast=contrast,
            scheme=self.scheme.among(rows),
            pieces=tuple(replace(by_position[k], position=i) for i, k in enumerate(tested)),
        )
        return rows, fewer


def compared_rows(dataset: Dataset, cut: Cut, reference: Dataset | None) -> Dataset:
    """The rows of all pieces, then those of a reference file: the n rows that `build_design` labels.

    Args:
        dataset: all rows that were cut.
        cut: its pieces; rows in none of them take no part.
        reference: rows that every piece is compared with; None when pieces are compared with pieces.

    Raises:
        DataError: the reference does not have the columns of the data set.
    """
    everything = take(dataset, np.flatnonzero(_labels(dataset.n, cut) >= 0))
    return everything if reference is None else stack(everything, reference)


def build_design(
    dataset: Dataset,
    cut: Cut,
    settings: AuditSettings,
    reference: Dataset | None,
    *,
    compared: Dataset | None = None,
    findings: Sequence[Finding] = (),
) -> Design:
    """Design the comparison of the pieces, with the null that repeats the way they were made.

    Args:
        dataset: all rows that were cut.
        cut: its pieces.
        settings: reference, length of the blocks, draws, level.
        reference: rows that every piece is compared with; None when pieces are compared with pieces.
        compared: the rows of `compared_rows`; None to take them here.
        findings: on the cut: rows that are sorted by class resemble their neighbours for that reason, and no block is
            long enough for it.

    Raises:
        DataError: there is one piece only.
        SettingsError: an unknown reference, too many draws, or blocks so long that next to nothing can be permuted.
    """
    named = _reference_name(cut, settings, reference)
    labels = _labels(dataset.n, cut)
    labels = labels[labels >= 0]
    if reference is not None:
        labels = np.concatenate([labels, np.full(reference.n, len(cut.fragments), np.int64)])
    contrast = _contrast(len(cut.fragments), "file" if reference is not None else named)
    _check_size(len(contrast.pieces), settings)
    stream = Stream(None)
    if settings.block != "auto" and settings.block > 1:
        stream = blocks_asked_for(settings.block, labels, cut, (dataset, reference), settings)
    elif cut_in_order(cut, settings) and not any(each.code == "rows-sorted-by-class" for each in findings):
        rows = compared_rows(dataset, cut, reference) if compared is None else compared
        stream = blocks_chosen(rows, labels, cut, (dataset, reference), settings)
    return Design(
        labels=labels,
        contrast=contrast,
        scheme=_scheme(dataset.n, cut, labels) if stream.units is None else PermutationScheme(units=stream.units),
        pieces=_pieces(cut, contrast, named),
        reference=named,
        unit=_unit(cut) if stream.units is None else stream.unit,
        stream=stream,
    )


def conservative(cut: Cut) -> list[Finding]:
    """Note that the pieces are made more alike than the null makes them.

    Args:
        cut: the pieces.

    Returns:
        One note for a splitter that balances the pieces beyond the null; [] for the others.
    """
    dealt = {
        "dob-scv": "the rows of a class at random, and DOB-SCV folds agree more than that",
        "stratified-group": "whole groups at random, and the classes of stratified folds agree more than that",
    }.get(cut.settings.splitter or "")
    if dealt is None:
        return []
    message = f"the null deals {dealt}: the test is conservative, so p-values err on the large side"
    return [Finding("conservative-null", "note", message)]


def _reference_name(cut: Cut, settings: AuditSettings, reference: Dataset | None) -> str:
    """Name of what the pieces are compared with; by default a sequence is compared with the piece before."""
    if reference is not None:
        return f"file {reference.name}"
    named = settings.reference or _usual_reference(cut)
    if named not in REFERENCES:
        raise SettingsError(f"--reference {named}: must be one of {', '.join(REFERENCES)}, or the path of a file")
    return named


def _labels(n: int, cut: Cut) -> Ints:
    """Position of the piece of each row, (n,); -1 for rows in no piece."""
    labels = np.full(n, -1, np.int64)
    for i, fragment in enumerate(cut.fragments):
        labels[fragment.rows] = i
    return labels


def _usual_reference(cut: Cut) -> str:
    """The reference where none is named: for a stream the piece before, for a split the rows to learn from."""
    if cut.ordered:
        return "previous"
    roles = [fragment.role for fragment in cut.fragments]
    return "first" if roles[0] == "train" and roles.count("train") == 1 else "rest"


def _contrast(k: int, reference: str) -> Contrast:
    """Pieces that are tested, and the reference of each; the first piece of a sequence has no previous one."""
    if reference == "file":
        return Contrast(k + 1, tuple(range(k)), (k,) * k)
    if reference == "previous":
        return Contrast(k, tuple(range(1, k)), tuple(range(k - 1)))
    if reference == "first":
        return Contrast(k, tuple(range(1, k)), (0,) * (k - 1))
    return Contrast(k, tuple(range(k)), "rest")


def _check_size(k: int, settings: AuditSettings) -> None:
    """Refuse what cannot be tested: no piece with a reference, more draws than memory holds, or too few to bound."""
    if k == 0:
        raise DataError("one piece only: nothing to compare it with; cut into two or more")
    if k * settings.first_draws > MOST_DRAWN:
        raise SettingsError(f"{k} pieces x {settings.first_draws} draws: at most {MOST_DRAWN} in all; lower --draws")
    problem = (
        "" if settings.equivalence is None else too_few_draws(settings.first_draws, level=settings.level, pieces=k)
    )
    if problem:
        raise SettingsError(problem)


def _scheme(n: int, cut: Cut, labels: Ints) -> PermutationScheme:
    """Rows that may change places: the null repeats the way the pieces were made."""
    inside = np.ones(n, np.bool_)
    inside[cut.unassigned] = False
    kept = np.flatnonzero(inside)
    extra = len(labels) - len(kept)  # the rows of a reference file are strata and units of their own kind

    def extended(ids: Ints | None) -> Ints | None:
        if ids is None:
            return None
        ids = ids[kept]
        return np.concatenate([ids, ids.max() + 1 + np.arange(extra)]) if extra else ids

    # a file's rows were never stratified together with the pieces, so only rows may change places with them
    return PermutationScheme(units=extended(cut.units), strata=None if extra else extended(cut.strata))


def _pieces(cut: Cut, contrast: Contrast, named: str) -> tuple[Piece, ...]:
    """All pieces of the report, each with its position among the tested ones."""
    position = {piece: k for k, piece in enumerate(contrast.pieces)}
    why = "first piece: nothing before it" if named == "previous" else "the reference"
    return tuple(
        Piece(
            fragment.name,
            len(fragment.rows),
            position.get(i),
            "" if i in position else why,
            int(fragment.rows[0]) + 1 if len(fragment.rows) else None,
        )
        for i, fragment in enumerate(cut.fragments)
    )


def _unit(cut: Cut) -> str:
    """Unit that the null permutes, in words."""
    if cut.units is not None:
        return "groups" if cut.settings.group is None else f"groups of {cut.settings.group}"
    return "rows" if cut.strata is None else "rows within classes"
