"""The effects of an audit, columns by pieces: numbers on colours, significant ones framed and starred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from picsc.phrases import counted
from picsc.reports.pages.blocks import Cell, Section, Table, heat
from picsc.reports.pages.markup import cut
from picsc.reports.pages.numbers import decimals
from picsc.reports.pages.shared import name_cell

if TYPE_CHECKING:
    from picsc.reports.audit import AuditReport, FragmentReport
    from picsc.reports.columns import ColumnShift

MOST_ROWS, MOST_CELLS = 30, 12_000
"""Rows that are shown at once, and cells of the whole map at most."""
MOST_PIECES = 60
"""Pieces at most, those with a verdict other than ok first."""
_SIDES = {"missing": " (missing)", "format": " (format)", "new levels": " (new levels)", "target": " (target)"}
Key = tuple[str, str]


def heat_map(report: AuditReport) -> list[Section]:
    """The map, its weaker rows folded away; none where no piece was compared."""
    pieces = _pieces(report)
    found = {piece.name: {_key(column): column for column in piece.columns} for piece in pieces}
    keys = _ordered(found, report.level)
    known = _sizes(report)
    keys.sort(key=lambda key: key not in known)  # a whole row says more than one with gaps
    if not keys:
        return []
    most = max(1, MOST_CELLS // max(1, len(pieces)))
    left_pieces = sum(bool(piece.columns) for piece in report.fragments) - len(pieces)
    sizes = (
        "Each number is the size of the difference in that column between the piece and its reference, from 0 to 1: KS "
        "distance for numbers, dates and lengths of texts, total variation distance for levels, difference of rates "
        "for missing values."
    )
    marks = (
        f"* and a frame: beyond chance at level {report.level:g}. KL: so by its Kullback-Leibler divergence. Empty: "
        "not among the columns with most evidence in that piece."
    )
    notes = [sizes, marks]
    if left_pieces:
        notes.append(f"{counted(left_pieces, 'more piece')}: the JSON report has all of them.")
    if len(keys) > most:
        notes.append(f"{counted(len(keys) - most, 'more column')}: the JSON report has all of them.")
    first = _table(
        "Effects of the columns in each piece.", keys[: min(MOST_ROWS, most)], pieces, (found, known), report, notes
    )
    sections = [Section("Which columns moved in which pieces", [first])]
    rest = keys[MOST_ROWS:most]
    if rest:
        table = _table("Effects of the other columns in each piece.", rest, pieces, (found, known), report, ())
        sections.append(Section(f"{counted(len(rest), 'more column')} with less evidence", [table], folded=True))
    return sections


def _pieces(report: AuditReport) -> list[FragmentReport]:
    told = [piece for piece in report.fragments if piece.columns]
    kept = sorted(told, key=lambda piece: piece.verdict == "ok")[:MOST_PIECES]
    names = {id(piece) for piece in kept}
    return [piece for piece in told if id(piece) in names]


def _key(column: ColumnShift) -> Key:
    side = _SIDES.get(column.kind, "")
    return column.name, side


def _ordered(found: dict[str, dict[Key, ColumnShift]], level: float) -> list[Key]:
    """Rows of the map: columns that moved somewhere first, then by their largest effect."""
    best: dict[Key, tuple[bool, float]] = {}
    for columns in found.values():
        for key, column in columns.items():
            best[key] = max(best.get(key, (False, -1.0)), (column.moved(level), column.statistic or 0.0))
    return sorted(best, key=lambda key: best[key], reverse=True)


def _table(
    caption: str,
    keys: Sequence[Key],
    pieces: Sequence[FragmentReport],
    told: tuple[dict[str, dict[Key, ColumnShift]], dict[Key, dict[str, float | None]]],
    report: AuditReport,
    notes: Sequence[str],
) -> Table:
    found, known = told
    rows = []
    for key in keys:
        cells = [
            _cell(found[piece.name].get(key), known.get(key, {}).get(piece.name), report.level) for piece in pieces
        ]
        rows.append([name_cell(*key), *cells])
    before = _common([piece.name for piece in pieces])
    titles = [f"column, by {before.rstrip('= ')}" if before else "column"]
    titles += [cut(piece.name.removeprefix(before) or piece.name, 24) for piece in pieces]
    return Table(caption, titles, rows, dense=True, notes=notes)


def _common(names: Sequence[str]) -> str:
    """What all names begin with, up to a blank or an equals sign: `fold `, `month=`."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)  # what these two begin with, all others between them do, too
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    start = first[:same]
    end = max(start.rfind("="), start.rfind(" ")) + 1
    return start[:end]


def _sizes(report: AuditReport) -> dict[Key, dict[str, float | None]]:
    """Sizes by column and piece, of the columns that are known in every piece."""
    names = [piece.name for piece in report.fragments]
    return {
        (each.name, _SIDES.get(each.kind, "")): dict(zip(names, each.sizes, strict=True))
        for each in report.column_effects
    }


def _cell(column: ColumnShift | None, size: float | None, level: float) -> Cell:
    if column is None or column.statistic is None:
        return Cell("" if size is None else decimals(size, 2), heat(size))
    moved = column.moved(level)
    shown = f"KL {decimals(column.statistic, 2)}" if column.by_kl(level) else decimals(column.statistic, 2)
    style = heat(column.statistic)
    return Cell(f"{shown}*", f"{style} mark") if moved else Cell(shown, style)
