"""Units on a real cluster of two worker processes: order, errors, workers that die, and parts that come back."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from picsc.errors import DataError, SettingsError
from picsc.runtime.engines.opening import open_engine
from picsc.runtime.engines.stage import Engine, Stage
from picsc.runtime.run_folder import RunFolder, kept, open_run

distributed = pytest.importorskip("distributed", reason="needs picsc[dask]")

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of a scheduler that was killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # the same
]
WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to one process")
MANIFEST = {"seed": 0}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Engine]:
    with open_engine("dask", 2) as engine:
        yield engine


def process_of(shared: str, _: Path | None, number: int) -> tuple[str, int, int]:
    time.sleep(2.0 if number == 0 else 0.3)  # the first is ready last
    return shared, number, os.getpid()


def threads(_: None, __: Path | None, ___: int) -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def fail_at_two(_: None, __: Path | None, fold: int) -> int:
    if fold == 2:
        raise DataError(f"fold {fold} of 4 has one class")
    return fold


def die_once(sign: Path, _: Path | None, unit: int) -> int:
    if unit == 1 and not sign.exists():
        sign.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return unit


def die(_: None, __: Path | None, unit: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return unit


def two_parts(folder: RunFolder, path: Path | None, unit: int) -> tuple[bool, float]:
    """One part after another; whether the first was there, and the sum of both."""
    assert path is not None
    here = RunFolder(path, folder.digest)
    there = here.get(f"{unit}/first") is not None
    parts = [kept(here, f"{unit}/{name}", lambda: {"x": np.array(unit * 1.5)}) for name in ("first", "second")]
    return there, float(sum(part["x"] for part in parts))


def test_results_come_in_order_from_two_workers(cluster: Engine) -> None:
    told: list[int] = []
    results = cluster.run(Stage(process_of, "shared", [0, 1, 2, 3]), told.append)
    assert [result[:2] for result in results] == [("shared", i) for i in range(4)]
    processes = {process for _, _, process in results}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert sorted(told) == [0, 1, 2, 3]
    assert told != [0, 1, 2, 3]
    assert cluster.run(Stage(process_of, "shared", [])) == []


def test_a_worker_has_as_many_threads_of_linear_algebra_as_this_process(cluster: Engine) -> None:
    for count in (1, 2):
        with threadpool_limits(count, "blas"):
            assert cluster.run(Stage(threads, None, [0])) == [{count}]


def test_an_error_of_a_unit_is_the_callers(cluster: Engine) -> None:
    with pytest.raises(DataError, match=r"^fold 2 of 4 has one class$"):
        cluster.run(Stage(fail_at_two, None, [1, 2, 3, 4]))


@WINDOWS
def test_units_of_a_worker_that_dies_are_done_by_another(cluster: Engine, tmp_path: Path) -> None:
    assert cluster.run(Stage(die_once, tmp_path / "sign", [0, 1, 2, 3])) == [0, 1, 2, 3]
    assert (tmp_path / "sign").exists()


@pytest.mark.parametrize("shared", [True, False])
def test_parts_come_back_whether_or_not_a_worker_sees_the_folder(
    cluster: Engine, tmp_path: Path, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shared:  # as for a worker of another machine, which finds no mark
        monkeypatch.setattr("picsc.runtime.engines.dask_cluster.marked", lambda _: nullcontext("missing"))
    with open_run(tmp_path / "run", MANIFEST, resume=False) as folder:
        folder.put("1/first", {"x": np.array(1.5)})
        own = [folder.place_of(str(i)) for i in range(3)]
        results = cluster.run(Stage(two_parts, folder, range(3), folder.path, own))
        assert results == [(False, 0.0), (True, 3.0), (False, 6.0)]
        assert [folder.get(f"{i}/second") for i in range(3)] == [{"x": np.array(i * 1.5)} for i in range(3)]
    assert not [file for file in (tmp_path / "run").iterdir() if file.name.startswith(".")]


def test_a_worker_with_another_version_is_refused_by_name(cluster: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    from picsc.runtime.engines import dask_cluster

    own = dask_cluster.own_versions()
    monkeypatch.setattr(dask_cluster, "own_versions", lambda: {**own, "picsc": "9.9"})
    sentence = rf"^Dask worker tcp://\S+ would give other numbers: picsc is {own['picsc']} there and 9\.9 here; install"
    with pytest.raises(SettingsError, match=sentence), open_engine(cluster.name, 1):
        pass
    with pytest.raises(SettingsError, match=sentence):  # one that joined later
        cluster.run(Stage(process_of, "", [1]))


def test_no_scheduler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("picsc.runtime.engines.dask_cluster.ANSWERS", 0.5)
    with (
        pytest.raises(
            SettingsError, match=r"^no Dask scheduler answers at tcp://127\.0\.0\.1:9 \(.*use --engine local$"
        ),
        open_engine("dask:tcp://127.0.0.1:9", 1),
    ):
        pass
    with pytest.raises(SettingsError, match=r"^no Dask scheduler answers at nowhere"), open_engine("dask:nowhere:x", 1):
        pass


def test_without_dask_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "picsc.runtime.engines.dask_cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SettingsError, match=r"pip install 'picsc\[dask\]'"), open_engine("dask", 1):
        pass


@WINDOWS
def test_work_that_ends_every_worker_is_one_sentence(cluster: Any) -> None:
    def once(dask_scheduler: Any) -> None:
        dask_scheduler.allowed_failures = 0

    cluster.client.run_on_scheduler(once)
    with pytest.raises(SettingsError, match=r"^the same work ended 1 Dask worker, .* --resume goes on$"):
        cluster.run(Stage(die, None, [0]))
