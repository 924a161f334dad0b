from __future__ import annotations

import re

import pytest

from picsc.reports.common import Interval
from picsc.reports.pages.bars import Within, intervals, ratios, within


def test_values_over_their_bounds_are_right_of_the_line_and_said() -> None:
    [drawing] = ratios([("a", 20.0, 2.0), ("b", 1.0, 2.0), ("c", None, 2.0), ("d", 0.0, 2.0)], "Tau.")
    widths = [float(width) for width in re.findall(r'<rect class="bar-\w+" [^>]* width="([^"]+)"', drawing.svg)]
    line = float(re.findall(r'<line class="bound" x1="([^"]+)"', drawing.svg)[0])
    assert 150 + widths[0] > line > 150 + widths[1]
    assert len(widths) == 2
    assert "Above the bound: a." in drawing.svg
    assert "20.0 of 2.00" in drawing.svg


def test_huge_and_tiny_ratios_have_an_axis() -> None:
    [drawing] = ratios([("a", 1e300, 1e-300), ("b", 1e-300, 1e300)], "Tau.")
    assert drawing.svg.count("<rect") == 1


@pytest.mark.parametrize("values", [[], [("a", None, 1.0)], [("a", 1.0, 0.0)]])
def test_nothing_to_draw_is_no_picture(values: list[tuple[str, float | None, float | None]]) -> None:
    assert ratios(values, "Tau.") == []


def test_intervals_are_drawn_where_they_are_known() -> None:
    [drawing] = intervals([Within("a", 80.0, 78.0, 82.0), Within("b", 70.0)], "Accuracy.")
    assert drawing.svg.count('class="whisker"') == 3
    assert drawing.svg.count("<circle") == 2
    assert "a 80.0 [78.0, 82.0]; b 70.0." in drawing.svg


def test_differences_have_signs_and_a_line_at_zero() -> None:
    [drawing] = intervals([Within("a", 1.25, -0.5, 3.0)], "Difference.", zero=True)
    assert "+1.2 [\N{MINUS SIGN}0.5, 3.0]" in drawing.svg
    assert drawing.svg.count('class="bound"') == 1


def test_fractions_become_percent_and_a_missing_value_no_entry() -> None:
    assert within("a", 0.8, Interval(0.75, 0.85)) == [Within("a", 80.0, 75.0, 85.0)]
    assert within("a", 0.8, None) == [Within("a", 80.0)]
    assert within("a", None, None) == []
    assert intervals([], "Accuracy.") == []
