"""Blocks of a stream: the rows that the null moves together where neighbouring rows depend on each other.

Rows of one time move together, too, where pieces are cut by time. Letters: n rows, K pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.streams.runs import blocks
from picsc.errors import SettingsError
from picsc.fragments.block_length import BlockLength, block_length, fewest_blocks
from picsc.fragments.dependence import Dependence, Layout, dependence
from picsc.fragments.row_order import time_ranks
from picsc.phrases import counted
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.auditing.exchangeability import Ints
    from picsc.datasets.table import Dataset
    from picsc.fragments import Cut
    from picsc.settings import AuditSettings

FEWEST_ARRANGEMENTS = 10
"""Fewest ways to deal the blocks out to the pieces, divided by the level; with fewer, no p-value is small."""


NAMED = 1.005
"""Least factor on squared differences that a note tells of."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Units of a stream that the null permutes."""

    units: Ints | None
    """(n,) id of the unit of each row; None where every row moves alone."""
    unit: str = "rows"
    """Unit in words."""
    findings: tuple[Finding, ...] = ()
    too_short: str = ""
    """Reason why nothing can be said of any piece; empty where something can."""
    rows: int = 1
    """Rows of a block."""
    excess: float = 1.0
    """Factor by which squared differences between pieces are larger than those between pieces of permuted blocks when
    nothing moved; what is observed is divided by it."""
    excess_of_trend: float = 1.0
    """The same for a trend over all pieces."""
    dependence: Dependence | None = None
    """The column whose dependence the length was chosen for; None where rows are independent or a user chose it."""


def cut_in_order(cut: Cut, settings: AuditSettings) -> bool:
    """True if the blocks' length is chosen here: `--block auto`, and the pieces are a sequence of rows, not of groups.

    Args:
        cut: the pieces.
        settings: length of the blocks.
    """
    return settings.block == "auto" and cut.ordered and cut.units is None


def blocks_asked_for(
    length: int, labels: Ints, cut: Cut, tables: tuple[Dataset, Dataset | None], settings: AuditSettings
) -> Stream:
    """The blocks of a length that a user gives.

    Args:
        length: rows per block, at least 2.
        labels: (n,) piece of each row, those of a reference file last.
        cut: the pieces.
        tables: all rows that were cut, and the reference file.
        settings: level.

    Raises:
        SettingsError: blocks so long that the null has next to nothing to permute: no p-value could be small.
    """
    layout = _layout(labels, cut, *tables)
    fewest, shorter = FEWEST_ARRANGEMENTS / settings.level, length
    units = _units(labels, length, layout)
    ways = _arrangements(labels, units)
    if ways >= fewest:
        together = "" if layout.tie is None else f", equal values of {cut.settings.time} together"
        return Stream(units, f"blocks of {length} rows{together}", rows=length)
    while shorter > 1 and _arrangements(labels, _units(labels, shorter, layout)) < fewest:
        shorter //= 2
    instead = f"--block {shorter} or less, or fewer pieces" if shorter > 1 else "fewer pieces, or --block 1"
    raise SettingsError(
        f"--block {length}: its blocks can be dealt out to the pieces in {ways:.0f} ways only, too few for "
        f"p-values at --level {settings.level:g}; use {instead}"
    )


def blocks_chosen(
    compared: Dataset, labels: Ints, cut: Cut, tables: tuple[Dataset, Dataset | None], settings: AuditSettings
) -> Stream:
    """The blocks that the dependence of neighbouring rows asks for.

    The dependence is measured within pieces, so that it does not depend on what differs between them.

    Args:
        compared: the n rows.
        labels: (n,) piece of each row, those of a reference file last.
        cut: the pieces.
        tables: all rows that were cut, and the reference file.
        settings: level, reference.
    """
    layout = _layout(labels, cut, *tables)
    target = () if compared.target is None else (compared.target,)
    found = dependence([*compared.columns, *target], layout)
    sizes = layout.sizes().tolist()
    ties = layout.tie is not None
    if found is None and not ties:
        return Stream(None)
    time = 1.0 if found is None else found.time
    previous = tables[1] is None and settings.reference in (None, "previous")
    chosen = block_length(time, sizes, level=settings.level, previous=previous)
    per_number = len(labels) / sum(sizes)
    if chosen.wanted == 1 and not ties:  # a dependence too weak for blocks of two
        return Stream(None, excess=chosen.excess, excess_of_trend=chosen.excess_of_trend)
    rows = max(1, round(chosen.rows * per_number))
    units = _units(labels, rows if chosen.rows > 1 else 1, layout)
    order = cut.settings.time or ""
    unit = f"blocks of {rows} rows" if found is not None and rows > 1 else "rows"
    if ties:
        unit = f"rows of equal {order}" if chosen.rows == 1 else f"{unit}, equal values of {order} together"
    column = order if ties else ""
    few = _too_few_times(sizes, order, settings.level) if ties else ""
    few = few or ("" if chosen.enough or found is None else _too_short(found, chosen, sizes, column))
    if few:
        alone = found is not None and _enough_without(found.name, compared, layout, settings.level, previous=previous)
        leave = f"leave it out (--drop {found.name}), since blocks would do for all others; " if found and alone else ""
        advice = f"{leave}cut fewer pieces, or add rows; --block 1 permutes single rows as if they were independent"
        finding = Finding("stream-too-short", "warning", few, advice)
    else:
        finding = Finding("blocks", "note", _why(unit, found, chosen, column), "--block N sets another length")
    excess, of_trend = (1.0, 1.0) if few else (chosen.excess, chosen.excess_of_trend)
    return Stream(units, unit, (finding,), few, rows, excess, of_trend, found)


def _enough_without(name: str, compared: Dataset, layout: Layout, level: float, *, previous: bool) -> bool:
    """True if one column alone, and no target, is what makes the stream too short, as one that only grows would."""
    others = [column for column in compared.columns if column.name != name]
    if len(others) == len(compared.columns) or not others:
        return False
    target = () if compared.target is None else (compared.target,)
    found = dependence([*others, *target], layout)
    return found is None or block_length(found.time, layout.sizes().tolist(), level=level, previous=previous).enough


def dealt(*held: int) -> float:
    """Number of ways to deal units out to holders of so many units each; at most 1e304."""
    return math.exp(min(math.lgamma(sum(held) + 1) - sum(math.lgamma(count + 1) for count in held), 700.0))


def _why(unit: str, found: Dependence | None, chosen: BlockLength, time: str) -> str:
    """The unit that the null permutes, and the reason, in words."""
    if found is None:
        return f"the null permutes {unit}: rows of one {time} may depend on each other"
    what = "" if found.of == "values" else f" ({found.of})"
    numbers = f"values of {time}" if time else "rows"
    alike = f"{found.time:.1f} neighbouring {numbers} tell as much about a mean as 1 independent one"
    why = f"the null permutes {unit}: in {found.name!r}{what}, {alike}"
    if chosen.excess < NAMED:
        return why
    return f"{why}; squared differences are divided by {chosen.excess:.2f}, since neighbouring blocks are alike, too"


def _too_short(found: Dependence, chosen: BlockLength, sizes: list[int], time: str) -> str:
    """The reason why the longest blocks that can be dealt out are too short."""
    what = "" if found.of == "values" else f" ({found.of})"
    numbers = f"values of {time}" if time else "rows"
    return (
        f"neighbouring rows depend on each other for too long: {found.name!r}{what} has an integrated autocorrelation "
        f"time of {found.time:.0f} {numbers}, which asks for blocks of {chosen.wanted}, and pieces of about "
        f"{int(np.median(sizes))} leave room for blocks of {chosen.rows}"
    )


def _too_few_times(sizes: list[int], time: str, level: float) -> str:
    """The reason why there are too few different times to deal out; empty where there are enough."""
    held, fewest = int(np.median(sizes)), fewest_blocks(max(2, len(sizes)), level)
    if held >= fewest:
        return ""
    return f"a piece has about {counted(held, 'different value')} of {time}, too few to deal out: it needs {fewest}"


def _layout(labels: Ints, cut: Cut, dataset: Dataset, reference: Dataset | None) -> Layout:
    """Rows piece by piece, then those of a reference file; inside a piece in order of time or else of rows."""
    times = _times(labels, cut, dataset, reference)
    order = np.argsort(labels, kind="stable") if times is None else np.lexsort((times, labels))
    piece = np.unique(labels[order], return_inverse=True)[1].reshape(-1).astype(np.int64)
    if times is None:
        return Layout(order, piece)
    begins = np.append(False, (np.diff(times[order]) != 0) | (np.diff(piece) != 0))
    tie = np.cumsum(begins).astype(np.int64)
    # with one row per time there is no tie, and with one time per piece it is but the piece's name
    named = int(tie[-1]) + 1
    held = len(cut.fragments) + (0 if reference is None else int(np.unique(times[labels == labels.max()]).size))
    return Layout(order, piece, None if named == len(labels) or named <= held else tie)


def _times(labels: Ints, cut: Cut, dataset: Dataset, reference: Dataset | None) -> Ints | None:
    """Rank of each row's time, (n,); rows of a file without the column count one by one. None without `--time`."""
    column = cut.settings.time
    if column is None:
        return None
    ranks = np.delete(time_ranks(dataset, column), cut.unassigned)
    if reference is None:
        return ranks
    known = column in reference.times or column in reference.keys
    return np.concatenate([ranks, time_ranks(reference, column) if known else np.arange(len(labels) - len(ranks))])


def _units(labels: Ints, length: int, layout: Layout) -> Ints:
    return blocks(labels, length, layout.rows, layout.tie)


def _arrangements(labels: Ints, units: Ints) -> float:
    """Number of ways to deal the blocks out to the pieces."""
    first = np.unique(units, return_index=True)[1]
    return dealt(*np.bincount(labels[first]).tolist())
