"""Accuracy over federated rounds as a picture of its own in SVG: one line per method, named at its end.

Lines differ in dashes as well as in colour, so that a black-and-white print still tells them apart. Text that comes
from the data is never taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from picsc.reports.pages.scales import Scale, apart, ticks
from picsc_cli.console.printable import printable
from picsc_cli.console.safe import xml
from picsc_cli.text.page import Page, cut
from picsc_cli.text.sections import metric

if TYPE_CHECKING:
    from picsc.reports.fed import FedMethodReport, FedReport

WIDTH, HEIGHT = 880, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 640, 64, 404
"""Edges of the plot in pixels; the names of the methods are right of it."""
_LINE = 15
"""Pixels between two names."""
_LEAST = 1.0
"""Percentage points that the axis of accuracies spans at least."""
_LETTERS = 100
"""Cells of the title at most."""
_STYLES: dict[str, tuple[str, str]] = {
    "fedavg": ("#1a1a1a", ""),
    "fedprox": ("#6b6b6b", "7 3"),
    "scaffold": ("#0059b3", "2 3"),
    "fedcurv": ("#7a3ea8", "10 3 2 3"),
    "fisher-mean": ("#00735f", "12 4"),
    "picsc-scaffold": ("#9a5b00", "5 2 1 2 1 2"),
    "picsc": ("#c01545", ""),
}
"""Colour, at least 4.5 to 1 against white, and dashes of each method."""
_OTHER = ("#444444", "3 3")
_GREY, _RULE = "#595959", "#e3e3e3"


@dataclass(frozen=True, slots=True)
class _Font:
    """The look of a text."""

    size: int = 12
    """Height in pixels."""
    colour: str = "#1a1a1a"
    """Colour of the letters."""
    bold: bool = False
    """True for heavy letters."""
    anchor: Literal["start", "middle", "end"] = "start"
    """The part of the text that is at its x."""
    turned: bool = False
    """True to write upwards."""


_PLAIN, _CENTRED = _Font(), _Font(anchor="middle")


def fed_svg(report: FedReport) -> str:
    """The curves as an SVG document."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _svg(report)


def _svg(report: FedReport) -> str:
    unit = f"{metric(report.data)} in %"
    title = _title(report)
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    font = 'font-family="sans-serif" font-size="12"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title description" {font}>',
        f'<title id="title">{xml(title)}</title>',
        f'<desc id="description">{xml(_described(report))}</desc>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(16, 26, title, _Font(15, bold=True)),
        _text(
            16, 46, cut(printable(f"{report.partition}; {report.model}"), _LETTERS + 15, Page()), _Font(colour=_GREY)
        ),
    ]
    drawn = [(method, pieces) for method in report.methods if (pieces := _pieces(method))]
    if drawn:
        lines += _curves(report, drawn)
    else:
        lines.append(
            _text((_LEFT + _RIGHT) / 2, (_TOP + _BOTTOM) / 2, f"no round has an {metric(report.data)}", _CENTRED)
        )
    lines.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 38, "round", _Font(colour=_GREY, anchor="middle")))
    middle = (_TOP + _BOTTOM) / 2
    upwards = _Font(colour=_GREY, anchor="middle", turned=True)
    lines.append(_text(18, middle, f"{unit}, mean over clients", upwards))
    return "\n".join([*lines, "</svg>", ""])


def _title(report: FedReport) -> str:
    return cut(
        printable(f"{report.data.name}: {len(report.clients)} clients over {report.rounds} rounds"), _LETTERS, Page()
    )


def _described(report: FedReport) -> str:
    """The description of the lines, for people who do not see them."""
    ends = []
    for method in report.methods:
        last = [point for point in method.curve if point.accuracy is not None][-1:]
        ends += [f"{method.method} {100 * (point.accuracy or 0):.1f} % in round {point.round}" for point in last]
    score = metric(report.data)
    return f"Mean {score} over clients, by round; at the end: " + (", ".join(ends) or f"no {score}")


def _pieces(method: FedMethodReport) -> list[list[tuple[int, float]]]:
    """Rounds and accuracies in percent, cut where a round has none."""
    pieces: list[list[tuple[int, float]]] = [[]]
    for point in method.curve:
        if point.accuracy is None:
            pieces.append([])
        else:
            pieces[-1].append((point.round, 100 * point.accuracy))
    return [piece for piece in pieces if piece]


def _curves(report: FedReport, drawn: Sequence[tuple[FedMethodReport, list[list[tuple[int, float]]]]]) -> Iterator[str]:
    """Ticks, the target, lines and their names."""
    points = [point for _, pieces in drawn for piece in pieces for point in piece]
    values = [value for _, value in points] + ([100 * report.target] if report.target is not None else [])
    flat = max(0.0, _LEAST - (max(values) - min(values))) / 2
    levels = ticks(min(values) - flat, max(values) + flat, most=7)
    rounds = [tick for tick in ticks(min(r for r, _ in points), max(r for r, _ in points), most=9) if tick % 1 == 0]
    first, last = min(r for r, _ in points), max(r for r, _ in points)
    x = Scale(first, last if last > first else first + 1, _LEFT, _RIGHT)
    y = Scale(levels[0], levels[-1], _BOTTOM, _TOP)
    for level in levels:
        yield _rule(_LEFT, y(level), _RIGHT, y(level), _RULE)
        yield _text(
            _LEFT - 8, y(level) + 4, f"{level:g}".replace("-", "\N{MINUS SIGN}"), _Font(colour=_GREY, anchor="end")
        )
    for tick in rounds:
        if first <= tick <= last:
            yield _rule(x(tick), _BOTTOM, x(tick), _BOTTOM + 5, _GREY)
            yield _text(x(tick), _BOTTOM + 19, f"{tick:g}", _Font(colour=_GREY, anchor="middle"))
    yield _rule(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, _GREY)
    if report.target is not None:
        at = y(100 * report.target)
        yield _rule(_LEFT, at, _RIGHT, at, _GREY, ' stroke-dasharray="1 4"')
        yield _text(_LEFT + 4, at - 4, f"target {100 * report.target:.1f}", _Font(11, _GREY))
    ends = [(pieces[-1][-1], method.method) for method, pieces in drawn]
    for method, pieces in drawn:
        yield from _line(method.method, pieces, x, y)
    yield from _names(ends, last, x, y)


def _line(name: str, pieces: Sequence[Sequence[tuple[int, float]]], x: Scale, y: Scale) -> Iterator[str]:
    colour, dashes = _STYLES.get(name, _OTHER)
    width = 2.6 if name == "picsc" else 1.6
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    stroke = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashed}'
    for piece in pieces:
        if len(piece) == 1:
            (round_, value), *_ = piece
            yield f'<circle cx="{_number(x(round_))}" cy="{_number(y(value))}" r="2.5" fill="{colour}"/>'
        else:
            path = " ".join(f"{_number(x(round_))},{_number(y(value))}" for round_, value in piece)
            yield f'<polyline {stroke} points="{path}"><title>{xml(name)}</title></polyline>'


def _names(ends: Sequence[tuple[tuple[int, float], str]], last: int, x: Scale, y: Scale) -> Iterator[str]:
    """Each line's name and last value right of the plot, as near to its end as names above and below allow."""
    ordered = sorted(ends, key=lambda end: y(end[0][1]))
    heights = apart([y(value) for (_, value), _ in ordered], _LINE, _TOP, _BOTTOM)
    for ((round_, value), name), height in zip(ordered, heights, strict=True):
        colour, dashes = _STYLES.get(name, _OTHER)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        stopped = f", round {round_}" if round_ < last else ""
        yield _rule(x(round_), y(value), _RIGHT + 6, height, _RULE)
        yield _rule(_RIGHT + 6, height, _RIGHT + 28, height, colour, f' stroke-width="2"{dashed}')
        label = f"{name} {value:.1f}{stopped}"
        yield _text(_RIGHT + 33, height + 4, label, _Font(11, colour, bold=name == "picsc"))


def _rule(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    ends = f'x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"'
    return f'<line {ends} stroke="{colour}"{more}/>'


def _text(x: float, y: float, text: str, font: _Font = _PLAIN) -> str:
    anchored = f' text-anchor="{font.anchor}"' if font.anchor != "start" else ""
    heavy = ' font-weight="bold"' if font.bold else ""
    turned = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if font.turned else ""
    at = f'x="{_number(x)}" y="{_number(y)}" font-size="{font.size}" fill="{font.colour}"'
    return f"<text {at}{anchored}{heavy}{turned}>{xml(text)}</text>"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
