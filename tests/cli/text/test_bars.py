from __future__ import annotations

import pytest

from picsc_cli.text.bars import CELLS, bar
from picsc_cli.text.page import Page


@pytest.mark.parametrize(
    ("size", "shown", "in_ascii"),
    [
        (None, "", ""),
        (-1.0, "", ""),
        (0.0, "", ""),
        (0.02, "▏", ""),
        (0.25, "██", "##"),
        (0.99, "███████▉", "########"),
    ],
)
def test_a_bar_is_as_long_as_its_size(size: float | None, shown: str, in_ascii: str) -> None:
    assert bar(size, Page()) == shown
    assert bar(size, Page(ascii_only=True)) == in_ascii


def test_no_bar_is_longer_than_its_column() -> None:
    assert bar(7.0, Page()) == "█" * CELLS
