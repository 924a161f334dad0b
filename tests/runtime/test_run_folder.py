"""Finished parts outlive whatever happens to the process that made them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.runtime.run_folder import RunFolder, _safe, open_run

MANIFEST: dict[str, object] = {"seed": 0, "settings": {"train": {"lr": 0.02}, "methods": ("st-cv", "picsc")}}
NAME = "fashion-mnist/batches-20/picsc/seed-0/batch-07"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")


def part(seed: int, size: int = 10) -> dict[str, NDArray[np.float64]]:
    return {"outputs": np.random.default_rng(seed).normal(size=(size, 2))}


def test_a_part_comes_back_as_it_was(tmp_path: Path) -> None:
    arrays = {
        "file": np.arange(6, dtype=np.int64).reshape(2, 3),  # a name that numpy.savez has for itself
        "allow_pickle": np.array([np.nan, -0.0, np.inf], np.float32),
        "a/b": np.empty((0, 4)),
        "json": np.array('{"tau": 0.1, "word": "Größe"}'),
        "flagged": np.array(True),
    }
    with open_run(tmp_path, MANIFEST, resume=False) as run:
        assert run.get(NAME) is None
        run.put(NAME, arrays)
        found = run.get(NAME)
        assert found is not None
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
            assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert str(found["json"]) == '{"tau": 0.1, "word": "Größe"}'
        assert (tmp_path / "parts" / f"{NAME}.npz").is_file()
        run.put(NAME, {})
        assert run.get(NAME) == {}


def test_python_objects_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with open_run(tmp_path, MANIFEST, resume=False) as run:
        with pytest.raises(ValueError, match="allow_pickle=False"):
            run.put(NAME, {"x": np.array([{}], dtype=object)})
        assert run.get(NAME) is None
        assert [path for path in (tmp_path / "parts").rglob("*") if path.is_file()] == []


def test_resuming_keeps_parts_and_starting_anew_drops_them(tmp_path: Path) -> None:
    with open_run(tmp_path / "new" / "run", MANIFEST, resume=True) as run:
        run.put(NAME, part(1))
    with open_run(tmp_path / "new" / "run", dict(reversed(MANIFEST.items())), resume=True) as run:
        np.testing.assert_equal(run.get(NAME), part(1))
    with open_run(tmp_path / "new" / "run", MANIFEST, resume=False) as run:
        assert run.get(NAME) is None


def test_another_manifest_is_refused_with_what_differs(tmp_path: Path) -> None:
    with open_run(tmp_path, MANIFEST, resume=False) as run:
        run.put(NAME, part(1))
    other = {"settings": {"train": {"lr": 0.5}, "methods": ("st-cv", "picsc")}, "data": "x" * 200}
    with pytest.raises(SettingsError) as caught, open_run(tmp_path, other, resume=True):
        pass
    said = str(caught.value)
    assert "settings.train.lr was 0.02, now 0.5" in said
    assert "seed was 0, now absent" in said
    assert 'data was absent, now "xxx' in said
    assert "methods" not in said
    assert len(said) < 500
    with open_run(tmp_path, MANIFEST, resume=True) as run:  # a refusal drops nothing
        assert run.get(NAME) is not None
    with open_run(tmp_path, other, resume=False) as run:
        assert run.get(NAME) is None


def test_long_values_that_differ_at_their_end_are_told_apart(tmp_path: Path) -> None:
    with open_run(tmp_path, {"rows": [*range(200), 1]}, resume=False):
        pass
    with pytest.raises(SettingsError, match="rows was"), open_run(tmp_path, {"rows": [*range(200), 2]}, resume=True):
        pass


def test_the_default_place_is_in_the_cache_and_the_manifest_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_run(None, MANIFEST, resume=False) as run, open_run(None, {"seed": 1}, resume=False) as other:
        assert run.path.parent == other.path.parent
        assert run.path.parent.parts[-2:] == ("picsc", "runs")
        assert run.path.is_relative_to(tmp_path)
        assert len(run.path.name) == 16
        assert run.path != other.path


def test_a_folder_that_is_no_run_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(SettingsError, match="is no run folder, it holds parts"), open_run(tmp_path, {}, resume=False):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["parts", "thesis.txt"]


def test_a_path_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(SettingsError, match=r"cannot use run folder .*file"),
        open_run(tmp_path / "file", {}, resume=True),
    ):
        pass


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with open_run(tmp_path, {}, resume=False) as run:
        (tmp_path / "parts").write_text("in the way", encoding="utf-8")
        with pytest.raises(SettingsError, match="cannot keep a/b in run folder"):
            run.put("a/b", part(1))


@pytest.mark.parametrize("length", [0, 1, 100, -1], ids=["empty", "one byte", "head", "all but one byte"])
def test_a_torn_part_is_missing(tmp_path: Path, length: int) -> None:
    with open_run(tmp_path, MANIFEST, resume=False) as run:
        run.put(NAME, part(1))
        file = tmp_path / "parts" / f"{NAME}.npz"
        file.write_bytes(file.read_bytes()[:length])
        assert run.get(NAME) is None
        run.put(NAME, part(2))
        np.testing.assert_equal(run.get(NAME), part(2))


def test_no_changed_byte_gives_other_values(tmp_path: Path) -> None:
    with open_run(tmp_path, MANIFEST, resume=False) as run:
        run.put("a", {"x": np.arange(3), "json": np.array("{}")})
        expected, file = run.get("a"), tmp_path / "parts" / "a.npz"
        whole, missing = file.read_bytes(), 0
        for at in range(len(whole)):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            found = run.get("a")
            missing += found is None
            np.testing.assert_equal(found or expected, expected)
    assert missing > len(whole) / 2


def test_parts_of_another_run_or_name_are_missing(tmp_path: Path) -> None:
    with (
        open_run(tmp_path / "one", {"seed": 1}, resume=False) as one,
        open_run(tmp_path / "two", {}, resume=False) as two,
    ):
        one.put("a", part(1))
        bytes_of_a = (tmp_path / "one" / "parts" / "a.npz").read_bytes()
        (tmp_path / "one" / "parts" / "b.npz").write_bytes(bytes_of_a)
        two.put("b", part(2))
        (tmp_path / "two" / "parts" / "a.npz").write_bytes(bytes_of_a)
        np.savez(tmp_path / "two" / "parts" / "c.npz", x=np.arange(3))
        assert (one.get("b"), two.get("a"), two.get("c")) == (None, None, None)


AWKWARD = ["..", ".", "", "/", "/etc/passwd", "../../x", "a//b", "C:\\x", "Größe", "a.npz", "a.npz/b", "con", "\ud800"]
AWKWARD += ["a", "A", "%41", "a\n", "a.", "a\0b", "x" * 300, "x" * 301, "X" * 300, "lambda-0.1", "~", "-rf", " "]


def test_any_name_is_a_file_of_its_own_inside(tmp_path: Path) -> None:
    run_path = tmp_path / "deep" / "run"
    with open_run(run_path, {}, resume=False) as run:
        for i, name in enumerate(AWKWARD):
            run.put(name, {"i": np.array(i)})
        assert [run.get(name) for name in AWKWARD] == [{"i": i} for i in range(len(AWKWARD))]
    files = [path for path in tmp_path.rglob("*.npz") if path.is_file()]
    assert len(files) == len(AWKWARD)
    assert all(file.is_relative_to(run_path / "parts") for file in files)
    assert run_path.joinpath("parts", "lambda-0.1.npz").is_file()


@given(st.text(max_size=8), st.text(max_size=8))
def test_names_of_folders_are_safe_and_their_own(a: str, b: str) -> None:
    assert (_safe(a).casefold() == _safe(b).casefold()) == (a == b)
    assert set(_safe(a)) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-%~")
    assert not _safe(a).startswith(".")
    assert not _safe(a).endswith((".", ".npz"))


def test_a_folder_in_use_is_refused_and_free_afterwards(tmp_path: Path) -> None:
    with (
        open_run(tmp_path, MANIFEST, resume=False) as run,
        pytest.raises(SettingsError, match=rf"in use by process {os.getpid()}: wait"),
        open_run(tmp_path, MANIFEST, resume=False),
    ):
        pass
    with pytest.raises(ZeroDivisionError), open_run(tmp_path, MANIFEST, resume=True) as run:
        run.put(NAME, {"x": np.array(1 / 0)})
    with open_run(tmp_path, MANIFEST, resume=True):
        pass


def test_a_run_folder_can_be_sent_to_another_process(tmp_path: Path) -> None:
    with open_run(tmp_path, MANIFEST, resume=False) as run:
        sent: RunFolder = pickle.loads(pickle.dumps(run))  # noqa: S301
        sent.put(NAME, part(3))
        np.testing.assert_equal(run.get(NAME), part(3))


WRITER = """
import os, signal, sys
from pathlib import Path
import numpy as np
from picsc.runtime.run_folder import open_run

class Dies(dict):
    def items(self):
        yield "outputs", np.zeros(100_000)
        os.kill(os.getpid(), signal.SIGKILL)  # half-way through writing

with open_run(Path(sys.argv[1]), {"seed": 0}, resume=False) as run:
    for i in range(10_000):
        if i == int(sys.argv[2]):
            run.put(f"unit-{i}", Dies())
        run.put(f"unit-{i}", {"outputs": np.full(100_000, i)})
        print(i, flush=True)
"""


def writer(folder: Path, dies_at: int) -> subprocess.Popen[str]:
    """A process that keeps one part after another, and says each time that it has."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(dies_at)], stdout=subprocess.PIPE, text=True
    )


def found_after(folder: Path) -> Iterator[int]:
    """Numbers of the parts that a resumed run finds; each must be whole."""
    with open_run(folder, {"seed": 0}, resume=True) as run:
        for i in range(10_000):
            arrays = run.get(f"unit-{i}")
            if arrays is not None:
                np.testing.assert_array_equal(arrays["outputs"], np.full(100_000, i))
                yield i


@POSIX
def test_killed_inside_a_part_loses_only_that_part(tmp_path: Path) -> None:
    with writer(tmp_path, 3) as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert said.split() == ["0", "1", "2"]
    torn = list(tmp_path.rglob(".*.part"))
    assert len(torn) == 1
    assert torn[0].stat().st_size > 0
    assert list(found_after(tmp_path)) == [0, 1, 2]
    assert list(tmp_path.rglob(".*.part")) == []


@POSIX
@pytest.mark.parametrize("delay", [0.0, 0.011, 0.037])
def test_killed_at_any_time_keeps_every_finished_part(tmp_path: Path, delay: float) -> None:
    with writer(tmp_path, -1) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(5)]
        time.sleep(delay)
        with pytest.raises(SettingsError, match=f"in use by process {process.pid}"):
            list(found_after(tmp_path))
        process.kill()
        said += process.stdout.readlines()
    found = list(found_after(tmp_path))  # the lock of the killed process is taken over
    finished = [int(line) for line in said if line.endswith("\n")]
    assert len(finished) >= 5
    assert set(finished) <= set(found)
    assert len(found) <= len(finished) + 1  # kept, and killed before it could say so
    assert all(b == a + 1 for a, b in pairwise(found))


def test_the_cache_keeps_the_newest_runs_and_folders_of_users_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("picsc.runtime.run_folder.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("picsc.runtime.run_folder.KEPT_RUNS", 3)
    own = tmp_path / "own"
    with open_run(own, {"seed": -1}, resume=False):
        pass
    made = []
    for seed in range(6):
        with open_run(None, {"seed": seed}, resume=False) as folder:
            made.append(folder.path)
            folder.put("part", part(seed))
        os.utime(folder.path / "picsc-run.json", (time.time() - 100 + seed,) * 2)
    assert [path.exists() for path in made] == [False, False, False, True, True, True]
    assert own.exists()
    os.utime(made[4] / "picsc-run.json", (time.time() - 40 * 86400,) * 2)
    with open_run(None, {"seed": 3}, resume=True) as folder:
        assert folder.get("part") is not None
    assert [path.exists() for path in made[3:]] == [True, False, True]


def test_a_run_in_use_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("picsc.runtime.run_folder.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("picsc.runtime.run_folder.KEPT_RUNS", 1)
    with open_run(None, {"seed": 0}, resume=False) as used, open_run(None, {"seed": 1}, resume=False):
        assert used.path.exists()
