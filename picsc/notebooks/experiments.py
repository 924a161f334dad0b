"""Figures of recipes, one panel or more for each table: what a table varies decides which.

- Several lambdas: PIcsC minus standard training by lambda, one line for each number of pieces (calibration of lambda).
- Images under noise of known deviation: accuracy by deviation (robustness to noise).
- Several numbers of pieces: what is lost against training on the whole set, by the number (number of fragments).
- Models that learn one piece after another: accuracy of the model after each piece on every piece (forgetting).
- Anything else: picsc minus the first method of the table, by data set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from picsc.notebooks.canvas import GREY, RULE, STYLES, Dot, empty_figure, forgotten, grid, line, say, shown
from picsc.notebooks.matrices import Axis, Map, bounds_of, draw_maps
from picsc.phrases import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[["Axes"], None]
MOST_PANELS, MOST_ROWS = 12, 40
"""Panels of a figure, and data sets of a panel, at most."""
_OURS, _STANDARD, _CARRIED = "picsc", "st-cv", "carried"
_NAMES = {_OURS: "PIcsC", _STANDARD: "standard training (st-cv)"}
_NOISY = re.compile(r"(?P<base>.+)-noise-(?P<deviation>\d{1,3})$")
_APART = 0.012
"""Distance of neighbouring lines' marks, as a share of the axis, so that intervals do not hide each other."""


def plot_recipes(report: Any) -> Figure:
    """The figure of every recipe of a report.

    Raises:
        SettingsError: matplotlib is missing.
    """
    panels = [panel for table in report.tables for panel in _panels(table)]
    drawn = panels[:MOST_PANELS]
    across = min(3, max(1, len(drawn)))
    down = max(1, -(-len(drawn) // 3))
    figure = empty_figure(max(7.0, 4.6 * across), 4.2 * down)
    if not drawn:
        say(figure, "no data set of this report has a number")
        return figure
    for axes, draw in zip(grid(figure, len(drawn)), drawn, strict=True):
        draw(axes)
    if len(panels) > len(drawn):
        figure.supxlabel(f"{counted(len(panels) - len(drawn), 'more panel')} not drawn", fontsize=8)
    return figure


def _panels(table: Any) -> list[Draw]:
    """The panels of one table."""
    rows = [row for row in table.rows if row.scores]
    if table.verb == "audit":
        audited = [row for row in table.rows if row.shifted is not None]
        return [lambda axes: _shifted(axes, table, audited)] if audited else []
    if not rows:
        return []
    if len({row.strength for row in rows}) > 1:
        return [lambda axes: _by_strength(axes, table)]
    noisy = _by_base(rows)
    if noisy:
        return [_noise_panel(base, found) for base, found in noisy.items()]
    if table.verb == "cv" and len({row.pieces for row in rows}) > 1:
        names = list(dict.fromkeys(row.data for row in rows))
        return [_pieces_panel(name, [row for row in rows if row.data == name]) for name in names]
    maps = [each for row in rows for each in _maps(row)]
    if maps:
        return [_map_panel(each, bounds_of(maps)) for each in maps]
    return [lambda axes: _by_data_set(axes, table, rows)]


def _maps(row: Any) -> list[Map]:
    """Maps of PIcsC and of carried parameters on one data set; none where models do not learn along its pieces."""
    return [
        Map(f"{shown(row.data)}: {method}\n{forgotten(score.lifelong.forgetting)}", score.lifelong.matrix,
            row.names, row.names, along=True)
        for method in (_OURS, _CARRIED)
        if (score := row.score(method)) is not None and score.lifelong is not None
    ]  # fmt: skip


def _map_panel(drawn: Map, bounds: tuple[float, float]) -> Draw:
    words = Axis("model after learning", "tested on", "accuracy, percent; framed: the piece learned last", bounds)

    def draw(axes: Axes) -> None:
        draw_maps(axes.figure, [axes], [drawn], words)

    return draw


def _by_strength(axes: Axes, table: Any) -> None:
    """PIcsC minus standard training by lambda: the mean over data sets, or the only one's difference."""
    strengths = sorted({row.strength for row in table.rows if row.scores})
    numbers = list(dict.fromkeys(row.pieces for row in table.rows if row.scores))
    one_set = len({row.data for row in table.rows if row.scores}) == 1
    drawn: list[Dot] = []
    for i, pieces in enumerate(numbers):
        dots = []
        for at, strength in enumerate(strengths):
            x = at + (i - (len(numbers) - 1) / 2) * _APART * len(strengths)
            dot = _of_rows(table, pieces, strength, x) if one_set else _of_means(table, pieces, strength, x)
            dots += [] if dot is None else [dot]
        words = next(row.cut for row in table.rows if row.pieces == pieces) or counted(pieces, "piece")
        line(axes, dots, STYLES[i % len(STYLES)], words)
        drawn += dots
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(range(len(strengths)), [f"{each:g}" for each in strengths])
    axes.set_xlabel("lambda, the strength of the penalty (no unit)")
    sets = max((over.sets for over in table.over_sets), default=1)
    name = next(row.data for row in table.rows if row.scores)
    of_what = shown(name) if one_set else f"mean over {counted(sets, 'data set')}"
    axes.set_ylabel("PIcsC minus standard training,\npercentage points of accuracy", fontsize=9)
    _finish(axes, f"{table.title}\n{of_what}; {_bars(drawn)}")


def _of_means(table: Any, pieces: int, strength: float, x: float) -> Dot | None:
    """The mean difference over data sets."""
    found = [over for over in table.over_sets if (over.pieces, over.strength) == (pieces, strength)]
    tests = [test for over in found for test in over.tests if test.against == _STANDARD]
    return _dot(x, tests[0].accuracy, tests[0].accuracy_interval) if tests else None


def _of_rows(table: Any, pieces: int, strength: float, x: float) -> Dot | None:
    """The difference on the only data set."""
    found = [row for row in table.rows if (row.pieces, row.strength) == (pieces, strength)]
    difference = found[0].against(_STANDARD) if found else None
    if difference is None or difference.accuracy is None:
        return None
    return _dot(x, difference.accuracy, difference.accuracy_interval)


def _by_base(rows: Sequence[Any]) -> dict[str, list[tuple[int, Any]]]:
    """Rows by the set that is under noise and the number of pieces, with the deviation; 0 for the set itself."""
    found: dict[str, list[tuple[int, Any]]] = {}
    bases = {match["base"] for row in rows if (match := _NOISY.match(row.data))}
    several = len({row.pieces for row in rows}) > 1
    for row in rows:
        match = _NOISY.match(row.data)
        base = match["base"] if match else row.data
        if base in bases:
            name = f"{base}, {row.pieces} pieces" if several else base
            found.setdefault(name, []).append((int(match["deviation"]) if match else 0, row))
    return found


def _noise_panel(base: str, found: Sequence[tuple[int, Any]]) -> Draw:
    def draw(axes: Axes) -> None:
        ordered = sorted(found, key=lambda each: each[0])
        deviations = sorted({deviation for deviation, _ in found})
        drawn: list[Dot] = []
        for i, method in enumerate((_STANDARD, _OURS)):
            dots = []
            for deviation, row in ordered:
                score = row.score(method)
                if score is not None and score.accuracy is not None:
                    x = deviations.index(deviation) + (i - 0.5) * _APART * len(deviations)
                    dots.append(_dot(x, score.accuracy, score.interval))
            line(axes, dots, STYLES[1 - i], _NAMES[method])
            drawn += dots
        axes.set_xticks(range(len(deviations)), [str(each) for each in deviations])  # on one scale, 0 and 1 overlap
        axes.set_xlabel("standard deviation of the noise, in 255ths of the range of a pixel")
        axes.set_ylabel("accuracy, percent, mean over pieces")
        _finish(axes, f"{shown(base)}\n{_bars(drawn)}")

    return draw


def _pieces_panel(name: str, rows: Sequence[Any]) -> Draw:
    def draw(axes: Axes) -> None:
        numbers = sorted({row.pieces for row in rows})
        drawn: list[Dot] = []
        for i, method in enumerate((_STANDARD, _OURS)):
            dots = []
            for at, pieces in enumerate(numbers):
                row = next(each for each in rows if each.pieces == pieces)
                standard, score = row.score(_STANDARD), row.score(method)
                known = score is not None and score.accuracy is not None
                if known and standard is not None and standard.whole is not None:
                    x = at + (i - 0.5) * _APART * len(numbers)
                    dots.append(_lost(x, standard.whole, score))
            line(axes, dots, STYLES[1 - i], _NAMES[method])
            drawn += dots
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_xticks(range(len(numbers)), [str(each) for each in numbers])
        axes.set_xlabel(f"number of {_kind_of(rows)}")
        axes.set_ylabel("accuracy of standard training on all rows\nminus mean over pieces, points", fontsize=9)
        _finish(axes, f"{shown(name)}\n{_bars(drawn)}")

    return draw


def _lost(x: float, whole: float, score: Any) -> Dot:
    """Accuracy of the whole set minus a mean over pieces, in points; the ends of its interval change places."""
    if score.interval is None:
        return Dot(x, 100 * (whole - score.accuracy))
    low, high = score.interval.low, score.interval.high
    return Dot(x, 100 * (whole - score.accuracy), 100 * (whole - high), 100 * (whole - low))


def _by_data_set(axes: Axes, table: Any, rows: Sequence[Any]) -> None:
    """Picsc minus the table's first method, by data set; without picsc, the accuracy of the first method."""
    drawn = rows[:MOST_ROWS]
    against = next(
        (score.method for row in drawn for score in row.scores if score.method != _OURS), drawn[0].scores[0].method
    )
    several = len({row.block for row in drawn}) > 1
    names, found = [], []
    for row in drawn:
        dot = _minus(row, against)
        if dot is not None:
            names.append(f"{shown(row.data)}, {row.block}" if several else shown(row.data))
            found.append(dot)
    if not found:
        axes.text(0.5, 0.5, f"no data set has picsc and {against}", ha="center", va="center", transform=axes.transAxes)
    for i, dot in enumerate(found):
        if dot.low is not None and dot.high is not None:
            axes.plot([dot.low, dot.high], [i, i], color=STYLES[0].colour, marker="|", linewidth=1.2)
        axes.plot([dot.y], [i], STYLES[0].marker, color=STYLES[0].colour)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel(f"picsc minus {against}, percentage points, with 95 % interval", fontsize=9)
    axes.grid(axis="x", color=RULE)
    axes.set_title(_wrapped(table.title), fontsize=9)


def _minus(row: Any, against: str) -> Dot | None:
    """Picsc minus another method on one data set."""
    whose = row.comparison or row.federation or row
    difference = whose.against(against)
    if difference is not None and difference.accuracy is not None:
        interval = getattr(difference, "accuracy_interval", None) or getattr(difference, "interval", None)
        return _dot(0, difference.accuracy, interval)
    ours, theirs = row.score(_OURS), row.score(against)
    if ours is None or theirs is None or ours.accuracy is None or theirs.accuracy is None:
        return None
    return _dot(0, ours.accuracy - theirs.accuracy, None)


def _shifted(axes: Axes, table: Any, rows: Sequence[Any]) -> None:
    """Shifted pieces of an audit, beside all pieces."""
    drawn = rows[:MOST_ROWS]
    at = range(len(drawn))
    axes.barh(at, [row.pieces or 0 for row in drawn], color=RULE, edgecolor=GREY, label="all pieces")
    axes.barh(at, [row.shifted for row in drawn], color=STYLES[0].colour, height=0.5, label="shifted pieces")
    axes.set_yticks(at, [shown(row.data) for row in drawn], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("number of pieces")
    axes.legend(fontsize=8, frameon=False)
    axes.set_title(_wrapped(table.title), fontsize=9)


def _dot(x: float, value: float, interval: Any) -> Dot:
    """A fraction and its interval in percent."""
    if interval is None:
        return Dot(x, 100 * value)
    return Dot(x, 100 * value, 100 * interval.low, 100 * interval.high)


def _bars(dots: Sequence[Dot]) -> str:
    """What the bars of a panel are."""
    if any(dot.low is not None for dot in dots):
        return "bars: 95 % intervals"
    return "no intervals, which need more repeats or data sets"


def _finish(axes: Axes, title: str) -> None:
    axes.grid(axis="y", color=RULE)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, framealpha=0.9, edgecolor="none")
    axes.set_title(_wrapped(title), fontsize=9)


def _wrapped(title: str) -> str:
    """Lines of a title that fit a panel; no formulas."""
    from textwrap import wrap

    return "\n".join(part for each in title.splitlines() for part in wrap(each, 60)[:2]).replace("$", r"\$")


def _kind_of(rows: Sequence[Any]) -> str:
    """`folds` or `batches`, as all rows were cut, else `pieces`."""
    kinds = {row.cut.partition(" ")[2] for row in rows}
    return kinds.pop() if len(kinds) == 1 and kinds <= {"folds", "batches"} else "pieces"
