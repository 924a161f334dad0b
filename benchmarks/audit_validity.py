"""Do the audit's error rates hold, and what does it see that its peers do not?

    python benchmarks/audit_validity.py validity --audits 1200 --jobs 2 [--table FILE.csv ...]
    python benchmarks/audit_validity.py power --repeats 60 --jobs 2 [--table FILE.csv ...]

`validity` shuffles real tables, cuts them into stratified folds and audits them: nothing is shifted, so at level 0.05
at most one audit in twenty may report a shift (family-wise, before --min-effect is applied). `power` changes one of
five pieces in a known way and counts which tests find it, on the same rows and seeds:

- KS-Bonferroni: two-sample KS of every encoded column and of the label, Bonferroni over columns and pieces
- MMD: Gaussian kernel with the median distance, on encoded columns and label, 499 permutations, Bonferroni over pieces
- C2ST: random forest on encoded columns and label, learned on one half, Mann-Whitney p on the other, Bonferroni
- BBSDs-KS: KS of the out-of-bag class probabilities of a random forest, Bonferroni over classes and pieces

Tables have no header and the class last, unless the first line holds names; scikit-learn's own sets are always there.
Everything that a peer needs is computed for the changed piece alone, which spares time and changes no p-value.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy.stats import binom, ks_2samp, mannwhitneyu
from sklearn.ensemble import RandomForestClassifier

from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.table_view import audit_table
from picsc.auditing.two_questions import ShiftTest, shift_test
from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.encoding import encode
from picsc.datasets.load import load
from picsc.datasets.rows import take
from picsc.datasets.table import Dataset
from picsc.fragments import cut
from picsc.settings import CutSettings, ReadSettings

LEVEL = 0.05
PIECES = 5
CHANGED = 2
KINDS = ("mean", "scale", "correlation", "noise", "selection", "label flip", "missingness", "knocked-out class")
SHARES = (0.1, 0.5, 1.0)
SIZES = (50, 200, 1000)


@lru_cache(maxsize=32)
def table(name: str) -> Dataset:
    """A bundled set by name, or a file."""
    path = Path(name)
    if not path.suffix:
        return by_name(name, ReadSettings())
    first = path.read_text(encoding="utf-8").split("\n", 1)[0].split(",")
    header = sum(cell.strip().replace(".", "", 1).lstrip("-").isdigit() for cell in first) == 0
    named = header and len(set(first)) == len(first) and path.parent.name != "csv"
    return load(path, ReadSettings(header=named, target=None if named else f"c{len(first)}"))


def title(name: str) -> str:
    return Path(name).stem


def results(function: Callable, work: list[tuple], jobs: int, keep: Path | None) -> Iterator[tuple]:
    """(arguments, result) as they come; each process keeps to one core. What `keep` holds already is not done again."""
    done = {}
    if keep is not None and keep.exists():
        done = {json.dumps(args): found for args, found in map(json.loads, keep.read_text("utf-8").splitlines())}
    for each in work:
        if json.dumps(each) in done:
            yield each, done[json.dumps(each)]
    left = [each for each in work if json.dumps(each) not in done]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(function, *each): each for each in left}
        for future in as_completed(waiting):
            each, found = waiting[future], future.result()
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([each, found]) + "\n")
            yield each, found


def progress(done: int, total: int) -> None:
    if done % 50 == 0 or done == total:
        print(f"{done} of {total}", file=sys.stderr, flush=True)


# --- validity ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=60)
def prepared(name: str, seed: int):
    """The audit's table; it does not depend on the cut, so cuts may share it."""
    return audit_table(table(name), seed=seed)


def false_alarm(name: str, repeat: int, folds: int, draws: int) -> bool:
    torch.set_num_threads(1)
    dataset = table(name)
    pieces = cut(dataset, CutSettings(folds=folds, shuffle=True), seed=repeat)
    labels = np.empty(dataset.n, np.int64)
    for i, fragment in enumerate(pieces.fragments):
        labels[fragment.rows] = i
    test = shift_test(
        prepared(name, repeat % 5),
        Design(labels, Contrast(folds, tuple(range(folds)), "rest"), PermutationScheme(strata=pieces.strata)),
        level=LEVEL,
        draws=draws,
        seed=repeat,
        jobs=1,
    )
    return bool(smallest_p(test).min() <= LEVEL)


def smallest_p(test: ShiftTest) -> np.ndarray:
    both = [test.data.p_adjusted] + ([] if test.model is None else [test.model.p_adjusted])
    return np.minimum.reduce(both)


def validity(names: list[str], audits: int, folds: int, draws: int, jobs: int, keep: Path | None) -> str:
    each = -(-audits // len(names))
    ordered = sorted(names, key=lambda name: table(name).n * len(table(name).columns))
    work = [(name, repeat, folds, draws) for repeat in range(each) for name in ordered]
    alarms: dict[str, list[bool]] = defaultdict(list)
    for (name, *_), alarm in results(false_alarm, work, jobs, keep):
        alarms[name].append(alarm)
        progress(sum(map(len, alarms.values())), len(work))
    lines = ["| table | rows | columns | audits | false alarms | rate |", "|---|---|---|---|---|---|"]
    for name in ordered:
        found = alarms[name]
        data = table(name)
        lines.append(
            f"| {title(name)} | {data.n} | {len(data.columns)} | {len(found)} | {sum(found)} | {np.mean(found):.3f} |"
        )
    total = [alarm for found in alarms.values() for alarm in found]
    low, high = binom.interval(0.99, len(total), LEVEL)
    lines.append(f"| **all** | | | {len(total)} | {sum(total)} | {np.mean(total):.3f} |")
    lines.append("")
    inside = "inside or below" if sum(total) <= high else "ABOVE"
    lines.append(f"99 % binomial interval around {LEVEL}: {low / len(total):.3f} to {high / len(total):.3f}: {inside}.")
    return "\n".join(lines)


# --- power ------------------------------------------------------------------------------------------------------------


def changed(dataset: Dataset, rows: np.ndarray, kind: str, share: float, rng: np.random.Generator) -> Dataset:
    """Change a share of the rows of one piece.

    mean: one numeric column up by half a standard deviation. scale: two numeric columns 1.5 times as wide. correlation:
    every column permuted among the changed rows. noise: half a standard deviation of Gaussian noise on every numeric
    column. selection: the changed rows are redrawn from the piece with odds that double per standard deviation of one
    column. label flip: the label of a fifth of the changed rows is another one. missingness: a fifth of the values of
    two columns is gone. knocked-out class: rows of one class give way to rows of the others.
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


def _replaced(values: np.ndarray, at: np.ndarray, by: np.ndarray) -> np.ndarray:
    out = values.copy()
    out[at] = values[by]
    return out


def peers(dataset: Dataset, labels: np.ndarray, seed: int) -> dict[str, float]:
    """Each peer's p-value for the changed piece, Bonferroni over pieces included."""
    rng = np.random.default_rng([seed, 7])
    x = encode(dataset).matrix.astype(np.float64)
    y = dataset.target.values
    onehot = np.eye(len(dataset.target.levels))[y]
    joint = np.column_stack([x, onehot])
    mine = labels == CHANGED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ks = min(ks_2samp(column[mine], column[~mine]).pvalue for column in joint.T) * joint.shape[1]
        forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        half = rng.permutation(len(x)) % 2 == 0
        if mine[half].any() and mine[~half].any():
            looks = forest.fit(joint[half], mine[half]).predict_proba(joint[~half])[:, 1]
            c2st = mannwhitneyu(looks[mine[~half]], looks[~mine[~half]], alternative="greater").pvalue
        box = RandomForestClassifier(100, min_samples_leaf=3, oob_score=True, random_state=seed).fit(x, y)
        soft = np.nan_to_num(box.oob_decision_function_)
        bbsd = min(ks_2samp(column[mine], column[~mine]).pvalue for column in soft.T) * soft.shape[1]
    found = {"KS-Bonferroni": ks, "MMD": mmd(joint, mine, rng), "C2ST": c2st, "BBSDs-KS": bbsd}
    return {name: min(1.0, p * PIECES) for name, p in found.items()}


def mmd(x: np.ndarray, mine: np.ndarray, rng: np.random.Generator, draws: int = 499) -> float:
    """p of the Gaussian-kernel MMD of one piece against the rest, by permutation."""
    z = torch.from_numpy(x).float()
    z = (z - z.mean(0)) / z.std(0).clamp(min=1e-6)
    squared = torch.cdist(z, z).square()
    kernel = torch.exp(-squared / squared[squared > 0].median())
    kernel = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
    draws_of = np.stack([mine, *(rng.permutation(mine) for _ in range(draws))], 1)
    indicator = torch.from_numpy(draws_of).float()
    statistic = (indicator * (kernel @ indicator)).sum(0)  # of the centred kernel: MMD squared up to a constant
    return float((statistic >= statistic[0] * (1 - 1e-6)).float().mean())


def one(name: str, kind: str, share: float, size: int, repeat: int, draws: int) -> dict[str, bool]:
    torch.set_num_threads(1)
    rng = np.random.default_rng([repeat, KINDS.index(kind), round(100 * share), size])
    dataset = table(name)
    kept = np.sort(rng.permutation(dataset.n)[: size * PIECES])
    dataset = take(dataset, kept)
    labels = rng.permutation(np.arange(dataset.n) % PIECES)
    dataset = changed(dataset, np.flatnonzero(labels == CHANGED), kind, share, rng)
    test = shift_test(
        audit_table(dataset, seed=repeat),
        Design(labels, Contrast(PIECES, tuple(range(PIECES)), "rest"), PermutationScheme()),
        level=LEVEL,
        draws=draws,
        seed=repeat,
        jobs=1,
    )
    calls = {"picsc": bool(smallest_p(test)[CHANGED] <= LEVEL)}
    calls |= {peer: bool(p <= LEVEL) for peer, p in peers(dataset, labels, repeat).items()}
    calls["data question"] = bool(test.data.p_adjusted[CHANGED] <= LEVEL)
    calls["model question"] = bool(test.model.p_adjusted[CHANGED] <= LEVEL)
    return calls


def power(
    names: list[str], repeats: int, draws: int, jobs: int, kinds: list[str], sizes: list[int], keep: Path | None
) -> str:
    # a cell's repeats are spread over the tables that are long enough and have classes
    work = []
    for size in sizes:
        able = [name for name in names if table(name).n >= size * PIECES and _has_classes(name)]
        count = repeats if size < 1000 else -(-repeats // 4)  # the longest cells, and the least in doubt
        for kind in kinds:
            for share in SHARES:
                work += [
                    (able[repeat % len(able)], kind, share, size, repeat, draws)
                    for repeat in range(count if able else 0)
                ]
    calls: dict[tuple, list[dict[str, bool]]] = defaultdict(list)
    work.sort(key=lambda each: each[4])  # repeat by repeat, so that an interrupted run has all cells
    for (_, kind, share, size, *_), found in results(one, work, jobs, keep):
        calls[(kind, share, size)].append(found)
        progress(sum(map(len, calls.values())), len(work))
    return power_table(calls)


def _has_classes(name: str) -> bool:
    target = table(name).target
    return target is not None and target.kind == "classes" and any(not c.coded for c in table(name).columns)


def power_table(calls: dict[tuple, list[dict[str, bool]]]) -> str:
    methods = list(next(iter(calls.values()))[0])
    frame = pd.DataFrame(
        [
            {"change": kind, "share": share, "n": size, "repeats": len(found)}
            | {m: np.mean([f[m] for f in found]) for m in methods}
            for (kind, share, size), found in calls.items()
        ]
    )
    rivals = [m for m in methods[1:] if m not in ("data question", "model question")]
    frame["behind best"] = (frame[rivals].max(axis=1) - frame["picsc"]).clip(lower=0)
    head = ["change", "share", "n", "repeats", *methods, "behind best"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in frame.to_dict("records"):
        shown = [f"{100 * row[c]:.0f}" if c in methods or c == "behind best" else f"{row[c]}" for c in head]
        lines.append("| " + " | ".join(shown) + " |")
    means = {m: 100 * frame[m].mean() for m in methods}
    lines += ["", "Mean power over cells, percent: " + ", ".join(f"{m} {v:.1f}" for m, v in means.items()) + "."]
    behind = frame[frame["behind best"] > 0.03]
    largest = 100 * frame["behind best"].max()
    lines.append(
        f"Cells more than 3 points behind the best peer: {len(behind)} of {len(frame)}; largest {largest:.0f} points."
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("validity", "power"))
    parser.add_argument("--table", action="append", default=[], help="a CSV file; repeatable")
    parser.add_argument("--no-bundled", action="store_true", help="only the files given")
    parser.add_argument("--audits", type=int, default=1200)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--draws", type=int, default=499)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="keep finished results here, one per line, and go on from them")
    parser.add_argument("--write", type=Path, help="append the table to this file")
    given = parser.parse_args()
    bundled = ["iris", "wine", "breast_cancer", "digits"] if not given.no_bundled else []
    names = [*bundled, *given.table]
    if given.what == "validity":
        text = validity(names, given.audits, given.folds, given.draws, given.jobs, given.keep)
    else:
        text = power(names, given.repeats, given.draws, given.jobs, given.kinds, given.sizes, given.keep)
    print("\n" + text)
    if given.write:
        settings = {k: v for k, v in vars(given).items() if k not in ("write", "table", "keep", "jobs")}
        settings["tables"] = [title(name) for name in names]
        with given.write.open("a", encoding="utf-8") as file:
            file.write(f"\n## {given.what}\n\nSettings: `{json.dumps(settings)}`\n\n{text}\n")


if __name__ == "__main__":
    main()
