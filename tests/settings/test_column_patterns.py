"""A column's own name goes before patterns, and patterns in their order."""

from __future__ import annotations

from picsc.settings.column_patterns import bound_of, without_a_column


def test_own_name_then_the_first_pattern() -> None:
    bounds = (("a*", 0.1), ("ab", 0.2), ("*b", 0.3))
    assert [bound_of(name, bounds) for name in ("ab", "ac", "cb", "c", "a")] == [0.2, 0.1, 0.3, None, 0.1]


def test_brackets_mean_themselves_and_case_counts() -> None:
    bounds = (("x[1]*", 0.1), ("y?", 0.2))
    assert [bound_of(name, bounds) for name in ("x[1]", "x[1]a", "x1", "y1", "Y1", "y")] == [
        0.1,
        0.1,
        None,
        0.2,
        None,
        None,
    ]


def test_patterns_without_a_column() -> None:
    assert without_a_column(["a", "b*", "c*"], ["b1", "c"]) == ["a"]
