"""Methods that cross-validation compares: from an experiment to the scores of every piece.

Each method is one function of the experiment; finished parts are arrays in a run folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.group_leakage import DIVIDED, can_divide, divided_jobs
from picsc.cross_validation.piece_scores import (
    Arrays,
    PieceScores,
    ScoredModel,
    joined,
    joined_steps,
    score_models,
    trigger_columns,
)
from picsc.cross_validation.splits import Repeat, fragmented
from picsc.runtime.run_folder import RunFolder, kept
from picsc.training.jobs import TrainingJob
from picsc.training.methods import Correction, in_parts, train_jobs
from picsc.training.sequence_methods import (
    SequenceModel,
    SequenceStep,
    evaluated_model,
    merges,
    train_along,
)
from picsc.training.sequences import FragmentSequences

UNMERGED = "picsc, unmerged"
"""Name of Algorithm 2's last models where it evaluates a running mean."""
MERGED = "carried, merged"
"""Name of the Fisher-weighted running mean of the carried models: what Algorithm 2 evaluates, with lambda 0."""
RUNNING = "carried, running mean"
"""Name of the running mean of the carried models whose forgetting is chosen on training rows."""
ISOTROPIC = "isotropic anchor"
"""Name of Algorithm 2 with the identity in the place of the Fisher information, a control of its directions."""
ALGORITHM_1 = "picsc, algorithm 1"
"""Name of Algorithm 1 over the batches so far, beside Algorithm 2."""
SO_FAR = "st-cv, batches so far"
"""Name of plain training on the rows that Algorithm 1 has after each batch: the control of its penalty."""
SMALLER = "whole-smaller"
"""Models of the whole set without a random piece."""
EQUAL = "equal-updates"
"""Models of random subsamples with the updates of the whole set's."""
EQUAL_PIECES = 3
"""Subsamples of each repeat that are trained for so long, because each takes the time of the whole set."""
MethodScores = Mapping[str, PieceScores]
"""Scores under the names of the report, or `whole`, `whole-picsc`, `SMALLER` and `EQUAL`."""


def plain(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Standard training on each piece (batchwise) or on all other pieces (foldwise)."""
    return _one_by_one(experiment, folder, "st-cv", jobs_of(experiment, experiment.repeats), "none")


def subsample(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Standard training on random rows of the same number: the part of the pieces' effect that is chance."""
    jobs = jobs_of(experiment, [repeat.recut() for repeat in experiment.repeats])
    return _one_by_one(experiment, folder, "subsample", jobs, "none")


def decayed(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Weight decay in the place of the penalty, chosen on training rows."""
    setup = experiment.setup
    if setup.algorithm == 2:
        return _along(experiment, folder, "weight-decay", "decay", {"weight-decay": evaluated_model(setup, "decay")})
    if not experiment.foldwise:
        return _after_each_batch(experiment, folder, "weight-decay", "decay")
    return _one_by_one(experiment, folder, "weight-decay", jobs_of(experiment, experiment.repeats), "decay")


def corrected(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """PIcsC, and with Algorithm 2 also its models before they are merged."""
    if experiment.setup.algorithm == 1 and not experiment.foldwise:
        return _after_each_batch(experiment, folder, "picsc", "penalty")
    if experiment.setup.algorithm == 1:
        return _one_by_one(experiment, folder, "picsc", jobs_of(experiment, experiment.repeats), "penalty")
    models: dict[str, SequenceModel] = {"picsc": evaluated_model(experiment.setup, "penalty")}
    if models["picsc"] != "last":
        models[UNMERGED] = "last"
    return _along(experiment, folder, "picsc", "penalty", models)


def isotropic(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Algorithm 2 with the identity in the place of the Fisher information, of the same trace."""
    models = {ISOTROPIC: evaluated_model(experiment.setup, "isotropic")}
    return _along(experiment, folder, ISOTROPIC, "isotropic", models)


def algorithm_1(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Algorithm 1 over the batches so far, batch-wise beside Algorithm 2; where picsc is Algorithm 1, it is that."""
    if experiment.foldwise or experiment.setup.algorithm == 1:
        return {}
    return _after_each_batch(experiment, folder, ALGORITHM_1, "penalty")


def so_far(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Plain training on the batches so far, batch-wise: Algorithm 1 there without its penalty."""
    return {} if experiment.foldwise else _after_each_batch(experiment, folder, SO_FAR, "none")


def groups_divided(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Standard training where rows of one group may be trained on and tested; nothing without groups."""
    if not can_divide(experiment):
        return {}
    return _one_by_one(experiment, folder, DIVIDED, divided_jobs(experiment), "none")


def carried(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Parameters carried along the fragments without a penalty, and their running means as picsc has them."""
    models: dict[str, SequenceModel] = {"carried": "last", "average": "mean"}
    if merges(experiment.setup, "none"):
        models[MERGED] = "merged"
    if experiment.setup.penalty.evaluated == "running":
        models[RUNNING] = "running"
    return _along(experiment, folder, "carried", "none", models)


def whole(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Standard training on the whole training set."""
    return _one_by_one(experiment, folder, "whole", whole_jobs(experiment), "none")


def whole_corrected(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Algorithm 1 on the whole training set with the pieces as fragments."""
    return _one_by_one(experiment, folder, "whole-picsc", whole_jobs(experiment), "penalty")


def smaller(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Standard training on the whole set without as many random rows as a fold has: what fewer rows cost, fold-wise."""
    return _one_by_one(experiment, folder, SMALLER, smaller_jobs(experiment), "none")


def equal_updates(experiment: Experiment, folder: RunFolder) -> MethodScores:
    """Some random subsamples, trained for as many updates as the whole set: the cost of fewer updates, batch-wise."""
    jobs = equal_jobs(experiment)
    return _one_by_one(experiment, folder, EQUAL, jobs, "none") if jobs else {}


METHOD_FUNCTIONS: dict[str, Callable[[Experiment, RunFolder], MethodScores]] = {
    "st-cv": plain,
    "picsc": corrected,
    "weight-decay": decayed,
    "carried": carried,
    ISOTROPIC: isotropic,
    "subsample": subsample,
    "whole": whole,
    SMALLER: smaller,
    EQUAL: equal_updates,
    "whole-picsc": whole_corrected,
    ALGORITHM_1: algorithm_1,
    SO_FAR: so_far,
    DIVIDED: groups_divided,
}
"""Computations that do not depend on one another; some give the scores of two methods."""


def jobs_of(experiment: Experiment, repeats: Sequence[Repeat]) -> list[TrainingJob]:
    """One training job per repeat and piece."""
    jobs = []
    for repeat in repeats:
        for i, piece in enumerate(repeat.pieces):
            if experiment.foldwise:
                train, fragment = repeat.training(i)
                jobs.append(TrainingJob(train, fragment, repeat.tested(i), repeat.seed, choose_on=repeat.chosen))
            else:
                # encoded like the models that are carried as far, so that methods differ in training alone
                train, fragment = fragmented([piece], np.empty(0, np.int64))
                jobs.append(
                    TrainingJob(train, fragment, repeat.validation, repeat.seed, sequence=repeat.pieces, place=i)
                )
    return jobs


def batches_so_far(experiment: Experiment) -> list[TrainingJob]:
    """One training job per piece and repeat, batch-wise: all pieces up to this one, each a fragment.

    Source: Algorithm 1, run after each batch.
    Reading: the paper's table has an accuracy of Algorithm 1 after every batch. Its fragments are the batches so far;
        after the first there is nothing to compare it with, and training is plain. Every model starts anew and takes
        as many updates as the model of its last piece alone, so that the updates of all batches grow with their number
        and not with its square.
    """
    updates = experiment.setup.trainer.updates
    return [
        TrainingJob(
            np.concatenate(repeat.pieces[: i + 1]),
            np.repeat(np.arange(i + 1), [len(piece) for piece in repeat.pieces[: i + 1]]),
            repeat.validation,
            repeat.seed,
            updates=updates(len(repeat.pieces[i])),
        )
        for i in range(len(experiment.repeats[0].pieces))
        for repeat in experiment.repeats
    ]


def whole_jobs(experiment: Experiment) -> list[TrainingJob]:
    """One training job per repeat: all training rows, tested on the validation rows."""
    return [TrainingJob(*repeat.whole(), repeat.validation, repeat.seed) for repeat in experiment.repeats]


def smaller_jobs(experiment: Experiment) -> list[TrainingJob]:
    """One training job per repeat and piece: the whole set's training rows without a random piece of the same size.

    Reading: the model of a fold learns from (K - 1)/K of the rows, that of the whole set from all but the validation
        rows. The cost of a smaller sample compares models of which one learns from (K - 1)/K of the other's rows, and
        that are tested on the same rows.
    """
    jobs = []
    for repeat in experiment.repeats:
        rows, _ = repeat.whole()
        for piece in repeat.recut().pieces:
            kept = rows[~np.isin(rows, piece)]
            kept = kept if len(kept) else rows
            one = TrainingJob(kept, np.zeros(len(kept), np.int64), repeat.validation, repeat.seed)
            jobs.append(replace(one, updates=experiment.setup.trainer.updates(len(rows))))
    return jobs


def measured_pieces(repeat: Repeat) -> list[int]:
    """Pieces that stand for all in the cost of fewer updates: at even steps through their order by size."""
    k = len(repeat.pieces)
    by_size = np.argsort([len(piece) for piece in repeat.pieces], kind="stable")
    places = range(k) if k <= EQUAL_PIECES else [(2 * i + 1) * k // (2 * EQUAL_PIECES) for i in range(EQUAL_PIECES)]
    return [int(by_size[place]) for place in places]


def equal_jobs(experiment: Experiment) -> list[TrainingJob]:
    """The subsamples of `measured_pieces`, trained for the updates of the whole set; none if theirs are as many.

    Reading: with minibatches and equal epochs, a model of a twentieth of the rows takes a twentieth of the updates, and
        what it lacks is not only rows.
    """
    trainer, jobs, fewer = experiment.setup.trainer, [], False
    for repeat in experiment.repeats:
        updates = trainer.updates(len(repeat.whole()[0]))
        of_pieces = jobs_of(experiment, [repeat.recut()])
        for i in measured_pieces(repeat):
            fewer |= trainer.updates(len(of_pieces[i].train)) < updates
            jobs.append(replace(of_pieces[i], updates=updates))
    return jobs if fewer else []


def sequences_of(experiment: Experiment) -> FragmentSequences:
    """Foldwise, the training folds of each job one after another; batchwise, the pieces of each repeat."""
    if experiment.foldwise:
        return FragmentSequences.of_jobs(jobs_of(experiment, experiment.repeats))
    repeats = experiment.repeats
    return FragmentSequences(
        [list(repeat.pieces) for repeat in repeats],
        None,
        [repeat.validation for repeat in repeats],
        [repeat.seed for repeat in repeats],
        tests_all=not experiment.forward,
    )


def _one_by_one(
    experiment: Experiment,
    folder: RunFolder,
    name: str,
    jobs: Sequence[TrainingJob],
    correction: Correction,
    *,
    shape: tuple[int, int] | None = None,
) -> MethodScores:
    """Train and score one model per job; their scores in a shape, None is (repeats, jobs of each)."""
    by_seed = {repeat.seed: repeat.tested_by_piece for repeat in experiment.repeats}

    def compute(some: range) -> Arrays:
        part = [jobs[i] for i in some]
        models = train_jobs(experiment.setup, part, correction)
        tested = [
            ScoredModel(model, job.test, len(job.train), by_seed[job.seed])
            for job, model in zip(part, models, strict=True)
        ]
        return score_models(experiment, tested)

    parts = in_parts(experiment.setup, folder, name, len(jobs), compute)
    repeats = len(experiment.repeats)
    return {name: joined(experiment, parts, shape or (repeats, len(jobs) // repeats))}


def _after_each_batch(experiment: Experiment, folder: RunFolder, name: str, correction: Correction) -> MethodScores:
    """Train and score one model per piece and repeat, on all pieces up to it."""
    jobs = batches_so_far(experiment)  # of one piece after another, because those of equally many fragments go together
    by_piece = _one_by_one(experiment, folder, name, jobs, correction, shape=experiment.shape[::-1])[name]
    columns = {key: values.T.copy() for key, values in by_piece.columns.items()}
    matrix = None if by_piece.matrix is None else by_piece.matrix.swapaxes(0, 1)
    repeats, pieces = experiment.shape
    kept_ones = by_piece.predictions
    if kept_ones:
        kept_ones = tuple(kept_ones[i * repeats + r] for r in range(repeats) for i in range(pieces))
    return {name: replace(by_piece, columns=columns, predictions=kept_ones, matrix=matrix)}


def _along(
    experiment: Experiment, folder: RunFolder, name: str, correction: Correction, models: Mapping[str, SequenceModel]
) -> MethodScores:
    """Train along the fragments and score the models asked for, by the name of their method."""
    sequences = sequences_of(experiment)
    length = len(sequences.fragments[0])

    def record(step: SequenceStep) -> Arrays:
        found: Arrays = {f"step {key}": values for key, values in trigger_columns(step.step).items()}
        found["step diverged"] = step.step.diverged[:, 0].cpu().numpy()
        if experiment.foldwise and step.t < length - 1:
            return found
        for which in models.values():
            tested = [
                ScoredModel(
                    model,
                    sequences.test[g],
                    sum(map(len, sequences.fragments[g]))
                    if experiment.foldwise
                    else len(sequences.fragments[g][step.t]),
                    () if experiment.foldwise else experiment.repeats[g].tested_by_piece,
                )
                for g, model in enumerate(step.models(which))
            ]
            found |= {f"{which} {key}": values for key, values in score_models(experiment, tested).items()}
        return found

    def keep(part: str, compute: Callable[[], Arrays]) -> Arrays:
        return kept(folder, f"{name}/{part}", compute, unit=name)

    parts = train_along(experiment.setup, sequences, correction, record, keep)
    return {method: joined_steps(experiment, parts, which) for method, which in models.items()}
