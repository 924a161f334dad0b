"""Numbers that float64 does not tell apart keep their order, in one table and over two."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.columns.exact import (
    Absent,
    absent_followed_by,
    exact_of_floats,
    exact_of_objects,
    exact_of_whole,
    is_rounded,
)
from picsc.datasets.columns.raw import raw

BIG = 10**18


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([BIG + 1, BIG, BIG + 2]),
        pd.Series([2**64 - 2, 2**64 - 3, 2**64 - 1], dtype="uint64"),
        pd.Series([BIG + 1, BIG, BIG + 2], dtype=object),
        pd.Series([10**40 + 1, 10**40, 10**40 + 2], dtype=object),
        pd.Series([Decimal("1e18") + Decimal(f"0.{i}") for i in (2, 1, 3)], dtype=object),
    ],
)
def test_ranks(values: pd.Series) -> None:  # type: ignore[type-arg]
    found = raw(values)
    assert found.exact is not None
    assert found.exact.ranks.tolist() == [1, 0, 2]
    assert found.ordered.tolist() == [1, 0, 2]


def test_missing_values() -> None:
    for values in (
        pd.Series([BIG + 1, None, BIG], dtype="Int64"),
        pd.Series([BIG + 1, None, BIG], dtype=object),
        pd.Series([Decimal(BIG) + 1, Decimal("nan"), Decimal(BIG)], dtype=object),
    ):
        found = raw(values)
        assert found.exact is not None
        assert found.exact.ranks.tolist() == [1, -1, 0]
        assert found.missing.tolist() == [False, True, False]
        assert found.as_words().levels == (str(BIG + 1), str(BIG))


def test_small_numbers_need_no_ranks() -> None:
    assert raw(pd.Series([2**53, 1])).exact is None
    assert raw(pd.Series([Decimal("0.1"), Decimal("0.2")])).exact is None


def test_two_tables() -> None:
    first = exact_of_whole(np.asarray([BIG + 3, BIG + 1]))
    second = exact_of_objects([BIG + 2, None, Decimal("0.5")])
    both = first.followed_by(second)
    assert both.ranks.tolist() == [3, 1, 2, -1, 0]
    floats = exact_of_floats(np.asarray([1e18, np.nan]))
    assert first.followed_by(floats).ranks.tolist() == [2, 1, 0, -1]
    assert both.take(np.asarray([0, 3])).ranks.tolist() == [3, -1]


def test_rounded() -> None:
    assert is_rounded("9007199254740993")
    assert not is_rounded("9007199254740992")
    assert not is_rounded("1e30")


def test_words_of_two_tables() -> None:
    first = Absent(("x", "y"), np.asarray([1, -1, 0], np.int32))
    second = Absent(("z", "x"), np.asarray([1, 0], np.int32))
    both = absent_followed_by(first, 3, second, 2)
    assert both is not None
    assert (both.words, both.codes.tolist()) == (("x", "y", "z"), [1, -1, 0, 0, 2])
    one = absent_followed_by(None, 2, second, 2)
    assert one is not None
    assert one.codes.tolist() == [-1, -1, 0 + 1, 0]
    assert absent_followed_by(None, 2, None, 1) is None
