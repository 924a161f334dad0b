"""Pieces as targets, and what is trained on for each."""

import numpy as np
import pytest

from picsc.comparison.targets import Target, backwards, targets_of
from picsc.errors import SettingsError
from picsc.fragments import Fragment
from picsc.settings import CompareSettings, validated

PIECES = [Fragment("time", name, np.arange(5) + 5 * i) for i, name in enumerate(["2020", "2021", "2022", "2023"])]
TIME = {"time": "t", "cuts": 4}


def named(**options: object) -> dict[str, list[str]]:
    """The names of the pieces that each target is learned from."""
    found = targets_of(PIECES, validated(CompareSettings, **options))
    return {target.name: [PIECES[int(rows[0]) // 5].name for rows in target.sources] for target in found}


def test_in_time_each_piece_is_learned_from_those_before_it() -> None:
    assert named(cut=TIME) == {"2021": ["2020"], "2022": ["2020", "2021"], "2023": ["2020", "2021", "2022"]}
    assert named(cut=TIME, test_on=("2022",)) == {"2022": ["2020", "2021"]}
    assert named(cut=TIME, test_on=("2021", "2023")) == {"2021": ["2020"], "2023": ["2020", "2022"]}
    assert named(cut=TIME, train_on=("2021",)) == {"2022": ["2021"], "2023": ["2021"]}


def test_the_past_is_predicted_only_if_that_is_asked_for() -> None:
    assert named(cut={**TIME, "mix_time": True})["2020"] == ["2021", "2022", "2023"]
    assert named(cut={**TIME, "mix_time": True}, test_on=("2020",)) == {"2020": ["2021", "2022", "2023"]}
    assert named(cut=TIME, train_on=("2023",), test_on=("2020",)) == {"2020": ["2023"]}
    assert named(cut={"batches": 4})["2020"] == ["2021", "2022", "2023"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"test_on": ("2020",)}, "--test-on 2020: no piece before it is left to train on"),
        ({"test_on": ("2020", "2021")}, "--test-on 2020: no piece before it"),
        ({"train_on": ("2023",)}, "--train-on 2023: no piece is later than that"),
    ],
)
def test_a_target_without_a_past_is_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        named(cut=TIME, **options)


def test_targets_before_their_training_rows_are_told_of() -> None:
    settings = validated(CompareSettings, cut={**TIME, "mix_time": True})
    [finding] = backwards(PIECES, targets_of(PIECES, settings), settings)
    assert finding.fragments == ("2020", "2021", "2022")
    assert "--mix-time" in finding.advice
    asked = validated(CompareSettings, cut=TIME, train_on=("2023",), test_on=("2020",))
    [finding] = backwards(PIECES, targets_of(PIECES, asked), asked)
    assert not finding.advice
    forward = validated(CompareSettings, cut=TIME)
    assert backwards(PIECES, targets_of(PIECES, forward), forward) == []
    assert backwards(PIECES, [Target("x", (), np.empty(0, np.int64))], settings) == []
