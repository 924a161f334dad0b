"""Strengths are chosen on training rows alone."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from picsc.datasets.load import from_arrays
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.training.jobs import TrainingJob, TrainingRecipe
from picsc.training.table_trainer import TableTrainer
from picsc.training.tuning.inner_cv import (
    DECAYS,
    INNER,
    MOST_ROWS,
    STRENGTHS,
    _inner,
    tune_by_inner_cv,
)
from tests.training.test_sequence_methods import tried


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


def backend(n: int = 90, signal: float = 1.0, **recipe: object) -> TableTrainer:
    """Two classes that follow from one of four columns; nothing does without a signal."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4))
    y = (signal * x[:, 0] + rng.normal(size=n) > 0).astype(int)
    dataset = from_arrays(x, y, ReadSettings())
    return TableTrainer(
        dataset, TrainingRecipe(**{"epochs": 30, "lr": 0.05, **recipe}), "kl", None, torch.device("cpu")
    )


def job(rows: int = 60, fragments: int = 3, seed: int = 0) -> TrainingJob:
    return TrainingJob(np.arange(rows), np.arange(rows) * fragments // rows, np.arange(rows, 90), seed)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 50))
def test_inner_folds_hold_out_every_row_once_but_never_a_whole_fragment(sizes: list[int], seed: int) -> None:
    fragment = np.repeat(np.arange(len(sizes)), sizes)
    rows = 100 + np.arange(len(fragment))
    whole = TrainingJob(rows, fragment, np.array([5, 6]), seed)
    parts = [_inner(whole, j) for j in range(INNER)]
    for part in parts:
        assert sorted([*part.train, *part.test]) == rows.tolist()
        assert set(part.fragment.tolist()) == set(fragment.tolist())
        assert np.array_equal(part.fragment, fragment[part.train - 100])
    held = sorted(row for part in parts for row in part.test.tolist())
    assert held == [row for row, j in zip(rows.tolist(), fragment.tolist(), strict=True) if sizes[j] > 1]


def test_weights_stay_with_their_rows() -> None:
    whole = job()
    whole = replace(whole, weight=whole.train.astype(np.float64) / whole.train.mean())
    part = _inner(whole, 1)
    assert part.weight is not None
    assert (part.weight * whole.train.mean()).round().astype(int).tolist() == part.train.tolist()


def test_inner_folds_are_drawn_at_random_by_the_seed() -> None:
    first, again, other = (_inner(job(seed=seed), 0).test.tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert np.bincount(job().fragment[first]).tolist() == [7, 6, 7]


@pytest.mark.parametrize("penalised", [True, False])
def test_the_choice_does_not_see_the_compared_rows(penalised: bool) -> None:
    """Their labels are turned round and their values are made enormous; nothing changes."""
    given_to, other = backend(), backend()
    values = other.dataset.target.values.copy()
    values[60:] = 1 - values[60:]
    columns = tuple(
        replace(each, values=np.where(np.arange(90) < 60, each.values, 1e6)) for each in other.dataset.columns
    )
    changed = replace(
        other,
        dataset=replace(other.dataset, columns=columns, target=replace(other.dataset.target, values=values)),
    )
    jobs = [job(), job(seed=1)]
    first, second = (tune_by_inner_cv(each, jobs, "classes", penalised=penalised) for each in (given_to, changed))
    assert first.tolist() == second.tolist()


def test_where_nothing_can_be_learned_a_strong_decay_is_chosen() -> None:
    found = tune_by_inner_cv(backend(signal=0.0, epochs=100), [job()], "classes", penalised=False)
    assert found[0] >= max(DECAYS.values)


def test_a_choice_at_the_end_of_the_grid_is_widened_up_to_its_largest() -> None:
    """Nothing can be learned, so that the more weight decay the better."""
    some = [replace(job(seed=seed), train=np.arange(20), fragment=np.arange(20) // 7) for seed in range(3)]
    found = tune_by_inner_cv(backend(signal=0.0, epochs=200), some, "classes", penalised=False)
    assert found.max() > max(DECAYS.values)
    assert set(found.tolist()) <= tried(DECAYS)


def test_choices_are_candidates_one_per_job() -> None:
    found = tune_by_inner_cv(backend(), [job(seed=seed) for seed in range(3)], "classes", penalised=True)
    assert found.shape == (3,)
    assert set(found.tolist()) <= tried(STRENGTHS)


@pytest.mark.parametrize("rows", [[0, 1], [0, 1, 2]])
def test_with_nothing_to_hold_out_the_penalty_is_left_out(rows: list[int]) -> None:
    alone = TrainingJob(np.array(rows), np.arange(len(rows)), np.array([5]), 0)
    assert tune_by_inner_cv(backend(), [alone], "classes", penalised=True).tolist() == [0.0]


def test_an_inner_fold_that_holds_nothing_out_does_not_veto_the_others() -> None:
    """Two fragments of one and two rows: in one of three inner folds no row is held out."""
    small = TrainingJob(np.arange(3), np.array([0, 1, 1]), np.array([5]), 0)
    sizes = [len(_inner(small, j).test) for j in range(INNER)]
    assert sorted(sizes) == [0, 1, 1]
    x = np.random.default_rng(0).normal(size=(90, 4))
    x[2] = x[1]  # each is held out once, and what says the other's label least surely is the best
    twins = from_arrays(x, np.arange(90) % 2, ReadSettings())
    model = TableTrainer(twins, TrainingRecipe(200, 0.05), "kl", None, torch.device("cpu"))
    found = tune_by_inner_cv(model, [small], "classes", penalised=False)
    assert found.tolist() != [0.0]


def test_models_that_diverge_are_not_chosen_and_all_of_them_mean_no_penalty() -> None:
    found = tune_by_inner_cv(backend(lr=1e30), [job()], "classes", penalised=True)
    assert found.tolist() == [0.0]


def test_a_choice_looks_at_a_share_of_every_fragment_of_a_long_job() -> None:
    rows = np.arange(3 * MOST_ROWS)
    job = TrainingJob(rows, rows % 5, np.empty(0, np.int64), seed=0)
    part = _inner(job, 0)
    seen = np.concatenate([part.train, part.test])
    assert len(np.unique(seen)) == len(seen) == MOST_ROWS
    assert np.bincount(seen % 5).tolist() == [MOST_ROWS // 5] * 5


@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.integers(1, 5), st.integers(0, 50))
def test_inner_folds_never_divide_a_group(sizes: list[int], fragments: int, seed: int) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    fragment = np.unique(groups % fragments, return_inverse=True)[1]
    whole = TrainingJob(np.arange(len(groups)), fragment, np.array([5, 6]), seed)
    parts = [_inner(whole, j, groups) for j in range(INNER)]
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(len(groups)))
    for part in parts:
        assert not np.isin(groups[part.train], groups[part.test]).any()
        assert sorted([*part.train, *part.test]) == list(range(len(groups)))
        assert len(part.fragment) == len(part.train)
        assert np.unique(part.fragment).tolist() == list(range(int(part.fragment.max()) + 1))


def recognisable(groups: bool) -> TableTrainer:
    """Twenty groups far apart, each of one class at random, so that only its own rows tell it."""
    rng = np.random.default_rng(0)
    group = np.arange(200) // 10
    x = rng.normal(size=(20, 4))[group] * 4 + 0.1 * rng.normal(size=(200, 4))
    y = rng.permutation(np.arange(20) % 2)[group]
    dataset = from_arrays(x, y, ReadSettings())
    recipe = TrainingRecipe(200, 0.05)
    return TableTrainer(dataset, recipe, "kl", None, torch.device("cpu"), group if groups else None)


def test_with_groups_weight_decay_is_chosen_for_groups_that_were_not_seen() -> None:
    rows = np.random.default_rng(1).permutation(200)
    some = TrainingJob(rows, np.zeros(200, np.int64), rows[:1], 0)
    [leaked] = tune_by_inner_cv(recognisable(False), [some], "classes", penalised=False)
    [honest] = tune_by_inner_cv(recognisable(True), [some], "classes", penalised=False)
    assert leaked <= 0.001
    assert honest >= 0.01
