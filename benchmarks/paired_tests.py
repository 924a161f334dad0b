"""Do the paired tests hold their level, and do the 95 % intervals hold the truth?

    python benchmarks/paired_tests.py [--tables 1000] [--only WORD]

Every table is drawn anew from one distribution. Two learners of the same kind, one on the first half of the columns and
one on the second, are equally good on average over tables, since all columns are alike: a test of their difference
should reject in 5 % of the tables. The 95 % interval of the first learner's own score should hold its mean over all
tables in 95 %. Classes are learned by the nearest class mean, numbers by least squares.

Where a test speaks of the rows tested or of seeds alone, given the rows trained on, the truth is the score of these
very models on the whole distribution, which is known in closed form.

Splits are shared by all tables of a design, which spares time: rows of a table are independent draws.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from picsc.evaluation import paired_tests as paired
from picsc.reports.common import Interval, Metric

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Tables:
    """Many tables of one distribution: two halves of columns that say the same of the target."""

    x: Floats
    """(tables, rows, columns)."""
    y: Floats
    """(tables, rows): classes 0 and 1, or numbers."""
    metric: Metric
    signal: float

    def halves(self) -> tuple[slice, slice]:
        half = self.x.shape[2] // 2
        return slice(half), slice(half, 2 * half)


def draw(tables: int, rows: int, columns: int, signal: float, metric: Metric, seed: int = 0) -> Tables:
    rng = np.random.default_rng(seed)
    if metric == "accuracy":
        y = np.tile([0.0, 1.0], (tables, rows // 2))
        return Tables(rng.normal(size=(tables, rows, columns)) + signal * (2 * y[..., None] - 1), y, metric, signal)
    x = rng.normal(size=(tables, rows, columns))
    return Tables(x, signal * x.sum(-1) + rng.normal(size=(tables, rows)), metric, signal)


def learned(tables: Tables, train: Rows, columns: slice) -> tuple[Floats, Floats]:
    """Weights (tables, columns) and offset (tables,) of a linear model of some rows."""
    x, y = tables.x[:, train, columns], tables.y[:, train]
    if tables.metric == "accuracy":
        one, zero = x[:, y[0] == 1].mean(1), x[:, y[0] == 0].mean(1)
        return one - zero, -((one + zero) / 2 * (one - zero)).sum(-1)
    centre, level = x.mean(1, keepdims=True), y.mean(1)
    x = x - centre
    moments = np.swapaxes(x, 1, 2) @ x + 1e-9 * np.eye(x.shape[2])
    weights = np.linalg.solve(moments, (np.swapaxes(x, 1, 2) @ (y - level[:, None])[..., None]))[..., 0]
    return weights, level - (weights * centre[:, 0]).sum(-1)


def by_row(tables: Tables, train: Rows, test: Rows, columns: slice) -> Floats:
    """Contribution of every test row to the score, (tables, test rows)."""
    weights, offset = learned(tables, train, columns)
    outputs = np.einsum("tnc,tc->tn", tables.x[:, test, columns], weights) + offset[:, None]
    y = tables.y[:, test]
    if tables.metric == "accuracy":
        return ((outputs > 0) == (y == 1)).astype(np.float64)
    return 1 - (y - outputs) ** 2 / y.var(1, keepdims=True)


def everywhere(tables: Tables, train: Rows, columns: slice) -> Floats:
    """Accuracy of the models on the whole distribution, (tables,)."""
    weights, offset = learned(tables, train, columns)
    size = np.sqrt((weights**2).sum(-1))
    reach = tables.signal * weights.sum(-1)
    return (norm.cdf((reach + offset) / size) + norm.cdf((reach - offset) / size)) / 2


@dataclass(frozen=True, slots=True)
class Found:
    """One design."""

    design: str
    test: str
    tables: int
    rejected: float | None
    """Share of tables whose p is below the level; None where the truth is not that of equal learners."""
    covered: float | None
    """Share of the intervals of the difference that hold the truth."""
    own: float | None
    """Share of the intervals of the first learner's own score that hold the truth."""


Test = Callable[[int, Floats], paired.Paired | None]
"""A test of the values of one table; the first argument is its number."""


def judged(design: str, name: str, values: tuple[Floats, Floats], test: Test, metric: Metric) -> Found:
    """Apply a test to the differences and to the own scores of all tables; their truths are 0 and the mean."""
    ours, theirs = values
    truth = float(np.nanmean(ours))
    of_differences = [test(t, ours[t] - theirs[t]) for t in range(len(ours))]
    p = [1.0 if found is None or found.p is None else found.p for found in of_differences]
    intervals = [paired.difference_interval(found, metric) for found in of_differences]
    own = [paired.score_interval(test(t, ours[t]), metric) for t in range(len(ours))]
    return Found(design, name, len(ours), float(np.mean(np.array(p) < LEVEL)), held(intervals, 0.0), held(own, truth))


def held(intervals: list[Interval | None], truth: float | Floats) -> float:
    """Share of the intervals that hold the truth, of those that exist."""
    truths = np.broadcast_to(truth, len(intervals))
    known = [(one, each) for one, each in zip(intervals, truths, strict=True) if one is not None]
    return float(np.mean([one.low <= each <= one.high for one, each in known]))


def batches(tables: Tables, pieces: int, repeats: int, share: float, *, corrected: bool = True) -> Found:
    """`picsc cv --batches`: models of pieces, tested on rows that are drawn anew in every repeat."""
    n = tables.x.shape[1]
    tested = round(share * n)
    scores = np.empty((2, len(tables.x), repeats, pieces))
    rng = np.random.default_rng(1)
    for r in range(repeats):
        order = rng.permutation(n)
        for k, piece in enumerate(np.array_split(np.sort(order[tested:]), pieces)):
            for m, columns in enumerate(tables.halves()):
                scores[m, :, r, k] = by_row(tables, piece, order[:tested], columns).mean(-1)

    def test(_: int, values: Floats) -> paired.Paired | None:
        if not corrected:
            return paired.repeats_t(values.mean(1))
        return paired.holdout_t(values, tested, n - tested)

    design = f"{pieces} batches of {n} rows, {repeats} repeats"
    return judged(design, "holdout_t" if corrected else "repeats_t (before)", (*scores,), test, tables.metric)


def folds(tables: Tables, pieces: int, repeats: int, *, redrawn: bool) -> Found:
    """`picsc cv --folds`; folds that are not redrawn are those of `--by`, whose repeats differ by seeds alone."""
    n = tables.x.shape[1]
    scores = np.empty((2, len(tables.x), repeats, pieces))
    rng = np.random.default_rng(2)
    order = rng.permutation(n)
    for r in range(repeats):
        order = rng.permutation(n) if redrawn else order
        for k, piece in enumerate(np.array_split(order, pieces)):
            train = np.setdiff1d(np.arange(n), piece)
            train = train if redrawn else part(train, rng)
            for m, columns in enumerate(tables.halves()):
                scores[m, :, r, k] = by_row(tables, train, piece, columns).mean(-1)

    def test(_: int, values: Floats) -> paired.Paired | None:
        return paired.resampled_t(values if redrawn else values.mean(0)[None], 1, pieces - 1)

    design = f"{pieces} folds of {n} rows, {repeats} repeats, {'redrawn' if redrawn else 'the same folds'}"
    return judged(design, "resampled_t", (*scores,), test, tables.metric)


def clients(tables: Tables, repeats: int, share: float) -> Found:
    """`picsc fed`, and targets that `picsc compare` draws anew: one model per seed, tested on rows of its own draw."""
    n = tables.x.shape[1]
    tested = round(share * n)
    scores = np.empty((2, len(tables.x), repeats))
    rng = np.random.default_rng(3)
    for r in range(repeats):
        order = rng.permutation(n)
        for m, columns in enumerate(tables.halves()):
            scores[m, :, r] = by_row(tables, order[tested:], order[:tested], columns).mean(-1)

    def test(_: int, values: Floats) -> paired.Paired | None:
        return paired.resampled_t(values[:, None], share, 1 - share)

    return judged(f"one model of {n} rows, {repeats} seeds", "resampled_t", (*scores,), test, tables.metric)


def same_test_rows(tables: Tables, repeats: int, test_name: str) -> Found:
    """Test rows that are the same with every seed, as of `--time` or of an official part; the rows trained on too.

    The truth is the mean over seeds of these learners on the whole distribution; `repeats_t` speaks of seeds alone, so
    its truth is the mean over seeds on these very test rows.
    """
    n = tables.x.shape[1]
    train, tested = np.arange(n // 2), np.arange(n // 2, n)
    rng = np.random.default_rng(4)
    seeds = [part(train, rng) if repeats > 1 else train for _ in range(repeats)]
    more = [part(train, rng) for _ in range(60)] if repeats > 1 else seeds
    rows = np.stack([[by_row(tables, s, tested, c) for s in seeds] for c in tables.halves()])  # (2, R, T, m)
    if test_name == "repeats_t":
        population = [[by_row(tables, s, tested, c).mean(-1) for s in more] for c in tables.halves()]
    else:
        population = [[everywhere(tables, s, c) for s in more] for c in tables.halves()]
    truth = np.mean(population, axis=1)  # (2, T)

    def test(values: Floats) -> paired.Paired | None:  # (R, m)
        if test_name == "rows_t":
            return paired.rows_t(values[0], np.zeros(len(values[0])))
        if test_name == "repeats_t":
            return paired.repeats_t(values.mean(1))
        return paired.rows_and_repeats_t([values.mean(0)], values.mean(1))

    every = range(len(tables.x))
    differences = [paired.difference_interval(test(rows[0, :, t] - rows[1, :, t]), tables.metric) for t in every]
    own = [paired.score_interval(test(rows[0, :, t]), tables.metric) for t in every]
    design = f"the same {n // 2} test rows, {repeats} {'seed' if repeats == 1 else 'seeds'}"
    return Found(design, test_name, len(every), None, held(differences, truth[0] - truth[1]), held(own, truth[0]))


def over_sets(tables: int, sets: int) -> Iterator[Found]:
    """`picsc run`: one result per data set."""
    rng = np.random.default_rng(5)
    found = [paired.compare_across_datasets(*rng.normal(0.8, 0.05, size=(2, sets))) for _ in range(tables)]
    for name in ("Student's t", "signed ranks"):
        ps = [1.0 if one is None else (one.t.p if name == "Student's t" else one.wilcoxon_p) for one in found]
        rejected = float(np.mean([p is not None and p < LEVEL for p in ps]))
        intervals = [None if one is None else one.t.interval for one in found]
        covered = held(intervals, 0.0) if name == "Student's t" else None
        yield Found(f"{sets} data sets", f"compare_across_datasets, {name}", tables, rejected, covered, None)


def part(rows: Rows, rng: np.random.Generator) -> Rows:
    """Nine tenths of some rows: what a seed does to a model of them."""
    return np.sort(rng.permutation(rows)[: 9 * len(rows) // 10])


def designs(count: int) -> Iterator[tuple[str, Callable[[], list[Found]]]]:
    """Every design by name; each is computed when it is called."""
    for rows, pieces in ((300, 5), (300, 20), (1000, 10)):
        for repeats in (5, 10, 30):
            few = count if rows == 300 else max(1, count // 2)
            yield (
                f"batches {rows}/{pieces} {repeats}",
                lambda n=rows, k=pieces, r=repeats, t=few: [batches(draw(t, n, 12, 0.35, "accuracy"), k, r, 0.2)],
            )
    yield (
        "batches before",
        lambda: [batches(draw(count, 300, 12, 0.35, "accuracy"), 5, r, 0.2, corrected=False) for r in (5, 30)],
    )
    yield "batches R2", lambda: [batches(draw(count, 300, 6, 0.5, "R2"), 5, 5, 0.2)]
    for redrawn in (True, False):
        yield (
            f"folds {redrawn}",
            lambda again=redrawn: [folds(draw(count, 300, 12, 0.35, "accuracy"), 5, 5, redrawn=again)],
        )
    yield "folds R2", lambda: [folds(draw(count, 300, 6, 0.5, "R2"), 5, 5, redrawn=True)]
    yield "clients", lambda: [clients(draw(count, 300, 12, 0.35, "accuracy"), r, 0.2) for r in (5, 10)]
    yield "clients R2", lambda: [clients(draw(count, 300, 6, 0.5, "R2"), 5, 0.2)]
    for repeats, name in ((1, "rows_t"), (5, "rows_and_repeats_t"), (5, "repeats_t")):
        yield (
            f"same {name}",
            lambda r=repeats, test=name: [same_test_rows(draw(count, 400, 12, 0.35, "accuracy"), r, test)],
        )
    yield "sets", lambda: list(over_sets(count, 20))


def band(tables: int, rate: float) -> str:
    """95 % binomial interval around a rate, in percent."""
    low, high = binom.interval(0.95, tables, rate)
    return f"{100 * low / tables:.1f} to {100 * high / tables:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000, help="tables per design; half of them of 1000 rows")
    parser.add_argument("--only", default="", help="run designs whose name has this word")
    options = parser.parse_args()
    print(f"Settings: `{json.dumps(vars(options))}`\n")
    titles = ("p < 0.05, %", "band around 5 %", "difference's interval, %", "own interval, %")
    print(f"| {' | '.join(('design', 'score', 'test', 'tables', *titles))} |")
    print("|---|---|---|---|---|---|---|---|")
    for name, compute in designs(options.tables):
        if options.only not in name:
            continue
        for found in compute():
            cells = [found.rejected, found.covered, found.own]
            shown = ["-" if cell is None else f"{100 * cell:.1f}" for cell in cells]
            score = "R2" if "R2" in name else "accuracy"
            about = [found.design, score, found.test, str(found.tables)]
            print(f"| {' | '.join([*about, shown[0], band(found.tables, LEVEL), *shown[1:]])} |", flush=True)


if __name__ == "__main__":
    main()
