"""Do the audit's error rates hold, and what does it see that its peers do not?

    python benchmarks/audit_validity.py validity --audits 1200 --jobs 2 [--table FILE.csv ...]
    python benchmarks/audit_validity.py innocents --audits 200 --jobs 2 [--cells "groups, correlation 0.7" ...]
    python benchmarks/audit_validity.py seeds --audits 50 --jobs 2
    python benchmarks/audit_validity.py power --repeats 40 --jobs 2 [--table FILE.csv ...]

`validity` shuffles real tables, cuts them into stratified folds and audits them: nothing is shifted, so at level 0.05
at most one audit in twenty may report a shift (family-wise, before --min-effect is applied). `innocents` does the same
by `picsc.audit`, as users call it, with groups, reference files and long tables of generated rows, see
`audit_innocents`. Each rate has its 99 % interval (Clopper and Pearson). `seeds` audits data sets, without a shift and
with a small one, by six seeds each, and counts those whose verdict is not the same for all.

`power` changes one of five pieces in a known way (`audit_shifts`), and counts which tests find it, on the same rows and
seeds; the other tests are described in `audit_peers`. In brackets behind the audit's power: its 95 % interval.

Tables have no header and the class last, unless the first line holds names; scikit-learn's own sets are always there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from audit_innocents import INNOCENTS, SEEDS, smallest_p, verdicts
from audit_peers import peers
from audit_shifts import KINDS, SHARES, changed
from scipy.stats import binomtest
from sklearn.datasets import load_digits

from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.table_view import audit_table
from picsc.auditing.two_questions import shift_test
from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.load import load
from picsc.datasets.memory import from_memory
from picsc.datasets.rows import take
from picsc.datasets.table import Dataset
from picsc.fragments import cut
from picsc.settings import CutSettings, ReadSettings

LEVEL = 0.05
PIECES = 5
CHANGED = 2
SIZES = (50, 200, 1000)


@lru_cache(maxsize=32)
def table(name: str) -> Dataset:
    """A bundled set by name, or a file; digits as 64 columns, and not as images."""
    path = Path(name)
    if name == "digits":
        return from_memory(load_digits(as_frame=True).frame, None, ReadSettings(target="target"))
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
    return bool(test.p.min() <= LEVEL)


def validity(names: list[str], audits: int, folds: int, draws: int, jobs: int, keep: Path | None) -> str:
    each = -(-audits // len(names))
    ordered = sorted(names, key=lambda name: table(name).n * len(table(name).columns))
    work = [(name, repeat, folds, draws) for repeat in range(each) for name in ordered]
    alarms: dict[str, list[bool]] = defaultdict(list)
    for (name, *_), alarm in results(false_alarm, work, jobs, keep):
        alarms[name].append(alarm)
        progress(sum(map(len, alarms.values())), len(work))
    lines = ["| table | rows | columns | audits | false alarms | rate (99 %) |", "|---|---|---|---|---|---|"]
    for name in ordered:
        data = table(name)
        lines.append(f"| {title(name)} | {data.n} | {len(data.columns)} | {counted(alarms[name])} |")
    lines.append(f"| **all** | | | {counted([alarm for found in alarms.values() for alarm in found])} |")
    return "\n".join(lines)


def counted(alarms: list[bool]) -> str:
    """Audits, false alarms, and their rate with its interval, as cells of a table."""
    n, found = len(alarms), sum(alarms)
    return f"{n} | {found} | {100 * found / n:.1f} % {interval(found, n, 0.99)}"


def interval(found: int, n: int, confidence: float) -> str:
    """The interval of a rate, in percent."""
    low, high = binomtest(found, n).proportion_ci(confidence)
    return f"({100 * low:.1f} to {100 * high:.1f})" if confidence > 0.95 else f"({100 * low:.0f} to {100 * high:.0f})"


def innocents(cells: list[str], audits: int, draws: int, jobs: int, keep: Path | None) -> str:
    work = [(name, repeat, draws, repeat) for repeat in range(audits) for name in cells]
    smallest: dict[str, list[float]] = defaultdict(list)
    for (name, *_), p in results(smallest_p, work, jobs, keep):
        smallest[name].append(p)
        progress(sum(map(len, smallest.values())), len(work))
    lines = ["| table | rows | pieces | audits | false alarms | rate (99 %) |", "|---|---|---|---|---|---|"]
    for name in cells:
        found = [p <= LEVEL for p in smallest[name]]
        lines.append(f"| {name} | {INNOCENTS[name].rows} | {INNOCENTS[name].pieces} | {counted(found)} |")
    lines.append(f"| **all** | | | {counted([p <= LEVEL for found in smallest.values() for p in found])} |")
    return "\n".join(lines)


def seeds(audits: int, draws: int, jobs: int, keep: Path | None) -> str:
    """In how many data sets the verdict depends on the seed, by the size of the shift."""
    work = [(size, repeat, draws) for repeat in range(audits) for size in SEEDS]
    found: dict[float, list[list[str]]] = defaultdict(list)
    for (size, *_), each in results(verdicts, work, jobs, keep):
        found[size].append(each)
        progress(sum(map(len, found.values())), len(work))
    lines = ["| shift of one mean, sd | data sets | verdict changes (95 %) | shift in all seeds | in none |"]
    lines.append("|---|---|---|---|---|")
    for size, sets in found.items():
        called = [sum(verdict == "shift" for verdict in each) for each in sets]
        every, never = (sum(count == how for count in called) for how in (len(sets[0]), 0))
        mixed = len(sets) - every - never
        lines.append(
            f"| {size} | {len(sets)} | {mixed} = {100 * mixed / len(sets):.0f} % {interval(mixed, len(sets), 0.95)} "
            f"| {every} | {never} |"
        )
    return "\n".join(lines)


# --- power ------------------------------------------------------------------------------------------------------------


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
    calls = {"picsc": bool(test.p[CHANGED] <= LEVEL)}
    calls |= {peer: bool(p <= LEVEL) for peer, p in peers(dataset, labels == CHANGED, PIECES, repeat).items()}
    calls["data question"] = bool(test.data.p_adjusted[CHANGED] <= LEVEL)
    calls["model question"] = bool(test.model.p_adjusted[CHANGED] <= LEVEL)
    return calls


def power(
    names: list[str], repeats: int, draws: int, jobs: int, kinds: list[str], sizes: list[int], keep: Path | None
) -> str:
    # a cell's repeats are spread over the tables that are long enough and have classes
    work = []
    for size in sizes:
        able = [name for name in names if table(name).n >= size * PIECES and _may_be_changed(name)]
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


def _may_be_changed(name: str) -> bool:
    target = table(name).target
    return target is not None and target.kind == "classes" and sum(not c.coded for c in table(name).columns) >= 2


def power_table(calls: dict[tuple, list[dict[str, bool]]]) -> str:
    """Two tables, by change and by cell, and the means over cells."""
    pooled: dict[tuple, list[dict[str, bool]]] = defaultdict(list)
    for (kind, _, size), found in calls.items():
        for key in ((kind, "all", "all"), ("all", "all", size), ("all", "all", "all")):
            pooled[key] += found
    order = sorted(pooled, key=lambda key: (key[0] == "all", key[2] == "all"))
    cells = [measured(key, found) for key, found in calls.items()]
    behind = [row for row in cells if row["behind best"] > 0.03]
    largest = 100 * max(row["behind best"] for row in cells)
    return (
        f"{as_table([measured(key, pooled[key]) for key in order])}\n\n{as_table(cells)}\n\n"
        f"Cells more than 3 points behind the best peer: {len(behind)} of {len(cells)}, largest {largest:.0f} points; "
        f"of them beyond chance (*, McNemar's exact test, p <= 0.05, each cell alone): "
        f"{sum(row['beyond chance'] for row in behind)}."
    )


def measured(key: tuple, found: list[dict[str, bool]]) -> dict:
    """Power of every method, and how far the audit is behind the best of the others."""
    methods = list(found[0])
    rivals = [m for m in methods[1:] if m not in ("data question", "model question")]
    row = dict(zip(("change", "share", "n"), key, strict=True)) | {"repeats": len(found)}
    row |= {m: float(np.mean([f[m] for f in found])) for m in methods}
    best = max(rivals, key=row.__getitem__)
    # the exact test of a paired difference: only repeats in which one of the two finds the piece count
    more, less = (sum(f[a] and not f[b] for f in found) for a, b in ((best, "picsc"), ("picsc", best)))
    beyond = more > less and binomtest(more, more + less).pvalue <= 0.05
    return row | {"behind best": max(0.0, row[best] - row["picsc"]), "beyond chance": beyond}


def as_table(rows: list[dict]) -> str:
    head = list(rows[0])[:-1]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        shown = {c: f"{100 * row[c]:.0f}" if isinstance(row[c], float) else f"{row[c]}" for c in head}
        shown["picsc"] += " " + interval(round(row["picsc"] * row["repeats"]), row["repeats"], 0.95)
        shown["behind best"] += " *" if row["beyond chance"] else ""
        lines.append("| " + " | ".join(shown.values()) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("validity", "innocents", "seeds", "power"))
    parser.add_argument("--table", action="append", default=[], help="a CSV file; repeatable")
    parser.add_argument("--no-bundled", action="store_true", help="only the files given")
    parser.add_argument("--audits", type=int, default=1200)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--cells", nargs="*", default=list(INNOCENTS), choices=list(INNOCENTS))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument(
        "--draws", type=int, default=499, help="of `seeds` and `innocents`, 0 is what an audit draws by default"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="keep finished results here, one per line, and go on from them")
    parser.add_argument("--write", type=Path, help="append the table to this file")
    given = parser.parse_args()
    bundled = ["iris", "wine", "breast_cancer", "digits"] if not given.no_bundled else []
    names = [*bundled, *given.table]
    if given.what == "validity":
        text = validity(names, given.audits, given.folds, given.draws, given.jobs, given.keep)
    elif given.what == "innocents":
        text = innocents(given.cells, given.audits, given.draws, given.jobs, given.keep)
    elif given.what == "seeds":
        text = seeds(given.audits, given.draws, given.jobs, given.keep)
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
