"""Audits against another table: one piece unless a way to cut is given, and advice that fits two tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import picsc
from picsc.errors import DataError, SettingsError
from picsc.settings import AuditSettings

FAST = 199


def tables(n: int = 500, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables of the same rows, a little moved, so that no chance makes them differ; the new one comes first."""
    rng = np.random.default_rng(seed)
    old = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    old["y"] = (old["a"] + 0.5 * rng.normal(size=n) > 0).astype(int)
    new = old.copy()
    new[list("abcde")] += 0.01 * rng.normal(size=(n, 5))
    return new, old


@pytest.mark.parametrize("way", [{}, {"folds": 1}, {"batches": 1}])
def test_against_another_table_all_rows_are_one_piece(way: dict[str, int]) -> None:
    """A shift of 0.4 standard deviations: KS 0.16 of 500 against 500 rows, which ten folds of 50 rows do not show."""
    new, old = tables()
    new["c"] += 0.4
    report = picsc.audit(new, reference=old, draws=FAST, **way)
    [piece] = report.fragments
    assert (piece.name, piece.rows, piece.verdict) == ("all rows", 500, "shift")
    assert report.pieces == "all rows as one piece"
    assert report.null.rows == 1000
    assert report.summary[0] == "shift: all rows, as one piece, differ from file reference"
    assert report.summary[2] == "next: look at c before a model of file reference is used on these rows"


def test_equal_tables_are_not_shifted() -> None:
    new, old = tables()
    report = picsc.audit(new, reference=old, draws=FAST)
    assert report.summary[0] == "ok: all rows, as one piece, show no shift from file reference at level 0.05"


@pytest.mark.parametrize(
    ("way", "count"), [({"folds": 2}, 2), ({"shuffle": True}, 10), ({"splitter": "kfold"}, 10), ({"clients": 3}, 3)]
)
def test_what_makes_pieces_still_makes_them(way: dict[str, object], count: int) -> None:
    new, old = tables()
    assert len(picsc.audit(new, reference=old, draws=99, **way).fragments) == count  # type: ignore[arg-type]


def test_a_table_read_before_is_one_piece_too() -> None:
    """`audit_dataset` gets the reference beside its settings, which do not name it."""
    from picsc.datasets.load import from_frame
    from picsc.settings import ReadSettings

    new, old = (from_frame(frame, ReadSettings()) for frame in tables())
    report = picsc.audit_dataset(new, AuditSettings(draws=99), reference=old)
    assert [piece.name for piece in report.fragments] == ["all rows"]


@pytest.mark.parametrize("way", ["folds", "batches"])
def test_one_piece_needs_something_to_be_compared_with(way: str) -> None:
    new, _ = tables()
    with pytest.raises(SettingsError, match=f"{way}=1 makes one piece, and there is nothing to compare it with"):
        picsc.audit(new, **{way: 1})  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=f"{way}=1: must be 2 or more"):
        picsc.cross_validate(new, **{way: 1})  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=f"{way}=1: must be 2 or more"):
        picsc.compare(new, **{way: 1})  # type: ignore[arg-type]


def test_one_piece_is_not_shuffled_or_split() -> None:
    new, old = tables()
    with pytest.raises(SettingsError, match="splitter= and shuffle=True make folds, and folds=1 makes none"):
        picsc.audit(new, reference=old, folds=1, shuffle=True)


def sorted_by_class(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("y", ignore_index=True, kind="stable")


def test_shuffling_is_no_advice_against_another_table() -> None:
    """Neither after a shift of contiguous folds nor where rows are sorted by class."""
    new, old = tables()
    new["c"] += 2
    for frame, way in ((new, {"splitter": "kfold", "folds": 4}), (sorted_by_class(new), {"batches": 4})):
        report = picsc.audit(frame, reference=old, draws=99, **way)  # type: ignore[arg-type]
        assert report.verdict == "shift"
        assert "shuffle" not in "".join([report.summary[2], *(finding.advice for finding in report.findings)])
    in_folds = picsc.audit(sorted_by_class(new), reference=old, draws=99, splitter="kfold", folds=4)
    [finding] = [finding for finding in in_folds.findings if finding.code == "rows-sorted-by-class"]
    assert finding.advice == "compare all rows with the file as one piece (--folds 1)"


def numbers(c: pd.Series) -> pd.Series:
    return c


def words(c: pd.Series) -> pd.Series:
    return pd.Series(np.where(c > 2, "p", "q"), index=c.index, dtype=object)


Change = Callable[[pd.Series], "pd.Series | str"]
FAULTS: dict[str, tuple[Callable[[pd.Series], pd.Series], Change]] = {
    "missing": (numbers, lambda c: c.where(c.index % 2 == 0)),
    "unit": (numbers, lambda c: 100 * c),
    "level": (words, lambda _: "z"),
    "moved": (numbers, lambda c: c + 1),
}
"""From a column of positive numbers to the column, and from its last fifth to what stands there instead."""


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        ("missing", "next: find out why values of c are missing, or are not, in fold 5"),
        ("unit", "next: find out why c has other values in fold 5: no overlap with the reference"),
        ("level", "next: find out why c has other values in fold 5: new category 'z' (100.0 % of rows)"),
        ("moved", "next: look at c in fold 5; shuffle before cutting (--shuffle) only if the order"),
    ],
)
def test_shuffling_is_no_advice_for_a_fault(fault: str, advice: str) -> None:
    """Fold 5 of one table: what a fault makes is to be found, and only what an order may make is to be shuffled."""
    quarter, _ = tables(200)
    frame = pd.concat([quarter] * 5, ignore_index=True)
    column, change = FAULTS[fault]
    frame["c"] = column(frame["c"].abs() + 1)
    frame.loc[800:, "c"] = change(frame.loc[800:, "c"])
    for seed in (1, 2, 0) if fault == "unit" else (0,):
        report = picsc.audit(frame, folds=5, splitter="kfold", draws=FAST, seed=seed)
        assert [piece.name for piece in report.shifted] == ["fold 5"]
    assert report.summary[2].startswith(advice)


def codes(report: picsc.AuditReport) -> list[str]:
    return [finding.code for finding in report.findings]


def test_a_table_that_is_its_own_reference_is_refused(tmp_path: Path) -> None:
    """The same file, a copy of it under another name, and the same frame."""
    _, old = tables()
    paths = [tmp_path / name for name in ("old.csv", "copy.csv")]
    for path in paths:
        old.to_csv(path, index=False)
    for data, reference in ((paths[0], paths[0]), (paths[0], paths[1]), (old, old)):
        with pytest.raises(DataError, match="are the same bytes, and a table never differs from itself"):
            picsc.audit(data, reference=reference, draws=99)


@pytest.mark.parametrize("rows", [1, 40, 500])
def test_rows_of_both_are_counted(rows: int) -> None:
    new, old = tables()
    report = picsc.audit(pd.concat([old[:rows], new[rows:]])[::-1], reference=old, draws=99)
    [finding] = [finding for finding in report.findings if finding.code == "rows-in-reference"]
    said = f"{rows} of 500 ({rows / 5:.1f} %) rows stand in file reference too, where 0 at most would by coincidence"
    assert (finding.severity, finding.message) == ("warning", said)


def test_rows_that_coincide_are_no_finding() -> None:
    """Columns of few values: rows coincide within each table as often as between the two."""
    new, old = (frame.round(dict.fromkeys("abcde", 0))[["a", "b", "y"]] for frame in tables())
    assert "rows-in-reference" not in codes(picsc.audit(new, reference=old, draws=99))


@pytest.mark.slow
def test_pieces_that_share_one_small_reference_file_raise_few_false_alarms() -> None:
    """Five pieces of 200 rows against 200 rows of the same law: the draws deal out the reference's rows with theirs.

    At level 0.2 the bound, the binomial quantile of 1 - 1e-6, is 41 of 100.
    """
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 5])
        x = rng.normal(size=(1200, 3))
        frame = pd.DataFrame(x, columns=list("abc"))
        frame["word"] = np.char.add("w", np.minimum(rng.zipf(1.5, 1200), 50).astype(str))
        frame["y"] = (x[:, 0] + rng.normal(size=1200) > 0).astype(int)
        settings = {"folds": 5, "shuffle": True, "draws": 99, "level": 0.2, "seed": seed, "jobs": 1, "min_effect": 0}
        alarms += picsc.audit(frame[:1000], target="y", reference=frame[1000:], **settings).verdict == "shift"
    assert alarms <= binom.ppf(1 - 1e-6, 100, 0.2)
