"""Who learns, who may be looked at and who judges: properties of every trial."""

import numpy as np
import pandas as pd
import pytest

from picsc.comparison.transfer_tasks import TransferPlan, TransferTask, plan, redrawn
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.settings import CompareSettings, ReadSettings, validated

NONE = np.empty(0, np.int64)


def table(n: int = 60, **columns: object) -> Dataset:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n, 2)), columns=["a", "b"])
    frame = frame.assign(site=np.array(list("abcd"))[np.arange(n) % 4], t=np.arange(n, dtype=float), **columns)
    frame["target"] = np.arange(n) // 2 % 2
    return from_frame(frame, ReadSettings(target="target"), keys=("site", "t"))


def made(count: int = 2, *, official: np.ndarray = NONE, n: int = 60, **options: object) -> TransferPlan:
    return plan(table(n), validated(CompareSettings, **options), count, official)


def rows(trial: TransferTask) -> list[int]:
    return sorted(np.concatenate([trial.train, trial.adapt, trial.judge]).tolist())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label_noise": 0.2},
        {"cut": {"folds": 5}},
        {"cut": {"by": "site"}},
        {"cut": {"batches": 3}},
        {"cut": {"time": "t", "cuts": 3}},
        {"cut": {"by": "site"}, "test_on": ("b",)},
        {"cut": {"by": "site"}, "train_on": ("a", "site=c", "d"), "test_on": ("b",)},
    ],
)
def test_every_row_learns_is_looked_at_or_judges(options: dict[str, object]) -> None:
    found = made(**options)
    assert found.repeats == 2
    for trial in found.trials:
        assert rows(trial) == list(range(60))
        assert set(trial.labelled) <= set(trial.adapt)
        assert len(trial.fragment) == len(trial.train)
        assert np.unique(trial.fragment).tolist() == list(range(int(trial.fragment.max()) + 1))


def test_each_piece_is_the_target_of_all_others_which_are_the_fragments() -> None:
    found = made(1, cut={"by": "site"})
    assert found.setting == "in turn"
    assert found.names == ("site=a", "site=b", "site=c", "site=d")
    for k, trial in enumerate(found.trials):
        assert set(trial.adapt % 4) | set(trial.judge % 4) == {k}
        assert not trial.drawn
        for j in range(3):
            assert len(set(trial.train[trial.fragment == j] % 4)) == 1


def test_named_pieces_learn_and_are_the_target() -> None:
    found = made(3, cut={"by": "site"}, train_on=("a", "c"), test_on=("site=b",))
    assert found.setting == "transfer"
    assert found.fixed
    trials = found.trials
    assert len(trials) == 3
    assert all(set(trial.train % 4) == {0, 2} for trial in trials)
    assert all(set(trial.judge % 4) == {1} for trial in trials)
    assert trials[0].judge.tolist() != trials[1].judge.tolist()  # who judges and who is looked at is redrawn
    assert made(1, cut={"by": "site"}, train_on=("a",)).names == ("site=b", "site=c", "site=d")


def test_one_training_piece_is_dealt_into_fragments_with_equal_shares_of_classes() -> None:
    trial = made(1, fragments=4).trials[0]
    assert trial.drawn
    of_fragment = [trial.train[trial.fragment == j] for j in range(4)]
    assert max(map(len, of_fragment)) - min(map(len, of_fragment)) <= 1
    ones = [int((part // 2 % 2).sum()) for part in of_fragment]
    assert max(ones) - min(ones) <= 1


def test_official_rows_are_the_target_of_every_repeat() -> None:
    official = np.arange(40, 60)
    found = made(2, official=official)
    assert found.fixed
    for trial in found.trials:
        assert sorted([*trial.adapt, *trial.judge]) == official.tolist()
        assert len(trial.judge) == 10
    assert made(1, official=official, test_on=("new.csv",)).names == ("new.csv",)


def test_noise_keeps_one_target_for_all_repeats() -> None:
    first, second = made(2, label_noise=0.3).trials
    assert sorted([*first.adapt, *first.judge]) == sorted([*second.adapt, *second.judge])
    first, second = made(2).trials
    assert sorted([*first.adapt, *first.judge]) != sorted([*second.adapt, *second.judge])


def test_most_rows_takes_the_same_share_of_every_piece() -> None:
    trial = made(1, cut={"by": "site"}, most_rows=24).trials[0]
    assert np.bincount(trial.fragment).tolist() == [8, 8, 8]
    assert trial.passed_over == 60 - 24 - 15


def test_selection_leaves_rows_out_and_knows_their_weight() -> None:
    found = made(4, n=400, bias="a")
    assert all(trial.ratio is not None for trial in found.trials)
    assert sum(trial.passed_over for trial in found.trials) == pytest.approx(4 * 400 * 0.7 / 2, rel=0.1)
    values = np.asarray(table(400).columns[0].values)
    learned = np.concatenate([trial.train for trial in found.trials])
    judged = np.concatenate([trial.judge for trial in found.trials])
    assert values[learned].mean() < values[judged].mean() - 0.4


def test_chance_makes_fragments_of_the_same_sizes() -> None:
    trial = made(1, cut={"by": "site"}).trials[0]
    other = redrawn(trial)
    assert np.bincount(other.fragment).tolist() == np.bincount(trial.fragment).tolist()
    assert other.fragment.tolist() != trial.fragment.tolist()
    assert other.drawn


def test_a_piece_too_small_to_be_a_target_is_learned_from_and_named() -> None:
    frame = pd.DataFrame(
        {"a": np.sin(np.arange(33)), "target": np.arange(33) % 2, "g": ["x"] * 15 + ["y"] * 15 + ["z"] * 3}
    )
    data = from_frame(frame, ReadSettings(target="target"), keys=("g",))
    found = plan(data, validated(CompareSettings, cut={"by": "g"}), 1, NONE)
    assert found.names == ("g=x", "g=y")
    assert {30, 31, 32} <= set(found.trials[0].train)
    assert any("g=z" in finding.message for finding in found.findings if finding.code == "small-target")


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"cut": {"by": "site"}, "test_on": ("e",)}, SettingsError, r"--test-on 'e': no such piece; there are site=a"),
        ({"cut": {"by": "site"}, "train_on": tuple("abcd")}, SettingsError, "names all pieces"),
        ({"cut": {"by": "site"}, "test_on": tuple("abcd")}, SettingsError, "names all pieces"),
        ({"cut": {"by": "site"}, "train_on": ("a",), "test_on": ("site=a",)}, SettingsError, "both name site=a"),
        ({"validation": 0.01}, DataError, "leaves too few"),
        ({"bias": "c"}, SettingsError, "no such column; numeric ones are a, b"),
    ],
)
def test_what_cannot_be_planned_is_named(options: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        made(1, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"train_on": ("a",)}, "--train-on names pieces"),
        ({"cut": {"by": "site"}, "bias": "a"}, "leave out pieces"),
        ({"cut": {"by": "site"}, "label_noise": 0.1}, "--test-on"),
        ({"cut": {"by": "site"}, "train_on": ("a",), "test_on": ("a",)}, "both name a"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        validated(CompareSettings, **options)
