"""Audits as text for people: three lines of summary, a table as a paper prints it, findings, a footer.

Everything shown is read from the report; nothing is computed but widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from picsc_cli.text import sections
from picsc_cli.text.audit_words import SIGNIFICANT, chance, how_far, legend, model_words, moved, overall_lines, standing
from picsc_cli.text.bars import CELLS, bar
from picsc_cli.text.numbers import number
from picsc_cli.text.page import Page, cut, drawn, one_line, paper_table, paragraph, words
from picsc_cli.text.reading_words import reading_line

if TYPE_CHECKING:
    from rich.console import JustifyMethod

    from picsc.reports.audit import AuditReport, AuditReports, FragmentReport
    from picsc.reports.columns import ColumnShift

MOST_PIECES = 40
"""Rows of the table at most, as long as no more pieces than that are shifted or inconclusive."""
_NAMES = 3
"""Columns named per piece."""
_LONGEST_PIECE = 24

_TOP_COLUMNS = "top columns"
_BARS = "effect\non data"
"""Title of the bars, which are full for a difference of probabilities of 1."""


def audit_alone(report: AuditReport, page: Page) -> str:
    """The summary where nothing else is shown: its first line names the file, as in the summary of several files."""
    first, second, third = report.summary
    return audit_summary(replace(report, summary=(f"{report.data.source}: {first}", second, third)), page)


def audit_summary(report: AuditReport, page: Page) -> str:
    """The three lines of the summary, each on one line whatever its length."""
    return sections.three_lines(report.summary, page, sections.VERDICT_STYLE[report.verdict])


def audits_summary(reports: AuditReports, page: Page) -> str:
    """The verdict over all files, then one line per file."""
    first, *rest = overall_lines(reports)
    style = sections.VERDICT_STYLE[reports.verdict]
    return one_line(first, page, style) + "".join(one_line(line, page) for line in rest)


def audits_table(reports: AuditReports, page: Page, *, verbose: bool = False) -> str:
    """The summary of all files, then the whole report of each that could be audited."""
    tables = (audit_table(report, page, verbose=verbose) for report in reports.reports)
    return "\n".join([audits_summary(reports, page), *tables])


def audit_table(report: AuditReport, page: Page, *, verbose: bool = False) -> str:
    """The whole report; `verbose` adds the columns as they were understood and the settings."""
    shown = _shown(report.fragments)
    title = f"{report.data.name}, {report.data.rows} rows, {report.pieces}, reference: {report.reference}"
    reading = reading_line(report.data.reading, verbose=verbose) if report.data.reading else ""
    about = paragraph(title, page) + (paragraph(reading, page, hanging=2) if reading else "")
    parts = [audit_summary(report, page), about + _pieces(report, shown, page)]
    names = {fragment.name for fragment in shown}
    left_out = [fragment for fragment in report.fragments if fragment.name not in names]
    if left_out:
        being = " or ".join(sorted({fragment.verdict for fragment in left_out}, reverse=True))
        counts = f"{len(left_out)} of {len(report.fragments)} pieces"
        parts.append(paragraph(f"not shown, being {being}: {counts}; --output json has all of them", page))
    parts.append(_legend(report, page))
    if report.findings:
        parts.append(sections.findings(report.findings, page))
    if verbose:
        parts += [sections.columns(report.data.columns, page), sections.settings(report.settings, page)]
    parts.append("".join(paragraph(line, page, hanging=2) for line in _footer(report)))
    return "\n".join(parts)


def _shown(fragments: Sequence[FragmentReport]) -> tuple[FragmentReport, ...]:
    """Every piece that is not ok, and as many of the others as make `MOST_PIECES`; in the report's order."""
    ok = [fragment for fragment in fragments if fragment.verdict in ("ok", "equivalent", "not tested")]
    left_out = {fragment.name for fragment in ok[max(0, MOST_PIECES - (len(fragments) - len(ok))) :]}
    return tuple(fragment for fragment in fragments if fragment.name not in left_out)


def _pieces(report: AuditReport, shown: Sequence[FragmentReport], page: Page) -> str:
    """The table of the pieces and the notes beneath it."""
    header = ("piece", "rows", "‖ΔI‖_F", "KL", "τ", "p\ndata", "p\nmodel", "verdict")
    titles = ["\n".join(words(line, page) for line in title.split("\n")) for title in header]
    rows = [_row(fragment, report, page) for fragment in shown]
    cells_of = zip(titles, *rows, strict=True)
    widths = [max(cell_len(line) for cell in cells for line in cell.split("\n")) for cells in cells_of]
    bars = _bars_fit(shown, widths, report.level, page)
    gap, room = _layout(shown, [*widths, CELLS] if bars else widths, report.level, page)

    table = paper_table(page, gap)
    justify: list[JustifyMethod] = ["left", *["right"] * 6, "left"]  # type: ignore[list-item]
    for title, width, end in zip(titles, widths, justify, strict=True):
        table.add_column(title, justify=end, min_width=width, no_wrap=True, vertical="bottom")
    if bars:
        table.add_column(_BARS, min_width=CELLS, no_wrap=True, vertical="bottom")
    if room:
        table.add_column(_TOP_COLUMNS, no_wrap=True, vertical="bottom")
    for fragment, row in zip(shown, rows, strict=True):
        *cells, verdict = row
        style = sections.VERDICT_STYLE[fragment.verdict]
        drawn_bar = [Text(bar(fragment.effect_data, page), style)] if bars else []
        top = [Text(_what(fragment, report.level, room, page))] if room else []
        table.add_row(*map(Text, cells), Text(verdict, style), *drawn_bar, *top)
    ample = page.width + sum(widths) + 3 * len(widths)  # so that rich never shrinks a column
    return drawn(table, page, width=ample) + "".join(_notes(report, shown, page, shown_in_table=bool(room)))


def _legend(report: AuditReport, page: Page) -> str:
    """The table's columns in words."""
    return "".join(paragraph(line, page, hanging=2) for line in legend(report))


def _row(fragment: FragmentReport, report: AuditReport, page: Page) -> tuple[str, ...]:
    """The cells of one piece, the verdict last; the digits of all p-values end in one place."""
    chances = [chance(p, report, page) for p in (fragment.p_data_adjusted, fragment.p_model_adjusted)]
    return (
        cut(words(fragment.name, page), _LONGEST_PIECE, page),
        str(fragment.rows),
        *(number(value, page) for value in (fragment.fisher_gap, fragment.kl, fragment.tau)),
        *(p if p.endswith(SIGNIFICANT) else f"{p} " for p in chances),
        standing(fragment),
    )


def _layout(shown: Sequence[FragmentReport], widths: Sequence[int], level: float, page: Page) -> tuple[int, int]:
    """Spaces between columns, and the room right of them for the top columns.

    Returns:
        The gap, 2 or 1; and the room, 0 when the top columns of some piece need lines of their own beneath the table.
    """
    taken = {gap: sum(widths) + gap * len(widths) for gap in (2, 1)}
    needed = max((cell_len(_what(fragment, level, 0, page)) for fragment in shown), default=0)
    for gap in (2, 1):
        room = page.width - taken[gap] - gap
        if needed and room >= max(needed, len(_TOP_COLUMNS)):
            return gap, room
    return (2 if taken[2] <= page.width else 1), 0


def _bars_fit(shown: Sequence[FragmentReport], widths: Sequence[int], level: float, page: Page) -> bool:
    """True if some piece has an effect to draw, and bars neither squeeze the table nor push the top columns out."""
    if not any(fragment.effect_data for fragment in shown):
        return False
    if sum(widths) + CELLS + 2 * (len(widths) + 1) > page.width:
        return False
    beside = _layout(shown, widths, level, page)[1] > 0
    return not beside or _layout(shown, [*widths, CELLS], level, page)[1] > 0


def _what(fragment: FragmentReport, level: float, room: int, page: Page) -> str:
    """The columns that moved, strongest first: as many as fit, at least one, then how many more there are.

    A piece that is not shifted, or without such a column, shows its reason instead; it may be empty.
    """
    found = moved(fragment, level)
    if fragment.verdict != "shift" or not found:
        return words(fragment.reason, page)
    for count in range(min(_NAMES, len(found)), 0, -1):
        more = f" +{len(found) - count} more" if len(found) > count else ""
        line = ", ".join(how_far(column, level, page, _name(column, page)) for column in found[:count]) + more
        if cell_len(line) <= room:
            break
    return line


def _name(column: ColumnShift, page: Page) -> str:
    """The column's name, cut to fit."""
    return cut(words(column.name, page), max(_LONGEST_PIECE, page.width // 2), page)


def _notes(report: AuditReport, shown: Sequence[FragmentReport], page: Page, *, shown_in_table: bool) -> Iterator[str]:
    """Lines beneath the table: the top columns it had no room for, and the notes of columns."""
    for fragment in shown:
        piece = cut(words(fragment.name, page), _LONGEST_PIECE, page)
        what = "" if shown_in_table else _what(fragment, report.level, page.width - cell_len(piece) - 3, page)
        if what:
            yield paragraph(f"{piece}: {what}", page, indent=1, hanging=2)
        fit = model_words(fragment, report)
        if fit:
            yield paragraph(f"{piece}: {words(fit, page)}", page, indent=1, hanging=2)
        for column in moved(fragment, report.level)[:_NAMES]:
            if column.note:
                yield paragraph(f"{piece}, {_name(column, page)}: {column.note}", page, indent=1, hanging=2)


def _footer(report: AuditReport) -> tuple[str, ...]:
    """The lines on how verdicts were reached: the null, thresholds, the reference, the model question and the seed."""
    null, data = report.null, report.data
    drawn_from = f" on {null.rows} rows" if null.rows != data.rows else ""
    thresholds = f"level {report.level:g}; min effect {report.min_effects.words}"
    return (
        f"null: {null.kind} of {null.unit}, {null.draws} draws{drawn_from}; {thresholds}",
        f"reference: {report.reference}; model question: {sections.question(data)}; seed {report.settings.get('seed')}",
        *([f"baseline: {report.baseline}"] if report.baseline is not None else []),
    )
