"""Shifts made in one piece of a real table: for `benchmarks/audit_validity.py power`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from picsc.datasets.table import Dataset

KINDS = (
    "mean",
    "scale",
    "correlation",
    "noise",
    "selection",
    "label flip",
    "missingness",
    "knocked-out class",
    "interaction",
)
SHARES = (0.1, 0.5, 1.0)


def changed(dataset: Dataset, rows: np.ndarray, kind: str, share: float, rng: np.random.Generator) -> Dataset:
    """Change a share of the rows of one piece.

    mean: one numeric column up by half a standard deviation. scale: two numeric columns 1.5 times as wide. correlation:
    every column permuted among the changed rows. noise: half a standard deviation of Gaussian noise on every numeric
    column. selection: the changed rows are redrawn from the piece with odds that double per standard deviation of one
    column. label flip: the label of a fifth of the changed rows is another one. missingness: a fifth of the values of
    two columns is gone. knocked-out class: rows of one class give way to rows of the others. interaction: the
    values of a numeric column are dealt out anew among changed rows on the same side of its median, so that they are
    far from the median where those of another one are, too: both columns stay as they are, and about so does their
    correlation, since the two least correlated of ten random pairs are taken.
    """
    some = rng.choice(rows, max(1, round(share * len(rows))), replace=False)
    columns = list(dataset.columns)
    target = dataset.target
    numeric = [j for j, column in enumerate(columns) if not column.coded]
    values = [column.values.copy() for column in columns]
    y = target.values.copy()
    sd = {j: np.nanstd(values[j]) for j in numeric}
    if kind == "mean":
        j = rng.choice(numeric)
        values[j][some] += 0.5 * sd[j]
    elif kind == "scale":
        for j in rng.choice(numeric, min(2, len(numeric)), replace=False):
            centre = np.nanmean(values[j])
            values[j][some] = centre + 1.5 * (values[j][some] - centre)
    elif kind == "correlation":
        for j in range(len(values)):
            values[j][some] = values[j][rng.permutation(some)]
    elif kind == "noise":
        for j in numeric:
            values[j][some] += rng.normal(size=len(some)) * 0.5 * sd[j]
    elif kind == "selection":
        j = rng.choice(numeric)
        odds = np.exp2(np.nan_to_num((values[j][rows] - np.nanmean(values[j])) / max(sd[j], 1e-12)).clip(-6, 6))
        drawn = rng.choice(rows, len(some), p=odds / odds.sum())
        values = [_replaced(each, some, drawn) for each in values]
        y = _replaced(y, some, drawn)
    elif kind == "label flip":
        flipped = rng.choice(some, max(1, round(0.2 * len(some))), replace=False)
        y[flipped] = (y[flipped] + rng.integers(1, len(target.levels), len(flipped))) % len(target.levels)
    elif kind == "missingness":
        for j in rng.choice(len(values), 2, replace=False):
            gone = rng.choice(some, max(1, round(0.2 * len(some))), replace=False)
            values[j][gone] = -1 if columns[j].coded else np.nan
    elif kind == "interaction":
        first, second = _least_correlated(values, numeric, rng)
        far = np.abs(values[first] - np.nanmedian(values[first]))
        middle = np.nanmedian(values[second])
        for side in (values[second] >= middle, values[second] < middle):
            among = rng.permutation(some[side[some]])  # in random order, so that equal values are dealt at random
            dealt = values[second][among]
            dealt = dealt[np.argsort(np.abs(dealt - middle), kind="stable")]
            values[second][among[np.argsort(far[among], kind="stable")]] = dealt
    elif kind == "knocked-out class":
        out = y[rng.choice(some)]
        left = rows[y[rows] != out]
        lost = some[y[some] == out]
        if len(left):
            drawn = rng.choice(left, len(lost))
            values = [_replaced(each, lost, drawn) for each in values]
            y = _replaced(y, lost, drawn)
    return replace(
        dataset,
        columns=tuple(replace(column, values=each) for column, each in zip(columns, values, strict=True)),
        target=replace(target, values=y),
    )


def _least_correlated(values: list[np.ndarray], numeric: list[int], rng: np.random.Generator) -> tuple[int, int]:
    """The least correlated of ten random pairs of columns."""
    pairs = [tuple(rng.choice(numeric, 2, replace=False)) for _ in range(10)]
    filled = [[np.nan_to_num(values[j], nan=np.nanmean(values[j])) for j in pair] for pair in pairs]
    size = [abs(np.nan_to_num(np.corrcoef(*pair)[0, 1], nan=1.0)) for pair in filled]
    return pairs[int(np.argmin(size))]


def _replaced(values: np.ndarray, at: np.ndarray, by: np.ndarray) -> np.ndarray:
    out = values.copy()
    out[at] = values[by]
    return out
