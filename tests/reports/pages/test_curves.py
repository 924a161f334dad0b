from __future__ import annotations

from picsc.reports.pages.curves import curves


def test_a_line_is_cut_where_a_round_has_no_value() -> None:
    [drawing] = curves([("a", [[(1, 50.0), (2, 60.0)], [(4, 70.0)]]), ("b", [])], "Accuracy.", 65.0)
    assert drawing.svg.count('<polyline class="curve c0" points') == 2  # the line, and its sample beside the name
    assert drawing.svg.count("<circle") == 1
    assert "At the end: a 70.0 in round 4." in drawing.svg
    assert "target" in drawing.svg


def test_no_point_is_no_picture_and_one_round_is_one() -> None:
    assert curves([("a", [[]])], "Accuracy.", None) == []
    assert len(curves([("a", [[(1, 50.0)]])], "Accuracy.", None)) == 1


def test_lines_differ_in_more_than_colour() -> None:
    lines = [(f"m{i}", [[(1, 50.0 + i), (2, 60.0 + i)]]) for i in range(6)]
    [drawing] = curves(lines, "Accuracy.", None)
    assert drawing.svg.count("stroke-dasharray") == 10  # all but the first, each with its sample
