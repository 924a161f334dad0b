"""Figures of methods: scores with intervals, what is forgotten along pieces, and rounds of a federation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from picsc.notebooks.canvas import GREY, PIECE, RULE, STYLES, empty_figure, forgotten, say, shown
from picsc.notebooks.matrices import MOST_MAPS, Axis, Map, across, draw_maps, size_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FIRST = ("picsc", "carried", "average", "weight-decay", "picsc, unmerged", "st-cv")
"""Methods whose maps come first."""
_FEDERATED_FIRST = ("picsc", "fedavg", "scaffold", "fedprox", "fedcurv", "fisher-mean")


def plot_methods(report: Any) -> Figure:
    """Scores of methods with their 95 % intervals, in percent; along pieces, maps of what is forgotten as well."""
    maps = _lifelong(report)
    methods = [(method, score) for method in report.methods if (score := _score(method)) is not None]
    height = 1.2 + 0.35 * max(len(methods), 2)
    if not methods or not maps:
        figure = empty_figure(7, height)
        _dots(figure.add_subplot(), report, methods) if methods else say(figure, "no method has a score")
        return figure
    wide, high = size_of(maps)
    figure = empty_figure(wide, height + high)
    top, axes = _above(figure, height, high, maps)
    _dots(top, report, methods)
    words = f"{metric(report)}, percent; framed: the piece learned last"
    draw_maps(figure, axes, maps, Axis("model after learning", "tested on", words))
    return figure


def plot_rounds(report: Any) -> Figure:
    """Mean score over clients by round, one line for each method; below, scores by client over rounds."""
    maps = _by_client(report)
    curves = 4.2
    if not maps:
        figure = empty_figure(7, curves)
        _rounds(figure.add_subplot(), report)
        return figure
    wide, high = size_of(maps)
    figure = empty_figure(wide, curves + high)
    top, axes = _above(figure, curves, high, maps)
    _rounds(top, report)
    draw_maps(figure, axes, maps, Axis("after round", "tested on client", f"{metric(report)}, percent"))
    return figure


def _above(figure: Figure, height: float, high: float, maps: Sequence[Map]) -> tuple[Axes, list[Axes]]:
    """Axes as wide as the figure, and below them those of maps; heights are in inches."""
    columns = across(maps)
    down = math.ceil(len(maps) / columns)
    rows = figure.add_gridspec(1 + down, columns, height_ratios=[height, *[high / down] * down])
    below = [figure.add_subplot(rows[1 + i // columns, i % columns]) for i in range(len(maps))]
    return figure.add_subplot(rows[0, :]), below


def metric(report: Any) -> str:
    """The score in words."""
    return "R²" if report.data.metric == "R2" else "accuracy"


def _dots(axes: Axes, report: Any, methods: Any) -> None:
    for i, (method, score) in enumerate(methods):
        interval = method.interval
        if interval is not None:
            axes.plot([100 * interval.low, 100 * interval.high], [i, i], color=PIECE, marker="|")
        axes.plot([100 * score], [i], "o", color=PIECE)
    axes.set_yticks(range(len(methods)), [shown(method.method) for method, _ in methods])
    axes.invert_yaxis()
    axes.grid(axis="x", color=RULE)
    bars = "with 95 % interval" if any(method.interval is not None for method, _ in methods) else "without intervals"
    axes.set_xlabel(f"{metric(report)}, percent, {bars}")
    axes.set_title(shown(report.data.name), fontsize=10)


def _score(method: Any) -> float | None:
    """The first score of a method, which cross-validation calls its mean."""
    value: float | None = method.mean if hasattr(method, "mean") else method.accuracy
    return value


def _lifelong(report: Any) -> list[Map]:
    """Maps of a cross-validation whose models learn one piece after another; none of other reports."""
    found = {
        method.method: method.lifelong
        for method in report.methods
        if getattr(method, "lifelong", None) is not None and len(method.lifelong.matrix) > 1
    }
    return [
        Map(
            f"{shown(name)}\n{forgotten(found[name].forgetting)}",
            found[name].matrix,
            report.fragments,
            report.fragments,
            along=True,
        )
        for name in _in_order(found, _FIRST)
    ]


def _by_client(report: Any) -> list[Map]:
    """Maps of a federation; none of reports that have no scores by client and round."""
    names = [client.name for client in report.clients]
    found = {method.method: method.history for method in report.methods if method.history is not None}
    return [
        Map(
            f"{shown(name)}\n{forgotten(found[name].forgetting)}",
            found[name].accuracy,
            [str(each) for each in found[name].rounds],
            names,
        )
        for name in _in_order(found, _FEDERATED_FIRST)
        if len(found[name].rounds) > 1
    ]


def _in_order(found: Any, first: tuple[str, ...]) -> list[str]:
    """Names of methods: those that say most, then others."""
    ordered = [*(name for name in first if name in found), *(name for name in found if name not in first)]
    return ordered[:MOST_MAPS]


def _rounds(axes: Axes, report: Any) -> None:
    for i, method in enumerate(report.methods):
        style = STYLES[i % len(STYLES)]
        values = [math.nan if point.accuracy is None else 100 * point.accuracy for point in method.curve]
        rounds = [point.round for point in method.curve]
        every = max(1, len(rounds) // 8)
        axes.plot(
            rounds,
            values,
            linestyle=style.dashes,
            color=style.colour,
            marker=style.marker,
            markevery=every,
            markersize=4,
            label=shown(method.method),
        )
        last = method.interval
        if last is not None and rounds:
            axes.plot([rounds[-1]] * 2, [100 * last.low, 100 * last.high], color=style.colour, marker="_", linewidth=1)
    if report.target is not None:
        axes.axhline(100 * report.target, color=GREY, linewidth=0.8, linestyle="--")
    axes.set_xlabel("round")
    axes.set_ylabel(f"{metric(report)}, percent, mean over clients")
    bars = any(method.interval is not None for method in report.methods)
    end = "; bars at the end: 95 % interval over seeds" if bars else ""
    axes.set_title(f"{shown(report.data.name)}{end}", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
