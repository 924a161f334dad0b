"""What is used along a sequence is chosen on the training rows of its fragments alone."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from picsc.runtime.threads import one_thread
from picsc.training.algorithm_2 import Algorithm2Settings
from picsc.training.sequences import FragmentSequences
from picsc.training.table_trainer import TableTrainer
from picsc.training.tuning.along_sequences import (
    HELD_OUT,
    KEPT,
    MULTIPLIERS,
    SequenceChoice,
    Tried,
    _held_out,
    axis_of,
    tune_along,
)
from picsc.training.tuning.grid import Axis
from picsc.training.tuning.inner_cv import DECAYS, STRENGTHS
from tests.training.test_sequence_methods import tried
from tests.training.tuning.test_inner_cv import backend, recognisable

NOTHING = torch.zeros(1, 1)
RULES = Algorithm2Settings(NOTHING, NOTHING)
ALWAYS = replace(RULES, gamma=0.0, posterior=True)


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


def chosen(
    trainer: object, pieces: list[np.ndarray], *, decay: bool = False, running: bool = False, tests_all: bool = False
) -> SequenceChoice:
    """The choice of one sequence."""
    rules = ALWAYS if running else RULES
    axis = axis_of("decay" if decay else "penalty", posterior=rules.posterior)
    sequences = FragmentSequences([pieces], [np.concatenate(pieces)], [np.empty(0, np.int64)], [0], tests_all=tests_all)
    return tune_along(trainer, sequences, "classes", Tried(rules, axis, decay, running))  # type: ignore[arg-type]


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("decay", [False, True])
def test_the_choice_does_not_see_the_compared_rows(decay: bool, running: bool) -> None:
    """Their labels are turned round and their values are made enormous; nothing changes."""
    given_to, other = backend(), backend()
    values = other.dataset.target.values.copy()
    values[60:] = 1 - values[60:]
    columns = tuple(
        replace(each, values=np.where(np.arange(90) < 60, each.values, 1e6)) for each in other.dataset.columns
    )
    changed = replace(
        other, dataset=replace(other.dataset, columns=columns, target=replace(other.dataset.target, values=values))
    )
    pieces = [np.arange(t, 60, 4) for t in range(4)]
    first, second = (
        chosen(each, pieces, decay=decay, running=running, tests_all=running) for each in (given_to, changed)
    )
    assert (first.value.tolist(), first.keep.tolist()) == (second.value.tolist(), second.keep.tolist())


@pytest.mark.parametrize("size", [1, 2, 8])
def test_two_fragments_are_halved_to_look_ahead_if_they_can_be(size: int) -> None:
    found = chosen(backend(), [np.arange(size), np.arange(size, 2 * size)])
    assert found.value.shape == found.keep.shape == (1,)
    assert set(found.value.tolist()) <= tried(STRENGTHS)


def predicted(
    trainer: TableTrainer, sequence: list[np.ndarray], *, running: bool = False, tests_all: bool = False
) -> list[list[int]]:
    """Rows that the candidates are compared on, step by step."""
    seen: list[np.ndarray] = []

    class Watched:
        lr, groups, targets, counts = trainer.lr, trainer.groups, trainer.targets, trainer.counts

        def sequence_trainer(self, *arguments: object, **more: object) -> object:
            inner = trainer.sequence_trainer(*arguments, **more)  # type: ignore[arg-type]
            outputs = inner.outputs

            class Spy:
                def __getattr__(self, name: str) -> object:
                    return getattr(inner, name)

                def outputs(self, theta: torch.Tensor, t: int, rows: list[np.ndarray]) -> object:
                    seen.extend(rows)
                    return outputs(theta, t, rows)

            return Spy()

    chosen(Watched(), sequence, running=running, tests_all=tests_all)
    return [rows.tolist() for rows in seen]


SEQUENCE = [np.arange(0, 30), np.arange(30, 50), np.arange(50, 90)]


@pytest.mark.parametrize("tests_all", [False, True])
def test_candidates_are_compared_on_the_fragment_after_the_one_that_they_learned(tests_all: bool) -> None:
    """The choice of lambda alone looks ahead, whatever tests the models: so it always was."""
    assert predicted(backend(), SEQUENCE, tests_all=tests_all)[:2] == [list(range(30, 50)), list(range(50, 90))]


def test_where_the_test_rows_come_later_a_running_mean_is_chosen_by_looking_ahead() -> None:
    steps = predicted(backend(), SEQUENCE, running=True)
    assert steps[: len(KEPT)] == [list(range(30, 50))] * len(KEPT)
    assert steps[len(KEPT) : 2 * len(KEPT)] == [list(range(50, 90))] * len(KEPT)


def test_where_all_pieces_are_tested_candidates_are_compared_on_rows_held_out_of_all_seen_so_far() -> None:
    steps = predicted(backend(), SEQUENCE, running=True, tests_all=True)
    second, third = (set(steps[place]) for place in (0, len(KEPT)))
    assert second < third
    assert [len(third & set(rows.tolist())) for rows in SEQUENCE] == [len(rows) // HELD_OUT for rows in SEQUENCE]
    assert [len(second & set(rows.tolist())) for rows in SEQUENCE] == [6, 4, 0]


def test_rows_that_are_held_out_are_not_learned_from() -> None:
    kept, out = _held_out(SEQUENCE, 3, None)
    for learned, held, rows in zip(kept, out, SEQUENCE, strict=True):
        assert sorted([*learned, *held]) == rows.tolist()
    groups = np.arange(90) // 4
    kept, out = _held_out(SEQUENCE, 3, groups)
    assert not np.isin(groups[np.concatenate(kept)], groups[np.concatenate(out)]).any()


def test_with_groups_the_next_fragment_is_predicted_without_groups_that_were_seen() -> None:
    sequence = [np.arange(0, 75), np.arange(75, 145), np.arange(145, 200)]  # groups 7 and 14 are divided
    assert predicted(recognisable(True), sequence)[:2] == [list(range(80, 145)), list(range(150, 200))]


def test_each_method_has_the_same_number_of_candidates() -> None:
    axes = [axis_of("penalty", posterior=True), axis_of("isotropic", posterior=True), axis_of("decay", posterior=False)]
    assert [len(axis.values) for axis in axes] == [6, 6, 6]
    assert (axes[0], axes[2]) == (MULTIPLIERS, DECAYS)
    assert axis_of("none", posterior=False) == Axis((0.0,), most=0.0)
    assert len(KEPT) == 6
