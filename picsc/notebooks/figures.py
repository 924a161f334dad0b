"""Figures of reports in matplotlib: columns by pieces, distributions, methods with their intervals, and rounds."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from picsc.errors import SettingsError
from picsc.phrases import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS, MOST_PIECES, MOST_PANELS = 30, 40, 12
"""Rows and columns of a map of effects, and distributions in a figure, at most."""
_LETTERS = 28
_REFERENCE, _PIECE = "#b9c0c8", "#0b5cad"


def plot(report: Any) -> Figure:
    """The figure that says most of a report: an audit's effects by column and piece, scores of methods, rounds.

    Raises:
        SettingsError: matplotlib is missing.
    """
    kind = report.schema.partition("/")[0]
    if kind == "picsc.audit":
        return _effects(report)
    if kind == "picsc.fed":
        return _rounds(report)
    if kind == "picsc.fed-audit":
        return _clients(report)
    return _methods(report)


def plot_columns(report: Any) -> Figure:
    """The distributions of an audit's leading columns, each piece beside its reference.

    Raises:
        SettingsError: matplotlib is missing.
    """
    panels = [(column, counts) for column in report.distributions for counts in column.pieces][:MOST_PANELS]
    across = min(3, max(1, len(panels)))
    down = max(1, math.ceil(len(panels) / across))
    figure = _figure(4.2 * across, 2.9 * down)
    if not panels:
        _say(figure, "this report has no distributions")
        return figure
    for i, (column, counts) in enumerate(panels):
        axes = figure.add_subplot(down, across, i + 1)
        _levels(axes, column, counts) if column.levels else _bins(axes, column, counts)
        missing = [_share(counts.missing, counts.counts), _share(counts.reference_missing, counts.reference_counts)]
        gone = (
            f"\nmissing: {missing[0]}, {missing[1]} in the reference"
            if max(counts.missing, counts.reference_missing)
            else ""
        )
        axes.set_title(f"{_shown(column.name)}, {_shown(counts.piece)}{gone}", fontsize=9)
        axes.legend(fontsize=7, frameon=False)
    return figure


def _figure(width: float, height: float) -> Figure:
    """An empty figure that belongs to no window.

    Raises:
        SettingsError: matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure

        if "IPython" in sys.modules:  # so that a notebook knows how to show a figure
            import matplotlib.pyplot  # noqa: ICN001, F401
    except ImportError:
        raise SettingsError("figures need matplotlib: pip install 'picsc[plots]'; pages of HTML do not") from None
    return Figure(figsize=(width, height), layout="constrained")


def _shown(name: str) -> str:
    """A name in few letters, without what matplotlib takes for a formula."""
    shown = printable(name[: _LETTERS + 1])
    cut = shown if len(shown) <= _LETTERS else f"{shown[: _LETTERS - 1]}…"
    return cut.replace("$", r"\$")


def _say(figure: Figure, words: str) -> None:
    figure.text(0.5, 0.5, words, ha="center", va="center")


def _missing(counts: Any) -> str:
    """A second line of a title, where values are missing."""
    if not max(counts.missing, counts.reference_missing):
        return ""
    own, other = _share(counts.missing, counts.counts), _share(counts.reference_missing, counts.reference_counts)
    return f"\nmissing: {own}, {other} in the reference"


def _share(missing: int, there: Sequence[int]) -> str:
    total = missing + sum(there)
    return f"{100 * missing / total:.1f} %" if total else "none"


def _effects(report: Any) -> Figure:
    """Columns by pieces, coloured by size, with a star where the difference is beyond chance."""
    effects = report.column_effects[:MOST_COLUMNS]
    pieces = range(min(len(report.fragments), MOST_PIECES))
    figure = _figure(3 + 0.55 * max(len(pieces), 4), 1.6 + 0.3 * max(len(effects), 3))
    if not effects:
        _say(figure, "this report has no effects of columns")
        return figure
    axes = figure.add_subplot()
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
        range(len(effects)), [_shown(e.name) + side for e, side in zip(effects, sides, strict=True)], fontsize=8
    )
    names = [_shown(report.fragments[k].name) for k in pieces]
    axes.set_xticks(list(pieces), names, rotation=60, ha="right", fontsize=8)
    axes.set_title(
        f"{_shown(report.data.name)}: {report.verdict}; * beyond chance at level {report.level:g}", fontsize=10
    )
    figure.colorbar(image, ax=axes, label="effect", aspect=50)
    return figure


def _bins(axes: Axes, column: Any, counts: Any) -> None:
    """Filled steps for the reference, an outline for the piece; outer bins reach as far as their neighbours."""
    edges = list(column.edges) or [0.0]
    width = (edges[-1] - edges[0]) / max(len(edges) - 1, 1) or 1.0
    ends = [edges[0] - width, *edges, edges[-1] + width]
    own, other = max(sum(counts.counts), 1), max(sum(counts.reference_counts), 1)
    axes.stairs([c / other for c in counts.reference_counts], ends, fill=True, color=_REFERENCE, label="reference")
    axes.stairs([c / own for c in counts.counts], ends, color=_PIECE, linewidth=1.6, label=_shown(counts.piece))
    axes.set_ylabel("share", fontsize=8)
    axes.tick_params(labelsize=8)
    if column.kind == "datetime":
        from datetime import UTC, datetime

        ticks = [ends[0], (ends[0] + ends[-1]) / 2, ends[-1]]
        axes.set_xticks(ticks, [datetime.fromtimestamp(tick, UTC).strftime("%Y-%m-%d") for tick in ticks])


def _levels(axes: Axes, column: Any, counts: Any) -> None:
    """Two bars for each level."""
    names = [*map(_shown, column.levels), *([f"{column.other} more"] if column.other else [])]
    own, other = max(sum(counts.counts), 1), max(sum(counts.reference_counts), 1)
    at = range(len(names))
    axes.barh(
        [i - 0.2 for i in at], [c / other for c in counts.reference_counts], 0.38, color=_REFERENCE, label="reference"
    )
    axes.barh([i + 0.2 for i in at], [c / own for c in counts.counts], 0.38, color=_PIECE, label=_shown(counts.piece))
    axes.set_yticks(list(at), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("share", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)


def _methods(report: Any) -> Figure:
    """Scores of methods with their 95 % intervals, in percent."""
    methods = [(method, score) for method in report.methods if (score := _score(method)) is not None]
    figure = _figure(7, 1.2 + 0.35 * max(len(methods), 2))
    if not methods:
        _say(figure, "no method has a score")
        return figure
    axes = figure.add_subplot()
    for i, (method, score) in enumerate(methods):
        interval = method.interval
        if interval is not None:
            axes.plot([100 * interval.low, 100 * interval.high], [i, i], color=_PIECE, marker="|")
        axes.plot([100 * score], [i], "o", color=_PIECE)
    axes.set_yticks(range(len(methods)), [_shown(method.method) for method, _ in methods])
    axes.invert_yaxis()
    axes.grid(axis="x", color="#e3e3e3")
    axes.set_xlabel(f"{_metric(report)}, percent, 95 % interval")
    axes.set_title(_shown(report.data.name), fontsize=10)
    return figure


def _score(method: Any) -> float | None:
    """The first score of a method, which cross-validation calls its mean."""
    value: float | None = method.mean if hasattr(method, "mean") else method.accuracy
    return value


def _metric(report: Any) -> str:
    return "R²" if report.data.metric == "R2" else "accuracy"


def _rounds(report: Any) -> Figure:
    """Mean score over clients by round, one line for each method."""
    figure = _figure(7, 4.2)
    axes = figure.add_subplot()
    styles = ("-", "--", ":", "-.")
    for i, method in enumerate(report.methods):
        values = [math.nan if point.accuracy is None else 100 * point.accuracy for point in method.curve]
        axes.plot([point.round for point in method.curve], values, styles[i % len(styles)], label=_shown(method.method))
    if report.target is not None:
        axes.axhline(100 * report.target, color="#595959", linewidth=0.8, linestyle="--")
    axes.set_xlabel("round")
    axes.set_ylabel(f"{_metric(report)}, percent, mean over clients")
    axes.set_title(_shown(report.data.name), fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return figure


def _clients(report: Any) -> Figure:
    """Tau of each client over its threshold, on a logarithmic axis."""
    shown = [client for client in report.clients if client.tau and client.gamma][:MOST_PIECES]
    figure = _figure(7, 1.2 + 0.3 * max(len(shown), 2))
    if not shown:
        _say(figure, "no client has a tau")
        return figure
    axes = figure.add_subplot()
    ratios = [client.tau / client.gamma for client in shown]
    colours = ["#a4200f" if client.verdict == "shift" else _REFERENCE for client in shown]
    axes.barh(range(len(shown)), ratios, color=colours)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(shown)), [_shown(client.name) for client in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("tau over its threshold; red: shift")
    axes.set_title(_shown(report.data.name), fontsize=10)
    return figure
