"""A file is the old one or the whole new one, and nothing else is left in its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from picsc.runtime.whole_files import written_whole


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old", encoding="utf-8")
    with written_whole(path) as part:
        part.write_text("new", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "old"
    assert path.read_text(encoding="utf-8") == "new"
    assert os.listdir(tmp_path) == ["a.json"]  # noqa: PTH208 - names alone
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask  # others may read it, as any new file


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old", encoding="utf-8")

    def fail() -> None:
        with written_whole(path) as part:
            part.write_text("half", encoding="utf-8")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.json"]  # noqa: PTH208 - names alone
