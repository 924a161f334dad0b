"""Kinds of columns that are decided on a table and its reference together."""

import numpy as np
import pandas as pd
import pytest

import picsc

ROWS, OLD = 300, 300


def table(rows: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {"x": random.normal(size=rows), "z": random.normal(size=rows), "y": random.integers(2, size=rows)}
    )


def audited(new: pd.DataFrame, old: pd.DataFrame, **settings: object) -> picsc.AuditReport:
    return picsc.audit(new, reference=old, **{"target": "y", "draws": 199, **settings})  # type: ignore[arg-type]


def test_a_sensor_that_is_stuck_and_an_empty_column_are_shifts_that_are_named() -> None:
    new, old = table(ROWS, 1), table(OLD, 2)
    stuck = audited(new.assign(z=1.5), old)
    assert (stuck.verdict, stuck.fragments[0].columns[0].name) == ("shift", "z")
    assert stuck.fragments[0].columns[0].statistic == pytest.approx((old["z"] < 1.5).mean(), abs=0.01)
    empty = audited(new.assign(z=np.nan), old)
    assert (empty.verdict, empty.fragments[0].columns[0].kind) == ("shift", "missing")
    assert [finding.code for finding in empty.schema_changes] == ["column-kind-changed"]


def test_one_junk_word_hides_no_shift() -> None:
    new, old = table(ROWS, 1), table(OLD, 2)
    words = [*(new["z"] + 2).astype(str)[:-1], "n/k"]
    report = audited(new.assign(z=words), old)
    assert report.verdict == "shift"
    assert {"z"} == {column.name for column in report.fragments[0].columns if column.moved(0.05)} - {"y"}


@pytest.mark.parametrize("spelling", [(False, True), ("false", "TRUE"), ("0", "1")])
def test_spellings_of_truth_are_one_target(spelling: tuple[object, object]) -> None:
    new, old = table(ROWS, 1), table(OLD, 2)
    plain = audited(new, old)
    other = audited(new.assign(y=new["y"].map(dict(enumerate(spelling)))), old)
    assert [piece.p_data for piece in other.fragments] == [piece.p_data for piece in plain.fragments]
    assert other.schema_changes == plain.schema_changes == ()


def test_the_order_of_day_and_month_is_proven_by_both() -> None:
    days = pd.Series(np.random.default_rng(3).permutation(pd.date_range("2021-01-01", periods=ROWS)))
    early = days[days.dt.day <= 12].reset_index(drop=True)
    old = table(ROWS, 2).assign(day=days.dt.strftime("%d/%m/%Y"))
    new = table(len(early), 1).assign(day=early.dt.strftime("%d/%m/%Y"))
    assert audited(new, old).verdict == "ok"


def test_levels_that_are_rare_in_one_table_are_pooled_by_both() -> None:
    """Zipf over 60 levels in two tables of one law: pooled by one side's counts, most audits were shifts."""
    share, levels = 1 / np.arange(1, 61), [f"v{i}" for i in range(60)]
    alarms = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        new, old = (
            table(ROWS, 10 * seed + i).assign(c=random.choice(levels, ROWS, p=share / share.sum())) for i in range(2)
        )
        alarms += audited(new, old, no_target=True, target=None, draws=99).verdict == "shift"
    assert alarms <= 3  # 8 audits at 5 %: more than 3 alarms have probability 0.04 %


def test_columns_that_only_one_table_has_are_named_and_the_others_compared() -> None:
    new, old = table(ROWS, 1).assign(extra=1.0), table(OLD, 2).assign(w=["a", "b", "c"] * 100)
    report = audited(new, old)
    assert {finding.code for finding in report.schema_changes} == {"column-lost", "column-new"}
    assert report.verdict == "ok"
