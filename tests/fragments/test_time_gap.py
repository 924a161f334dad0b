"""Gaps between pieces of time: how far apart pieces are, that dates stay together, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import picsc
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.fragments import Cut, cut, validate
from picsc.settings import CutSettings

DAY = np.timedelta64(1, "D")
QUARTER = np.repeat(np.datetime64("2024-01-01", "ns") + np.arange(90) * DAY, 4)
"""P51: 90 days of 4 rows each."""


def pieces(times: np.ndarray, **asked: Any) -> tuple[Dataset, Cut]:
    dataset = Dataset("t", "memory", len(times), (), (), None, {"when": times})
    return dataset, cut(dataset, CutSettings(time="when", **asked), seed=0)


def names(made: Cut) -> list[str]:
    return [fragment.name for fragment in made.fragments]


def test_p51_a_week_between_months_of_several_rows_per_date() -> None:
    dataset, made = pieces(QUARTER, every="30d", gap="7d")
    assert names(made) == ["2024-01-01..2024-01-30", "2024-02-07..2024-02-29", "2024-03-08..2024-03-30"]
    assert [len(fragment.rows) for fragment in made.fragments] == [120, 92, 92]
    assert [fragment.rows[0] for fragment in made.fragments] == [0, 37 * 4, 67 * 4]
    assert made.words == "3 pieces of 30d in order of when, 7d apart"
    [found] = validate(dataset, made)
    assert (found.code, found.severity) == ("unassigned-rows", "note")
    assert found.message == "56 of 360 (15.6 %) rows in no piece: 56 less than 7d after the end of the piece before"


def test_with_cuts_a_piece_ends_with_its_last_row() -> None:
    _, made = pieces(QUARTER, cuts=3, gap="7d")
    # the first piece ends on 01-30, so that 02-06 is seven days later
    assert names(made) == ["2024-01-01..2024-01-30", "2024-02-06..2024-02-29", "2024-03-07..2024-03-30"]
    assert len(made.unassigned) == 2 * 6 * 4


@st.composite
def streams(draw: st.DrawFn) -> tuple[np.ndarray, dict[str, str | int], str, Any]:
    """Times with ties, how to cut them, a gap as text and as a length: dates by the hour, or tenths."""
    steps = np.array(draw(st.lists(st.integers(0, 400), min_size=10, max_size=80)))
    gap, hour = draw(st.integers(1, 30)), np.timedelta64(1, "h")
    dates = (np.datetime64("2024-01-01", "ns") + steps * hour, {"every": "49h"}, f"{gap}h", gap * hour)
    tenths = (steps / 10, {"every": "4.9"}, f"{gap / 10}", gap / 10 * (1 - 1e-9))
    times, every, text, length = draw(st.sampled_from([dates, tenths]))
    return times, draw(st.sampled_from([every, {"cuts": 2}, {"cuts": 3}])), text, length


def cut_or_reject(times: np.ndarray, **asked: Any) -> Cut:
    """Too few times, or a gap that leaves a piece without rows, are for other tests."""
    try:
        return pieces(times, **asked)[1]
    except DataError:
        reject()


@settings(max_examples=60, deadline=None)
@given(drawn=streams())
def test_pieces_are_that_far_apart_and_lose_no_other_row(drawn: tuple[np.ndarray, dict[str, Any], str, Any]) -> None:
    times, asked, gap, length = drawn
    made, whole = cut_or_reject(times, gap=gap, **asked), cut_or_reject(times, **asked)
    assert len(made.fragments) == len(whole.fragments)
    everything = np.concatenate([*(fragment.rows for fragment in made.fragments), made.unassigned])
    np.testing.assert_array_equal(np.sort(everything), np.arange(len(times)))
    for before, now, full in zip(made.fragments, made.fragments[1:], whole.fragments[1:], strict=False):
        begins = times[now.rows].min()
        assert begins - times[before.rows].max() >= length
        left = times[np.setdiff1d(full.rows, now.rows)]
        assert (left < begins).all()  # ties stay together, and the end of a piece loses nothing


def test_an_empty_interval_is_a_gap_already() -> None:
    """Days 5 to 9 are no piece, so that the piece after them loses nothing; the one after that does."""
    days = np.datetime64("2024-01-01", "ns") + np.array([0, 1, 2, 10, 11, 15, 16, 18]) * DAY
    _, made = pieces(days, every="5d", gap="3d")
    assert [fragment.rows.tolist() for fragment in made.fragments] == [[0, 1, 2], [3, 4], [7]]


def test_numbers_as_time_take_a_plain_number() -> None:
    tenths = np.arange(30) / 10
    _, made = pieces(tenths, every="1", gap="0.3")
    assert names(made) == ["0..<1", "1.3..<2", "2.3..<3"]
    assert made.fragments[1].rows.tolist() == list(range(13, 20))
    assert names(pieces(np.arange(30), every="10", gap="3")[1]) == ["0..9", "13..19", "23..29"]


def test_rows_without_a_time_are_counted_apart() -> None:
    times = QUARTER.copy()
    times[[0, 1, 2]] = np.datetime64("NaT")
    dataset, made = pieces(times, every="30d", gap="7d")
    [found] = validate(dataset, made)
    assert found.severity == "warning"
    assert found.message.endswith("56 less than 7d after the end of the piece before, column 'when' has no value in 3")
    assert len(made.unassigned) == 59


@pytest.mark.parametrize(
    ("times", "gap", "error", "message"),
    [
        (
            QUARTER,
            "31d",
            DataError,
            "a gap of 31d leaves piece 2 of 3 without rows, and 1 more; choose a shorter --gap",
        ),
        (QUARTER, "MS", SettingsError, "--gap 'MS' is not the same length everywhere; write days or hours, such as 7d"),
        (QUARTER, "seven", SettingsError, "--gap 'seven' is no positive length of time"),
        (QUARTER, "-1d", SettingsError, "--gap '-1d' is no positive length of time"),
    ],
)
def test_gaps_that_cannot_be(times: np.ndarray, gap: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pieces(times, every="30d", gap=gap)


@pytest.mark.parametrize("gap", ["7d", "0", "nan"])
def test_a_gap_between_numbers_is_a_positive_number(gap: str) -> None:
    with pytest.raises(SettingsError, match=f"--gap '{gap}': time column 'when' holds numbers"):
        pieces(np.arange(30.0), every="10", gap=gap)


def test_the_audit_leaves_the_gap_out_and_numbers_rows_as_the_file_does() -> None:
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=360), "when": QUARTER, "y": [0, 1] * 180})
    report = picsc.audit(frame, target="y", time="when", every="30d", gap="7d", draws=99)
    assert [(piece.rows, piece.first_row) for piece in report.fragments] == [(120, 1), (92, 149), (92, 269)]
    assert report.null.rows == 304
    with pytest.raises(SettingsError, match="gap= needs time=COL"):
        picsc.audit(frame, target="y", batches=3, gap="7d")
