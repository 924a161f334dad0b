"""The same rows in another order, or at another precision, are the same data."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import picsc

ROWS = 600


def mixed(seed: int = 0) -> pd.DataFrame:
    """Numbers, levels, missing values, equal rows, and people who are each in one region."""
    rng = np.random.default_rng(seed)
    person = rng.integers(60, size=ROWS)
    b = rng.integers(4, size=ROWS)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(ROWS) < 0.05, np.nan, rng.normal(size=ROWS)),
            "b": b,
            "c": rng.choice(list("uvwx"), ROWS),
            "d": np.round(rng.normal(size=ROWS) * 2) / 2,
            "person": person,
            "region": np.array(["north", "south", "west"])[person % 3],
            "y": np.where(b + rng.normal(size=ROWS) > 1.5, "yes", "no"),
        }
    )
    return pd.concat([frame, frame.sample(40, random_state=1)], ignore_index=True)


def everything_but_the_digest(report: picsc.AuditReport) -> str:
    found = report.as_dict()
    found["manifest"]["data_sha256"] = found["manifest"]["reference_sha256"] = found["data"]["sha256"] = None
    for piece in found["fragments"]:
        piece["first_row"] = None
    return json.dumps(found)


@pytest.mark.parametrize(
    "asked",
    [
        {"drop": ["person"]},
        {"group": "person"},
        {"drop": ["person", "a", "d"]},
        {"drop": ["person"], "target": "d"},
        {"drop": ["person"], "no_target": True, "target": None},
    ],
    ids=["numbers and levels", "groups", "levels alone", "target of numbers", "no target"],
)
def test_rows_in_another_order_give_the_same_bytes(asked: dict[str, object]) -> None:
    frame = mixed()
    settings = {"target": "y", "by": "region", "draws": 99, **asked}
    reports = [
        everything_but_the_digest(picsc.audit(rows, **settings))  # type: ignore[arg-type]
        for rows in (frame, frame[::-1], frame.sample(frac=1, random_state=2), frame.sort_values(["c", "d"]))
    ]
    assert len(set(reports)) == 1


def test_rows_of_a_reference_file_may_stand_in_any_order() -> None:
    new, old = (mixed(seed).drop(columns=["person", "region"]) for seed in (1, 2))
    reports = {
        everything_but_the_digest(picsc.audit(data, target="y", reference=reference, draws=99))
        for data in (new, new[::-1])
        for reference in (old, old.sample(frac=1, random_state=3))
    }
    assert len(reports) == 1


def levels(seed: int) -> pd.DataFrame:
    """Columns of few values that float32 does not hold exactly."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.integers(1, 9, size=500) / 10 for name in "abc"} | {"y": rng.integers(2, size=500)})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_in_float32_and_one_in_float64_are_compared_at_float32(tmp_path: Path, ending: str) -> None:
    new, old = levels(1), levels(2)
    new_path, old_path = tmp_path / f"new.{ending}", tmp_path / "old.csv"
    single = new.astype(dict.fromkeys("abc", np.float32))
    # a csv with all digits of float32, as a file has that went through float32 once
    single.astype(dict.fromkeys("abc", np.float64)).to_csv(new_path, index=False) if ending == "csv" else (
        single.to_parquet(new_path)
    )
    old.to_csv(old_path, index=False)
    one = picsc.audit(new_path, target="y", reference=old_path, draws=99)
    two = picsc.audit(new, target="y", reference=old, draws=99)
    assert one.verdict == two.verdict == "ok"
    kept, coarser = ([(c.name, c.statistic, c.p_adjusted) for c in r.fragments[0].columns] for r in (two, one))
    assert sorted(coarser) == sorted(kept)


def test_the_last_bits_of_a_value_are_no_shift() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(3, size=400).astype(float)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=400), "y": rng.integers(2, size=400)})
    frame.loc[200:, "x"] -= np.where(x[200:] == 1, 3.3e-16, 0)
    assert len(frame["x"].unique()) == 4
    report = picsc.audit(frame, target="y", batches=2, draws=99)
    assert report.verdict == "ok"
    assert max(column.statistic for column in report.fragments[1].columns if column.name == "x") < 0.15
