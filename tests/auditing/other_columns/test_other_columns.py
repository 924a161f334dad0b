"""What no covariate shows: missing rates of columns left out, formats of words, levels that a reference lacks."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import picsc

ROWS, OLD = 400, 500


def table(rows: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": random.normal(size=rows),
            "store": [f"store {i}" for i in random.integers(400, size=rows)],
            "id": [f"EU-{i:06d}" for i in random.permutation(900_000)[:rows]],
            "y": np.arange(rows) % 2,
        }
    )


def moved(new: pd.DataFrame, old: pd.DataFrame) -> list[tuple[str, str]]:
    report = picsc.audit(new, reference=old, target="y", draws=199)
    return [(column.name, column.kind) for column in report.fragments[0].columns if column.moved(0.05)]


def test_levels_of_the_same_law_are_no_finding() -> None:
    assert moved(table(ROWS, 1), table(OLD, 2)) == []


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_levels_that_the_reference_has_never_seen_are_found(share: float) -> None:
    new = table(ROWS, 1)
    replaced = np.random.default_rng(3).random(ROWS) < share
    new["store"] = new["store"].where(~replaced, "store 9" + new["store"].str[6:].str.zfill(3))
    assert ("store", "new levels") in moved(new, table(OLD, 2))


def test_another_format_of_identifiers_is_found() -> None:
    new = table(ROWS, 1)
    assert moved(new.assign(id=new["id"].str.replace("EU-", "US-")), table(OLD, 2)) == [("id", "format")]
    assert moved(new.assign(id=new["id"].str.replace("-", "")), table(OLD, 2)) == [("id", "format")]


def test_missing_values_of_columns_left_out_are_found() -> None:
    new = table(ROWS, 1)
    gone = np.random.default_rng(4).random(ROWS) < 0.2
    assert moved(new.assign(id=new["id"].where(~gone)), table(OLD, 2)) == [("id", "missing")]


def test_a_piece_among_others_is_found_too() -> None:
    frame = pd.concat([table(ROWS, 1), table(OLD, 2)], ignore_index=True)
    frame.loc[720:, "store"] = [f"shop {i}" for i in np.random.default_rng(5).integers(100, size=180)]
    report = picsc.audit(frame, folds=5, splitter="kfold", target="y", draws=199)
    assert [piece.name for piece in report.shifted] == ["fold 5"]
    assert "levels that the reference does not have in 100 % of rows" in report.fragments[4].reason


def test_most_rows_in_rare_levels_is_said() -> None:
    frame = table(ROWS, 1).assign(town=["Rome"] * 100 + [f"town {i % 150}" for i in range(300)])
    report = picsc.audit(frame, folds=4, target="y", draws=99)
    [said] = [finding.message for finding in report.findings if finding.code == "mostly-pooled"]
    assert "'town' (75 %)" in said


@pytest.mark.slow
def test_new_levels_raise_few_false_alarms() -> None:
    """200 audits at a level of 10 %: more than 33 alarms have probability 0.1 % if the level holds."""
    alarms = 0
    for seed in range(200):
        new, old = table(150, 2 * seed), table(200, 2 * seed + 1)
        report = picsc.audit(new, reference=old, no_target=True, drop=["y"], draws=99, level=0.1, seed=seed)
        alarms += report.verdict == "shift"
    assert alarms <= binom.ppf(0.999, 200, 0.1)
