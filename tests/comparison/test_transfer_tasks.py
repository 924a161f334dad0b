"""Transfer tasks: training rows, target rows and test rows of every task."""

import numpy as np
import pandas as pd
import pytest

from picsc.comparison.transfer_tasks import TransferPlan, TransferTask, plan, with_random_fragments
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


def rows(task: TransferTask) -> list[int]:
    return sorted(np.concatenate([task.train, task.target, task.test]).tolist())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label_noise": 0.2},
        {"cut": {"folds": 5}},
        {"cut": {"by": "site"}},
        {"cut": {"batches": 3}},
        {"cut": {"time": "t", "cuts": 3, "mix_time": True}},
        {"cut": {"by": "site"}, "test_on": ("b",)},
        {"cut": {"by": "site"}, "train_on": ("a", "site=c", "d"), "test_on": ("b",)},
    ],
)
def test_every_row_is_a_training_a_target_or_a_test_row(options: dict[str, object]) -> None:
    found = made(**options)
    assert found.repeats == 2
    for task in found.tasks:
        assert rows(task) == list(range(60))
        assert set(task.labelled) <= set(task.target)
        assert len(task.fragment) == len(task.train)
        assert np.unique(task.fragment).tolist() == list(range(int(task.fragment.max()) + 1))


def test_each_piece_is_the_target_of_all_others_which_are_the_fragments() -> None:
    found = made(1, cut={"by": "site"})
    assert found.setting == "in turn"
    assert found.names == ("site=a", "site=b", "site=c", "site=d")
    for k, task in enumerate(found.tasks):
        assert set(task.target % 4) | set(task.test % 4) == {k}
        assert not task.random_fragments
        for j in range(3):
            assert len(set(task.train[task.fragment == j] % 4)) == 1


def test_named_pieces_are_trained_on_or_are_the_target() -> None:
    found = made(3, cut={"by": "site"}, train_on=("a", "c"), test_on=("site=b",))
    assert found.setting == "transfer"
    assert found.fixed_target
    tasks = found.tasks
    assert len(tasks) == 3
    assert all(set(task.train % 4) == {0, 2} for task in tasks)
    assert all(set(task.test % 4) == {1} for task in tasks)
    assert tasks[0].test.tolist() != tasks[1].test.tolist()  # target and test rows are redrawn
    assert made(1, cut={"by": "site"}, train_on=("a",)).names == ("site=b", "site=c", "site=d")


def test_one_training_piece_is_cut_into_fragments_with_equal_shares_of_classes() -> None:
    task = made(1, fragments=4).tasks[0]
    assert task.random_fragments
    of_fragment = [task.train[task.fragment == j] for j in range(4)]
    assert max(map(len, of_fragment)) - min(map(len, of_fragment)) <= 1
    ones = [int((part // 2 % 2).sum()) for part in of_fragment]
    assert max(ones) - min(ones) <= 1


def test_official_rows_are_the_target_of_every_repeat() -> None:
    official = np.arange(40, 60)
    found = made(2, official=official)
    assert found.fixed_target
    for task in found.tasks:
        assert sorted([*task.target, *task.test]) == official.tolist()
        assert len(task.test) == 10
    assert made(1, official=official, test_on=("new.csv",)).names == ("new.csv",)


def test_noise_keeps_one_target_for_all_repeats() -> None:
    first, second = made(2, label_noise=0.3).tasks
    assert sorted([*first.target, *first.test]) == sorted([*second.target, *second.test])
    first, second = made(2).tasks
    assert sorted([*first.target, *first.test]) != sorted([*second.target, *second.test])


def test_most_rows_takes_the_same_share_of_every_piece() -> None:
    task = made(1, cut={"by": "site"}, most_rows=24).tasks[0]
    assert np.bincount(task.fragment).tolist() == [8, 8, 8]
    assert task.unused == 60 - 24 - 15


def test_selection_leaves_rows_out_and_knows_their_weight() -> None:
    found = made(4, n=400, bias="a")
    assert all(task.true_weights is not None for task in found.tasks)
    assert sum(task.unused for task in found.tasks) == pytest.approx(4 * 400 * 0.7 / 2, rel=0.1)
    values = np.asarray(table(400).columns[0].values)
    train = np.concatenate([task.train for task in found.tasks])
    test = np.concatenate([task.test for task in found.tasks])
    assert values[train].mean() < values[test].mean() - 0.4


def test_random_fragments_have_the_same_sizes() -> None:
    task = made(1, cut={"by": "site"}).tasks[0]
    other = with_random_fragments(task)
    assert np.bincount(other.fragment).tolist() == np.bincount(task.fragment).tolist()
    assert other.fragment.tolist() != task.fragment.tolist()
    assert other.random_fragments


def test_a_piece_too_small_to_be_a_target_is_trained_on_and_named() -> None:
    frame = pd.DataFrame(
        {"a": np.sin(np.arange(33)), "target": np.arange(33) % 2, "g": ["x"] * 15 + ["y"] * 15 + ["z"] * 3}
    )
    data = from_frame(frame, ReadSettings(target="target"), keys=("g",))
    found = plan(data, validated(CompareSettings, cut={"by": "g"}), 1, NONE)
    assert found.names == ("g=x", "g=y")
    assert {30, 31, 32} <= set(found.tasks[0].train)
    assert any("g=z" in finding.message for finding in found.findings if finding.code == "small-target")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cut": {"by": "site"}, "test_on": ("e",)}, SettingsError, r"--test-on 'e': no such piece; there are site=a"),
        ({"cut": {"by": "site"}, "train_on": tuple("abcd")}, SettingsError, "names all pieces"),
        ({"cut": {"by": "site"}, "test_on": tuple("abcd")}, SettingsError, "names all pieces"),
        ({"cut": {"by": "site"}, "train_on": ("a",), "test_on": ("site=a",)}, SettingsError, "both name site=a"),
        ({"validation": 0.01}, DataError, "leaves too few"),
        ({"bias": "c"}, SettingsError, "no such column; numeric ones are a, b"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused_by_name(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        made(1, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_on": ("a",)}, "--train-on names pieces"),
        ({"cut": {"by": "site"}, "bias": "a"}, "leave out pieces"),
        ({"cut": {"by": "site"}, "label_noise": 0.1}, "--test-on"),
        ({"cut": {"by": "site"}, "train_on": ("a",), "test_on": ("a",)}, "both name a"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        validated(CompareSettings, **options)


def grouped(settings: CompareSettings, n: int = 120) -> Dataset:
    """Twelve groups of ten rows, of which some lie in two sites."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame = frame.assign(
        g=np.arange(n) // 10, site=np.array(list("abc"))[np.arange(n) // 45], t=np.arange(n, dtype=float)
    )
    return from_frame(frame.assign(target=np.arange(n) % 2), ReadSettings(target="target"), keys=settings.keys)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bias": "a"},
        {"cut": {"folds": 4}},
        {"cut": {"batches": 3}},
        {"cut": {"by": "site"}},
        {"cut": {"time": "t", "cuts": 3}},
        {"algorithm": 2},
    ],
)
def test_groups_are_never_divided_between_training_target_and_test_rows(options: dict[str, object]) -> None:
    settings = validated(CompareSettings, **{**options, "cut": {**options.get("cut", {}), "group": "g"}})  # type: ignore[dict-item]
    data = grouped(settings)
    group = data.keys["g"]
    found = plan(data, settings, 2, NONE)
    for task in found.tasks:
        parts = [set(group[rows].tolist()) for rows in (task.train, task.target, task.test)]
        assert all(parts)
        assert not parts[0] & (parts[1] | parts[2])
        assert not parts[1] & parts[2]
    left = any(finding.code == "tested-groups-left-out" for finding in found.findings)
    assert left is ("by" in options.get("cut", {}))  # type: ignore[operator]


def test_fragments_that_are_learned_one_after_another_have_whole_groups() -> None:
    settings = validated(CompareSettings, algorithm=2, fragments=3, cut={"group": "g"})
    data = grouped(settings)
    group = data.keys["g"].astype(int)
    [task] = plan(data, settings, 1, NONE).tasks
    for each in (task, with_random_fragments(task, group)):
        owners = [set(group[each.train[each.fragment == j]].tolist()) for j in range(3)]
        assert sum(map(len, owners)) == len(set.union(*owners))


def test_a_target_of_one_group_is_divided_and_that_is_told() -> None:
    settings = validated(CompareSettings, cut={"by": "g", "group": "g"})
    found = plan(grouped(settings), settings, 1, NONE)
    assert all(len(task.target) == len(task.test) == 5 for task in found.tasks)
    [finding] = [each for each in found.findings if each.code == "target-of-one-group"]
    assert finding.message.startswith("12 targets of one group of 'g'")


def test_training_rows_of_the_target_files_groups_are_left_out() -> None:
    settings = validated(CompareSettings, test_on=("new.csv",), cut={"group": "g"})
    found = plan(grouped(settings), settings, 1, np.arange(95, 120))  # group 9 is divided
    assert found.tasks[0].train.max() == 89
    assert [each.message for each in found.findings if each.code == "tested-groups-left-out"] == [
        "training rows whose group is in the target are left out: new.csv (5)"
    ]


def test_test_rows_that_stand_among_the_training_rows_are_told_of() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    frame = pd.concat([frame, frame.iloc[:12]], ignore_index=True)
    frame["target"] = [*(np.arange(60) % 2), *(np.arange(12) % 2)]
    data = from_frame(frame, ReadSettings(target="target"))
    found = plan(data, validated(CompareSettings, test_on=("new.csv",)), 1, np.arange(60, 72))
    assert [(each.code, each.message) for each in found.findings] == [
        ("duplicate-rows", "12 of 12 (100.0 %) target rows have an equal row among the training rows")
    ]
    assert plan(data, validated(CompareSettings, bias="a"), 1, NONE).findings[0].code == "duplicate-rows"
