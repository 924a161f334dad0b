import numpy as np

from picsc.auditing.other_columns.formats import format_codes


def test_formats_are_told_apart_by_their_characters() -> None:
    codes = format_codes(["EU-1", "EU-22", "7/EU", "EU-3", "eu-1"])
    assert codes is not None
    assert codes[0] == codes[1] == codes[3] == 0
    assert len({codes[0], codes[2], codes[4]}) == 3


def test_words_of_letters_are_one_format() -> None:
    words = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}-{i}" for i in range(200)]
    assert format_codes(words) is None
    codes = format_codes([*words, "7"])
    assert codes is not None
    np.testing.assert_array_equal(codes, [0] * 200 + [1])
