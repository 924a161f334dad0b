"""New rows against a model's training rows, of which counts alone are left: what has shifted, and how far.

Letters: n training rows and m new rows with a value, c cells, b draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.table import Column, Dataset
from picsc.evaluation.holm import holm
from picsc.reports.predict import ColumnShift
from picsc.saved_models.training_rows import ColumnCounts, TrainingRows

LEVEL = 0.05
"""Chance, at most, that any column is called shifted where none is."""
SMALLEST = 0.05
"""Smallest effect that is called a shift, as a share of the rows: the same as that of the audit."""
FEWEST = 20
"""New rows with a value below which a column is inconclusive unless it is shifted."""
FEWEST_DRAWS, MOST_DRAWS = 1999, 20_000
AT_ONCE = 2_000_000
"""Numbers that draws hold at once."""
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Draw = Callable[[int], Counts]
"""From a number of draws to counts of new rows, (draws, c)."""


def input_shift(training: TrainingRows, table: Dataset, *, seed: int = 0) -> tuple[ColumnShift, ...]:
    """Compare every column of new rows with the training rows.

    Reading: two questions for each column, whether its values are distributed alike and whether as many are missing; p
        is twice the smaller of both, and Holm's correction is over the columns. Levels, and numbers that are counted
        one by one, are cells whose totals over both are held fixed: if rows are exchangeable, the new ones are a random
        part of them (multivariate hypergeometric). The bins of other numbers end at training values: given these, new
        values fall into the spaces between n training values uniformly, and counts are Dirichlet-multinomial whatever
        the distribution, as long as few values are equal. Both are drawn, so that p-values hold for any number of rows;
        they assume that rows do not depend on one another.

    Args:
        training: counts of the training rows.
        table: new rows, in the columns of the model.
        seed: of the draws.

    Returns:
        The columns in the order of the model.
    """
    generator = np.random.default_rng([seed, 21])
    draws = int(np.clip(60 * len(training.columns), FEWEST_DRAWS, MOST_DRAWS))
    found = [
        _compared(counts, column, draws, generator)
        for counts, column in zip(training.columns, table.columns, strict=True)
    ]
    adjusted = holm([each.p for each in found])
    return tuple(_judged(each, p) for each, p in zip(found, adjusted, strict=True))


def _judged(found: ColumnShift, p: float | None) -> ColumnShift:
    effect = max(found.distance or 0.0, abs(found.missing_now - found.missing_before))
    if p is not None and p <= LEVEL and effect >= SMALLEST:
        return replace(found, p_holm=p, verdict="shift")
    return replace(found, p_holm=p, verdict="inconclusive" if found.rows < FEWEST else "ok")


def _compared(counts: ColumnCounts, column: Column, draws: int, generator: np.random.Generator) -> ColumnShift:
    """One column; its p-value is not adjusted yet."""
    values, missing = _present(column)
    m = len(values)
    ps = []
    if counts.missing or missing:
        with_value, now_with_value = _counts((counts.present, counts.missing)), _counts((m, missing))
        ps.append(_by_permutation(with_value, now_with_value, draws, generator))
    distance = moved = None
    words = ""
    if m and counts.present:
        if counts.levels or counts.one_by_one:
            before, now, names = _cells(counts, values)
            ps.append(_by_permutation(before, now, draws, generator))
            distance, words = _of_levels(before, now, names) if counts.levels else (_steps(before, now), "")
        else:
            before = _counts(counts.counts)
            bins = np.searchsorted(np.asarray(counts.edges), values.astype(np.float64), side="left")
            now = np.bincount(bins, minlength=len(before)).astype(np.int64)
            ps.append(_by_spaces(before, now, draws, generator))
            distance = _steps(before, now)
        if counts.mean is not None and counts.deviation:
            moved = float((values.astype(np.float64).mean() - counts.mean) / counts.deviation)
    return ColumnShift(
        counts.name,
        m,
        None if not ps else min(1.0, len(ps) * min(ps)),
        None,
        distance,
        moved,
        counts.missing / max(1, counts.present + counts.missing),
        missing / max(1, m + missing),
        words,
        "ok",
    )


def _present(column: Column) -> tuple[NDArray[np.generic], int]:
    """The values of the rows that have one, levels as words; and the number of rows that have none."""
    if not column.coded:
        there = ~column.missing
        return column.values[there], int((~there).sum())
    if column.raw is not None:  # with the levels that the model does not know
        codes, levels = column.raw.data, column.raw.levels
    else:
        codes, levels = column.values, column.levels
    there = codes >= 0
    return np.asarray(levels, object)[codes[there].astype(np.int64)], int((~there).sum())


def _cells(counts: ColumnCounts, values: NDArray[np.generic]) -> tuple[Counts, Counts, list[str]]:
    """Counts of both for every level or number that either has, and their names; numbers increase."""
    known: Sequence[str] | Sequence[float] = counts.levels or counts.edges
    now_names, now_each = np.unique(values, return_counts=True)
    before = dict(zip(known, counts.counts, strict=True))
    now = dict(zip(now_names.tolist(), now_each.tolist(), strict=True))
    if counts.levels and sum(counts.counts) < counts.present:  # more levels than are counted: compare those that are
        now = {name: rows for name, rows in now.items() if name in before}
    names = [*before, *(name for name in now if name not in before)]
    names = names if counts.levels else sorted(names)
    return (
        _counts([before.get(name, 0) for name in names]),
        _counts([now.get(name, 0) for name in names]),
        list(map(str, names)),
    )


def _counts(values: Sequence[int]) -> Counts:
    return np.asarray(values, np.int64)


def _shares(counts: Counts) -> Floats:
    return counts / max(1, int(counts.sum()))


def _of_levels(before: Counts, now: Counts, names: Sequence[str]) -> tuple[float, str]:
    """The largest change of a level's share, and words on it."""
    old, new = _shares(before), _shares(now)
    i = int(np.abs(new - old).argmax())
    return float(abs(new[i] - old[i])), f"{names[i]!r}: {100 * old[i]:.1f} % in training, {100 * new[i]:.1f} % here"


def _steps(before: Counts, now: Counts) -> float:
    """Largest distance of both distribution functions at the ends of the bins."""
    return float(np.abs(np.cumsum(_shares(now) - _shares(before))).max())


def _by_permutation(before: Counts, now: Counts, draws: int, generator: np.random.Generator) -> float:
    """P-value of Pearson's statistic where the new rows are a random part of all rows."""
    totals = before + now
    m = int(now.sum())
    if m == 0 or int(before.sum()) == 0 or len(totals) < 2:
        return 1.0
    expected = totals * (m / totals.sum())

    def draw(some: int) -> Counts:
        return generator.multivariate_hypergeometric(totals, m, size=some, method="marginals")

    return _p(now, expected, draw, draws)


def _by_spaces(before: Counts, now: Counts, draws: int, generator: np.random.Generator) -> float:
    """P-value of Pearson's statistic where new values fall between training values by chance."""
    spaces = before.astype(np.float64)
    spaces[-1] += 1  # above the largest training value
    m = int(now.sum())

    def draw(some: int) -> Counts:
        return generator.multinomial(m, generator.dirichlet(spaces, size=some))

    return _p(now, m * spaces / spaces.sum(), draw, draws)


def _p(observed: Counts, expected: Floats, draw: Draw, draws: int) -> float:
    def statistic(counts: Counts) -> Floats:
        return np.asarray((np.square(counts - expected) / expected).sum(-1), np.float64)

    bound = float(statistic(observed)) * (1 - 1e-9)
    step = max(1, AT_ONCE // len(observed))
    above = sum(int((statistic(draw(min(step, draws - start))) >= bound).sum()) for start in range(0, draws, step))
    return (1 + above) / (1 + draws)
