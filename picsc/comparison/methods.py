"""The methods that a comparison runs, each from its trials to scores.

Every method is one function of the comparison; what it returns is plain arrays, so that a run folder can keep them.
Letters: t trials, n training rows of one, m target rows that judge it, a candidates.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.comparison.iwcv import Choice, choose
from picsc.comparison.transfer_tasks import TransferTask, redrawn
from picsc.comparison.weights import RowWeights
from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import row_accuracy, row_log_loss, scores_of_models
from picsc.runtime.run_folder import RunFolder, kept
from picsc.settings import CompareMethod, PenaltySettings, WeighSettings
from picsc.training.algorithm_2 import Algorithm2Settings, initial_state, learn_fragment
from picsc.training.jobs import TargetRows, Trainer, TrainingJob
from picsc.training.tuning import tune_by_inner_cv, tune_prequentially
from picsc.weighting import diagnose, flattened

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]
COLUMNS = ("accuracy", "log_loss", "auc", "diverged", "rows", "strength", "ess", "largest", "exponent", "seconds")
"""What is kept of every trial, as one array each; NaN where there is no number."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One data set, all trials, and how to train."""

    backend: Trainer
    likelihood: Likelihood
    trials: tuple[TransferTask, ...]
    weighed: tuple[RowWeights, ...]
    """Of each trial."""
    chosen: tuple[Choice, ...]
    """What importance-weighted cross-validation found of each trial; empty where it was not run."""
    balanced: tuple[TransferTask, ...]
    """The trials of DOB-SCV's folds; empty where there are none."""
    algorithm: int
    penalty: PenaltySettings
    weigh: WeighSettings
    inner: int
    """Inner folds of a choice of lambda or weight decay."""
    risk_folds: int
    """Inner folds of importance-weighted cross-validation."""
    at_once: int
    """Trials trained between two looks at the run folder."""


@dataclass(frozen=True, slots=True)
class Result:
    """One method on every trial."""

    columns: dict[str, Floats]
    """`COLUMNS`, (t,) each."""
    refused: tuple[str, ...]
    """Why a trial was not run; empty where it was."""
    right: tuple[Floats, ...]
    """What each judging row adds to the accuracy, (m,) per trial; NaN where there is no model."""
    losses: tuple[Floats, ...]
    """Log-loss of each judging row, likewise."""


@dataclass(frozen=True, slots=True)
class _Model:
    """One trained model, as it is scored."""

    outputs: NDArray[np.float32]
    diverged: int
    strength: float = np.nan
    exponent: float = np.nan


_Teach = Callable[[Comparison, Sequence[int]], list[_Model]]
"""Positions of some trials to a model of each."""


def run(comparison: Comparison, folder: RunFolder, method: CompareMethod) -> Result:
    """One method on all trials, a few at a time.

    Args:
        comparison: what to run it on.
        folder: keeps what is done.
        method: which.
    """
    trials = comparison.balanced if method == "dob-scv" else comparison.trials
    parts = []
    for start in range(0, len(trials), comparison.at_once):
        some = range(start, min(start + comparison.at_once, len(trials)))
        parts.append(kept(folder, f"{method}/{start}", partial(_part, comparison, method, some)))
    return _joined(parts)


def choices(comparison: Comparison, folder: RunFolder) -> list[Choice]:
    """What importance-weighted cross-validation found of every trial; two methods and the report use it."""
    found: list[Choice] = []
    for start in range(0, len(comparison.trials), comparison.at_once):
        some = list(range(start, min(start + comparison.at_once, len(comparison.trials))))
        part = kept(folder, f"choice/{start}", partial(_choose, comparison, some))
        found += [Choice.of(part, i) for i in range(len(some))]
    return found


def _choose(comparison: Comparison, some: Sequence[int]) -> Arrays:
    lessons = [_lesson(comparison.trials[i]) for i in some]
    return choose(
        comparison.backend,
        lessons,
        [comparison.weighed[i].weights.get("iw") for i in some],
        [comparison.trials[i].ratio for i in some],
        comparison.likelihood,
        inner=comparison.risk_folds,
    )


def _part(comparison: Comparison, method: CompareMethod, some: Sequence[int]) -> Arrays:
    """Train and score some trials; those whose weighting is refused are left out."""
    trials = comparison.balanced if method == "dob-scv" else comparison.trials
    reasons = [_refusal(comparison, method, i) for i in some]
    able = [i for i, reason in zip(some, reasons, strict=True) if not reason]
    began = time.perf_counter()
    models: dict[int, _Model] = {}
    if able:
        models = dict(zip(able, _TEACH[method](comparison, able), strict=True))
    seconds = (time.perf_counter() - began) / max(1, len(able))
    found: Arrays = {key: np.full(len(some), np.nan) for key in COLUMNS}
    found["refused"] = np.array(reasons, dtype=np.str_)
    for place, i in enumerate(some):
        trial = trials[i]
        right, losses = np.full((2, len(trial.judge)), np.nan)
        if i in models:
            right, losses = _score(comparison, trial, models[i], found, place)
            found["seconds"][place] = seconds
        weights = comparison.weighed[i].weights.get(weighting_of(method)) if method != "dob-scv" else None
        if method == "true-ratio":
            weights = trial.ratio
        if weights is not None and i in models:
            exponent = found["exponent"][place]
            power = comparison.weigh.exponent if np.isnan(exponent) else exponent
            spread = diagnose(flattened(torch.from_numpy(weights), power))
            found["ess"][place], found["largest"][place] = spread.share, spread.largest
        found["rows"][place] = len(trial.train)
        found[f"right {place}"], found[f"losses {place}"] = right.astype(np.float32), losses.astype(np.float32)
    return found


def weighting_of(method: CompareMethod) -> CompareMethod:
    """The weighting whose weights a method uses, which is itself where it uses no other's."""
    return "iw" if method in ("iwcv", "cv-choice") else method


def _refusal(comparison: Comparison, method: CompareMethod, i: int) -> str:
    """Why a method does not weigh a trial's rows; empty where it does, or weighs none."""
    return "" if method in ("dob-scv", "cv-choice") else comparison.weighed[i].refused.get(weighting_of(method), "")


def _score(
    comparison: Comparison, trial: TransferTask, model: _Model, found: Arrays, place: int
) -> tuple[Floats, Floats]:
    """Write a model's scores; what each judging row adds to them."""
    y = comparison.backend.targets(trial.train, trial.judge)
    failed = model.diverged or not np.isfinite(model.outputs).all()
    found["diverged"][place] = model.diverged or 1 if failed else 0
    found["strength"][place], found["exponent"][place] = model.strength, model.exponent
    if failed:
        return np.full(len(trial.judge), np.nan), np.full(len(trial.judge), np.nan)
    outputs = model.outputs[None]
    scores = scores_of_models(outputs, y, comparison.likelihood)
    for key in ("accuracy", "log_loss", "auc"):
        found[key][place] = getattr(scores, key)[0]
    right = row_accuracy(outputs, y, comparison.likelihood)[0]
    return right, row_log_loss(outputs, y, comparison.likelihood)[0]


def _joined(parts: Sequence[Arrays]) -> Result:
    columns = {key: np.concatenate([part[key] for part in parts]).astype(np.float64) for key in COLUMNS}
    rows: dict[str, tuple[Floats, ...]] = {
        kind: tuple(part[f"{kind} {i}"].astype(np.float64) for part in parts for i in range(len(part["rows"])))
        for kind in ("right", "losses")
    }
    refused = tuple(str(reason) for part in parts for reason in part["refused"])
    return Result(columns, refused, rows["right"], rows["losses"])


def _flattened(weights: Floats, exponent: float) -> Floats:
    """Weights to a power, of mean 1 again."""
    return np.asarray(flattened(torch.from_numpy(weights), exponent).numpy(), np.float64)


def _lesson(trial: TransferTask) -> TrainingJob:
    return TrainingJob(trial.train, trial.fragment, trial.judge, trial.seed)


def _lessons(comparison: Comparison, some: Sequence[int]) -> list[TrainingJob]:
    return [_lesson(comparison.trials[i]) for i in some]


def _taught(
    comparison: Comparison, lessons: list[TrainingJob], strengths: Floats | None = None, decays: Floats | None = None
) -> list[_Model]:
    """Train one model per lesson."""
    none = np.zeros((len(lessons), 1))
    penalised = none if strengths is None else strengths[:, None]
    decayed = none if decays is None else decays[:, None]
    used = strengths if strengths is not None else decays
    learned = comparison.backend.train_jobs(lessons, penalised, decayed)
    return [
        _Model(models.outputs[0], int(models.diverged[0]), np.nan if used is None else float(used[i]))
        for i, models in enumerate(learned)
    ]


def _plain(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
    """Training that weighs all rows alike."""
    return _taught(comparison, _lessons(comparison, some))


def _balanced(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
    """Plain training on DOB-SCV's folds."""
    return _taught(comparison, [_lesson(comparison.balanced[i]) for i in some])


def _weighting_of(name: str) -> _Teach:
    """Training with rows weighed beforehand."""

    def teach(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
        lessons = []
        for i, lesson in zip(some, _lessons(comparison, some), strict=True):
            weights = comparison.trials[i].ratio if name == "true-ratio" else comparison.weighed[i].weights[name]
            assert weights is not None  # noqa: S101 - the verb runs true-ratio where ratios are known only
            lessons.append(replace(lesson, weight=_flattened(weights, comparison.weigh.exponent)))
        return _taught(comparison, lessons)

    return teach


def _dynamic(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
    """Weights made anew at every step."""
    match = comparison.weigh.match
    lessons = []
    for i, lesson in zip(some, _lessons(comparison, some), strict=True):
        trial = comparison.trials[i]
        rows = trial.labelled if match == "losses" else trial.adapt
        lessons.append(replace(lesson, fragment=np.zeros_like(lesson.fragment), target_rows=TargetRows(rows, match)))
    return _taught(comparison, lessons)


def _pooled(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
    """Plain training on the training rows and the target rows whose labels diw uses."""
    lessons = []
    for i, lesson in zip(some, _lessons(comparison, some), strict=True):
        train = np.concatenate([lesson.train, comparison.trials[i].labelled])
        lessons.append(replace(lesson, train=train, fragment=np.zeros(len(train), np.int64)))
    return _taught(comparison, lessons)


def _corrected(comparison: Comparison, some: Sequence[int], *, by_chance: bool = False) -> list[_Model]:
    """PIcsC between the training pieces, or between as large ones made by chance."""
    trials = [comparison.trials[i] for i in some]
    if by_chance:
        trials = [redrawn(trial) for trial in trials]
    if comparison.algorithm == 2:
        return _carried_along(comparison, trials, corrected=True)
    lessons = [_lesson(trial) for trial in trials]
    strength = comparison.penalty.strength
    if strength == "auto":
        used = tune_by_inner_cv(
            comparison.backend, lessons, comparison.likelihood, penalised=True, inner=comparison.inner
        )
    else:
        used = np.full(len(lessons), strength)
    return _taught(comparison, lessons, strengths=used)


def _decayed(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
    """Weight decay in the place of the penalty, chosen on training rows."""
    lessons = _lessons(comparison, some)
    used = tune_by_inner_cv(comparison.backend, lessons, comparison.likelihood, penalised=False, inner=comparison.inner)
    return _taught(comparison, lessons, decays=used)


def _carried(comparison: Comparison, some: Sequence[int]) -> list[_Model]:
    """Parameters carried along the training pieces, without a penalty."""
    return _carried_along(comparison, [comparison.trials[i] for i in some], corrected=False)


def _carried_along(comparison: Comparison, trials: Sequence[TransferTask], *, corrected: bool) -> list[_Model]:
    """Learn the pieces of each trial one after another, by Algorithm 2 or without a penalty."""
    sequences = [[t.train[t.fragment == j] for j in range(int(t.fragment.max()) + 1)] for t in trials]
    seeds, scaled_on = [trial.seed for trial in trials], [trial.train for trial in trials]
    learner = comparison.backend.sequence_trainer(sequences, seeds, scaled_on)
    penalty, state = comparison.penalty, initial_state(learner)
    off = torch.zeros(len(trials), 1, device=state.theta.device, dtype=state.theta.dtype)
    rules = Algorithm2Settings(
        off, off, penalty.alpha, penalty.gamma, penalty.when_quiet, corrected and penalty.merge == "fisher"
    )
    used = np.full(len(trials), np.nan)
    if corrected and penalty.strength == "auto":
        used = tune_prequentially(
            comparison.backend, sequences, seeds, scaled_on, comparison.likelihood, rules, penalised=True
        )
    elif corrected:
        used = np.full(len(trials), penalty.strength, np.float64)
    if corrected:
        rules = replace(rules, strength=torch.from_numpy(used[:, None]).to(off))
    diverged = np.zeros(len(trials), np.int64)
    for t in range(len(sequences[0])):
        state, step = learn_fragment(state, learner, t, rules)
        now = step.diverged[:, 0].cpu().numpy()
        diverged = np.where(diverged > 0, diverged, now)
    evaluated = state.theta
    if corrected and penalty.merge != "none":
        evaluated = state.merged if penalty.merge == "fisher" else state.mean
    outputs = learner.outputs(evaluated, [trial.judge for trial in trials])
    return [_Model(out[0], int(diverged[g]), float(used[g])) for g, out in enumerate(outputs)]


def _by_choice(comparison: Comparison, some: Sequence[int], *, weighted: bool) -> list[_Model]:
    """Power of the weights and weight decay chosen by cross-validation, whose risk is weighted or not."""
    lessons, decays, exponents = [], [], []
    for i, lesson in zip(some, _lessons(comparison, some), strict=True):
        choice = comparison.chosen[i]
        exponent, decay = choice.weighted if weighted else choice.unweighted
        weights = comparison.weighed[i].weights.get("iw")
        if weights is not None and exponent > 0:
            lesson = replace(lesson, weight=_flattened(weights, exponent))
        lessons.append(lesson)
        decays.append(decay)
        exponents.append(exponent)
    models = _taught(comparison, lessons, decays=np.array(decays))
    return [replace(model, exponent=exponents[k]) for k, model in enumerate(models)]


_TEACH: dict[CompareMethod, _Teach] = {
    "st-cv": _plain,
    "iw": _weighting_of("iw"),
    "ulsif": _weighting_of("ulsif"),
    "rulsif": _weighting_of("rulsif"),
    "kmm": _weighting_of("kmm"),
    "true-ratio": _weighting_of("true-ratio"),
    "diw": _dynamic,
    "pooled": _pooled,
    "picsc": _corrected,
    "picsc-random": partial(_corrected, by_chance=True),
    "weight-decay": _decayed,
    "carried": _carried,
    "dob-scv": _balanced,
    "iwcv": partial(_by_choice, weighted=True),
    "cv-choice": partial(_by_choice, weighted=False),
}
