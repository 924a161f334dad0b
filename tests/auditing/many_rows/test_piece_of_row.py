"""Folds without a list of rows are those that scikit-learn cuts."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from picsc.auditing.many_rows.piece_of_row import Ranks, Spelled, fold_ends, folds_of_classes, folds_of_rows


@pytest.mark.parametrize("seed", range(30))
def test_folds_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 8))
    y = np.append(rng.integers(0, int(rng.integers(1, 5)), int(rng.integers(20, 400))), np.zeros(k, np.int64))
    expected = np.empty(len(y), np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (_, test) in enumerate(StratifiedKFold(k).split(np.zeros(len(y)), y)):
            expected[test] = i
    spelled, ranks, codes, earlier = Spelled({}, []), Ranks(), [], []
    for part in np.array_split(y, int(rng.integers(1, 9))):
        own, found = pd.factorize(part)
        codes.append(spelled.add(own.astype(np.int64), [str(value) for value in found]))
        earlier.append(ranks.of(codes[-1]))
    ends = fold_ends(spelled.count, k)
    assert np.array_equal(folds_of_classes(np.concatenate(codes), np.concatenate(earlier), ends), expected)
    for i, (_, test) in enumerate(KFold(k).split(np.zeros(len(y)))):
        expected[test] = i
    assert np.array_equal(folds_of_rows(np.arange(len(y)), len(y), k), expected)


def test_missing_values_are_counted_apart() -> None:
    spelled = Spelled({}, [])
    assert spelled.add(np.array([0, -1, 1, 0]), ["b", "a"]).tolist() == [0, -1, 1, 0]
    assert spelled.add(np.array([-1, 0]), ["a"]).tolist() == [-1, 1]
    assert (spelled.code, spelled.count, spelled.missing) == ({"b": 0, "a": 1}, [2, 2], 2)
