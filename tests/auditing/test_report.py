"""The three lines of the summary, and the next step."""

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.errors import SettingsError

FAST = 199


def numbers(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.normal(size=rows) for name in "wz"})


def test_a_new_category_hides_no_larger_shift_of_another_column() -> None:
    """z differs by a quarter of a standard deviation, KS 0.09; 4 % have a new category, with far more evidence."""
    frame = numbers(20_000)
    rng = np.random.default_rng(1)
    frame["town"] = rng.choice(["a", "b"], len(frame))
    frame.loc[16_000:, "z"] += 0.25
    alone = picsc.audit(frame, no_target=True, batches=5, draws=FAST)
    frame.loc[rng.choice(np.arange(16_000, 20_000), 160, replace=False), "town"] = "new"
    both = picsc.audit(frame, no_target=True, batches=5, draws=FAST)
    assert alone.verdict == both.verdict == "shift"
    assert "mean of z 0.22 sd higher (KS 0.09 [0.05, 0.11]), p 0.005; 1 more moved" in both.summary[1]
    assert [column.name for column in both.fragments[4].moved(both.level)] == ["z", "town"]
    assert both.fragments[4].effect_data == pytest.approx(alone.fragments[4].effect_data, abs=0.01)
    frame["z"] = numbers(20_000)["z"]
    rare = picsc.audit(frame, no_target=True, batches=5, draws=FAST)
    assert rare.verdict == "ok"
    small = "real but small, below --min-effect 0.05: town: level new +4.0 points [3.4, 4.7] (TV 0.04 [0.0"
    assert small in rare.summary[1]


def test_the_worst_piece_has_the_largest_effect_where_all_have_the_smallest_p() -> None:
    frame = numbers(2000)
    frame.loc[400:799, "z"] += 1.0
    frame.loc[1600:, "z"] += 2.0
    report = picsc.audit(frame, no_target=True, folds=5, draws=FAST)
    assert [piece.name for piece in report.shifted] == ["fold 2", "fold 5"]
    assert len({piece.p_adjusted for piece in report.shifted}) == 1
    assert report.summary[1].startswith("worst: fold 5")


def test_pieces_without_a_reference_are_counted_apart() -> None:
    report = picsc.audit(numbers(400), no_target=True, batches=4, draws=FAST)
    assert report.summary[0].startswith("ok: no shift in the 3 of 4 pieces that are tested")
    assert [piece.verdict for piece in report.fragments] == ["not tested", "ok", "ok", "ok"]
    assert [piece.name for piece in report.untested] == ["batch 1"]


def test_too_few_groups_ask_for_groups_and_not_for_rows() -> None:
    frame = numbers(600).assign(site=np.repeat(list("abcdef"), 100))
    report = picsc.audit(frame, no_target=True, folds=3, splitter="group", group="site", draws=FAST)
    assert report.verdict == "inconclusive"
    assert report.summary[0].endswith("has the groups to tell")
    assert report.summary[2] == "next: more groups of site are needed; more rows of the same groups do not help"


def test_so_many_pieces_that_one_has_a_single_row_are_refused() -> None:
    with pytest.raises(SettingsError, match="12 rows in 10 batches: one would have 1 row, and a piece needs 2 rows"):
        picsc.audit(numbers(12), no_target=True, batches=10, draws=FAST)
    with pytest.raises(SettingsError, match="cut at most 2"):
        picsc.audit(numbers(45), no_target=True, folds=40, draws=FAST)
    assert picsc.audit(numbers(12), no_target=True, batches=6, draws=FAST).verdict == "inconclusive"
    single = numbers(60).assign(site=["a"] * 30 + ["b"] * 29 + ["c"])
    assert picsc.audit(single, no_target=True, by="site", draws=FAST).fragments[2].verdict == "inconclusive"


def test_covariates_that_differ_too_little_do_not_agree() -> None:
    """z differs by KS 0.03 where y follows other rules."""
    frame = numbers(40_000)
    frame["y"] = np.where(frame.w > 0, "yes", "no")
    last = frame.index >= 30_000
    frame.loc[last, "y"] = np.where(frame.w[last] > 0, "no", "yes")
    frame.loc[last, "z"] += 0.09
    report = picsc.audit(frame, target="y", batches=4, draws=FAST)
    piece = report.fragments[3]
    assert piece.verdict == "shift"
    assert piece.significant("data", report.level)
    assert "agree" not in piece.reason
    assert "look like the rest" not in report.summary[2]
