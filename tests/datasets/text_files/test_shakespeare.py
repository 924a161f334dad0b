"""Roles of plays as clients: what is spoken, how windows are cut, and what is kept in memory."""

from pathlib import Path

import numpy as np
import pytest

from picsc import audit, cross_validate
from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.text_files.alphabet import LETTERS, encoded, letter_codes
from picsc.datasets.text_files.shakespeare import FEWEST, WINDOW, read_plays, windows
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError, SettingsError
from picsc.settings import ReadSettings

LINE = "The quick brown fox jumps over the lazy dog, and again it jumps over the other.\n"
BREAK = "  "
PLAY = f"""# The Short Play

## ACT I

### SCENE I. A field.

_Enter ANN and
BOB, with a fox_

**ANN**{BREAK}
{LINE * 4}
**BOB.**{BREAK}
\\[Aside] {LINE * 3}_Exit_

**ANN**{BREAK}
Well — said!

**EXTRA**{BREAK}
No.
"""


def spelled(tokens: TokenSet, row: int) -> str:
    return "".join(LETTERS[code - 1] for code in tokens.take(np.array([row]))[0])


@pytest.fixture
def plays(tmp_path: Path) -> Path:
    folder = tmp_path / "shakespeare"
    folder.mkdir()
    (folder / "short.md").write_text(PLAY, encoding="utf-8")
    (folder / "README.md").write_text("**NOBODY**\n" + LINE * 9)
    return folder


def test_a_client_is_a_play_and_a_speaker_with_enough_to_say(plays: Path) -> None:
    tokens = read_plays(plays, "shakespeare")
    assert tokens.clients == ("The Short Play: ANN", "The Short Play: BOB")
    assert (tokens.unit, tokens.width) == ("characters", 80)
    assert tokens.vocabulary == tokens.classes == tuple(LETTERS)


def test_only_what_is_spoken_is_kept_and_line_ends_are_blanks(plays: Path) -> None:
    tokens = read_plays(plays, "shakespeare")
    text = "".join(LETTERS[code - 1] for code in tokens.text)
    line = LINE.strip()
    assert text == " ".join([line] * 4) + " Well -- said!" + " ".join([line] * 3)


def test_a_row_is_80_characters_and_its_class_the_next(plays: Path) -> None:
    tokens = read_plays(plays, "shakespeare")
    ann = " ".join([LINE.strip()] * 4) + " Well -- said!"
    mine = np.flatnonzero(tokens.owners == 0)
    learned = mine[~np.isin(mine, tokens.test)]
    assert [spelled(tokens, row) for row in learned[:2]] == [ann[:80], ann[1:81]]
    assert [tokens.classes[code] for code in tokens.labels[learned[:2]]] == [ann[80], ann[81]]
    assert spelled(tokens, mine[-1]) + tokens.classes[tokens.labels[mine[-1]]] == ann[-81:]


@pytest.mark.parametrize("characters", [FEWEST, FEWEST + 1, 193, 1000])
def test_the_last_fifth_is_tested_on_and_no_label_of_it_was_seen_before(characters: int) -> None:
    roles = {name: encoded("abcdefghij" * 100)[:characters] for name in ("a", "b")}
    tokens = windows(roles, name="x", source="memory", sha256="")
    for owner in (0, 1):
        mine = np.flatnonzero(tokens.owners == owner)
        learned, tested = (mine[np.isin(mine, tokens.test) == part] for part in (False, True))
        assert len(tested) == round(0.2 * (characters - WINDOW))
        assert len(learned) == characters - 2 * WINDOW - len(tested) + 1 >= 1
        assert tokens.starts[learned].max() + WINDOW == tokens.starts[tested].min()
    np.testing.assert_array_equal(tokens.test, np.arange(tokens.n - len(tokens.test), tokens.n))


def test_a_role_without_a_row_to_learn_from_is_left_out(tmp_path: Path) -> None:
    for name, length in (("LONG", FEWEST), ("SHORT", FEWEST - 1)):
        (tmp_path / f"{name}.md").write_text(f"# P\n\n**{name}**\n{('ab' * FEWEST)[:length]}")
    assert read_plays(tmp_path, "x").clients == ("P: LONG",)


def test_characters_that_leaf_lacks_are_replaced_or_left_out() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 80
    text = "\u2018Café\u2019 — “naïve” $5_*~\t\\|"
    assert "".join(LETTERS[code - 1] for code in encoded(text)) == "'Cafe' -- \"naive\" 5 "
    assert letter_codes("a\u2019€\n").tolist() == [LETTERS.index("a") + 1, LETTERS.index("'") + 1, 0, 1]


def test_a_folder_without_roles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"0 files \*\.md and no role of at least 180 characters"):
        read_plays(tmp_path, "x")
    (tmp_path / "p.md").write_bytes(b"**A**\n\xff")
    with pytest.raises(DataError, match=r"p\.md is no UTF-8 text \(byte 7\)"):
        read_plays(tmp_path, "x")


def test_it_is_found_by_name_and_by_path(plays: Path) -> None:
    named = by_name("Shakespeare", ReadSettings(), data_dir=plays.parent)
    assert isinstance(named, TokenSet)
    assert (named.source, len(named.sha256)) == (str(plays), 64)


def test_windows_share_one_text() -> None:
    tokens = windows({"a": encoded("ab" * 50_000)}, name="x", source="memory", sha256="")
    held = tokens.text.nbytes + tokens.lengths.base.nbytes
    assert held <= 100_000 + 8
    assert tokens.take(np.array([0, 5])).dtype == np.int64


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (audit, r"texts have neither columns nor pixels .* picsc fed"),
        (cross_validate, r"rows are overlapping windows on running text.* use picsc fed"),
    ],
)
def test_other_verbs_refuse_running_text(verb, said: str, plays: Path) -> None:
    with pytest.raises(SettingsError, match=said):
        verb(plays)
    with pytest.raises(SettingsError, match="y goes with a frame or an array; a TokenSet holds its own labels"):
        verb(read_plays(plays, "x"), [0])
