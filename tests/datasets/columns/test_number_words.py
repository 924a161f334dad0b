"""Every way of writing numbers has one meaning in a column."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from picsc.datasets.columns.number_words import Written, as_written


def written(words: list[str], decimal: str | None = None) -> Written:
    return as_written(words, np.ones(len(words), np.int64), decimal)


@pytest.mark.parametrize(
    ("words", "values", "way"),
    [
        (["1", "-2.5", "+3", ".5", "4.", "1e3"], [1, -2.5, 3, 0.5, 4, 1000], ""),
        (["$3,452.32", "$1.00", "-$12.50", "$-7"], [3452.32, 1, -12.5, -7], "commas between thousands, $"),
        (["3\u202f452", "12", "1\u00a0204 555"], [3452, 12, 1204555], "blanks between thousands"),
        (["3.452,32", "1,5"], [3452.32, 1.5], "points between thousands, decimal comma"),
        (["0,5", "-1,25"], [0.5, -1.25], "decimal comma"),
        (["3'452", "12", "1\u2019000.5"], [3452, 12, 1000.5], "apostrophes between thousands"),
        (["12,34,567.5", "999"], [1234567.5, 999], "commas between thousands"),
        (["(3452.32)", "1.5"], [-3452.32, 1.5], "parentheses for negative amounts"),
        (["3452.32-", "1"], [-3452.32, 1], "minus signs behind"),
        (["5 EUR", "6.5 EUR"], [5, 6.5], "EUR"),
        (["EUR 5", "EUR 6.5"], [5, 6.5], "EUR"),
        (["12%", "5.5 %"], [0.12, 0.055], "percent"),
        (["12 kg", "5 kg"], [12, 5], "kg"),
        (["1.5D+02", "2.5d-1"], [150, 0.25], "powers of ten with D"),
        (["1_000", "20"], [1000, 20], "underscores between digits"),
        (["\u22125.5", "3"], [-5.5, 3], "typographic minus signs"),
        (["0x1F", "-0xff"], [31, -255], "hexadecimal"),
        (["2 days 09:32:00", "-1 days +23:00:00"], [207120, -3600], "durations in seconds"),
        (["57:32:00", "00:00:01.5"], [207120, 1.5], "durations in seconds"),
        (["57:32", "01:00"], [207120, 3600], "durations in seconds"),
        (["P1DT2H", "PT3M"], [93600, 180], "durations in seconds"),
    ],
)
def test_a_column_in_one_way(words: list[str], values: list[float], way: str) -> None:
    found = written(words)
    assert found.numbers.tolist() == pytest.approx(values)
    assert found.way == way
    assert found.any_way.all()


@pytest.mark.parametrize(
    "odd",
    [
        "<0.1",
        "-",
        "--",
        ".",
        "n.d.",
        "unknown",
        "#REF!",
        "12%",
        "$5",
        "3.5*",
        "~5",
        "1.2k",
        "0x1F",
        "\\N",
        "3,5",
        "5:30",
    ],
)
def test_a_word_of_another_way_is_no_number(odd: str) -> None:
    found = written(["1.5", "2222.5", "-3.25", odd])
    assert found.numbers[:3].tolist() == [1.5, 2222.5, -3.25]
    assert np.isnan(found.numbers[3])


def test_thousands_that_contradict_the_other_numbers_are_none() -> None:
    assert np.isnan(written(["2222.5", "3333", "4444", "1,234.5"]).numbers[3])
    assert written(["222.5", "333", "1,234.5"]).numbers[2] == 1234.5


def test_commas_that_can_mean_both_are_in_doubt() -> None:
    found = written(["1,234", "2,345"])
    assert (found.numbers.tolist(), found.doubt, found.decimal) == ([1234, 2345], "decimal comma", "")
    assert written(["1,234", "2,345"], ",").numbers.tolist() == [1.234, 2.345]
    assert written(["1,234", "2,345"], ".").doubt == ""
    assert written(["1,234", "0,345"]).numbers.tolist() == [1.234, 0.345]
    assert written(["1,234", "2,345.5"]).doubt == ""


def test_a_column_has_one_currency() -> None:
    found = written(["$5", "$6", "$7", "€8"])
    assert np.isnan(found.numbers).tolist() == [False, False, False, True]


def test_long_numbers_are_exact() -> None:
    found = written(["1000000000000000001", "+1000000000000000002", "12.5"])
    assert found.exact == {0: 10**18 + 1, 1: 10**18 + 2, 2: Decimal("12.5")}
    assert written(["0xDE0B6B3A7640001", "0x2"]).exact == {0: 10**18 + 1, 1: 2}
    assert written(["9007199254740992.0", "0.12345678901234567"]).exact == {}  # as float64 itself is written


def test_infinity_and_words() -> None:
    assert written(["1", "-inf", "Infinity"]).numbers.tolist() == [1, -np.inf, np.inf]
    assert not written(["red", "green"]).any_way.any()
