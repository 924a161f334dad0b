"""Comparisons of methods as text for people: three lines, the paper's table, the methods, risks, targets, a footer.

Everything shown is read from the report; nothing is computed but widths. Accuracies, their differences and errors are
in percent and percentage points, log-losses in nats; a relative difference stands in a sentence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from picsc_cli.text import metric_rows, p_values, sections
from picsc_cli.text.method_names import PAPERS_NAMES
from picsc_cli.text.numbers import decimals, extent, nats, percent, percent_within, points, signed
from picsc_cli.text.page import Page, cut, figures, paragraph, words

if TYPE_CHECKING:
    from picsc.reports.compare import CompareMethodReport, CompareReport, CompareUnit, TargetInfo

MOST_TARGETS = 12
"""Targets with a row of their own."""
LONGEST_TARGET = 22
"""Cells of a target's name at most."""
_FAILURES = 5
"""Refused weightings and failed models that are named."""
_BASE = "st-cv"


def compare_table(report: CompareReport, page: Page, *, verbose: bool = False) -> str:
    """The whole report; `verbose` adds what the methods are, the columns as understood and the settings."""
    parts = [
        sections.three_lines(report.lines, page, "bold"),
        paragraph(_title(report), page) + _accuracies(report, page),
        _methods(report, page),
        *metric_rows.tables(report, page, _BASE),
        *p_values.tables(report, page, _BASE),
    ]
    parts += [_risks(report, page)] if report.risks else []
    parts += [_targets(report, page)] if len(report.targets) > 1 else []
    parts += sections.method_sections(report, _sentences(report, page), sections.footer(report), page, verbose=verbose)
    return "\n".join(parts)


def _title(report: CompareReport) -> str:
    repeats = "1 repeat" if report.repeats == 1 else f"{report.repeats} repeats"
    return f"{report.data.name}, {report.data.rows} rows: {report.words}; {repeats}"


def _accuracies(report: CompareReport, page: Page) -> str:
    """The paper's table: one row per target, the paper's methods, its two differences in points; a mean beneath."""
    methods = [method for method in report.methods if method.method in PAPERS_NAMES]
    titles = ("target", *(PAPERS_NAMES[method.method] for method in methods), *(delta.name for delta in report.deltas))
    rows = [
        [
            Text(cut(words(target.name, page), LONGEST_TARGET, page)),
            *(Text(percent(method.targets[i], page)) for method in methods),
            *(points(report.gain(delta, i), page) for delta in report.deltas),
        ]
        for i, target in enumerate(report.targets[:MOST_TARGETS])
    ]
    blocks = [rows]
    if len(report.targets) > 1:
        mean = [Text("mean"), *(Text(percent(method.accuracy, page) + _star(method)) for method in methods)]
        mean += [points(delta.points, page) for delta in report.deltas]
        for cell in mean:
            cell.stylize("bold")
        blocks.append([mean])
    return figures(titles, blocks, page) + "".join(
        paragraph(note, page, indent=1, hanging=2) for note in _notes(report)
    )


def _star(method: CompareMethodReport) -> str:
    """A star for a mean over fewer targets than there are; else nothing."""
    return "*" if method.accuracy is not None and None in method.targets else ""


def _notes(report: CompareReport) -> Iterator[str]:
    """Notes beneath the paper's table: targets without a row, and its differences as the paper divides them."""
    rest = len(report.targets) - MOST_TARGETS
    if rest > 0:
        yield f"and {rest} more targets, which the mean has too; --output json has all of them"
    if len(report.targets) > 1 and any(_star(method) for method in report.methods if method.method in PAPERS_NAMES):
        yield "* without the targets on which there is no result, and so no mean to compare with the others"
    score = sections.metric(report.data)
    if report.deltas:
        yield "; ".join(f"{delta.name}: points that {delta.ours} is above {delta.against}" for delta in report.deltas)
    relative = [delta for delta in report.deltas if delta.relative is not None]
    if relative:
        shares = ", ".join(
            f"{delta.name} {signed(100 * (delta.relative or 0.0), 1, Page()).plain} % of {delta.base}'s {score}"
            for delta in relative
        )
        yield f"relative, as the paper prints it: {shares}"


def _methods(report: CompareReport, page: Page) -> str:
    """The second table: every method with its interval, its weights, and what it costs."""
    score = sections.metric(report.data)
    titles = ["method", f"{score}\n[95 %]", *sections.beside_titles(report.data), "log-\nloss", "Δ"]
    titles += ["ESS\n%", "max\nw", "MB"]
    took = {measured.method: measured.seconds for measured in report.measured}
    rows = [
        [*_method(report, method, page), *([_seconds(took.get(method.method), page)] if took else [])]
        for method in report.methods
    ]
    note = (
        f"Δ: points above {_BASE}, paired; ESS: effective sample size, of the training rows; max w: largest weight, "
        "where 1 is the mean; MB: what the weighting holds at once"
        f"{sections.majority_note(report)}"
    )
    note += "; s: seconds of all its models" if took else ""
    titles += ["s"] if took else []
    rows += sections.majority_row(report, len(titles), page)
    return figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)


def _method(report: CompareReport, method: CompareMethodReport, page: Page) -> list[Text]:
    base = method.against(_BASE)
    weights = method.weights
    return [
        Text(words(method.method, page)),
        Text(percent_within(method.accuracy, method.interval, page)),
        *sections.beside_accuracy(method, report.data, page),
        Text(nats(method.log_loss, page)),
        points(base.accuracy if base else None, page),
        Text(page.none if weights is None else three(100 * weights.ess)),
        Text(page.none if weights is None else three(weights.largest)),
        Text(megabytes(method.memory, page)),
    ]


def three(value: float) -> str:
    """One decimal below 100, none from there on."""
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def megabytes(size: int, page: Page) -> str:
    """Bytes as megabytes in at most one decimal; a dash where nothing is held."""
    if size == 0:
        return page.none
    return "<0.1" if size < 50_000 else three(size / 1e6)


def _seconds(value: float | None, page: Page) -> Text:
    return Text(page.none if value is None else three(value))


def _risks(report: CompareReport, page: Page) -> str:
    """The table of cross-validation's estimates: how close they come to the plain model's scores on the target."""
    score = sections.metric(report.data)
    titles = ("tested rows\nweighed by", f"foretold\n{score}", "off by,\npoints", "foretold\nlog-loss", "off by,\nnats")
    rows = [
        [
            Text(words(risk.by, page)),
            Text(percent(risk.accuracy, page)),
            Text(percent(risk.accuracy_error, page)),
            Text(nats(risk.log_loss, page)),
            Text(nats(risk.log_loss_error, page)),
        ]
        for risk in report.risks
    ]
    base = report.method(_BASE)
    came = "what comes out on the target"
    if base is not None and base.accuracy is not None:
        loss = "" if base.log_loss is None else f" and {base.log_loss:.3f}"
        came = f"the {percent(base.accuracy, page)}{loss} that come out on the target"
    note = f"foretold by cross-validation of {_BASE} on training rows; off by: mean distance from {came}"
    return figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)


def _targets(report: CompareReport, page: Page) -> str:
    """The table of several targets: numbers of rows by use, and how far they are from the training rows."""
    titles = ("target", "rows that\nlearn", "looked\nat", "with\nlabels", "judge", "separation")
    rows = [
        [
            Text(cut(words(target.name, page), LONGEST_TARGET, page)),
            *(Text(str(count)) for count in (target.train, target.adapt, target.labelled, target.judge)),
            Text(decimals(target.separation, 2, page)),
        ]
        for target in report.targets[:MOST_TARGETS]
    ]
    note = "separation of training and target rows by a classifier: 0.5 where they look alike, 1 where none overlap"
    return figures(titles, [rows], page) + paragraph(note, page, indent=1, hanging=2)


def _sentences(report: CompareReport, page: Page) -> Iterator[str]:
    """Facts that the tables do not show: the rows of one target, what was chosen, and what has no result."""
    if len(report.targets) == 1:
        yield _target(report.targets[0])
    chosen = [
        f"{method.method} {words(extent(method.strengths), page)}" for method in report.methods if method.strengths
    ]
    if chosen:
        yield f"λ or weight decay that was used: {', '.join(chosen)}"
    powers = [
        f"{method.method} {words(extent(method.exponents), page)}" for method in report.methods if method.exponents
    ]
    if powers:
        yield f"power of the weights that was chosen: {', '.join(powers)}"
    failures = failed(report)
    if failures:
        total = sum(len(method.units) for method in report.methods)
        first = "; the first are" if len(failures) > _FAILURES else ""
        yield f"without a result: {report.failed} of {total} models{first}"
        yield from (f"  {line}" for line in failures[:_FAILURES])


def _target(target: TargetInfo) -> str:
    """The numbers of rows by use, where there is one target."""
    labelled = f" ({target.labelled} with labels)" if target.labelled else ""
    rows = f"{target.train} rows learn, {target.adapt} of the target are looked at{labelled}, {target.judge} judge"
    if target.separation is None:
        return f"{target.name}: {rows}"
    return (
        f"{target.name}: {rows}; separation {target.separation:.2f} (0.5 where rows look alike, 1 where none overlap)"
    )


def failed(report: CompareReport) -> list[str]:
    """Refused weightings and failed models, one line per method and target with the reason of the first."""
    found: dict[tuple[str, str], list[CompareUnit]] = {}
    for method in report.methods:
        for unit in method.units:
            if unit.reason:
                found.setdefault((method.method, unit.target), []).append(unit)
    return [
        f"{method}, {target}, {_which(units, report.repeats)}: {units[0].reason.removeprefix(f'{method}: ')}"
        for (method, target), units in found.items()
    ]


def _which(units: list[CompareUnit], repeats: int) -> str:
    if len(units) == 1:
        return f"repeat {units[0].repeat}"
    return "every repeat" if len(units) == repeats else f"{len(units)} of {repeats} repeats"
