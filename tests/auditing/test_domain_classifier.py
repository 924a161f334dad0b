import numpy as np
import pandas as pd
from scipy.stats import rankdata

import picsc
from picsc.auditing.domain_classifier import _ranks, held_out_ranks
from picsc.auditing.exchangeability import Contrast


def test_ranks_share_ties() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0])
    np.testing.assert_allclose(_ranks(values), (rankdata(values) - 0.5) / 4 - 0.5)


def test_a_joint_shift_that_no_column_shows_is_ranked_high() -> None:
    """Piece 0 has two equal columns, piece 1 two independent ones: marginals are the same."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 300).astype(np.int64)
    x = rng.normal(size=(600, 2)).astype(np.float32)
    x[:300, 1] = x[:300, 0]
    ranks, _ = held_out_ranks(x, labels, Contrast(2, (0, 1), "rest"), seed=0, jobs=1)
    assert ranks[labels == 0, 0].mean() - ranks[labels == 1, 0].mean() > 0.2


def test_ranks_of_noise_are_about_even_and_jobs_change_nothing() -> None:
    """Held-out AUC of 300 against 300 rows of noise has a standard error of 0.024 per half: 0.13 is beyond 5."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], 200).astype(np.int64)
    x = rng.normal(size=(600, 3)).astype(np.float32)
    one, two = (held_out_ranks(x, labels, Contrast(3, (1, 2), (0, 0)), seed=0, jobs=jobs)[0] for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert abs(one[labels == 1, 0].mean() - one[labels == 0, 0].mean()) < 0.13


def test_as_many_pieces_as_half_the_rows_warn_of_nothing() -> None:
    labels = np.repeat(np.arange(30), 2).astype(np.int64)
    x = np.random.default_rng(2).normal(size=(60, 2)).astype(np.float32)
    assert held_out_ranks(x, labels, Contrast(30, (0, 1), "rest"), seed=0, jobs=1)[0].shape == (60, 2)


def test_the_columns_that_go_together_in_one_piece_only_are_named() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.normal(size=1000) for name in "abcde"})
    frame.loc[800:, "b"] = 0.95 * frame.loc[800:, "d"] + 0.31 * rng.normal(size=200)
    report = picsc.audit(frame, no_target=True, folds=5, draws=199)
    last = report.fragments[4]
    assert last.verdict == "shift"
    assert set(last.classifier_columns) == {"b", "d"}
    assert last.moved(report.level) == ()
    assert "no single column does; it relies most on" in report.summary[1]
    assert {fragment.classifier_columns for fragment in report.fragments[:4]} == {()}


def test_columns_of_levels_are_dealt_out_whole() -> None:
    """`colour` tells `odd` rows apart only together with `shape`."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.choice(list("pqr"), 1500) for name in ("colour", "shape", "other")})
    frame.loc[1200:, "shape"] = frame.loc[1200:, "colour"]
    report = picsc.audit(frame, no_target=True, folds=5, draws=199)
    assert set(report.fragments[4].classifier_columns) == {"colour", "shape"}
