"""LEAF's JSON: images, windows and words, read user by user."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.images import ImageSet
from picsc.datasets.open import open_source
from picsc.datasets.text_files import leaf_json
from picsc.datasets.text_files.alphabet import LETTERS
from picsc.datasets.text_files.leaf import read_leaf
from picsc.datasets.text_files.leaf_json import leaf_users
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError
from picsc.settings import ReadSettings

TEXT = "Now is the winter of our discontent made glorious summer by this sun of York; and all the clouds that lour'd"


def write(path: Path, users: dict[str, Any], **more: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    counts = [len(rows.get("y", ())) for rows in users.values()]
    path.write_text(json.dumps({"users": list(users), **more, "num_samples": counts, "user_data": users}))
    return path


def rows(x: list[Any], y: list[Any]) -> dict[str, Any]:
    return {"x": x, "y": y}


def grey(*values: float) -> list[float]:
    return [value for value in values for _ in range(784 // len(values))]


def windows(text: str, count: int, start: int = 0) -> dict[str, Any]:
    begins = range(start, start + count)
    return rows([text[i : i + 80] for i in begins], [text[i + 80] for i in begins])


def spelled(tokens: TokenSet) -> list[str]:
    return ["".join(LETTERS[code - 1] for code in row) for row in tokens.take(np.arange(tokens.n))]


def tokens_of(path: Path) -> TokenSet:
    found = read_leaf(path, "x")
    assert isinstance(found, TokenSet)
    return found


# images


def test_femnist_becomes_images_with_owners(tmp_path: Path) -> None:
    write(tmp_path / "femnist/train/a.json", {"f1": rows([grey(0, 1), grey(0.5, 1)], [3, 10])})
    write(tmp_path / "femnist/train/b.json", {"f2": rows([grey(1, 0)], [3])})
    write(tmp_path / "femnist/test/a.json", {"f1": rows([grey(1, 1)], [2])})
    images = by_name("femnist", ReadSettings(), data_dir=tmp_path)
    assert isinstance(images, ImageSet)
    assert images.pixels.shape == (4, 1, 28, 28)
    assert images.pixels[:, 0, 0, 0].tolist() == [0, 128, 255, 255]
    assert images.pixels[:, 0, -1, 0].tolist() == [255, 255, 0, 255]
    assert [images.classes[code] for code in images.labels] == ["3", "10", "3", "2"]
    assert images.classes == ("2", "3", "10")
    assert (images.clients, images.test.tolist()) == (("f1", "f2"), [3])
    assert images.owners is not None
    assert images.owners.tolist() == [0, 0, 1, 0]


# windows


def test_shakespeare_becomes_windows(tmp_path: Path) -> None:
    users = {"A": windows(TEXT, 5), "B": windows(TEXT, 2, 9)}
    write(tmp_path / "shakespeare/all_data/all_data.json", users, hierarchies=["p", "q"])
    tokens = by_name("shakespeare", ReadSettings(), data_dir=tmp_path)
    assert isinstance(tokens, TokenSet)
    assert spelled(tokens) == [TEXT[i : i + 80] for i in (0, 1, 2, 3, 4, 9, 10)]
    assert [tokens.classes[code] for code in tokens.labels] == [TEXT[i + 80] for i in (0, 1, 2, 3, 4, 9, 10)]
    assert (tokens.owners.tolist(), tokens.clients, tokens.classes) == ([0] * 5 + [1] * 2, ("A", "B"), tuple(LETTERS))


def test_windows_that_follow_each_other_share_their_text(tmp_path: Path) -> None:
    tokens = tokens_of(write(tmp_path / "a.json", {"A": windows(TEXT, 20), "B": windows(TEXT, 20)}))
    assert len(tokens.text) == 2 * 100
    apart = rows([TEXT[i : i + 80] for i in (0, 7, 3)], [TEXT[i + 80] for i in (0, 7, 3)])
    tokens = tokens_of(write(tmp_path / "b.json", {"A": apart}))
    assert len(tokens.text) == 3 * 81
    assert spelled(tokens) == apart["x"]


def test_unknown_characters_are_code_0_and_no_label(tmp_path: Path) -> None:
    text = "€" + TEXT[:80] + "€ab"
    tokens = tokens_of(write(tmp_path / "a.json", {"A": windows(text, 4)}))
    assert [tokens.classes[code] for code in tokens.labels] == [text[80], "a", "b"]
    assert tokens.take(np.array([0]))[0, :2].tolist() == [0, LETTERS.index("N") + 1]
    assert tokens.take(np.array([1]))[0, -2:].tolist() == [LETTERS.index(TEXT[79]) + 1, 0]


# words


def tweet(text: str) -> list[str]:
    return ["1467810672", "Mon Apr 06", "NO_QUERY", "somebody", text]


def test_sent140_becomes_words_in_lower_case(tmp_path: Path) -> None:
    train = {"u": rows([tweet("Don't be sad, be HAPPY!"), tweet("sad...")], [1, 0]), "v": rows([tweet("be")], [1])}
    write(tmp_path / "sent140/train/a.json", train)
    write(tmp_path / "sent140/test/a.json", {"v": rows([tweet("be merry")], [0])})
    tokens = by_name("sent140", ReadSettings(), data_dir=tmp_path)
    assert isinstance(tokens, TokenSet)
    assert tokens.vocabulary == ("be", "sad", "don't", "happy")  # "merry" was never learned from
    assert tokens.take(np.arange(4)).tolist() == [[3, 1, 2, 1, 4], [2, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
    assert (tokens.labels.tolist(), tokens.test.tolist(), tokens.owners.tolist()) == ([1, 0, 1, 0], [3], [0, 0, 1, 1])


def test_only_the_most_frequent_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("picsc.datasets.text_files.leaf.LARGEST_VOCABULARY", 2)
    tokens = tokens_of(write(tmp_path / "a.json", {"u": rows(["a b b c c c", "d"], [0, 1])}))
    assert tokens.vocabulary == ("c", "b")
    assert tokens.take(np.array([0, 1])).tolist() == [[2, 2, 1, 1, 1], [0, 0, 0, 0, 0]]


# files


def test_a_file_is_read_by_path(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.json", {"A": windows(TEXT, 2)})
    found = open_source(str(path), named=False, settings=ReadSettings())
    assert isinstance(found, TokenSet)
    assert (found.name, found.n) == ("mine.json", 2)


def test_any_order_of_names_any_blanks_and_any_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_json, "_BLOCK", 1)
    path = tmp_path / "a.json"
    users = '{"ä\\"b" : {"y": [12, 3], "x": ["p", "q"]} , "c":{"x":[],"y":[]}}'
    path.write_text(f' {{ "user_data" :\n{users} , "more": 12 }}\n', encoding="utf-8")
    assert list(leaf_users(path)) == [('ä"b', ["p", "q"], [12, 3]), ("c", [], [])]


def test_only_one_user_is_held_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_json, "_BLOCK", 1 << 12)
    users = {f"u{i}": rows([grey(0, 1)] * 4, [0] * 4) for i in range(100)}
    path = write(tmp_path / "a.json", users)
    tracemalloc.start()
    for _ in leaf_users(path):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 900_000
    assert peak < 300_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"user_data": {"A": {"x": [1]}}}', r"a\.json, user 'A': there are no lists \"x\" and \"y\""),
        ('{"user_data": {"A": [1]}}', r"user 'A': there are no lists"),
        ('{"user_data": {"A": {"x": ["a"], "y": []}}}', r"user 'A': 1 inputs but 0 labels"),
        ('{"user_data": {"A": {"x": [[1, 2, 3, 4]], "y": [0]}, "B": {"x"', r"no whole JSON \(.*, after 1 users\)"),
        ('{"user_data": {"A": {"x": [[1, 2, 3]], "y": [0]}}}', r"user 'A': inputs of 3 numbers are no square images"),
        ('{"user_data": {"A": {"x": [[0, 1, 2, 300]], "y": [0]}}}', r"user 'A': pixels run from 0 to 300"),
        ('{"user_data": {"A": {"x": [[0, 1, 2, NaN]], "y": [0]}}}', r"user 'A': pixels run from nan"),
        ('{"user_data": {"A": {"x": [[0, 1, 1, 1], [1]], "y": [0, 1]}}}', r"user 'A': its images are no numbers, or"),
        ('{"user_data": {"A": {"x": [{}], "y": [0]}}}', r"user 'A': its first input is neither a list of numbers"),
        ('{"user_data": {"A": {"x": [["a", "b"], [1]], "y": [0, 1]}}}', r"user 'A': a text is no string but int"),
        ('{"user_data": {"A": {"x": [[0, 1, 1, 1], [1, 1, 1, 1]], "y": [0, "b"]}}}', r"labels are int, str"),
        ('{"user_data": {}}', r'there is no "user_data" with users in it'),
        ("[1]", r"no whole JSON \(no '{' where one is due"),
        ('{"users": []} x', r"something follows its end"),
        ("[" * 100_000, r"no whole JSON"),
        ('{"a": ' + "[" * 100_000, r"no whole JSON"),
    ],
)
def test_unusable_files_name_file_and_user(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_leaf(path, "x")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no \*\.json and no train/\*\.json in it"):
        read_leaf(tmp_path, "x")
