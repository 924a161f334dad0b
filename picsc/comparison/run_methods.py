"""Run of a comparison: weights of every task, importance-weighted cross-validation, then every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from numpy.typing import NDArray

from picsc.comparison.feature_space import RANDOM_FEATURES, table_of
from picsc.comparison.inputs import ComparisonInputs
from picsc.comparison.iwcv import IwcvChoice
from picsc.comparison.methods import iwcv_choices, run_method
from picsc.comparison.task_scores import TaskScores
from picsc.comparison.weights import RowWeights, estimate_weights
from picsc.datasets.encoding import fit
from picsc.runtime.engines.parts import Computations, Workplace, compute_in_parts
from picsc.runtime.run_folder import RunFolder, kept
from picsc.settings import WEIGHTINGS, CompareMethod, Weighting
from picsc.weighting import estimated_bytes

CHOOSING: tuple[CompareMethod, ...] = ("iwcv", "cv-choice")
"""Methods that need the choices of importance-weighted cross-validation."""
_LONGEST: tuple[CompareMethod, ...] = ("diw", "picsc-random", "picsc", "weight-decay", "carried")
"""Methods that take longest, which are begun first."""


Progress = Callable[[str], None]


def with_weights(
    inputs: ComparisonInputs, methods: Sequence[CompareMethod], workplace: Workplace, progress: Progress
) -> ComparisonInputs:
    """The inputs with the weights of every task.

    Args:
        inputs: without either.
        methods: all methods that will run; only what they need is computed.
        workplace: keeps the parts, and makes them.
        progress: called with the name of each stage.
    """
    wanted = [name for name in WEIGHTINGS if name in methods or (name == "iw" and "iwcv" in methods)]
    space = inputs.weight_settings.space
    if space == "auto":
        space = "layer" if table_of(inputs.setup.trainer) is None else "raw"
    if wanted:
        note = _memory_note(inputs, wanted)
        tasks = Computations(_weights_of_task, (inputs, space, wanted), range(len(inputs.tasks)), last=False)
        found = compute_in_parts(tasks, workplace, lambda _, words: progress(f"{note}{words}"))
        inputs = replace(inputs, weights=tuple(found.values()))
    return inputs


def run_all(
    inputs: ComparisonInputs, methods: Sequence[CompareMethod], workplace: Workplace, progress: Progress
) -> tuple[ComparisonInputs, dict[CompareMethod, TaskScores]]:
    """Every method on every task, and the choices of importance-weighted cross-validation where a method needs them.

    Reading: these choices take as long as several methods, so they are made beside those that do not need them.

    Args:
        inputs: with weights.
        methods: in the order of the report.
        workplace: keeps the parts, and makes them.
        progress: called with the name of each stage.

    Returns:
        The inputs with the choices, and the scores of every method.
    """
    choosing: list[CompareMethod] = [name for name in methods if name in CHOOSING]
    own: list[CompareMethod] = sorted(
        (name for name in methods if name not in CHOOSING), key=lambda name: name not in _LONGEST
    )

    def training(left: Sequence[CompareMethod | None], words: str, later: Sequence[CompareMethod] = ()) -> None:
        names = [name for name in methods if name in left or name in later]
        progress(f"training: {', '.join(names)}{words}" if names else "comparing")

    first = Computations(_method_or_choices, inputs, [*([None] if choosing else []), *own], last=not choosing)
    found = compute_in_parts(first, workplace, partial(training, later=choosing))
    choices = found.pop(None, [])
    if isinstance(choices, list):
        inputs = replace(inputs, choices=tuple(choices))
    if choosing:
        found |= compute_in_parts(Computations(_method_or_choices, inputs, choosing), workplace, training)
    return inputs, {name: each for name, each in found.items() if name is not None and isinstance(each, TaskScores)}


def _weights_of_task(
    shared: tuple[ComparisonInputs, Literal["raw", "layer"], list[Weighting]], folder: RunFolder, i: int
) -> RowWeights:
    """The weights of one task; a function of the module, so that another process can call it."""
    inputs, space, wanted = shared

    def compute() -> dict[str, NDArray[Any]]:
        return estimate_weights(inputs.setup.trainer, inputs.tasks[i], space, inputs.weight_settings, wanted).arrays()

    return RowWeights.of(kept(folder, f"weights/{'-'.join(wanted)}/{i}", compute))


def _method_or_choices(
    inputs: ComparisonInputs, folder: RunFolder, name: CompareMethod | None
) -> TaskScores | list[IwcvChoice]:
    """One method, or without a name the choices; a function of the module, so that another process can call it."""
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
