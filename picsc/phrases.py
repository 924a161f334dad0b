"""Counts, shares and lists as text for messages and findings."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(count: int, total: int) -> str:
    """A share as count and percentage: `3 of 100 (3.0 %)`."""
    return f"{count} of {total} ({100 * count / total:.1f} %)"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """The first names, and the number of further ones."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
