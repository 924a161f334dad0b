"""DOB-SCV and MS-SCV: folds that agree in their covariates more than chance would have it, and folds that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from typer.testing import CliRunner

import picsc
from picsc.datasets.encoding import encode
from picsc.datasets.images import from_images
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset, Target
from picsc.errors import DataError, SettingsError
from picsc.fragments import Cut, cut
from picsc.fragments.dob_scv import balanced_folds, shifted_folds
from picsc.settings import CutSettings, ReadSettings
from picsc_cli.app import app
from tests.reference import balanced_folds_by_row, shifted_folds_by_row

Folds = Callable[..., NDArray[np.int64]]
BOTH = pytest.mark.parametrize("folds", [balanced_folds, shifted_folds])
NAMES = pytest.mark.parametrize("splitter", ["dob-scv", "ms-scv"])
SEEDS = 20


@st.composite
def tables(draw: st.DrawFn) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Few different values, so that twins and ties are everywhere; classes with fewer rows than folds."""
    n, f = draw(st.integers(2, 40)), draw(st.integers(1, 3))
    codes = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    values = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.5, 2.0]), min_size=n * f, max_size=n * f))
    return np.array(codes), np.array(values).reshape(n, f), draw(st.integers(2, 7))


@BOTH
@settings(max_examples=40, deadline=None)
@given(drawn=tables(), seed=st.integers(0, 2**32 - 1))
def test_classes_and_sizes_are_balanced(
    folds: Folds, drawn: tuple[NDArray[np.int64], NDArray[np.float64], int], seed: int
) -> None:
    codes, matrix, k = drawn
    fold = folds(codes, matrix, k, seed=seed)
    assert fold.dtype == np.int64
    counts = np.array([np.bincount(fold[codes == code], minlength=k) for code in np.unique(codes)])
    assert counts.shape[1] == k
    assert counts.sum() == len(codes)
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(counts.sum(axis=0)) <= 1
    np.testing.assert_array_equal(fold, folds(codes, matrix, k, seed=seed))


@pytest.mark.parametrize(
    ("folds", "slow"), [(balanced_folds, balanced_folds_by_row), (shifted_folds, shifted_folds_by_row)]
)
@settings(max_examples=40, deadline=None)
@given(drawn=tables(), seed=st.integers(0, 2**32 - 1))
def test_slow_twins_agree(
    folds: Folds,
    slow: Callable[..., list[int]],
    drawn: tuple[NDArray[np.int64], NDArray[np.float64], int],
    seed: int,
) -> None:
    codes, matrix, k = drawn
    expected = slow(codes.tolist(), matrix.tolist(), k, np.random.default_rng([seed, 3]))
    assert folds(codes, matrix, k, seed=seed).tolist() == expected


CLUSTERS = np.array([[0.0], [100.0], [1.0], [201.0], [2.0], [101.0], [200.0], [102.0], [202.0]])
"""Three rows about each of 0, 100 and 200, in mixed order."""


@pytest.mark.parametrize("seed", range(5))
def test_three_clusters_are_spread_or_kept_whole(seed: int) -> None:
    cluster = (CLUSTERS[:, 0] // 100).astype(int)
    one_class = np.zeros(9, np.int64)
    spread = balanced_folds(one_class, CLUSTERS, 3, seed=seed)
    assert {frozenset(cluster[spread == j]) for j in range(3)} == {frozenset({0, 1, 2})}
    # a walk that starts in the middle leaves it complete, crosses to one side, then to the other
    whole = shifted_folds(one_class, CLUSTERS, 3, seed=seed)
    assert {frozenset(cluster[whole == j]) for j in range(3)} == {frozenset({0}), frozenset({1}), frozenset({2})}


def test_ties_go_to_the_row_that_comes_first() -> None:
    """Eight equal rows in four folds: the drawn one and the first three others make the first group."""
    fold = balanced_folds(np.zeros(8, np.int64), np.zeros((8, 2)), 4, seed=0)
    drawn = int(np.random.default_rng([0, 3]).integers(8))
    others = np.delete(np.arange(8), drawn)[:3]
    assert fold[[drawn, *others]].tolist() == [0, 1, 2, 3]


def test_the_fold_to_start_at_moves_on() -> None:
    """Pairs of twins: were it fixed, the drawn row of each would always be in the first fold."""
    matrix = np.repeat(np.arange(50.0), 2)[:, None] * 10
    first = balanced_folds(np.zeros(100, np.int64), matrix, 2, seed=0)[::2]
    drawn, starts = np.random.default_rng([0, 3]), []
    left = list(range(100))
    for _ in range(50):
        row = left[int(drawn.integers(len(left)))]
        starts.append(int(first[row // 2]) ^ (row % 2))
        left = [other for other in left if other // 2 != row // 2]
    assert starts == [0, 1] * 25


def distance_between_folds(codes: NDArray[np.int64], matrix: NDArray[np.float32], fold: NDArray[np.int64]) -> float:
    """Mean over classes and pairs of folds of the distance between the means."""
    k, total = int(fold.max()) + 1, 0.0
    for code in np.unique(codes):
        means = np.array([matrix[(codes == code) & (fold == j)].mean(axis=0) for j in range(k)])
        total += float(np.linalg.norm(means[:, None] - means[None], axis=2).sum())
    return total


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_folds_agree_more_and_differ_more_than_random_ones(load: Callable[..., object]) -> None:
    """If a draw were like a random one, 18 wins of 20 would happen with probability 2e-4, each way and set."""
    frame = load(as_frame=True).frame  # type: ignore[attr-defined]
    codes, k = frame["target"].to_numpy(dtype=np.int64), 5
    matrix = encode(from_frame(frame, ReadSettings())).matrix
    alike = apart = 0
    for seed in range(SEEDS):
        chance = np.empty(len(codes), np.int64)
        for j, (_, test) in enumerate(StratifiedKFold(k, shuffle=True, random_state=seed).split(codes, codes)):
            chance[test] = j
        between = distance_between_folds(codes, matrix, chance)
        alike += distance_between_folds(codes, matrix, balanced_folds(codes, matrix, k, seed=seed)) < between
        apart += distance_between_folds(codes, matrix, shifted_folds(codes, matrix, k, seed=seed)) > between
    assert alike >= 18
    assert apart >= 18


# As splitters


def classed(n: int = 60) -> Dataset:
    """Two numbers and a class, every tenth row without a label."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n).astype(object)
    y[::10] = None
    return from_frame(pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(y=y), ReadSettings(target="y"))


def rows(made: Cut) -> list[list[int]]:
    return [fragment.rows.tolist() for fragment in made.fragments]


@NAMES
def test_a_cut_covers_all_rows_and_the_unlabelled_are_a_stratum(splitter: str) -> None:
    data = classed()
    made = cut(data, CutSettings(folds=4, splitter=splitter), seed=0)
    assert sorted(np.concatenate(rows(made)).tolist()) == list(range(60))
    assert all(np.all(np.diff(fragment.rows) > 0) for fragment in made.fragments)
    assert made.strata is not None
    assert data.target is not None
    assert set(made.strata[data.target.missing].tolist()) == {3}
    counts = np.array([np.bincount(made.strata[fragment.rows], minlength=4) for fragment in made.fragments])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


@NAMES
def test_the_seed_draws_whether_shuffled_or_not(splitter: str) -> None:
    made = {
        (shuffle, seed): cut(classed(), CutSettings(folds=4, splitter=splitter, shuffle=shuffle), seed=seed)
        for shuffle in (False, True)
        for seed in (0, 1)
    }
    assert rows(made[False, 0]) == rows(made[True, 0]) != rows(made[False, 1])
    assert {each.words for each in made.values()} == {f"4 {splitter.upper()} folds"}
    assert not any(each.contiguous or each.ordered for each in made.values())


@NAMES
@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        (None, SettingsError, "{splitter} needs classes, but the table has no target; use --splitter kfold"),
        (
            Target("y", "numbers", np.arange(60.0), (), "--target"),
            SettingsError,
            "{splitter} needs classes, but target 'y' holds numbers; use --splitter kfold",
        ),
        (
            Target("y", "classes", np.arange(60) // 3, tuple(map(str, range(20))), "--target"),
            DataError,
            "cannot cut 60 rows into 4 {named} folds: the largest class of 'y' has 3 rows; use --folds 3 or fewer",
        ),
    ],
)
def test_what_cannot_be_cut(splitter: str, target: Target | None, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.format(splitter=splitter, named=splitter.upper())):
        cut(replace(classed(), target=target), CutSettings(folds=4, splitter=splitter), seed=0)


@NAMES
@pytest.mark.parametrize("verb", [picsc.audit, picsc.cross_validate])
def test_images_have_no_columns_to_measure_distances_on(splitter: str, verb: Callable[..., object]) -> None:
    images = from_images(np.random.default_rng(0).integers(0, 256, (40, 16, 16)), np.arange(40) % 2, name="noise")
    with pytest.raises(SettingsError, match=rf"{splitter}.: noise has no columns .*; use splitter=.stratified."):
        verb(images, folds=4, splitter=splitter)


def test_the_audit_flags_folds_made_to_differ_and_passes_folds_made_alike() -> None:
    wine = load_wine(as_frame=True).frame
    shifted = picsc.audit(wine, folds=4, splitter="ms-scv", draws=199)  # of 3 folds, the middle one is near the level
    assert (shifted.verdict, len(shifted.shifted)) == ("shift", 4)
    assert shifted.summary[0].startswith("shift: 4 of 4 pieces (4 MS-SCV folds)")
    assert "made-to-differ" in {finding.code for finding in shifted.findings}
    alike = picsc.audit(wine, folds=4, splitter="dob-scv", draws=199)
    assert (alike.verdict, alike.null.unit) == ("ok", "rows within classes")
    told = {finding.code: finding.message for finding in alike.findings}
    assert "the test is conservative" in told["conservative-null"]
    plain = picsc.audit(wine, folds=3, draws=199, shuffle=True)
    assert not {"conservative-null", "made-to-differ"} & {finding.code for finding in plain.findings}


def test_cross_validation_deals_anew_in_every_repeat() -> None:
    iris = load_iris(as_frame=True).frame
    options = {"folds": 3, "splitter": "dob-scv", "strength": 0.1, "repeats": 2, "epochs": 5}
    report = picsc.cross_validate(iris, **options)  # type: ignore[arg-type]
    assert report.pieces == "3 DOB-SCV folds"
    assert "conservative-null" not in {finding.code for finding in report.findings}  # there is no null here
    [plain] = [method for method in report.methods if method.method == "st-cv"]
    assert {unit.repeat for unit in plain.units} == {1, 2}
    losses = {r: [unit.log_loss for unit in plain.units if unit.repeat == r] for r in (1, 2)}
    assert losses[1] != losses[2]
    again = picsc.cross_validate(iris, **options, shuffle=False)  # type: ignore[arg-type]
    assert [method.fragments for method in again.methods] == [method.fragments for method in report.methods]


def test_the_command_knows_the_splitters(tmp_path: Path) -> None:
    table = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(table, index=False)
    audit = ["audit", str(table), "--folds", "3", "--draws", "99", "--seed", "0", "--splitter"]
    result = CliRunner().invoke(app, [*audit, "ms-scv"])
    assert result.exit_code == 1
    assert "3 MS-SCV folds" in result.stdout
    wrong = CliRunner().invoke(app, [*audit, "dobscv"])
    assert wrong.exit_code == 2
    assert "'dob-scv'" in wrong.stderr
