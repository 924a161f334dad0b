"""The text for people: what the table shows, what it never cuts, and what it does with hostile names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from picsc.reports.audit import NullInfo
from picsc.reports.common import DataInfo, Finding
from picsc_cli.formats.table.audit import MOST_PIECES, audit_summary, audit_table
from picsc_cli.text.numbers import number, probability
from picsc_cli.text.page import Page, paragraph
from tests.factories.audit import MODEL_ONLY, SHIFTED, TOO_SMALL, UNTESTED, audit_report, column_shift, fragment

GOLDEN = Path(__file__).parents[3] / "golden"
ESC = "\x1b"


def rows_of(text: str) -> list[str]:
    """The lines between the rule under the header and the bottom rule."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if line.strip() and not line.strip().strip("─-")]
    return lines[rules[1] + 1 : rules[2]]


def test_table_is_the_golden_one() -> None:
    expected = (GOLDEN / "audit-table.txt").read_text(encoding="utf-8")
    assert audit_table(audit_report(), Page(), verbose=True) == expected


def test_ascii_table_is_the_golden_one() -> None:
    text = audit_table(audit_report(), Page(ascii_only=True))
    assert text.encode("ascii", "replace") == (GOLDEN / "audit-table-ascii.txt").read_bytes()


def test_summary_is_three_lines_whatever_their_length() -> None:
    long = ("shift: " + "x" * 300, "worst: " + "y " * 200 + "end", "next: \n\x1b[31mz")
    lines = audit_summary(audit_report(summary=long), Page()).splitlines()
    assert lines == [long[0], long[1], "next: \\n\\x1b[31mz"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (0.05, "0.0500"),
        (123.4, "123"),
        (999.6, "1.00e3"),
        (15240.7, "1.52e4"),
        (1.2e-7, "1.20e-7"),
        (0.000123, "0.000123"),
        (-2.5, "-2.50"),
        (None, "–"),  # noqa: RUF001 - the dash that stands for None
    ],
)
def test_numbers_have_three_significant_digits(value: float | None, shown: str) -> None:
    assert number(value, Page()) == shown


@pytest.mark.parametrize(
    ("p", "draws", "shown"),
    [
        (0.001, 999, "0.001"),
        (1 / 1000, 999, "0.001"),
        (0.0009, 999, "<0.001"),
        (0.0, 1999, "<0.0005"),
        (0.0005, 1999, "0.0005"),
        (0.41239, 999, "0.412"),
        (1.0, 999, "1"),
    ],
)
def test_p_values_below_what_the_draws_can_show_are_a_bound(p: float, draws: int, shown: str) -> None:
    assert probability(p, draws, Page()) == shown


@settings(max_examples=50, deadline=None)
@given(
    width=st.integers(20, 200),
    name=st.text(min_size=1, max_size=60),
    values=st.tuples(*[st.none() | st.floats(1e-300, 1e300)] * 3),
    p=st.none() | st.floats(0, 1),
)
def test_numbers_are_whole_at_any_width(
    width: int, name: str, values: tuple[float | None, float | None, float | None], p: float | None
) -> None:
    gap, kl, tau = values
    page = Page(width)
    piece = fragment(name, "shift", rows=1234567, fisher_gap=gap, kl=kl, tau=tau)
    piece = replace(piece, p_data_adjusted=p, p_model_adjusted=p)
    [row] = rows_of(audit_table(audit_report(piece, findings=()), page))
    mark = "*" if p is not None and p <= audit_report().level else ""
    shown = probability(p, 999, page) + mark
    expected = ["1234567", *(number(value, page) for value in values), shown, shown, "shift"]
    assert " ".join(expected) in " ".join(row.split())


def test_a_wide_page_has_the_top_columns_beside_the_verdict() -> None:
    rows = rows_of(audit_table(audit_report(), Page(200)))
    assert rows[2].endswith(
        "shift         ████▏     mean of worst concave points 0.93 sd higher (KS 0.52 [0.40, 0.61]), β→γ 0.412, "  # noqa: RUF001
        "mean [red]texture 0.300 +3 more"
    )
    assert rows[3].endswith(MODEL_ONLY.reason)
    assert rows[4].endswith(TOO_SMALL.reason)


@pytest.mark.parametrize(("effect", "bar"), [(0.0, ""), (0.004, ""), (0.05, "▍"), (0.5, "████"), (1.0, "████████")])
def test_the_effect_on_the_data_is_a_bar(effect: float, bar: str) -> None:
    piece, other = fragment("fold 1", effect_data=effect), fragment("fold 2", effect_data=0.3)
    text = audit_table(audit_report(piece, other, findings=()), Page(80))
    assert "on data" in text
    assert rows_of(text)[0].endswith(f"ok       {bar}".rstrip())


def test_bars_are_left_out_where_a_line_would_be_too_long() -> None:
    for width in range(20, 120):
        text = audit_table(audit_report(findings=()), Page(width))
        assert "on data" not in text or max(map(len, rows_of(text))) <= width
    assert "on data" not in audit_table(audit_report(), Page(70))
    assert "on data" not in audit_table(audit_report(fragment("a", effect_data=0.0)), Page(80))


def test_a_narrow_page_has_the_top_columns_beneath_the_table() -> None:
    text = audit_table(audit_report(), Page(80))
    assert rows_of(text)[2].endswith("shift         ████▏")
    assert "\n fold 3: mean of worst concave points 0.93 sd higher (KS 0.52 [0.40, 0.61]) +5\n   more\n" in text
    assert "\n fold 5: n=8 < n_min\n" in text


def test_long_column_names_are_cut_but_their_statistics_are_not() -> None:
    piece = fragment("a", "shift", columns=(column_shift("long name " * 30, 0.1234), column_shift("b", 0.1)))
    lines = audit_table(audit_report(piece), Page(80)).splitlines()
    [line] = [line for line in lines if line.startswith(" a: ")]
    assert line.endswith("… 0.123, b 0.100")


def test_columns_that_did_not_move_are_not_named() -> None:
    assert "symmetry" not in audit_table(audit_report(), Page(300))
    assert "mean radius" not in audit_table(audit_report(), Page(300))


def test_sides_of_a_column_and_notes_are_named() -> None:
    new = column_shift("cat", 0.15, kind="categorical", note="new category 'z' (15.0 % of rows)")
    gone = column_shift("temperature", 0.4, kind="missing")
    text = audit_table(audit_report(fragment("batch 3", "shift", columns=(gone, new))), Page(80))
    assert " batch 3: temperature (missing) 0.400, cat 0.150\n" in text
    assert " batch 3, cat: new category 'z' (15.0 % of rows)\n" in text


def test_many_pieces_show_what_is_not_ok_and_the_first_ok_ones() -> None:
    pieces = [fragment(f"p{i}") for i in range(90)]
    pieces[70], pieces[80] = fragment("late shift", "shift"), fragment("late doubt", "inconclusive", reason="few rows")
    text = audit_table(audit_report(*pieces), Page(100))
    names = [row.split("  ")[0].strip() for row in rows_of(text)]
    assert names == [f"p{i}" for i in range(MOST_PIECES - 2)] + ["late shift", "late doubt"]
    assert "not shown, being ok: 50 of 90 pieces; --output json has all of them" in text


def test_no_shifted_piece_is_ever_left_out() -> None:
    pieces = [fragment(f"p{i}", "shift") for i in range(60)] + [fragment(f"fine{i}") for i in range(30)]
    text = audit_table(audit_report(*pieces), Page(100))
    assert len(rows_of(text)) == 60
    assert "not shown, being ok: 30 of 90 pieces" in text


def test_markup_and_escape_sequences_in_the_data_are_shown_and_not_obeyed() -> None:
    evil = column_shift(f"[bold]x[/bold]{ESC}[2J\nshift", 0.5)
    finding = Finding("f", "warning", f"column {ESC}]0;title\x07 is odd", "look: [link=http://a]b[/link] :warning:")
    text = audit_table(audit_report(fragment(f"a{ESC}[31m", "shift", columns=(evil,)), findings=(finding,)), Page(200))
    assert ESC not in text
    assert "[bold]x[/bold]\\x1b[2J\\nshift 0.500" in text
    assert "warning: column \\x1b]0;title\\x07 is odd\n  look: [link=http://a]b[/link] :warning:\n" in text


def test_colours_are_written_only_where_asked_for() -> None:
    assert ESC not in audit_table(audit_report(), Page(), verbose=True)
    coloured = audit_table(audit_report(), Page(colours="standard"))
    assert f"{ESC}[1;31mshift" in coloured
    assert f"{ESC}[33mwarning" in coloured


def test_ascii_page_has_ascii_rules_and_words() -> None:
    plain = fragment("fold 1", "inconclusive", reason="effect ≤ 0.2 — too few rows", kl=None)
    text = audit_table(audit_report(plain, findings=()), Page(ascii_only=True))
    assert text.isascii()
    assert "||dI||_F" in text
    assert " tau " in text
    assert "effect <= 0.2 - too few rows" in text


def test_a_table_without_target_says_the_model_question_was_not_asked() -> None:
    data = DataInfo("memory", "memory", 10, None, "none", task="unlabelled", classes=None, columns=(), sha256="")
    text = audit_table(audit_report(data=data), Page())
    assert "model question: not asked (no target)" in text


def test_footer_says_when_the_null_was_drawn_on_fewer_rows() -> None:
    null = NullInfo("permutation-subsampled", "rows", 1999, 100)
    text = audit_table(audit_report(null=null), Page(120))
    assert "null: permutation-subsampled of rows, 1999 draws on 100 rows; level 0.05; min effect 0.05 " in text


def test_verbose_shows_columns_and_settings() -> None:
    text = audit_table(audit_report(), Page(120), verbose=True)
    assert "a different value in every row" in text
    assert "\n cut.folds = 5\n" in text
    assert "cut.folds" not in audit_table(audit_report(), Page(120))


def test_wide_characters_keep_the_columns_aligned() -> None:
    text = audit_table(audit_report(fragment("東京"), fragment("ab"), findings=()), Page(80))
    ends = {cell_len(row[: row.index(" ok")]) for row in rows_of(text)}
    assert len(ends) == 1


@settings(max_examples=50, deadline=None)
@given(text=st.text(max_size=200), width=st.integers(10, 100))
def test_paragraphs_keep_every_character_and_the_width(text: str, width: int) -> None:
    drawn = paragraph(text, Page(width), indent=1, hanging=2)
    assert all(cell_len(line) <= width for line in drawn.splitlines())
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    assert "".join(drawn.split()) == "".join(safe.split())


def test_a_shift_without_a_column_says_why() -> None:
    text = audit_table(audit_report(SHIFTED, MODEL_ONLY), Page(80))
    assert " fold 4: label shift: P(diagnosis) differs by 0.31, p 0.004\n" in text


def test_an_ok_piece_with_a_reason_says_it() -> None:
    small = fragment("a", reason="real but small: effect 0.02 < --min-effect 0.05", columns=SHIFTED.columns)
    text = audit_table(audit_report(small), Page(80))
    assert " a: real but small: effect 0.02 < --min-effect 0.05\n" in text
    assert "mean of worst concave points" not in text


def test_p_values_are_corrected_ones_and_marked_where_they_are_at_most_the_level() -> None:
    """Raw ones of 0.03 would contradict the verdict ok."""
    low = fragment("low", p_data=0.03, p_data_adjusted=0.4)
    high = fragment("high", "shift", p_data_adjusted=0.05, p_model_adjusted=0.051, cell="data only")
    text = audit_table(audit_report(low, high, findings=()), Page())
    low_row, high_row = rows_of(text)
    assert low_row.split()[5:] == ["0.4", "1", "ok", "▍"]
    assert high_row.split()[5:] == ["0.05*", "0.051", "shift", "▍"]
    assert "*: at most 0.05" in " ".join(text.split())
    without = audit_report(low, findings=(), data=replace(audit_report().data, task="unlabelled", target=None))
    assert "for a model (p model)" in " ".join(text.split())
    assert "p model" not in audit_table(without, Page()).partition("‖ΔI‖_F: ")[2]


def test_a_column_that_its_kl_shows_is_shown_with_it() -> None:
    by_kl = column_shift("weight", 0.08, 0.6, kl=253.4, p_kl=0.002)
    piece = fragment("a", "shift", columns=(by_kl, column_shift("age", 0.1, 0.3)))
    text = audit_table(audit_report(piece, findings=()), Page(200))
    assert "weight KL 253" in text
    assert "age" not in text.partition("piece")[2]


def test_a_piece_that_is_not_tested_is_not_ok() -> None:
    text = audit_table(audit_report(UNTESTED, fragment("batch 2"), findings=()), Page(200))
    assert "not tested" in rows_of(text)[0]
    assert "ok" in rows_of(text)[1]
