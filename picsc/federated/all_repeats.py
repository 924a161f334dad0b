"""All repeats of a comparison: candidates tried in each, rates chosen that are stable in all of them, and the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from picsc.federated.method_run import Run
from picsc.federated.repeats import ChosenTask, chooses, run_repeat, tune_repeat
from picsc.federated.resumable_rounds import Progress, RepeatTask
from picsc.federated.tuning import Choice, Limits, Try, choose, limits
from picsc.phrases import counted
from picsc.runtime.engines.parts import Workplace
from picsc.runtime.engines.shards import run_shard
from picsc.runtime.engines.stage import Stage
from picsc.settings import FedMethod

ATTEMPTS = 4
"""Times that a run which diverged is begun again with another rate."""
Task = TypeVar("Task", RepeatTask, ChosenTask)
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Workers:
    """Where the runs are, and the line that says how far they are."""

    workplace: Workplace
    progress: Progress

    def run(self, function: Callable[..., Found], tasks: Sequence[Task], doing: str) -> list[Found]:
        """The results of a function of each task, in their order."""
        finished = [0]

        def done(_: int) -> None:
            finished[0] += 1
            self.progress(f"{doing}: {finished[0]} of {counted(len(tasks), 'run')} done")

        self.progress(f"{doing}: 0 of {counted(len(tasks), 'run')} done")
        folder, engine, shard = self.workplace.folder, self.workplace.engine, self.workplace.shard
        own = [folder.place_of(task.place) for task in tasks]
        if shard is not None:
            names = [f"{doing}/{task.place}" for task in tasks]
            shared = Stage(_run, (function, tasks), range(len(tasks)), folder.path, own)
            run_shard(shared, engine, shard, names, wait=True)  # so all are finished, and read below
        alone = not engine.elsewhere and 1 in (engine.workers, len(tasks))  # other processes cannot report
        if alone:
            function = partial(function, progress=self.progress)
        return engine.run(Stage(_run, (function, tasks), range(len(tasks)), folder.path, own), done)


def _run(shared: tuple[Callable[[Task], Found], Sequence[Task]], path: Path | None, i: int) -> Found:
    """One task of several, in the run folder where it runs; so that another process can call it."""
    function, tasks = shared
    return function(tasks[i].at(path))


def run_all(tasks: Sequence[RepeatTask], workplace: Workplace, progress: Progress) -> dict[FedMethod, list[Run]]:
    """The runs of every method, one per repeat.

    Reading: a learning rate that diverges in one repeat is no rate for a method. Whether it does while candidates are
        tried or in the run itself, it is refused in all repeats, and those that had chosen it are run again with their
        best candidate that is left.

    Args:
        tasks: every repeat of every group of methods.
        workplace: keeps the rounds, and runs them.
        progress: called with one line about each step.
    """
    workers = _Workers(workplace, progress)
    if not chooses(tasks[0].data, tasks[0].settings):
        return _by_method(workers.run(run_repeat, [ChosenTask(task, {}) for task in tasks], "training"))
    tried = workers.run(tune_repeat, tasks, "choosing learning rates")
    refused = limits(chain.from_iterable(tried))
    wanted = [
        ChosenTask(task, {method: choose(method, own, refused) for method in task.methods})
        for task, own in zip(tasks, tried, strict=True)
    ]
    found = workers.run(run_repeat, wanted, "training")
    for attempt in range(1, ATTEMPTS):
        refused = limits(_as_tries(found), refused)
        again = {
            i: changed for i, one in enumerate(wanted) if (changed := _changed(one, tried[i], refused, attempt)).choices
        }
        if not again:
            break
        for i, runs in zip(again, workers.run(run_repeat, list(again.values()), "training again"), strict=True):
            found[i] = {**found[i], **runs}
            wanted[i] = replace(wanted[i], choices={**wanted[i].choices, **again[i].choices})
    return _by_method(found)


def _as_tries(found: Sequence[Mapping[FedMethod, Run]]) -> Iterator[Try]:
    """Runs as tries of what was chosen, whose scores no choice looks at."""
    for runs in found:
        for method, run in runs.items():
            yield Try(method, Choice(run.rate, run.constant, run.whitened), float("-inf"), float("inf"), run.failed)


def _changed(one: ChosenTask, tried: Sequence[Try], refused: Limits, attempt: int) -> ChosenTask:
    """The methods of a repeat whose choice is refused by now, with their next choice."""
    choices = {
        method: after for method, choice in one.choices.items() if (after := choose(method, tried, refused)) != choice
    }
    return ChosenTask(replace(one.task, methods=tuple(choices)), choices, attempt)


def _by_method(found: Sequence[Mapping[FedMethod, Run]]) -> dict[FedMethod, list[Run]]:
    """The runs of each method in the order of repeats."""
    methods = dict.fromkeys(method for runs in found for method in runs)
    return {method: [runs[method] for runs in found if method in runs] for method in methods}
