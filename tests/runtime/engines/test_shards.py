"""Shards: every unit made once, whichever shards there are, whatever happens to one of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from picsc.errors import NoReportYetError, SettingsError
from picsc.runtime.engines.local import LocalEngine
from picsc.runtime.engines.parts import Computations, RunPlace, Workplace, compute_in_parts, open_workplace
from picsc.runtime.engines.shards import LOCKS, Shard, run_shard
from picsc.runtime.engines.stage import Stage
from picsc.runtime.locks import locked
from picsc.runtime.run_folder import PartsMissingError, RunFolder, kept, open_run

MANIFEST = {"seed": 0}


def squares(log: Path, folder: RunFolder, name: str) -> list[float]:
    """Three independent parts, then one that needs them."""
    parts, missing = [], []
    for i in range(3):

        def compute(i: int = i) -> dict[str, np.ndarray]:
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{name}/{i}\n")
            return {"x": np.array(float(i * i))}

        try:
            parts.append(float(kept(folder, f"{name}/{i}", compute)["x"]))
        except PartsMissingError as error:
            missing += error.units
    if missing:
        raise PartsMissingError(tuple(missing))
    total = kept(folder, f"{name}/total", lambda: {"x": np.array(sum(parts))})
    return [*parts, float(total["x"])]


def note(log: Path, _: Path | None, unit: int) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{unit}\n")


def test_a_shard_begins_with_its_own_share() -> None:
    assert Shard(1, 3).order(7) == [0, 3, 6, 1, 4, 2, 5]
    assert Shard(3, 3).order(7) == [2, 5, 0, 3, 6, 1, 4]


def test_parts_are_the_same_by_waves_of_units_and_one_after_another(tmp_path: Path) -> None:
    told: list[tuple[list[str], str]] = []
    with open_run(tmp_path / "one", MANIFEST, resume=False) as folder:
        plain = compute_in_parts(
            Computations(squares, tmp_path / "log", ["a", "b"]), Workplace(folder, LocalEngine(1)), lambda *_: None
        )
    with open_run(tmp_path / "two", MANIFEST, resume=False) as folder, closing(LocalEngine(2)) as engine:
        by_unit = compute_in_parts(
            Computations(squares, tmp_path / "log", ["a", "b"]),
            Workplace(folder, engine),
            lambda left, words: told.append((list(left), words)),
        )
    assert plain == by_unit == {name: [0.0, 1.0, 4.0, 5.0] for name in ("a", "b")}
    assert sorted((tmp_path / "log").read_text(encoding="utf-8").split()) == sorted(
        2 * [f"{name}/{i}" for name in "ab" for i in range(3)]
    )
    assert told[0] == (["a", "b"], "")
    assert "; 6 of 6 parts done" in [words for _, words in told]
    assert told[-1] == ([], "")


def test_shards_make_every_part_once_and_a_last_call_collects(tmp_path: Path) -> None:
    """The first shard makes all that nobody else has begun, so nothing is left undone when another is missing."""
    computations = Computations(squares, tmp_path / "log", ["a", "b"])
    for index in (1, 2):
        place = RunPlace(tmp_path / "run", shard=Shard(index, 2))
        with (
            pytest.raises(NoReportYetError, match=rf"^shard {index} of 2 has done its share, .*--resume in place of"),
            open_workplace(place, MANIFEST, "local", 1, lambda _: None) as workplace,
        ):
            compute_in_parts(computations, workplace, lambda *_: None)
    assert len((tmp_path / "log").read_text(encoding="utf-8").split()) == 6
    with open_workplace(RunPlace(tmp_path / "run", resume=True), MANIFEST, "local", 1, lambda _: None) as workplace:
        found = compute_in_parts(computations, workplace, lambda *_: None)
    assert found == {name: [0.0, 1.0, 4.0, 5.0] for name in ("a", "b")}
    assert len((tmp_path / "log").read_text(encoding="utf-8").split()) == 6


def test_a_unit_that_another_shard_makes_is_left_or_waited_for(tmp_path: Path) -> None:
    stage = Stage(note, tmp_path / "log", [0, 1, 2], tmp_path)
    names = ["a", "b", "c"]
    import hashlib

    busy = tmp_path / LOCKS / hashlib.sha256(b"b").hexdigest()[:32]
    with locked(busy, wait=False) as mine:
        assert mine
        assert not run_shard(stage, LocalEngine(1), Shard(1, 1), names, wait=False)
        assert (tmp_path / "log").read_text(encoding="utf-8").split() == ["0", "2"]
        waiting = Thread(target=run_shard, args=(stage, LocalEngine(1), Shard(1, 1), names), kwargs={"wait": True})
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()
    waiting.join(30)
    assert (tmp_path / "log").read_text(encoding="utf-8").split() == ["0", "2", "0", "2", "1"]


def test_shards_share_a_folder_and_nobody_else(tmp_path: Path) -> None:
    with open_run(tmp_path, MANIFEST, resume=False, shared=True) as folder:
        folder.put("a", {"x": np.array(1.0)})
        with open_run(tmp_path, MANIFEST, resume=False, shared=True) as second:
            assert second.get("a") is not None  # no part is dropped
        with pytest.raises(SettingsError, match="is in use"), open_run(tmp_path, MANIFEST, resume=True):
            pass
        with (
            pytest.raises(SettingsError, match=r"cannot join the run in .*seed was 0, now 1; .*give an empty folder"),
            open_run(tmp_path, {"seed": 1}, resume=False, shared=True),
        ):
            pass
    with (
        open_run(tmp_path, MANIFEST, resume=True),
        pytest.raises(SettingsError, match="is in use"),
        open_run(tmp_path, MANIFEST, resume=False, shared=True),
    ):
        pass


def test_a_shard_needs_a_folder_and_processes_of_its_own(tmp_path: Path) -> None:
    for place, engine, sentence in (
        (RunPlace(None, shard=Shard(1, 2)), "local", "--shard goes with --run-dir DIR"),
        (RunPlace(tmp_path, shard=Shard(1, 2)), "dask", "--shard goes with --engine local"),
    ):
        with (
            pytest.raises(SettingsError, match=sentence),
            open_workplace(place, MANIFEST, engine, 1, lambda _: None),
        ):
            pass
