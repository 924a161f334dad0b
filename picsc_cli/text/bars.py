"""Sizes between 0 and 1 as small bars of characters, to be compared at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc_cli.text.page import Page

CELLS = 8
"""Cells of a bar of size 1."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def bar(size: float | None, page: Page) -> str:
    """The bar of a size: eighths of a cell, or whole cells of `#` in ASCII; a size of 0 or None has none.

    Args:
        size: a fraction; more than 1 is as long as 1.
        page: where it is shown.
    """
    share = min(max(size or 0.0, 0.0), 1.0)
    if page.ascii_only:
        return "#" * round(share * CELLS)
    whole, eighths = divmod(round(share * CELLS * 8), 8)
    return "█" * whole + _EIGHTHS[eighths]
