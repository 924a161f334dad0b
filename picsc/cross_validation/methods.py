"""The methods that cross-validation compares, each from its lessons to scored units. Letters: n rows, a candidates.

Every method is one function of the experiment; what it returns is plain arrays, so that a run folder can keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.cross_validation.splits import Repeat, fragmented
from picsc.datasets.rows import Rows
from picsc.equations.likelihood import Likelihood
from picsc.evaluation.metrics import row_accuracy, scores_of_models
from picsc.runtime.run_folder import RunFolder, kept
from picsc.settings import Merge, PenaltySettings
from picsc.training.algorithm_2 import Algorithm2Settings, FragmentStep, State, initial_state, learn_fragment
from picsc.training.jobs import Trainer, TrainingJob
from picsc.training.tuning import tune_by_inner_cv, tune_prequentially

Arrays = dict[str, NDArray[Any]]
COLUMNS = (
    "accuracy", "log_loss", "auc", "weighted_accuracy", "diverged", "share", "strength",
    "looked", "flagged", "tau", "gamma", "rows",
)  # fmt: skip
"""What is kept of every unit, as one array each; NaN where there is no number."""
WHOLE = "whole set"
Kind = Literal["merged", "last", "mean"]
"""Models of a sequence: the Fisher-weighted running mean, the last one, the plain running mean."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One data set, all repeats, and how to train."""

    backend: Trainer
    likelihood: Likelihood
    repeats: tuple[Repeat, ...]
    algorithm: int
    penalty: PenaltySettings
    weights: NDArray[np.float64] | None
    """(n,) row weights of the score."""
    keep_rows: bool
    """Keep how every judging row was predicted, for a test over rows."""
    inner: int
    """Inner folds of a choice."""
    at_once: int
    """Lessons trained between two looks at the run folder."""

    @property
    def foldwise(self) -> bool:
        """Whether pieces are tested rather than learned from."""
        return self.repeats[0].foldwise


@dataclass(frozen=True, slots=True)
class Result:
    """Units of one method, repeat by repeat and piece by piece."""

    columns: dict[str, NDArray[np.float64]]
    """`COLUMNS`, (repeats, pieces) each."""
    right: NDArray[np.float64] | None
    """(n,): how often a judging row was predicted right, mean over pieces and repeats; None unless kept."""


def lessons_of(experiment: Experiment, repeats: Sequence[Repeat]) -> list[TrainingJob]:
    """One lesson per repeat and piece."""
    found = []
    for repeat in repeats:
        for i, piece in enumerate(repeat.pieces):
            if experiment.foldwise:
                train, fragment = repeat.training(i)
            else:
                train, fragment = fragmented([piece], np.empty(0, np.int64))
            found.append(TrainingJob(train, fragment, repeat.tested(i), repeat.seed))
    return found


def whole_lessons(experiment: Experiment) -> list[TrainingJob]:
    """One lesson per repeat: all training rows, judged by the validation rows."""
    return [TrainingJob(*repeat.whole(), repeat.validation, repeat.seed) for repeat in experiment.repeats]


def plain(experiment: Experiment, folder: RunFolder, name: str) -> Result:
    """Standard training on each piece (batchwise) or on all other pieces (foldwise)."""
    return _taught(experiment, folder, name, lessons_of(experiment, experiment.repeats), "none")


def subsample(experiment: Experiment, folder: RunFolder, name: str) -> Result:
    """Standard training on random rows of the same number: what chance alone makes of the pieces."""
    lessons = lessons_of(experiment, [repeat.recut() for repeat in experiment.repeats])
    return _taught(experiment, folder, name, lessons, "none")


def decayed(experiment: Experiment, folder: RunFolder, name: str) -> Result:
    """Weight decay in the place of the penalty, chosen on training rows."""
    if experiment.algorithm == 2:
        return _carried(experiment, folder, name, "decay", ("last",))[0]
    return _taught(experiment, folder, name, lessons_of(experiment, experiment.repeats), "decay")


def corrected(experiment: Experiment, folder: RunFolder, name: str) -> tuple[Result, Result | None]:
    """PIcsC, and with Algorithm 2 also its models before they are merged."""
    if experiment.algorithm == 1:
        return _taught(experiment, folder, name, lessons_of(experiment, experiment.repeats), "penalty"), None
    kinds: dict[Merge, tuple[Kind, ...]] = {"none": ("last",), "mean": ("mean", "last"), "fisher": ("merged", "last")}
    merged, *last = _carried(experiment, folder, name, "penalty", kinds[experiment.penalty.merge])
    return merged, last[0] if last else None


def carried(experiment: Experiment, folder: RunFolder, name: str) -> tuple[Result, Result]:
    """Parameters carried along the fragments without a penalty, and their plain running mean."""
    last, mean = _carried(experiment, folder, name, "none", ("last", "mean"))
    return last, mean


def whole(experiment: Experiment, folder: RunFolder, name: str) -> Result:
    """Standard training on the whole training set."""
    return _taught(experiment, folder, name, whole_lessons(experiment), "none", shape=(len(experiment.repeats), 1))


def whole_corrected(experiment: Experiment, folder: RunFolder, name: str) -> Result:
    """Algorithm 1 on the whole training set with the pieces as fragments."""
    lessons = whole_lessons(experiment)
    return _taught(experiment, folder, name, lessons, "penalty", shape=(len(experiment.repeats), 1))


def _taught(
    experiment: Experiment,
    folder: RunFolder,
    name: str,
    lessons: list[TrainingJob],
    by: str,
    shape: tuple[int, int] | None = None,
) -> Result:
    """Train and score all lessons; `by` is what corrects: none, decay or penalty."""
    shape = shape or (len(experiment.repeats), len(experiment.repeats[0].pieces))
    parts = []
    for start in range(0, len(lessons), experiment.at_once):
        some = lessons[start : start + experiment.at_once]
        parts.append(kept(folder, f"{name}/{start}", partial(_teach, experiment, some, by)))
    joined = {key: np.concatenate([np.atleast_1d(part[key]) for part in parts]) for key in COLUMNS}
    right = np.mean([part["right"] for part in parts], axis=0) if experiment.keep_rows else None
    return Result({key: values.reshape(shape).astype(np.float64) for key, values in joined.items()}, right)


def _teach(experiment: Experiment, lessons: list[TrainingJob], by: str) -> Arrays:
    """The columns of some lessons."""
    backend, fixed = experiment.backend, experiment.penalty.strength
    none = np.zeros((len(lessons), 1))
    used = none
    if by == "penalty" and fixed != "auto":
        used = np.full_like(none, fixed)
    elif by != "none":
        chosen = tune_by_inner_cv(
            backend, lessons, experiment.likelihood, penalised=by == "penalty", inner=experiment.inner
        )
        used = chosen[:, None]
    learned = backend.train_jobs(lessons, used if by == "penalty" else none, used if by == "decay" else none)
    tested = [
        _Tested(
            models.outputs[0],
            lesson.train,
            lesson.test,
            int(models.diverged[0]),
            len(lesson.train),
            float(models.penalty_share[0]),
            float(strength),
        )
        for lesson, models, strength in zip(lessons, learned, used[:, 0], strict=True)
    ]
    return _columns(experiment, tested)


def _carried(
    experiment: Experiment, folder: RunFolder, name: str, by: str, kinds: tuple[Kind, ...]
) -> tuple[Result, ...]:
    """Learn along the fragments; one result per kind of model asked for."""
    sequences, scaled_on, tested, seeds = _sequences(experiment)
    penalty, backend = experiment.penalty, experiment.backend
    learner = backend.sequence_trainer(sequences, seeds, scaled_on)
    state = initial_state(learner)
    none = torch.zeros(len(sequences), 1, dtype=torch.float64)
    off = none.to(state.theta)
    merge = by == "penalty" and penalty.merge == "fisher"
    rules = Algorithm2Settings(off, off, penalty.alpha, penalty.gamma, penalty.when_quiet, merge)
    used = none
    if by == "penalty" and penalty.strength != "auto":
        used = torch.full_like(none, penalty.strength)
    elif by != "none":

        def choose() -> Arrays:
            return {
                "chosen": tune_prequentially(
                    backend, sequences, seeds, scaled_on, experiment.likelihood, rules, penalised=by == "penalty"
                )
            }

        used = torch.from_numpy(kept(folder, f"{name}/choice", choose)["chosen"])[:, None]
    on = used.to(state.theta)
    rules = replace(rules, strength=on if by == "penalty" else off, weight_decay=on if by == "decay" else off)
    length, parts = len(sequences[0]), []
    for t in range(length):
        judged = not experiment.foldwise or t == length - 1

        def learn(state: State = state, t: int = t, judged: bool = judged) -> Arrays:
            after, step = learn_fragment(state, learner, t, rules)
            rows = [sum(map(len, sequence)) if experiment.foldwise else len(sequence[t]) for sequence in sequences]
            found: Arrays = {}
            for kind in kinds if judged else ():
                theta = {"merged": after.merged, "last": after.theta, "mean": after.mean}[kind]
                models = [
                    _Tested(
                        out[0],
                        scaled_on[g],
                        tested[g],
                        int(step.diverged[g, 0]),
                        rows[g],
                        float(step.penalty_share[g, 0]),
                        float(used[g, 0]),
                    )
                    for g, out in enumerate(learner.outputs(theta, tested))
                ]
                found |= {f"{kind} {key}": values for key, values in _columns(experiment, models).items()}
            return {**after.arrays(), **{f"step {key}": value for key, value in _of_step(step).items()}, **found}

        part = kept(folder, f"{name}/fragment-{t + 1}", learn)
        state = State.of(part, off.device)
        parts.append(part)
    return tuple(_gathered(experiment, parts, kind) for kind in kinds)


def _sequences(experiment: Experiment) -> tuple[list[list[Rows]], list[Rows], list[Rows], list[int]]:
    """Fragments to learn from in turn, rows that the encoding is fitted on, rows that judge, and seeds."""
    if experiment.foldwise:
        lessons = lessons_of(experiment, experiment.repeats)
        sequences = [[each.train[each.fragment == j] for j in range(each.fragment.max() + 1)] for each in lessons]
        return sequences, [each.train for each in lessons], [each.test for each in lessons], [e.seed for e in lessons]
    repeats = experiment.repeats
    sequences = [list(repeat.pieces) for repeat in repeats]
    return sequences, [s[0] for s in sequences], [repeat.validation for repeat in repeats], [r.seed for r in repeats]


def _of_step(step: FragmentStep) -> Arrays:
    """What the trigger saw, (g,) each."""
    looked = np.full(len(step.tau), float(step.compared))
    tau, gamma = (part[:, 0].double().cpu().numpy() for part in (step.tau, step.gamma))
    flagged = step.flagged[:, 0].double().cpu().numpy()
    return {
        "looked": looked,
        "flagged": np.where(looked > 0, flagged, np.nan),
        "tau": np.where(looked > 0, tau, np.nan),
        "gamma": np.where(looked > 0, gamma, np.nan),
    }


def _gathered(experiment: Experiment, parts: list[Arrays], kind: Kind) -> Result:
    """From what each fragment left to (repeats, pieces)."""
    shape = (len(experiment.repeats), len(experiment.repeats[0].pieces))
    columns: dict[str, NDArray[np.float64]] = {}
    steps = {
        key: np.stack([part[f"step {key}"] for part in parts]).astype(np.float64)
        for key in ("looked", "flagged", "tau", "gamma")
    }
    for key in COLUMNS:
        if experiment.foldwise:
            # one model per tested piece: counts over its fragments, and its last tau
            values = parts[-1][f"{kind} {key}"] if key not in steps else steps[key][-1]
            if key in ("looked", "flagged"):
                values = np.nansum(steps[key], axis=0)
            columns[key] = np.asarray(values, np.float64).reshape(shape)
        else:
            stacked = steps[key] if key in steps else np.stack([part[f"{kind} {key}"] for part in parts])
            columns[key] = np.asarray(stacked, np.float64).T.reshape(shape)
    right = np.mean([part[f"{kind} right"] for part in parts], axis=0) if experiment.keep_rows else None
    return Result(columns, right)


@dataclass(frozen=True, slots=True)
class _Tested:
    """What one trained model said of the rows that judge it."""

    outputs: NDArray[np.float32]
    train: Rows
    """Rows whose mean and deviation scale a target of numbers."""
    test: Rows
    diverged: int
    rows: int
    """Rows learned from."""
    share: float
    strength: float


def _columns(experiment: Experiment, models: Sequence[_Tested]) -> Arrays:
    """`COLUMNS` of some models, and how their rows were predicted if that is kept."""
    columns: Arrays = {key: np.full(len(models), np.nan) for key in COLUMNS}
    right = []
    for i, model in enumerate(models):
        y = experiment.backend.targets(model.train, model.test)
        failed = model.diverged or not np.isfinite(model.outputs).all()
        columns["diverged"][i] = model.diverged or 1 if failed else 0
        columns["rows"][i], columns["share"][i], columns["strength"][i] = model.rows, model.share, model.strength
        if not failed:
            weights = None if experiment.weights is None else experiment.weights[model.test]
            scores = scores_of_models(model.outputs[None], y, experiment.likelihood, weights)
            for key in ("accuracy", "log_loss", "auc", "weighted_accuracy"):
                columns[key][i] = getattr(scores, key)[0]
        if experiment.keep_rows:
            right.append(row_accuracy(model.outputs[None], y, experiment.likelihood)[0])
    if experiment.keep_rows:
        columns["right"] = np.mean(right, axis=0)
    return columns


Found = Result | tuple[Result, ...] | tuple[Result, Result | None]
METHOD_FUNCTIONS: dict[str, Callable[[Experiment, RunFolder, str], Found]] = {
    "st-cv": plain,
    "picsc": corrected,
    "weight-decay": decayed,
    "carried": carried,
    "subsample": subsample,
    "whole": whole,
    "whole-picsc": whole_corrected,
}
"""What is computed apart from one another; `carried` also gives the running average."""
