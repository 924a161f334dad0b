from __future__ import annotations

import pytest

from picsc.reports.distributions import ColumnEffects
from picsc.reports.pages.blocks import Table, heat
from picsc.reports.pages.heat_map import heat_map
from tests.factories.audit import UNTESTED, audit_report, column_shift, fragment

A, B = column_shift("a", 0.4), column_shift("b", 0.07, 0.8)


def table(*sections: object) -> Table:
    block = sections[0].blocks[0]  # type: ignore[attr-defined]
    assert isinstance(block, Table)
    return block


def cells(table: Table) -> dict[str, list[tuple[str, str]]]:
    return {row[0].text: [(cell.text, cell.style) for cell in row[1:]] for row in table.rows}


def test_what_moved_is_starred_and_framed_and_comes_first() -> None:
    found = table(*heat_map(audit_report(fragment("fold 1", columns=(B, A)), fragment("fold 2", columns=(B,)))))
    assert list(cells(found)) == ["a", "b"]
    assert cells(found)["a"] == [("0.40*", "heat-4 mark"), ("", "heat-none")]
    assert cells(found)["b"] == [("0.07", "heat-0"), ("0.07", "heat-0")]


def test_gaps_are_filled_with_the_sizes_that_are_known() -> None:
    pieces = (fragment("fold 1", columns=(A,)), fragment("fold 2", columns=(B,)), UNTESTED)
    known = (ColumnEffects("a", "numeric", (0.41, 0.2, None)),)
    found = table(*heat_map(audit_report(*pieces, column_effects=known)))
    assert cells(found)["a"] == [("0.40*", "heat-4 mark"), ("0.20", "heat-2")]
    assert not any("more piece" in note for note in found.notes)


def test_what_piece_names_have_in_common_is_said_once() -> None:
    found = table(*heat_map(audit_report(*(fragment(f"month=2024-{k}", columns=(A,)) for k in (1, 2)))))
    assert list(found.titles) == ["column, by month", "2024-1", "2024-2"]
    found = table(*heat_map(audit_report(*(fragment(name, columns=(A,)) for name in ("fold 1", "fold 10")))))
    assert list(found.titles) == ["column, by fold", "1", "10"]
    found = table(*heat_map(audit_report(*(fragment(name, columns=(A,)) for name in ("by=", "by=x")))))
    assert list(found.titles) == ["column, by by", "by=", "x"]
    found = table(*heat_map(audit_report(fragment("all rows", columns=(A,)))))
    assert list(found.titles) == ["column", "all rows"]


def test_sides_of_a_column_are_rows_of_their_own_and_kl_is_named() -> None:
    by_kl = column_shift("a", 0.05, 0.9, p_kl=0.001, kl=3.0)
    found = table(*heat_map(audit_report(fragment("x", columns=(by_kl, column_shift("a", 0.3, kind="missing"))))))
    assert set(cells(found)) == {"a", "a (missing)"}
    assert cells(found)["a"][0][0] == "KL 0.05*"


def test_many_columns_are_folded_and_many_pieces_are_counted() -> None:
    columns = tuple(column_shift(f"c{i}", 0.3) for i in range(100))
    sections = heat_map(audit_report(*(fragment(f"p{k}", columns=columns) for k in range(200))))
    assert [section.folded for section in sections] == [False, True]
    assert len(table(*sections).rows) == 30
    assert len(table(*sections).titles) == 61
    assert any("140 more pieces" in note for note in table(*sections).notes)


def test_without_columns_there_is_no_map() -> None:
    assert heat_map(audit_report(UNTESTED)) == []


@pytest.mark.parametrize(("size", "name"), [(None, "heat-none"), (0.0, "heat-0"), (0.1, "heat-1"), (1.0, "heat-5")])
def test_colours_follow_sizes(size: float | None, name: str) -> None:
    assert heat(size) == name
