"""Units in several processes: order, errors, and an end that leaves no process behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from picsc import errors
from picsc.errors import DataError, SettingsError
from picsc.runtime.engines.local import LocalEngine
from picsc.runtime.engines.stage import Stage

WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send to one process")


def apply(function: Callable[[Any], Any], _: Path | None, argument: object) -> Any:
    return function(argument)


def run_tasks(
    function: Callable[[Any], Any], arguments: Sequence[object], jobs: int, done: Callable[[int], None] | None = None
) -> list[Any]:
    with closing(LocalEngine(jobs)) as engine:
        return engine.run(Stage(apply, function, arguments), done)


def process_of(number: int) -> tuple[int, int]:
    time.sleep(2.0 if number == 0 else 0.2)  # the first argument is ready last, however busy the machine is
    return number, os.getpid()


def threads(_: object) -> int:
    import torch  # here, so that the processes of the other tests start without it

    return torch.get_num_threads()


def fail_at_two(fold: int) -> int:
    if fold == 2:
        raise DataError(f"fold {fold} of 4: the estimator raised ValueError")
    return fold


class StubbornError(Exception):
    """Cannot be made from its message, so it does not survive pickling."""

    def __init__(self, fold: int, why: str) -> None:
        super().__init__(f"fold {fold}: {why}")


def fail_stubbornly(fold: int) -> int:
    raise StubbornError(fold, "no way")


def fail_or_sleep(seconds: float) -> float:
    if seconds == 0:
        raise DataError("at once")
    time.sleep(seconds)
    return seconds


def die(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_results_come_in_order_from_other_processes() -> None:
    told: list[int] = []
    results = run_tasks(process_of, [0, 1, 2, 3], 2, done=told.append)
    assert [number for number, _ in results] == [0, 1, 2, 3]
    processes = {process for _, process in results}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert sorted(told) == [0, 1, 2, 3]
    assert told != [0, 1, 2, 3]  # told at once, not in order


def test_one_job_or_one_task_stays_in_this_process() -> None:
    told: list[int] = []
    assert run_tasks(process_of, [5, 6], 1, done=told.append) == [(5, os.getpid()), (6, os.getpid())]
    assert told == [0, 1]
    assert run_tasks(process_of, [5], 2) == [(5, os.getpid())]
    assert run_tasks(process_of, [], 2) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_the_second_fold_surfaces_with_its_message(jobs: int) -> None:
    with pytest.raises(DataError, match=r"^fold 2 of 4: the estimator raised ValueError$"):
        run_tasks(fail_at_two, [1, 2, 3, 4], jobs)


def test_every_error_of_picsc_survives_the_way_between_processes() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.PicscError)]
    assert len(kinds) >= 4
    for kind in kinds:
        error = kind(("column 3 is empty", "fold 2 has one class"))  # type: ignore[arg-type] # some take many sentences
        again = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert (type(again), str(again)) == (kind, str(error))


def test_an_error_that_does_not_survive_goes_as_its_text() -> None:
    with pytest.raises(RuntimeError, match=r"StubbornError: fold [12]: no way"):
        run_tasks(fail_stubbornly, [1, 2], 2)


def test_an_error_ends_running_tasks_and_drops_waiting_ones() -> None:
    start = time.monotonic()
    with pytest.raises(DataError, match="at once"):
        run_tasks(fail_or_sleep, [300, 0, 300, 300], 2)
    assert time.monotonic() - start < 120


@WINDOWS
def test_a_killed_process_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(SettingsError, match="choose fewer jobs"):
        run_tasks(die, [0, 1], 2)


@pytest.mark.parametrize(
    "jobs",
    [1, pytest.param(2, marks=pytest.mark.slow)],  # two processes that load torch at once: up to 20 seconds
)
def test_torch_has_one_core_for_any_jobs(jobs: int) -> None:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert run_tasks(threads, list(torch.zeros(2, 1)), jobs) == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


SLEEPERS = """
import os, sys, time
from contextlib import closing
from pathlib import Path
from picsc.runtime.engines.local import LocalEngine
from picsc.runtime.engines.stage import Stage

def sleep(shared, run_folder, folder):
    Path(folder, str(os.getpid())).touch()
    time.sleep(300)

def run_tasks(function, arguments, jobs):
    with closing(LocalEngine(jobs)) as engine:
        engine.run(Stage(function, None, arguments))

if __name__ == "__main__":
    print("begins", flush=True)
    run_tasks(sleep, [sys.argv[1]] * 4, 2)
"""


def alive(process: int) -> bool:
    """Whether it runs; one that ended and that nobody has asked after yet does not."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # a system without /proc, or it has just ended
        return not Path("/proc/self/stat").exists()
    return state != "Z"


def all_end(processes: list[int]) -> bool:
    """Whether all of them end within a minute."""
    end = time.monotonic() + 60
    while any(alive(process) for process in processes) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(alive(process) for process in processes)


def sleepers(folder: Path, text: str = SLEEPERS) -> subprocess.Popen[str]:
    """A program that will have two workers asleep, in a process group of its own."""
    (folder / "started").mkdir()
    (folder / "sleepers.py").write_text(text, encoding="utf-8")
    command = [sys.executable, str(folder / "sleepers.py"), str(folder / "started")]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def asleep(folder: Path) -> list[int]:
    """Process numbers of the two workers, once they are at work."""
    end = time.monotonic() + 60
    while len(list((folder / "started").iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    workers = [int(path.name) for path in (folder / "started").iterdir()]
    assert len(workers) == 2
    assert all(alive(worker) for worker in workers)
    return workers


def assert_interrupted(program: subprocess.Popen[str]) -> None:
    _, said = program.communicate(timeout=60)  # the workers hold the same stream: it ends with the last of them
    assert program.returncode == -signal.SIGINT  # what Python does with a KeyboardInterrupt that nobody caught
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert said.count("Traceback") == 1, said  # the workers say nothing


@WINDOWS
@pytest.mark.parametrize("send", ["killpg", "kill"])
def test_an_interrupt_ends_workers_at_once(tmp_path: Path, send: str) -> None:
    """Told to all, as a terminal does, and to the parent alone."""
    with sleepers(tmp_path) as program:
        workers = asleep(tmp_path)
        getattr(os, send)(program.pid, signal.SIGINT)
        assert_interrupted(program)
    assert all_end(workers)


@WINDOWS
def test_a_second_interrupt_leaves_nothing_behind_that_python_warns_of(tmp_path: Path) -> None:
    """The command ends with os._exit, so semaphores are freed by the end of the pool or never."""
    leaving = SLEEPERS.replace("    run_tasks(", "    try:\n        run_tasks(").rstrip()
    leaving += "\n    except KeyboardInterrupt:\n        os._exit(130)\n"
    with sleepers(tmp_path, leaving) as program:
        asleep(tmp_path)
        os.kill(program.pid, signal.SIGINT)
        time.sleep(0.003)
        os.kill(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=60)
        assert program.returncode == 130
        assert said == ""


@WINDOWS
def test_an_interrupt_while_workers_start_is_no_trouble(tmp_path: Path) -> None:
    with sleepers(tmp_path) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begins\n"
        time.sleep(0.1)
        os.killpg(program.pid, signal.SIGINT)
        assert_interrupted(program)


@WINDOWS
def test_a_killed_parent_leaves_no_worker_behind(tmp_path: Path) -> None:
    with sleepers(tmp_path) as program:
        workers = asleep(tmp_path)
        program.kill()
        assert all_end(workers)
