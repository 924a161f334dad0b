import numpy as np
import pandas as pd
import pytest

from picsc.datasets.columns.joining import followed_by
from picsc.datasets.columns.raw import Raw, raw


def of(*values: object) -> Raw:
    return raw(pd.Series(list(values)))


def held(column: Raw) -> list[object]:
    """The values as they are: words, or numbers."""
    if column.coded:
        return [None if code < 0 else column.levels[code] for code in column.data]
    return [None if np.isnan(value) else value for value in column.data.tolist()]


@pytest.mark.parametrize(
    ("first", "second", "form", "values"),
    [
        ((1, 2), (3, 4), "integers", [1, 2, 3, 4]),
        ((1, 2), (0.5, None), "numbers", [1, 2, 0.5, None]),
        ((1.5, 2.5), ("x", "1"), "words", ["1.5", "2.5", "x", "1"]),
        (("a", "b"), ("b", "c"), "words", ["a", "b", "b", "c"]),
        ((True, False), (1, 0), "integers", [1, 0, 1, 0]),
        ((True, False), ("TRUE", "false"), "integers", [1, 0, 1, 0]),
        ((0, 1), ("false", None), "integers", [0, 1, 0, None]),
        ((0, 1), (True, True), "integers", [0, 1, 1, 1]),
        ((True, False), ("yes", "no"), "words", ["True", "False", "yes", "no"]),
        ((None, None), ("a", "b"), "words", [None, None, "a", "b"]),
        ((1.5, 2), (None, None), "numbers", [1.5, 2, None, None]),
        ((None, None), (None, None), "numbers", [None] * 4),
    ],
)
def test_two_columns_have_one_form(first: tuple, second: tuple, form: str, values: list) -> None:
    both = followed_by(of(*first), of(*second))
    assert (both.form, held(both)) == (form, values)


def test_words_that_are_dates_join_dates() -> None:
    dates = raw(pd.Series(pd.to_datetime(["2020-01-31", "2020-02-29"])))
    both = followed_by(of("31.01.2020", "28.02.2020", "29.02.2020"), dates)
    assert both.form == "dates"
    assert both.data[0] == both.data[3]
    assert followed_by(dates, of("soon", "late")).form == "words"


def test_whole_numbers_beyond_float64_stay_exact() -> None:
    both = followed_by(of(2**60, 2**60 + 1), of(2**60 + 1, 5))
    assert both.exact is not None
    assert both.exact.ranks.tolist() == [1, 2, 2, 0]


def test_numbers_beside_words_with_a_decimal_comma_are_spelt_with_one() -> None:
    assert held(followed_by(of(1.5, 2.0), of("3,5", "x"), decimal=",")) == ["1,5", "2", "3,5", "x"]
