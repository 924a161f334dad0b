from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from picsc.reports.distributions import ColumnDistribution, PieceCounts
from picsc.reports.pages.histograms import drawings
from tests.hostile import HOSTILE

COUNTS = PieceCounts("fold 3", (1, 3, 0), 4, (10, 10, 20), 0)
NUMBERS = ColumnDistribution("age", "numeric", (18.0, 65.0), (), 0, (COUNTS,))
LEVELS = ColumnDistribution("plan", "categorical", (), ("basic", "pro"), 4, (COUNTS,))


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter() if each.tag.endswith("text")]  # noqa: S314 - our own


def bars(svg: str, style: str) -> list[float]:
    return [float(height) for height in re.findall(rf'<rect class="{style}" [^>]*height="([^"]+)"', svg)][1:]


def test_bars_are_shares_of_the_rows_with_a_value_and_the_outline_is_the_piece() -> None:
    [drawing] = drawings(NUMBERS, {"fold 3": "mean of age 0.5 sd higher"})
    first, second, third = bars(drawing.svg, "reference")
    assert first == second == pytest.approx(third / 2, abs=0.1)
    assert drawing.caption == "fold 3: mean of age 0.5 sd higher"
    outline = re.findall(r'<polyline class="piece" points="([^"]+)"', drawing.svg)[-1]
    heights = [150 - float(point.split(",")[1]) for point in outline.split()]
    assert heights[1:7] == pytest.approx([124 / 3, 124 / 3, 124, 124, 0, 0], abs=0.2)


def test_missing_rates_and_the_ends_of_the_axis_are_words() -> None:
    [drawing] = drawings(NUMBERS, {})
    assert "missing: 50.0 %, 0.0 % in the reference" in texts(drawing.svg)
    assert texts(drawing.svg)[-3:-1] == ["≤ 18.0", "> 65.0"]


def test_dates_are_days() -> None:
    column = ColumnDistribution("when", "datetime", (0.0, 86_400.0 * 365), (), 0, (COUNTS,))
    assert {"≤ 1970-01-01", "> 1971-01-01"} <= set(texts(drawings(column, {})[0].svg))
    far = ColumnDistribution("when", "datetime", (-1e18, 1e18), (), 0, (COUNTS,))
    assert "≤ \N{MINUS SIGN}1.00e18" in texts(drawings(far, {})[0].svg)


def test_levels_have_their_shares_beside_them() -> None:
    [drawing] = drawings(LEVELS, {})
    found = texts(drawing.svg)
    assert [found[2], found[3], found[4]] == ["basic", "25.0", "25.0"]
    assert "4 more levels" in found


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name: str) -> None:
    counts = PieceCounts(name, (1, 3), 0, (0, 0), 0)
    for edges, levels in (((1.0,), ()), ((), (name, "b"))):
        [drawing] = drawings(ColumnDistribution(name, "numeric", edges, levels, 0, (counts,)), {name: name})
        ET.fromstring(drawing.svg)  # noqa: S314 - our own
