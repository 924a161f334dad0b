"""Cost of cross-validation of the paper's network, standard and corrected, compared with scikit-learn.

    python benchmarks/cross_validation.py [CSV ...] [--rounds 5] [--write docs/results/cross_validation.md]

All methods do the same work: networks with 4 hidden units, 200 full-batch Adam steps at learning rate 0.02, stratified
5-fold cross-validation repeated 5 times, one thread, first weights from one distribution. Peer: `cross_val_score` with
`MLPClassifier`, early stopping and shuffling off; for two classes it has one output where ours has two, which train
twice as fast together. All methods take turns within every round, on the same folds. Time is processor time, because
other work on the machine disturbs it least; it contains cutting, training and scoring, but not standardising the
columns. Without files the tables are generated in the shapes of sonar, australian and phoneme, and scikit-learn's
breast cancer. Files have no header and the class in the last column, as KEEL distributes them.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import sklearn
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits
from torch import Tensor

from picsc.equations.penalties import PENALTIES
from picsc.runtime.threads import one_thread
from picsc.training.batched.layout import TrainingProblem, stack_problems
from picsc.training.batched.mlp import outputs, unflatten
from picsc.training.batched.train import problems_per_stack, train_stack
from picsc.training.jobs import TrainingRecipe

FOLDS, REPEATS, HIDDEN, STEPS, LR, STRENGTH = 5, 5, 4, 200, 0.02, 0.1
SHAPES = {"sonar": (208, 60, 2), "australian": (690, 14, 2), "phoneme": (5404, 5, 2)}
FEW_ROWS, TARGET_FEW, TARGET_MANY, TARGET_PENALTY = 1000, 5.0, 2.0, 3.0


class Table(NamedTuple):
    """Standardised columns and classes."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]


class Run(NamedTuple):
    """One round of one method."""

    seconds: float
    """Processor seconds."""
    accuracy: list[float]
    """Accuracy of every repeat, a fraction."""


def standardised(x: NDArray[np.floating], y: NDArray[np.int64]) -> Table:
    return Table(((x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)).astype(np.float32), y)


def generated(n: int, f: int, classes: int) -> Table:
    """Classes that a few columns separate, with noise."""
    rng = np.random.default_rng(n)
    y = rng.integers(0, classes, n)
    x = rng.normal(size=(n, f)) + np.linspace(0.6, 0, f) * y[:, None]
    return standardised(x, y)


def from_file(path: Path) -> Table:
    frame = pd.read_csv(path, header=None)
    y = pd.factorize(frame.iloc[:, -1], sort=True)[0].astype(np.int64)
    return standardised(pd.get_dummies(frame.iloc[:, :-1]).to_numpy(np.float64), y)


def folds_of(table: Table, seed: int) -> NDArray[np.int64]:
    """The test fold of every row."""
    fold = np.empty(len(table.y), np.int64)
    cut = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for i, (_, test) in enumerate(cut.split(table.x, table.y)):
        fold[test] = i
    return fold


def peer(table: Table, seed: int) -> list[float]:
    """scikit-learn's accuracy of every repeat."""
    found = []
    for repeat in range(REPEATS):
        model = MLPClassifier(
            (HIDDEN,),
            solver="adam",
            learning_rate_init=LR,
            batch_size=len(table.y),  # clipped to the training rows
            max_iter=STEPS,
            n_iter_no_change=10 * STEPS,
            tol=0,
            alpha=0,
            shuffle=False,
            random_state=seed + repeat,
        )
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=seed + repeat)
        found.append(float(cross_val_score(model, table.x, table.y, cv=cut).mean()))
    return found


def ours(table: Table, seed: int, *, strength: float) -> list[float]:
    """Accuracy of every repeat; with a strength of 0 a problem's rows are one fragment."""
    classes = int(table.y.max()) + 1
    problems, tests = [], []
    for repeat in range(REPEATS):
        fold = folds_of(table, seed + repeat)
        for i in range(FOLDS):
            train = fold != i
            fragment = fold[train] - (fold[train] > i) if strength else np.zeros(int(train.sum()), np.int64)
            problems.append(TrainingProblem(table.x[train], table.y[train], fragment))
            tests.append(np.flatnonzero(fold == i))
    rows, f = problems[0].x.shape
    at_once = problems_per_stack(rows, 1, HIDDEN)
    accuracy = []
    for start in range(0, len(problems), at_once):
        part = slice(start, start + at_once)
        stack = stack_problems(problems[part], likelihood="classes", outputs=classes)
        theta = first_weights(stack.problems, f, classes, seed + start)
        lam = torch.full((stack.problems, 1), strength)
        penalty = PENALTIES["kl"] if strength else None
        fitted = train_stack(theta, stack, TrainingRecipe(STEPS, LR), hidden=HIDDEN, strength=lam, penalty=penalty)
        accuracy += [scored(fitted.theta[i : i + 1], table, test, classes) for i, test in enumerate(tests[part])]
    return [float(np.mean(accuracy[i : i + FOLDS])) for i in range(0, len(accuracy), FOLDS)]


def first_weights(g: int, f: int, classes: int, seed: int) -> Tensor:
    """Drawn as scikit-learn draws them: uniform up to sqrt(6 / (inputs + outputs)), biases too; (g, 1, d)."""
    generator = torch.Generator().manual_seed(seed)
    bounds = (6 / (f + HIDDEN)) ** 0.5, (6 / (HIDDEN + (1 if classes == 2 else classes))) ** 0.5
    sizes = HIDDEN * (f + 1), classes * (HIDDEN + 1)
    parts = [
        torch.rand(g, 1, size, generator=generator) * 2 * bound - bound
        for size, bound in zip(sizes, bounds, strict=True)
    ]
    return torch.cat(parts, -1)


@torch.no_grad()
def scored(theta: Tensor, table: Table, rows: NDArray[np.int64], classes: int) -> float:
    """Accuracy of one model."""
    x = torch.from_numpy(table.x[rows])
    weights = unflatten(theta, x.shape[1], HIDDEN, classes)
    z = outputs(weights, torch.cat([x, torch.ones(len(rows), 1)], 1).T[None], readouts=classes)[0, 0]
    return float((z.argmax(0).numpy() == table.y[rows]).mean())


METHODS: dict[str, Callable[[Table, int], list[float]]] = {
    "scikit-learn": peer,
    "st-CV": lambda table, seed: ours(table, seed, strength=0.0),
    "PIcsC": lambda table, seed: ours(table, seed, strength=STRENGTH),
}


def timed(method: Callable[[Table, int], list[float]], table: Table, seed: int) -> Run:
    start = time.process_time()
    accuracy = method(table, seed)
    return Run(time.process_time() - start, accuracy)


def line(name: str, table: Table, rounds: int) -> tuple[str, str]:
    """A row of the table, and a sentence that compares it with the targets."""
    for method in METHODS.values():  # loading and compiling at first use is no part of the measurement
        method(Table(table.x[:200], table.y[:200]), 0)
    runs: dict[str, list[Run]] = {method: [] for method in METHODS}
    for i in range(rounds):
        for method, run in METHODS.items():
            runs[method].append(timed(run, table, REPEATS * i))
    seconds = {method: [run.seconds for run in of] for method, of in runs.items()}
    faster = [s / p for s, p in zip(seconds["scikit-learn"], seconds["st-CV"], strict=True)]
    dearer = [q / p for q, p in zip(seconds["PIcsC"], seconds["st-CV"], strict=True)]
    right = {method: np.concatenate([run.accuracy for run in of]) for method, of in runs.items()}
    apart = right["st-CV"] - right["scikit-learn"]
    error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
    agree = abs(apart.mean()) <= 3 * error
    n, f = table.x.shape
    difference = f"{100 * apart.mean():+.2f} points, standard error {100 * error:.2f}"
    sentences = [
        f"{name}: st-CV and scikit-learn differ by {difference}: {'agree' if agree else 'DIFFER BEYOND NOISE'}"
    ]
    target = TARGET_FEW if n < FEW_ROWS else TARGET_MANY
    for ratio, met, text in (
        (statistics.median(faster), statistics.median(faster) >= target, f"faster, at least {target:g} asked"),
        (
            statistics.median(dearer),
            statistics.median(dearer) <= TARGET_PENALTY,
            f"the cost for PIcsC, at most {TARGET_PENALTY:g} asked",
        ),
    ):
        sentences.append(f"{ratio:.1f} times {text}: {'met' if met else 'MISSED'}")
    cells = [f"{name} | {n} x {f}", *(f"{statistics.median(seconds[method]):.2f}" for method in METHODS)]
    cells += [f"{statistics.median(of):.1f} ({min(of):.1f} to {max(of):.1f})" for of in (faster, dearer)]
    cells += [f"{100 * right[method].mean():.1f}" for method in METHODS]
    return f"| {' | '.join(cells)} |", "; ".join(sentences)


def report(tables: dict[str, Table], rounds: int) -> str:
    """The page."""
    with warnings.catch_warnings(), one_thread(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # scikit-learn warns that 200 steps do not converge and that it clips the batch
        lines = [line(name, table, rounds) for name, table in tables.items()]
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, scikit-learn {sklearn.__version__}"
    return "\n".join(
        [
            "# Cost of cross-validation",
            "",
            (
                f"{FOLDS} folds, {REPEATS} repeats, {HIDDEN} hidden units, {STEPS} full-batch Adam steps; PIcsC with "
                f"the all-pairs term, lambda {STRENGTH:g}. {versions}; 1 thread of a shared machine with "
                f"{os.cpu_count()} {platform.machine()} cores ({torch.backends.cpu.get_cpu_capability()}); float32 for "
                f"everybody. Processor seconds, medians of {rounds} interleaved rounds; ratios within a round, median "
                "and range. Accuracy in percent, mean over rounds, repeats and folds."
            ),
            "",
            (
                "| table | rows x columns | scikit-learn s | st-CV s | PIcsC s | scikit-learn / st-CV | PIcsC / st-CV "
                "| accuracy scikit-learn | st-CV | PIcsC |"
            ),
            "|---|---|---:|---:|---:|---|---|---:|---:|---:|",
            *(row for row, _ in lines),
            "",
            *(f"- {sentence}" for _, sentence in lines),
            "",
        ]
    )


def main() -> None:
    """Parse, measure, print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, metavar="CSV", help="tables without header, class last")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=Path, metavar="PATH")
    options = parser.parse_args()
    tables = {path.stem: from_file(path) for path in options.files}
    if not tables:
        tables = {f"like {name}": generated(*shape) for name, shape in SHAPES.items()}
        tables["breast cancer"] = standardised(*load_breast_cancer(return_X_y=True))
    page = report(tables, options.rounds)
    if options.write is not None:
        options.write.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
