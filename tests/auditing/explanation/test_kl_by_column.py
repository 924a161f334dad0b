"""A column that a few rows move far: its KL is named, not the column with the largest KS distance."""

import numpy as np
import pandas as pd
import pytest

import picsc

FAST = 199


def spoiled(seed: int, rows: int = 300) -> pd.DataFrame:
    """Three columns, of which 12 values of `x` in the second half are 88 times as large."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=rows) for name in "xyz"})
    frame.loc[rng.choice(np.arange(rows // 2, rows), 12, replace=False), "x"] *= 88
    return frame.assign(sick=rng.permutation(np.repeat(["no", "yes"], rows // 2)))


@pytest.mark.parametrize("seed", range(6))
def test_the_spoiled_column_is_named(seed: int) -> None:
    """12 rows of 300 have a place in the second half in one of 4000 draws, so that p is the smallest possible."""
    report = picsc.audit(spoiled(seed), target="sick", batches=2, draws=FAST)
    second = report.fragments[1]
    assert second.verdict == "shift"
    assert [column.name for column in second.moved(report.level)] == ["x"]
    assert " of x " in second.reason
    assert "look at x in batch 2" in report.summary[2]
    kl = next(column.kl for column in second.columns if column.name == "x")
    assert kl is not None
    assert kl > 10
    if second.columns[0].by_kl(report.level):
        assert f"KL {kl:.3g} nats" in report.summary[1]


def test_a_wide_table_is_taken_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spoiled(1)
    whole = picsc.audit(frame, target="sick", batches=3, draws=FAST)
    monkeypatch.setattr("picsc.auditing.explanation.kl_by_column.NUMBERS_AT_ONCE", 1)
    assert picsc.audit(frame, target="sick", batches=3, draws=FAST) == whole


def test_without_a_significant_covariate_kl_no_column_has_a_p_value_of_it() -> None:
    rng = np.random.default_rng(0)
    report = picsc.audit(pd.DataFrame(rng.normal(size=(200, 3))), no_target=True, folds=2, draws=FAST)
    assert {column.p_kl for fragment in report.fragments for column in fragment.columns} == {None}


def test_a_column_of_many_more_levels_does_not_hide_the_spoiled_one() -> None:
    """KL of 40 levels is large by chance alone: columns compete by their evidence, not by their KL."""
    frame = spoiled(2)
    levels = np.random.default_rng(3).integers(40, size=len(frame)).astype(str)
    report = picsc.audit(frame.assign(town=levels), target="sick", batches=2, draws=FAST)
    assert [column.name for column in report.fragments[1].moved(report.level)] == ["x"]


def test_folds_that_lack_the_far_values_are_not_shifted() -> None:
    """60 of the last fold's 200 values are far: without them every other fold has a KL that chance does not make."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.normal(size=1000) for name in "xyz"})
    far = rng.choice(np.arange(800, 1000), 60, replace=False)
    frame.loc[far, "x"] *= 88
    report = picsc.audit(frame, no_target=True, folds=5, draws=FAST)
    assert [piece.name for piece in report.shifted] == ["fold 5"]
