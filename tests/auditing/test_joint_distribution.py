import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

import picsc
from picsc.auditing.contrast_forest import contrast_forest
from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, Ints, PermutationScheme
from picsc.auditing.joint_distribution import RIDGE, JointDraws, _auc, joint_of
from picsc.auditing.permutations import label_draws
from picsc.auditing.table_view import audit_table
from picsc.datasets.encoding import encode
from picsc.datasets.memory import from_memory
from picsc.settings import ReadSettings

SOME = np.repeat([0, 1, 2], 100).astype(np.int64)


def _together(n: int = 300, columns: int = 3, seed: int = 0) -> pd.DataFrame:
    """Columns that depend on one another."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 1))
    return pd.DataFrame(shared + rng.normal(size=(n, columns)), columns=list("abcdefgh")[:columns])


def _joint(frame: pd.DataFrame, labels: Ints, scheme: PermutationScheme | None = None, jobs: int = 1) -> JointDraws:
    inputs = audit_table(from_memory(frame, None, ReadSettings(no_target=True)), seed=0)
    pieces = int(labels.max()) + 1
    design = Design(labels, Contrast(pieces, tuple(range(pieces)), "rest"), scheme or PermutationScheme())
    null = label_draws(inputs.contributions, design, rows=20_000, draws=199, seed=0)
    return joint_of(inputs, null, seed=0, jobs=jobs)


def test_the_squared_distance_is_the_mean_chi_squared_one_of_the_trees_leaves_and_is_regularised() -> None:
    frame = _together(60)
    labels = np.repeat([0, 1, 2], 20).astype(np.int64)
    found = _joint(frame, labels)
    assert found.forest is not None
    x = encode(from_memory(frame, None, ReadSettings(no_target=True))).matrix
    chi_squared = []
    for tree in found.forest.forest.estimators_:
        leaves = tree.apply(x)
        all_rows = np.bincount(leaves) / 60
        ours, theirs = np.bincount(leaves[:20], minlength=len(all_rows)) / 20, np.bincount(leaves[20:]) / 40
        reached = all_rows > 0
        chi_squared.append((np.square(ours - theirs)[reached] / all_rows[reached]).sum())
    features = found.forest.features(x)
    apart = np.square(features[:20].mean(0) - features[20:].mean(0))
    assert apart.sum() == pytest.approx(np.mean(chi_squared), rel=1e-3)
    variance = features.var(0)
    n_eff = 1 / (1 / 20 + 1 / 40)
    regularised = (apart / (variance + RIDGE * variance.max())).sum()
    assert found.statistic[0, 0].item() / n_eff == pytest.approx(regularised, rel=1e-3)


def test_many_rows_keep_the_leading_part_of_the_kernel() -> None:
    """Beyond the exact kernel, 256 features hold most of the distance of a shifted piece."""
    frame = _together(2_000, 4)
    frame.loc[1_600:, "a"] = np.random.default_rng(1).permutation(frame.loc[1_600:, "a"])
    x = encode(from_memory(frame, None, ReadSettings(no_target=True))).matrix
    forest = contrast_forest(x, np.arange(4), seed=0, jobs=1)
    assert forest is not None
    leaves = np.stack([tree.apply(x) for tree in forest.forest.estimators_], 1)
    exact = np.mean([_chi_squared(column[1_600:], column[:1_600]) for column in leaves.T])
    features = forest.features(x)
    assert features.shape == (2_000, 256)
    kept = np.square(features[1_600:].mean(0) - features[:1_600].mean(0)).sum()
    assert 0.7 * exact < kept <= 1.001 * exact


def _chi_squared(ours: Ints, theirs: Ints) -> float:
    size = int(max(ours.max(), theirs.max())) + 1
    p, q = np.bincount(ours, minlength=size) / len(ours), np.bincount(theirs, minlength=size) / len(theirs)
    share = (p * len(ours) + q * len(theirs)) / (len(ours) + len(theirs))
    return float((np.square(p - q)[share > 0] / share[share > 0]).sum())


def test_auc_leaves_each_row_out_of_what_it_is_compared_with() -> None:
    rng = np.random.default_rng(2)
    features = rng.normal(size=(30, 3)).astype(np.float32)
    features[:10] += 1
    labels = np.repeat([0, 1], [10, 20]).astype(np.int64)
    kernel = features @ features.T
    score = []
    for i in range(30):
        ours, theirs = np.delete(np.arange(10), i if i < 10 else []), np.arange(10, 30)
        theirs = theirs[theirs != i]
        score.append(kernel[i, ours].mean() - kernel[i, theirs].mean())
    expected = roc_auc_score(labels == 0, score)
    assert _auc(features, labels, Contrast(2, (0,), "rest"))[0].item() == pytest.approx(expected)
    assert expected > 0.6


def test_jobs_change_nothing_and_noise_is_told_apart_by_chance_only() -> None:
    """The AUC of 100 against 200 rows of noise has a standard error of 0.035."""
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(300, 3)), columns=list("abc"))
    one, two = (_joint(frame, SOME, jobs=jobs) for jobs in (1, 2))
    assert torch.equal(one.statistic, two.statistic)
    assert (one.auc - 0.5).abs().max() < 0.15


def test_a_single_column_has_no_joint_distribution_to_test() -> None:
    found = _joint(_together(columns=1), SOME)
    assert not found.statistic.any()
    assert found.auc.tolist() == [0.5, 0.5, 0.5]


def test_persons_that_differ_are_no_shift_where_whole_persons_are_dealt_out() -> None:
    """Rows of one person are nearly equal; the forest never knows the person, so the null of whole persons holds."""
    rng = np.random.default_rng(3)
    alarms = 0
    for seed in range(20):
        person = np.repeat(np.arange(60), 12)
        frame = pd.DataFrame(
            np.sqrt(0.95) * rng.normal(size=(60, 3))[person] + np.sqrt(0.05) * rng.normal(size=(720, 3))
        )
        frame.columns = list("abc")
        labels = (np.random.default_rng(seed).permutation(60) % 5)[person].astype(np.int64)
        draws = _joint(frame, labels, PermutationScheme(units=person.astype(np.int64))).statistic[:, 0]
        alarms += int((draws >= draws[0]).double().mean() <= 0.05)
    assert alarms <= 4  # of 20 at level 0.05: more than 4 has probability 0.003


def test_the_columns_that_go_together_in_one_piece_only_are_named() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.normal(size=1000) for name in "abcde"})
    frame.loc[800:, "b"] = 0.95 * frame.loc[800:, "d"] + 0.31 * rng.normal(size=200)
    report = picsc.audit(frame, no_target=True, folds=5, draws=199)
    last = report.fragments[4]
    assert last.verdict == "shift"
    assert set(last.classifier_columns) == {"b", "d"}
    assert last.moved(report.level) == ()
    assert "columns go together in another way" in report.summary[1]
    assert "matter most" in report.summary[1]
    assert {fragment.classifier_columns for fragment in report.fragments[:4]} == {()}


def test_columns_of_levels_are_dealt_out_whole() -> None:
    """`colour` tells `odd` rows apart only together with `shape`."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.choice(list("pqr"), 1500) for name in ("colour", "shape", "other")})
    frame.loc[1200:, "shape"] = frame.loc[1200:, "colour"]
    report = picsc.audit(frame, no_target=True, folds=5, draws=199)
    assert set(report.fragments[4].classifier_columns) == {"colour", "shape"}


@pytest.mark.slow
def test_two_columns_whose_sizes_go_together_in_one_piece_are_found() -> None:
    """Both stay as they are, and so does their correlation, 0: only the joint distribution shows it.

    It is found in 20 of 20 tables; if in 85 % of all, fewer than 7 would have probability 1e-7. By its columns alone
    such a piece is found at the level of the test.
    """
    found = by_columns = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 9])
        x = rng.normal(size=(1250, 4))
        size = np.sort(np.abs(x[1000:, 1]))[np.argsort(np.argsort(np.abs(x[1000:, 0])))]
        x[1000:, 1] = rng.choice([-1, 1], 250) * size
        frame = pd.DataFrame(x, columns=list("abcd")).assign(piece=np.repeat(np.arange(5), 250))
        last = picsc.audit(frame, no_target=True, by="piece", draws=199, seed=seed, jobs=1).fragments[4]
        found += last.verdict == "shift"
        by_columns += bool(last.moved(0.05))
    assert found >= binom.ppf(1e-7, 20, 0.85)
    assert by_columns <= binom.ppf(1 - 1e-6, 20, 0.05)
