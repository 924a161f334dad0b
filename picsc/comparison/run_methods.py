"""Run of a comparison: weights of every task, importance-weighted cross-validation, then every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import NDArray

from picsc.comparison.feature_space import RANDOM_FEATURES, table_of
from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.iwcv import IwcvChoice
from picsc.comparison.methods import iwcv_choices, run_method
from picsc.comparison.task_scores import TaskScores
from picsc.comparison.weights import RowWeights, estimate_weights
from picsc.datasets.encoding import fit
from picsc.runtime.processes import run_tasks
from picsc.runtime.run_folder import RunFolder, kept
from picsc.settings import WEIGHTINGS, CompareMethod, Weighting
from picsc.weighting import estimated_bytes

CHOOSING: tuple[CompareMethod, ...] = ("iwcv", "cv-choice")
"""Methods that need the choices of importance-weighted cross-validation."""
_LONGEST: tuple[CompareMethod, ...] = ("diw", "picsc-random", "picsc", "weight-decay", "carried")
"""Methods that take longest, which are begun first."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Run folder, number of processes, and the function that hears of progress."""

    folder: RunFolder
    jobs: int
    """Processes at most."""
    progress: Callable[[str], None]
    """Called with the name of each stage."""


def with_weights(inputs: ComparisonInputs, methods: Sequence[CompareMethod], workplace: Workplace) -> ComparisonInputs:
    """The inputs with the weights of every task.

    Args:
        inputs: without either.
        methods: all methods that will run; only what they need is computed.
        workplace: folder and processes.
    """
    wanted = [name for name in WEIGHTINGS if name in methods or (name == "iw" and "iwcv" in methods)]
    space = inputs.weight_settings.space
    if space == "auto":
        space = "layer" if table_of(inputs.setup.trainer) is None else "raw"
    if wanted:
        workplace.progress(_memory_note(inputs, wanted))
        tasks = [(inputs, space, wanted, workplace.folder, i) for i in range(len(inputs.tasks))]
        inputs = replace(inputs, weights=tuple(run_tasks(_weights_of_task, tasks, workplace.jobs)))
    return inputs


def run_all(
    inputs: ComparisonInputs, methods: Sequence[CompareMethod], workplace: Workplace
) -> tuple[ComparisonInputs, dict[CompareMethod, TaskScores]]:
    """Every method on every task, and the choices of importance-weighted cross-validation where a method needs them.

    Reading: these choices take as long as several methods, so they are made beside those that do not need them.

    Args:
        inputs: with weights.
        methods: in the order of the report.
        workplace: folder and processes.

    Returns:
        The inputs with the choices, and the scores of every method.
    """
    choosing = [name for name in methods if name in CHOOSING]
    names: list[CompareMethod | None] = [None] if choosing else []
    names += sorted((name for name in methods if name not in CHOOSING), key=lambda name: name not in _LONGEST)
    left = list(methods)

    def progress() -> None:
        workplace.progress(f"training: {', '.join(left)}" if left else "comparing")

    def done(i: int) -> None:
        left[:] = [name for name in left if name != names[i]]
        progress()

    progress()
    tasks = [(inputs, workplace.folder, name) for name in names]
    found = dict(zip(names, run_tasks(_method_or_choices, tasks, workplace.jobs, done=done), strict=True))
    choices = found.pop(None, [])
    if isinstance(choices, list):
        inputs = replace(inputs, choices=tuple(choices))
    scores = {name: each for name, each in found.items() if name is not None and isinstance(each, TaskScores)}
    for name in choosing:
        scores[name] = run_method(inputs, workplace.folder, name)
        left.remove(name)
        progress()
    return inputs, scores


def _weights_of_task(
    arguments: tuple[ComparisonInputs, Literal["raw", "layer"], list[Weighting], RunFolder, int],
) -> RowWeights:
    """The weights of one task; a function of the module, so that another process can call it."""
    inputs, space, wanted, folder, i = arguments

    def compute() -> dict[str, NDArray[Any]]:
        return estimate_weights(inputs.setup.trainer, inputs.tasks[i], space, inputs.weight_settings, wanted).arrays()

    return RowWeights.of(kept(folder, f"weights/{'-'.join(wanted)}/{i}", compute))


def _method_or_choices(
    arguments: tuple[ComparisonInputs, RunFolder, CompareMethod | None],
) -> TaskScores | list[IwcvChoice]:
    """One method, or without a name the choices; a function of the module, so that another process can call it."""
    inputs, folder, name = arguments
    return iwcv_choices(inputs, folder) if name is None else run_method(inputs, folder, name)


def _memory_note(inputs: ComparisonInputs, wanted: Sequence[Weighting]) -> str:
    """Note on the memory that each weighting is about to hold, for the task with most training rows."""
    task = max(inputs.tasks, key=lambda task: len(task.train))
    n, m = len(task.train), len(task.target)
    table = table_of(inputs.setup.trainer)
    features = RANDOM_FEATURES
    if table is not None:
        features = len(fit(table.dataset, task.train[:1]).names)
    sizes = ", ".join(f"{name} {estimated_bytes(name, n, m, features) / 1e6:.0f} MB" for name in wanted)
    return f"estimating weights of up to {n:,} training rows for {m:,} target rows: {sizes}"
