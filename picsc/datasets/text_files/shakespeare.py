"""Plays as a task of next-character prediction, with one client per role, as in LEAF's Shakespeare.

The speeches of a role are joined in the order of the play, and a row is a window of 80 characters with the next
character as its class. Letters: n rows, t characters.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.text_files.alphabet import LETTERS, encoded
from picsc.datasets.texts import TokenSet, checked
from picsc.errors import DataError
from picsc.runtime.digests import digest

WINDOW = 80
"""Number of characters that predict the next one."""
TEST_SHARE = 0.2
"""Share of the rows of a role, the last ones, that become the test part."""
FEWEST = 180
"""Fewest characters of a role that leave it a training row."""
_UNSPOKEN = re.compile(r"_+[^_]*_+|\[[^\]]*\]")
_SPEAKER = re.compile(r"\*\*(.+?)\*\*\s*")


def plays_in(folder: Path) -> list[Path]:
    """The Markdown files of a folder that may be plays, in order of name."""
    return sorted(path for path in folder.glob("*.md") if path.stem.lower() not in ("readme", "license", "changelog"))


def read_plays(folder: Path, name: str) -> TokenSet:
    """Read plays in Markdown.

    Reading: LEAF draws the test rows of a role at random or takes whole roles. Overlapping windows share up to 79
        characters, so here the test part is the last fifth of every role, and the 79 windows before it, which overlap
        with it, are left out.

    Args:
        folder: folder of `*.md` files: a title after `#`, scenes after `##` or `###`, a speaker in `**bold**` on a line
            of its own before every speech, stage directions in `_italics_` or `[brackets]`, which are left out.
        name: name of the set.

    Returns:
        Training rows first. A client is called `play: SPEAKER`; roles of fewer than 180 characters are left out, since
        they would have no training row. Line ends become blanks, and several blanks become one.

    Raises:
        DataError: there is no play in the folder, one cannot be read, or no role is long enough.
    """
    paths = plays_in(folder)
    roles: dict[str, NDArray[np.uint8]] = {}
    digests: list[str] = []
    for path in paths:
        try:
            content = path.read_bytes()
            play = content.decode("utf-8")
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is no UTF-8 text (byte {error.start + 1}); save it as UTF-8") from None
        digests.append(hashlib.sha256(content).hexdigest())
        title = re.search(r"^# (.+)$", play, re.MULTILINE)
        for speaker, text in _speeches(play.replace("\r\n", "\n")).items():
            codes = encoded(text)
            if len(codes) >= FEWEST:
                roles[f"{title.group(1).strip() if title else path.stem}: {speaker}"] = codes
    if not roles:
        raise DataError(
            f"{folder}: {len(paths)} files *.md and no role of at least {FEWEST} characters in them; write a speaker "
            "in **bold** on a line before the speech"
        )
    return windows(roles, name=name, source=str(folder), sha256=digest(digests))


def windows(roles: dict[str, NDArray[np.uint8]], *, name: str, source: str, sha256: str) -> TokenSet:
    """All windows on the texts of roles.

    Args:
        roles: codes of the text of each role, at least 180.
        name: name of the set.
        source: folder that the texts were read from.
        sha256: SHA-256 of the files that were read.
    """
    first: list[NDArray[np.int64]] = []
    last: list[NDArray[np.int64]] = []
    begin = 0
    for codes in roles.values():
        tested = round(TEST_SHARE * (len(codes) - WINDOW))
        trained = len(codes) - WINDOW - tested - (WINDOW - 1)
        first.append(np.arange(begin, begin + trained))
        last.append(np.arange(begin + len(codes) - WINDOW - tested, begin + len(codes) - WINDOW))
        begin += len(codes)
    text = np.concatenate(list(roles.values()))
    sizes = [len(part) for part in (*first, *last)]
    starts = np.concatenate([*first, *last])
    trained_in_all = sum(len(part) for part in first)
    return checked(
        TokenSet(
            name=name,
            source=source,
            unit="characters",
            vocabulary=tuple(LETTERS),
            text=text,
            starts=starts,
            lengths=np.broadcast_to(np.int64(WINDOW), len(starts)),
            labels=text[starts + WINDOW].astype(np.int64) - 1,
            classes=tuple(LETTERS),
            owners=np.repeat(np.tile(np.arange(len(roles)), 2), sizes),
            clients=tuple(roles),
            test=np.arange(trained_in_all, len(starts)),
            sha256=sha256,
        )
    )


def _speeches(text: str) -> dict[str, str]:
    """The text of each speaker of a play, in the order of first appearance."""
    spoken: dict[str, list[str]] = {}
    speaker = None
    for paragraph in re.split(r"\n\s*\n", text):  # a direction may extend over several lines, but not over an empty one
        for line in _UNSPOKEN.sub("", paragraph.replace("\\", "")).splitlines():
            named = _SPEAKER.fullmatch(line.strip())
            if named is not None:
                speaker = named.group(1).strip().rstrip(".:")
            elif line.startswith("#"):
                speaker = None
            elif speaker is not None and line.strip():
                spoken.setdefault(speaker, []).append(line)
    return {speaker: re.sub(r"\s+", " ", " ".join(lines)).strip() for speaker, lines in spoken.items()}
