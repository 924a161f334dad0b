"""Whole commands on a real Dask cluster of two worker processes, and by shards: the same bytes as in this process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from picsc.cross_validation.cross_validate import cross_validate_dataset
from picsc.datasets.load import load
from picsc.errors import SettingsError
from picsc.runtime.engines.opening import open_engine
from picsc.runtime.engines.stage import Engine
from picsc.settings import CvSettings, ReadSettings
from picsc_cli.app import app

WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to one process")
FEW = ("--isolated", "--epochs", "3", "--repeats", "1", "--quiet")
VERBS = {
    "cv": ("cv", "{data}", "--folds", "2", *FEW, "--deploy", "same"),
    "compare": ("compare", "{data}", "--folds", "2", "--method", "st-cv,iw,iwcv", *FEW),
    "fed": ("fed", "{data}", "--by", "site", "--rounds", "2", "--method", "fedavg,picsc", *FEW),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 80 rows from two sites."""
    random = np.random.default_rng(3)
    x = random.normal(size=(80, 2))
    lines = [f"{a:.4f},{b:.4f},{'AB'[i % 2]},{'yes' if a > 0 else 'no'}" for i, (a, b) in enumerate(x)]
    file = tmp_path_factory.mktemp("data") / "table.csv"
    file.write_text("\n".join(["a,b,site,label", *lines]) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def cluster() -> Iterator[Engine]:
    pytest.importorskip("distributed", reason="needs picsc[dask]")
    with open_engine("dask", 2) as engine:
        yield engine


def picsc(command: tuple[str, ...], table: Path, *more: str) -> Result:
    return CliRunner().invoke(app, [word.format(data=table) for word in (*command, *more)])


def report(command: tuple[str, ...], table: Path, folder: Path, *more: str) -> bytes:
    """The JSON of a command that works in a run folder."""
    output = folder.with_suffix(".json")
    done = picsc(command, table, "--run-dir", str(folder), "--output", f"json:{output}", *more)
    assert done.exit_code == 0, done.output
    return output.read_bytes()


def parts(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.npz"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_cluster_gives_the_bytes_of_this_process_and_goes_on_with_its_parts(
    verb: str, table: Path, cluster: Engine, tmp_path: Path
) -> None:
    command = VERBS[verb]
    here = report(command, table, tmp_path / "here", "--jobs", "1")
    there = report(command, table, tmp_path / "there", "--engine", cluster.name)
    assert there == here
    assert parts(tmp_path / "there") == parts(tmp_path / "here")
    for folder, engine in (("here", cluster.name), ("there", "local")):  # each goes on with half the other's parts
        for name in parts(tmp_path / folder)[::2]:
            (tmp_path / folder / name).unlink()
        again = report(command, table, tmp_path / folder, "--resume", "--engine", engine, "--jobs", "1")
        assert again == here


@pytest.mark.parametrize("verb", VERBS)
def test_shards_fill_one_folder_and_the_last_call_collects(verb: str, table: Path, tmp_path: Path) -> None:
    command = VERBS[verb]
    here = report(command, table, tmp_path / "here", "--jobs", "1")
    for index in (2, 1):
        done = picsc(command, table, "--run-dir", str(tmp_path / "shards"), "--shard", f"{index}/2", "--jobs", "1")
        assert done.exit_code == 0, done.output
        assert f"shard {index} of 2 has done its share" in done.output
    assert parts(tmp_path / "shards") == parts(tmp_path / "here")
    times = {name: (tmp_path / "shards" / name).stat().st_mtime_ns for name in parts(tmp_path / "shards")}
    assert report(command, table, tmp_path / "shards", "--resume", "--jobs", "1") == here
    assert times == {name: (tmp_path / "shards" / name).stat().st_mtime_ns for name in times}  # nothing was done twice


RECIPE = """title: t
verb: {verb}
{own}
data: [{data}]
grids: {{folds: [2]}}
"""


def recipes(folder: Path, table: Path) -> tuple[str, ...]:
    shutil.copy(table, folder)
    for verb in ("cv", "audit"):
        own = "draws: 199" if verb == "audit" else "repeats: 1\ntrain: {epochs: 2}"
        text = RECIPE.format(verb=verb, own=own, data="table.csv, iris" if verb == "cv" else "table.csv")
        (folder / f"{verb}.yaml").write_text(text, encoding="utf-8")
    return "run", str(folder / "cv.yaml"), str(folder / "audit.yaml"), "--isolated", "--quiet", "--exit-zero"


def test_recipes_are_the_same_on_a_cluster_and_by_shards(table: Path, cluster: Engine, tmp_path: Path) -> None:
    command = recipes(tmp_path, table)
    here = report(command, table, tmp_path / "here", "--jobs", "2")
    assert report(command, table, tmp_path / "there", "--engine", cluster.name) == here
    assert parts(tmp_path / "there") == parts(tmp_path / "here")
    alone = ("run", str(tmp_path / "audit.yaml"), "--isolated", "--quiet", "--exit-zero")  # fewer than workers
    assert report(alone, table, tmp_path / "a", "--engine", cluster.name) == report(alone, table, tmp_path / "b")
    for index in (1, 2):
        done = picsc(command, table, "--run-dir", str(tmp_path / "shards"), "--shard", f"{index}/2", "--jobs", "1")
        assert "has done its share" in done.output
    assert parts(tmp_path / "shards") == parts(tmp_path / "here")
    assert report(command, table, tmp_path / "shards", "--resume", "--jobs", "1") == here


def test_a_file_that_a_worker_does_not_see_is_refused_by_name(
    table: Path, cluster: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from picsc.recipes import task_runs

    command = recipes(tmp_path, table)
    monkeypatch.setattr(task_runs, "file_digest", lambda _: "another")
    done = picsc(command, table, "--engine", cluster.name)
    assert done.exit_code == 2
    assert f"has another file {tmp_path / 'table.csv'}: put it in a folder that all machines share" in done.output


@WINDOWS
def test_a_worker_that_is_killed_changes_nothing(table: Path, cluster: Engine, tmp_path: Path) -> None:
    from picsc.runtime.engines.dask_cluster import DaskEngine

    assert isinstance(cluster, DaskEngine)
    data = load(str(table), ReadSettings())
    settings = CvSettings.model_validate({"cut": {"folds": 2}, "repeats": 1, "train": {"epochs": 3}})
    killed: list[int] = []

    def kill(words: str) -> None:
        if "; 1 of" in words and not killed:
            killed.append(next(iter(cluster.client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    here = cross_validate_dataset(data, settings, run_dir=tmp_path / "here")
    there = settings.model_copy(update={"engine": cluster.name})
    assert cross_validate_dataset(data, there, run_dir=tmp_path / "there", progress=kill).as_dict() == here.as_dict()
    assert killed


@contextmanager
def scheduler_of_a_worker(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Address and process of a scheduler that has a worker, each a program of its own."""
    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common]
    worker = ["distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder), *common]
    quiet = subprocess.DEVNULL
    processes = [
        subprocess.Popen([sys.executable, "-m", *each], stdout=quiet, stderr=quiet) for each in (scheduler, worker)
    ]
    try:
        end = time.monotonic() + 60
        address = None
        while address is None and time.monotonic() < end:
            with suppress(OSError, ValueError):  # it is not there yet, or not written to its end
                address = json.loads(file.read_text(encoding="utf-8"))["address"]
            time.sleep(0.05)
        assert address is not None
        yield address, processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@WINDOWS
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of the scheduler that was killed
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the same
def test_parts_are_kept_when_the_scheduler_goes(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs picsc[dask]")
    data = load(str(table), ReadSettings())
    settings = CvSettings.model_validate({"cut": {"folds": 2}, "repeats": 1, "train": {"epochs": 3}})
    with scheduler_of_a_worker(tmp_path) as (address, scheduler):

        def end(words: str) -> None:
            if "; 2 of" in words:
                scheduler.kill()
                scheduler.wait()

        there = settings.model_copy(update={"engine": f"dask:{address}"})
        with pytest.raises(SettingsError, match=r"^the Dask scheduler at \S+ is gone: .* --resume goes on$"):
            cross_validate_dataset(data, there, run_dir=tmp_path / "run", progress=end)
    before = parts(tmp_path / "run")
    assert len(before) >= 2
    times = {name: (tmp_path / "run" / name).stat().st_mtime_ns for name in before}
    again = cross_validate_dataset(data, settings, run_dir=tmp_path / "run", resume=True)
    assert again.as_dict() == cross_validate_dataset(data, settings, run_dir=tmp_path / "new").as_dict()
    assert times == {name: (tmp_path / "run" / name).stat().st_mtime_ns for name in before}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--shard", "3/2"), "--shard 3/2: must be I/N with 1 <= I <= N"),
        (("--shard", "1/2"), "--shard goes with --run-dir DIR"),
        (("--shard", "1/2", "--resume", "--run-dir", "x"), "choose --shard or --resume, not both"),
        (("--shard", "1/2", "--run-dir", "{folder}", "--engine", "dask"), "--shard goes with --engine local"),
        (("--engine", "ray"), "--engine ray: must be local, dask, or dask:ADDRESS"),
    ],
)
def test_what_does_not_go_together_is_refused(
    more: tuple[str, ...], sentence: str, table: Path, tmp_path: Path
) -> None:
    words = [word.replace("{folder}", str(tmp_path / "run")) for word in more]
    for command in (VERBS["cv"], recipes(tmp_path, table)):
        done = picsc(command, table, *words)
        assert done.exit_code == 2
        assert sentence in done.output.replace("\n", " ")
