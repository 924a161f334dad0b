"""Run of a comparison: weights of every task, importance-weighted cross-validation, then every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import NDArray

from picsc.comparison.feature_space import RANDOM_FEATURES
from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.methods import iwcv_choices, run_method
from picsc.comparison.task_scores import TaskScores
from picsc.comparison.weights import RowWeights, estimate_weights
from picsc.datasets.encoding import fit
from picsc.runtime.processes import run_tasks
from picsc.runtime.run_folder import RunFolder, kept
from picsc.settings import WEIGHTINGS, CompareMethod, Weighting
from picsc.training.table_trainer import TableTrainer
from picsc.weighting import estimated_bytes


@dataclass(frozen=True, slots=True)
class Workplace:
    """Run folder, number of processes, and the function that hears of progress."""

    folder: RunFolder
    jobs: int
    """Processes at most."""
    progress: Callable[[str], None]
    """Called with the name of each stage."""


def with_weights(inputs: ComparisonInputs, methods: Sequence[CompareMethod], workplace: Workplace) -> ComparisonInputs:
    """The inputs with the weights of every task, and with the choices of importance-weighted cross-validation.

    Args:
        inputs: without either.
        methods: all methods that will run; only what they need is computed.
        workplace: folder and processes.
    """
    wanted = [name for name in WEIGHTINGS if name in methods or (name == "iw" and "iwcv" in methods)]
    space = inputs.weight_settings.space
    if space == "auto":
        space = "raw" if isinstance(inputs.setup.trainer, TableTrainer) else "layer"
    if wanted:
        workplace.progress(_memory_note(inputs, wanted))
        tasks = [(inputs, space, wanted, workplace.folder, i) for i in range(len(inputs.tasks))]
        inputs = replace(inputs, weights=tuple(run_tasks(_weights_of_task, tasks, workplace.jobs)))
    if "iwcv" in methods or "cv-choice" in methods:
        workplace.progress("importance-weighted cross-validation")
        inputs = replace(inputs, choices=tuple(iwcv_choices(inputs, workplace.folder)))
    return inputs


def run_all(
    inputs: ComparisonInputs, methods: Sequence[CompareMethod], workplace: Workplace
) -> dict[CompareMethod, TaskScores]:
    """Every method on every task.

    Args:
        inputs: with weights.
        methods: in the order of the report.
        workplace: folder and processes.
    """
    left = list(methods)

    def done(i: int) -> None:
        left.remove(methods[i])
        workplace.progress(f"training: {', '.join(left)}" if left else "comparing")

    workplace.progress(f"training: {', '.join(left)}")
    tasks = [(inputs, workplace.folder, name) for name in methods]
    return dict(zip(methods, run_tasks(_scores_of_method, tasks, workplace.jobs, done=done), strict=True))


def _weights_of_task(
    arguments: tuple[ComparisonInputs, Literal["raw", "layer"], list[Weighting], RunFolder, int],
) -> RowWeights:
    """The weights of one task; a function of the module, so that another process can call it."""
    inputs, space, wanted, folder, i = arguments

    def compute() -> dict[str, NDArray[Any]]:
        return estimate_weights(inputs.setup.trainer, inputs.tasks[i], space, inputs.weight_settings, wanted).arrays()

    return RowWeights.of(kept(folder, f"weights/{'-'.join(wanted)}/{i}", compute))


def _scores_of_method(arguments: tuple[ComparisonInputs, RunFolder, CompareMethod]) -> TaskScores:
    """One method; a function of the module, so that another process can call it."""
    inputs, folder, name = arguments
    return run_method(inputs, folder, name)


def _memory_note(inputs: ComparisonInputs, wanted: Sequence[Weighting]) -> str:
    """Note on the memory that each weighting is about to hold, for the task with most training rows."""
    task = max(inputs.tasks, key=lambda task: len(task.train))
    n, m = len(task.train), len(task.target)
    trainer = inputs.setup.trainer
    features = RANDOM_FEATURES
    if isinstance(trainer, TableTrainer):
        features = len(fit(trainer.dataset, task.train[:1]).names)
    sizes = ", ".join(f"{name} {estimated_bytes(name, n, m, features) / 1e6:.0f} MB" for name in wanted)
    return f"estimating weights of up to {n:,} training rows for {m:,} target rows: {sizes}"
