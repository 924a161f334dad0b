"""Columns by name or by pattern: `*` stands for any characters, `?` for one. Torch-free."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

Bounds = Sequence[tuple[str, float]]
"""Names or patterns of columns, and a number for each."""


def bound_of(name: str, bounds: Bounds) -> float | None:
    """The number of a column: that of its own name, else that of the first pattern that it fits; None for no number.

    Args:
        name: of the column.
        bounds: names and patterns.
    """
    exact = next((bound for pattern, bound in bounds if pattern == name), None)
    return next((bound for pattern, bound in bounds if _fits(name, pattern)), None) if exact is None else exact


def without_a_column(patterns: Iterable[str], names: Collection[str]) -> list[str]:
    """The names and patterns that no column has.

    Args:
        patterns: names and patterns.
        names: of all columns.
    """
    return [pattern for pattern in patterns if not any(_fits(name, pattern) for name in names)]


def _fits(name: str, pattern: str) -> bool:
    """Brackets mean themselves: names such as `x[1]` are frequent."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))
