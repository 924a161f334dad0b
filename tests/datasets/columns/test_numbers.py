"""When a column of words is one of numbers, and what becomes of the other words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.columns.missing_words import NA
from picsc.datasets.columns.numbers import OTHER_WORDS, NumbersRead, Unread, read_numbers
from picsc.datasets.columns.raw import raw


def read(words: list[Any]) -> NumbersRead | Unread | None:
    return read_numbers(raw(pd.Series(words, dtype=object)), frozenset(NA))


def numbers(words: list[Any]) -> NumbersRead:
    found = read(words)
    assert isinstance(found, NumbersRead)
    return found


MANY = [f"{i}.5" for i in range(100)]


def test_one_word_among_numbers() -> None:
    found = numbers([*MANY, "unknown"])
    assert found.sure
    assert found.raw.form == "numbers"
    assert found.raw.data[:2].tolist() == [0.5, 1.5]
    assert np.isnan(found.raw.data[100])
    assert found.raw.absent is not None
    assert found.raw.absent.words == ("unknown",)
    assert found.rows.tolist() == [100]


def test_usual_words_for_a_missing_value_and_empty_cells_are_no_kind_of_their_own() -> None:
    found = numbers([*MANY, "NA", None, "n.d."])
    assert found.raw.missing.sum() == 3
    assert found.rows.tolist() == [102]


def test_many_different_words_are_one_kind_beyond_the_first_five() -> None:
    found = numbers([*MANY, "b", "b", *"acdefg"])
    assert found.raw.absent is not None
    assert found.raw.absent.words == ("b", "a", "c", "d", "e", OTHER_WORDS)
    assert found.raw.absent.codes[100:].tolist() == [0, 0, 1, 2, 3, 4, 5, 5]


def test_few_different_numbers_may_be_classes() -> None:
    assert not numbers([*["1", "2", "3"] * 30, "unknown"]).sure
    assert not numbers([str(i) for i in range(20)] * 3).sure
    assert numbers([str(i) for i in range(21)] * 3).sure
    assert numbers(["1.5", "2.5", "3.5", "4.5", "5.5", "7.5", "x"]).sure  # hardly any value repeats


def test_one_word_may_take_half_of_the_rows_and_many_words_a_tenth() -> None:
    assert numbers([*MANY, *["unknown"] * 90]).sure
    assert read([*MANY, *["unknown"] * 110]) is None
    assert numbers([*MANY, *(f"w{i}x" for i in range(10))]).sure
    assert read([*MANY, *(f"w{i}x" for i in range(20))]) == Unread(100, 120)


def test_numbers_in_two_ways_are_remarked() -> None:
    words = [f"{1000 + i}.5" if i % 2 else f"1,{i:03d}.5" for i in range(100)]
    assert read(words) == Unread(100, 100)


@pytest.mark.parametrize(
    "words",
    [
        [f"{i:05d}" for i in range(100)],
        [f"2024-01-{i:02d}" for i in range(1, 29)],
        ["red", "green"] * 20,
        [f"item {i}" for i in range(100)],
        [f"192.168.0.{i}" for i in range(100)],
    ],
)
def test_codes_dates_and_words_are_no_numbers(words: list[str]) -> None:
    assert not isinstance(read(words), NumbersRead)


def test_declared_categories_stay() -> None:
    assert read_numbers(raw(pd.Series(MANY, dtype="category")), frozenset(NA)) is None


def test_large_numbers_are_told_apart() -> None:
    found = numbers([str(10**18 + i) for i in range(50)] + ["unknown"])
    assert found.raw.exact is not None
    assert found.raw.exact.ranks.tolist() == [*range(50), -1]
