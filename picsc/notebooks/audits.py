"""Figures of audits: effects by column and piece, distributions of columns, and clients by their summaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from picsc.notebooks.canvas import PIECE, REFERENCE, empty_figure, grid, say, shown
from picsc.phrases import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from picsc.notebooks.canvas import Canvas

MOST_COLUMNS, MOST_PIECES, MOST_PANELS, MOST_FILES = 30, 40, 12, 8
"""Rows and columns of a map of effects, distributions in a figure, and maps in a figure, at most."""


def plot_effects(report: Any) -> Figure:
    """Columns by pieces, coloured by size, with a star where the difference is beyond chance."""
    figure = empty_figure(*_size(report))
    _effects(figure, report)
    return figure


def plot_files(reports: Any) -> Figure:
    """The map of effects of every file, one below the other."""
    audits = reports.reports[:MOST_FILES]
    if len(audits) == 1:
        return plot_effects(audits[0])
    sizes = [_size(report) for report in audits] or [(6.0, 2.0)]
    figure = empty_figure(max(width for width, _ in sizes), sum(height for _, height in sizes))
    if not audits:
        say(figure, "no file could be audited")
        return figure
    parts = figure.subfigures(len(audits), 1, height_ratios=[height for _, height in sizes], squeeze=False)
    for part, report in zip(parts[:, 0], audits, strict=True):
        _effects(part, report)
    if len(reports.reports) > len(audits):
        figure.supxlabel(f"{counted(len(reports.reports) - len(audits), 'more file')} not drawn", fontsize=8)
    return figure


def plot_distributions(report: Any) -> Figure:
    """The distributions of an audit's leading columns, each piece beside its reference."""
    panels = [(column, counts) for column in report.distributions for counts in column.pieces][:MOST_PANELS]
    across = min(3, max(1, len(panels)))
    figure = empty_figure(4.2 * across, 2.9 * max(1, math.ceil(len(panels) / across)))
    if not panels:
        say(figure, "this report has no distributions")
        return figure
    for axes, (column, counts) in zip(grid(figure, len(panels)), panels, strict=True):
        _levels(axes, column, counts) if column.levels else _bins(axes, column, counts)
        axes.set_title(f"{shown(column.name)}, {shown(counts.piece)}{_missing(counts)}", fontsize=9)
        axes.legend(fontsize=7, frameon=False)
    return figure


def plot_clients(report: Any) -> Figure:
    """Tau of each client over its threshold, on a logarithmic axis."""
    clients = [client for client in report.clients if client.tau and client.gamma][:MOST_PIECES]
    figure = empty_figure(7, 1.2 + 0.3 * max(len(clients), 2))
    if not clients:
        say(figure, "no client has a tau")
        return figure
    axes = figure.add_subplot()
    ratios = [client.tau / client.gamma for client in clients]
    colours = ["#a4200f" if client.verdict == "shift" else REFERENCE for client in clients]
    axes.barh(range(len(clients)), ratios, color=colours)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(clients)), [shown(client.name) for client in clients], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("tau over its threshold (without unit); dark: shift")
    axes.set_title(shown(report.data.name), fontsize=10)
    return figure


def _size(report: Any) -> tuple[float, float]:
    """Inches of a map of effects."""
    pieces = min(len(report.fragments), MOST_PIECES)
    return 3 + 0.55 * max(pieces, 4), 1.6 + 0.3 * max(len(report.column_effects[:MOST_COLUMNS]), 3)


def _effects(canvas: Canvas, report: Any) -> None:
    effects = report.column_effects[:MOST_COLUMNS]
    pieces = range(min(len(report.fragments), MOST_PIECES))
    if not effects:
        say(canvas, "this report has no effects of columns")
        return
    axes = canvas.add_subplot()
    sizes = [[each.sizes[k] if each.sizes[k] is not None else math.nan for k in pieces] for each in effects]
    image = axes.imshow(sizes, cmap="Oranges", vmin=0, vmax=1, aspect="auto")
    moved = {
        (column.name, column.kind, k)
        for k in pieces
        for column in report.fragments[k].columns
        if column.moved(report.level)
    }
    for i, each in enumerate(effects):
        for k in pieces:
            size = each.sizes[k]
            if size is not None:
                mark = "*" if (each.name, each.kind, k) in moved else ""
                colour = "white" if size > 0.6 else "black"
                axes.text(k, i, f"{size:.2f}{mark}", ha="center", va="center", fontsize=7, color=colour)
    sides = [f" ({each.kind})" if each.kind in ("missing", "target") else "" for each in effects]
    axes.set_yticks(
        range(len(effects)), [shown(e.name) + side for e, side in zip(effects, sides, strict=True)], fontsize=8
    )
    names = [shown(report.fragments[k].name) for k in pieces]
    axes.set_xticks(list(pieces), names, rotation=60, ha="right", fontsize=8)
    axes.set_title(
        f"{shown(report.data.name)}: {report.verdict}; * beyond chance at level {report.level:g}", fontsize=10
    )
    canvas.colorbar(image, ax=axes, label="effect, from 0 to 1", aspect=50)


def _missing(counts: Any) -> str:
    """A second line of a title, where values are missing."""
    if not max(counts.missing, counts.reference_missing):
        return ""
    own, other = _share(counts.missing, counts.counts), _share(counts.reference_missing, counts.reference_counts)
    return f"\nmissing: {own}, {other} in the reference"


def _share(missing: int, there: Sequence[int]) -> str:
    total = missing + sum(there)
    return f"{100 * missing / total:.1f} %" if total else "none"


def _bins(axes: Axes, column: Any, counts: Any) -> None:
    """Filled steps for the reference, an outline for the piece; outer bins reach as far as their neighbours."""
    edges = list(column.edges) or [0.0]
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or 1.0
    ends = [edges[0] - width, *edges, edges[-1] + width]
    own, other = max(sum(counts.counts), 1), max(sum(counts.reference_counts), 1)
    axes.stairs([c / other for c in counts.reference_counts], ends, fill=True, color=REFERENCE, label="reference")
    axes.stairs([c / own for c in counts.counts], ends, color=PIECE, linewidth=1.6, label=shown(counts.piece))
    axes.set_ylabel("share", fontsize=8)
    axes.tick_params(labelsize=8)
    if column.kind == "datetime":
        from datetime import UTC, datetime

        ticks = [ends[0], (ends[0] + ends[-1]) / 2, ends[-1]]
        axes.set_xticks(ticks, [datetime.fromtimestamp(tick, UTC).strftime("%Y-%m-%d") for tick in ticks])


def _levels(axes: Axes, column: Any, counts: Any) -> None:
    """Two bars for each level."""
    names = [*map(shown, column.levels), *([f"{column.other} more"] if column.other else [])]
    own, other = max(sum(counts.counts), 1), max(sum(counts.reference_counts), 1)
    at = range(len(names))
    axes.barh(
        [i - 0.2 for i in at], [c / other for c in counts.reference_counts], 0.38, color=REFERENCE, label="reference"
    )
    axes.barh([i + 0.2 for i in at], [c / own for c in counts.counts], 0.38, color=PIECE, label=shown(counts.piece))
    axes.set_yticks(list(at), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("share", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
