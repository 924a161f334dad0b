"""Methods along sequences: the fragments in order, what is kept of each, and the models at the end."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from picsc.datasets.load import from_frame
from picsc.settings import PenaltySettings, ReadSettings
from picsc.training.jobs import TrainingJob, TrainingRecipe
from picsc.training.methods import Arrays, MethodModel, MethodSetup
from picsc.training.sequence_methods import (
    SequenceStep,
    compute_anew,
    evaluated_model,
    final_models,
    train_along,
)
from picsc.training.sequences import FragmentSequences
from picsc.training.table_trainer import TableTrainer
from picsc.training.tuning.along_sequences import KEPT, MULTIPLIERS
from picsc.training.tuning.grid import Axis
from picsc.training.tuning.inner_cv import DECAYS, STRENGTHS


def setup(lr: float = 0.05, **penalty: object) -> MethodSetup:
    """Two classes in 90 rows, of which the last 30 are shifted."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2)) + 2 * (np.arange(90) >= 60)[:, None]
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(target=(x[:, 0] + rng.normal(size=90) > 0.5).astype(int))
    data = from_frame(frame, ReadSettings(target="target"))
    trainer = TableTrainer(data, TrainingRecipe(10, lr), "kl", None, torch.device("cpu"))
    return MethodSetup(trainer, "classes", 2, PenaltySettings(**penalty), inner=2, at_once=10)


def sequences() -> FragmentSequences:
    job = TrainingJob(np.arange(80), np.repeat(np.arange(4), 20), np.arange(80, 90), 0)
    return FragmentSequences.of_jobs([job, TrainingJob(job.train, job.fragment, job.test, 1)])


def tried(axis: Axis) -> set[float]:
    """All that may be chosen of an axis, what it may be widened by included."""
    values = list(axis.values)
    while (more := axis.above(values[-1])) is not None:
        values.append(more)
    return set(values)


def outputs(models: list[MethodModel]) -> list[list[float]]:
    return [model.outputs.ravel().tolist() for model in models]


def last_models(step: SequenceStep) -> Arrays:
    return {f"outputs {g}": model.outputs for g, model in enumerate(step.models("last"))}


def test_a_job_gives_its_fragments_in_the_order_of_their_numbers() -> None:
    job = TrainingJob(np.array([5, 6, 7, 8]), np.array([1, 0, 1, 0]), np.array([9]), 3)
    found = FragmentSequences.of_jobs([job])
    assert [rows.tolist() for rows in found.fragments[0]] == [[6, 8], [5, 7]]
    assert (found.scaled_on[0].tolist(), found.test[0].tolist(), found.seeds) == ([5, 6, 7, 8], [9], [3])


def test_a_penalty_of_strength_0_is_carried_parameters_bit_for_bit() -> None:
    carried = final_models(setup(), sequences(), "none")
    assert outputs(final_models(setup(strength=0.0, merge="none"), sequences(), "penalty")) == outputs(carried)
    assert outputs(final_models(setup(strength=5.0, merge="none", gamma=0), sequences(), "penalty")) != outputs(carried)
    assert all(np.isnan(model.strength) for model in carried)


@pytest.mark.parametrize(("merge", "evaluated"), [("none", "last"), ("mean", "mean"), ("fisher", "merged")])
def test_the_model_at_the_end_is_the_one_that_the_setting_evaluates(merge: str, evaluated: str) -> None:
    ours = setup(strength=0.1, merge=merge)
    models: dict[str, list[list[float]]] = {}

    def record(step: SequenceStep) -> Arrays:
        models.update({which: outputs(step.models(which)) for which in ("merged", "last", "mean")})
        return {}

    train_along(ours, sequences(), "penalty", record)
    found = outputs(final_models(ours, sequences(), "penalty"))
    assert [which for which, each in models.items() if each == found] == [evaluated]


@pytest.mark.parametrize(("correction", "candidates"), [("penalty", STRENGTHS), ("decay", DECAYS)])
def test_a_choice_and_every_fragment_are_kept_and_used_again(correction: str, candidates: Axis) -> None:
    parts: dict[str, Arrays] = {}

    def keep(name: str, compute: Callable[[], Arrays]) -> Arrays:
        if name not in parts:
            parts[name] = compute()
        return parts[name]

    whole = train_along(setup(), sequences(), correction, last_models, keep)
    assert list(parts) == ["choice", "fragment-1", "fragment-2", "fragment-3", "fragment-4"]
    assert set(parts["choice"]["chosen"].tolist()) <= tried(candidates)
    del parts["fragment-3"], parts["fragment-4"]
    resumed = train_along(setup(), sequences(), correction, last_models, keep)
    assert [part["outputs 1"].tolist() for part in resumed] == [part["outputs 1"].tolist() for part in whole]
    anew = train_along(setup(), sequences(), correction, last_models, compute_anew)
    assert anew[-1]["outputs 0"].tolist() == whole[-1]["outputs 0"].tolist()


def test_the_chosen_strength_is_that_of_the_models() -> None:
    strengths: list[list[float]] = []

    def record(step: SequenceStep) -> Arrays:
        strengths.append([model.strength for model in step.models("last")])
        return last_models(step)

    chosen: list[list[float]] = []

    def keep(name: str, compute: Callable[[], Arrays]) -> Arrays:
        found = compute()
        if name == "choice":
            found["chosen"] = np.array([0.01, 0.1])
            chosen.append(found["chosen"].tolist())
        return found

    decayed = train_along(setup(), sequences(), "decay", record, keep)
    assert strengths == chosen * 4
    plain = train_along(setup(), sequences(), "none", last_models)
    for g in (0, 1):
        assert decayed[0][f"outputs {g}"].tolist() != plain[0][f"outputs {g}"].tolist()


def test_a_sequence_that_diverges_reports_the_first_epoch() -> None:
    models = final_models(setup(lr=1e30), sequences(), "none")
    epochs = [model.diverged for model in models]
    first = train_along(
        setup(lr=1e30), sequences(), "none", lambda step: {"diverged": step.step.diverged[:, 0].numpy()}
    )[0]["diverged"]
    assert epochs == first.tolist()
    assert all(epoch > 0 for epoch in epochs)


def test_at_the_weight_of_the_rows_seen_every_method_chooses_its_running_mean() -> None:
    """Multiplier and forgetting are chosen together; the carried models' mean has a forgetting alone."""
    ours = setup(strength="posterior", gamma=0)
    for correction, candidates in (("penalty", MULTIPLIERS), ("isotropic", MULTIPLIERS), ("decay", DECAYS)):
        parts: dict[str, Arrays] = {}

        def keep(name: str, compute: Callable[[], Arrays], parts: dict[str, Arrays] = parts) -> Arrays:
            parts[name] = compute()
            return parts[name]

        train_along(ours, replace(sequences(), tests_all=True), correction, last_models, keep)
        assert set(parts["choice"]["chosen"].tolist()) <= tried(candidates)
        assert set(parts["choice"]["keep"].tolist()) <= set(KEPT)
        assert evaluated_model(ours, correction) == "running"
    assert evaluated_model(ours, "none") == "last"
    assert evaluated_model(setup(strength=0.1), "decay") == "last"


def test_a_given_lambda_with_a_running_mean_stays_as_it_is() -> None:
    models = final_models(setup(strength=0.3, merge="running"), sequences(), "penalty")
    assert [model.strength for model in models] == [0.3, 0.3]
