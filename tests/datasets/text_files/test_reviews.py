"""Reviews in svmlight files: domains as clients, words repeated by count."""

from pathlib import Path

import numpy as np
import pytest

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.open import open_source
from picsc.datasets.text_files.reviews import LONGEST, read_reviews
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError
from picsc.settings import ReadSettings


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    folder = tmp_path / "amazon_reviews"
    folder.mkdir()
    (folder / "dvd_train.svmlight").write_text("1 1:2 3:1\n-1 2:1\n")
    (folder / "dvd_test.svmlight").write_text("-1 5:3 \n")
    (folder / "books_train.svmlight").write_text("-1 4:1\n1\n1 1:1 2:1\n")
    (folder / "books_test.svmlight").write_text("1 2:1\n")
    return folder


def test_words_are_repeated_by_count_and_padded(reviews: Path) -> None:
    tokens = read_reviews(reviews, "amazon-reviews")
    assert tokens.take(np.arange(tokens.n)).tolist() == [
        [4, 0, 0], [0, 0, 0], [1, 2, 0],  # books
        [1, 1, 3], [2, 0, 0],  # dvd
        [2, 0, 0],
        [5, 5, 5],
    ]  # fmt: skip
    assert tokens.vocabulary == ("1", "2", "3", "4", "5")
    assert tokens.text.dtype == np.uint8
    assert tokens.unit == "words"


def test_domains_are_clients_and_test_files_the_test_part(reviews: Path) -> None:
    tokens = by_name("amazon-reviews", ReadSettings(), data_dir=reviews.parent)
    assert isinstance(tokens, TokenSet)
    assert tokens.clients == ("books", "dvd")
    assert tokens.owners.tolist() == [0, 0, 0, 1, 1, 0, 1]
    assert tokens.test.tolist() == [5, 6]
    assert [tokens.classes[code] for code in tokens.labels] == ["-1", "1", "1", "1", "-1", "1", "-1"]


def test_a_folder_of_the_users_own_is_read_by_path(reviews: Path) -> None:
    tokens = open_source(str(reviews), named=False, settings=ReadSettings())
    assert isinstance(tokens, TokenSet)
    assert (tokens.name, tokens.n) == ("amazon_reviews", 7)


def test_a_word_may_have_number_0(tmp_path: Path) -> None:
    (tmp_path / "a_train.svmlight").write_text("1 0:1 2:1\n0 1:1\n")
    tokens = read_reviews(tmp_path, "x")
    assert tokens.take(np.array([0, 1])).tolist() == [[1, 3], [2, 0]]
    assert tokens.vocabulary == ("0", "1", "2")


def test_a_bag_that_is_too_long_keeps_its_shares(tmp_path: Path) -> None:
    (tmp_path / "a_train.svmlight").write_text("1 1:3000 2:1000 3:96\n0 1:1\n")
    tokens = read_reviews(tmp_path, "x")
    counts = np.bincount(tokens.take(np.array([0]))[0], minlength=4)
    assert (tokens.width, counts[0]) == (LONGEST, 0)
    np.testing.assert_allclose(counts[1:], np.array([3000, 1000, 96]) * LONGEST / 4096, atol=1)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a_train.svmlight", "1 1:0.5\n", r"a_train\.svmlight, line 1: 0\.5 is no count of a word"),
        ("a_train.svmlight", "1 1:1\n0 1:2 2:-1\n", r"line 2: -1 is no count"),
        ("a_train.svmlight", "1 1:1\n", r"1 rows of 1 classes; need rows of at least two classes"),
        ("a_train.svmlight", "one two three\n", r"a_train\.svmlight is no svmlight file"),
        ("a_train.svmlight", "", r"there are no reviews in it"),
        ("a_test.svmlight", "1 1:1\n", r"there is no a_train\.svmlight in it"),
        ("a.csv", "1 1:1\n", r"there is no DOMAIN_train\.svmlight in it"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        read_reviews(tmp_path, "x")
