"""Are our DOB-SCV folds as balanced as KEEL's, and does the audit find them more balanced than random ones?

    python benchmarks/dob_scv.py DIRECTORY [--seeds 20] [--draws 999] [--output FILE.md]

DIRECTORY holds one folder per data set with the files that KEEL gives away: NAME/NAME-10-1tst.dat to NAME-10-10tst.dat
are its stratified folds, NAME/NAME-10dobscv-1tst.dat and so on its DOB-SCV folds; the test parts are the table.

Balance is the mean over columns and folds of the KL of a fold against the rest, as `picsc audit` computes it, in nats:
less is more alike. All folds of a data set are folds of the same rows with the same columns. Random folds are
scikit-learn's shuffled stratified ones. `p` is the lower-tail one of `AuditReport.balance`: the share of permutations
within classes that are at least as balanced. The audit's own is that of seed 0. One partition by KEEL is one draw, so
"its rule" draws more: the row drawn is always the first fold's, and distances are of columns scaled to [0, 1].
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import picsc
from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.null_statistics import TestInputs, columns_of, rows_of
from picsc.auditing.permutations import label_draws
from picsc.auditing.table_view import audit_table
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.fragments import cut
from picsc.settings import CutSettings, ReadSettings

FOLDS = 10
FEW = 9
"""Draws where only the observed value is wanted."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Keel:
    """One data set and KEEL's folds of it."""

    frame: pd.DataFrame
    fold: Ints
    """(n,) of each row."""


def keel(folder: Path, kind: str) -> Keel:
    """The test parts of one kind of folds, one below the other."""
    parts = [part(folder / f"{folder.name}-{kind}-{i}tst.dat") for i in range(1, FOLDS + 1)]
    return Keel(pd.concat(parts, ignore_index=True), np.repeat(np.arange(FOLDS), [len(each) for each in parts]))


def part(path: Path) -> pd.DataFrame:
    """One file of KEEL's format."""
    head, body = path.read_text(encoding="utf-8").split("@data", 1)
    names = [line.split()[1].split("{")[0] for line in head.splitlines() if line.startswith("@attribute")]
    rows = [[value.strip() for value in line.split(",")] for line in body.split("\n") if line.strip()]
    frame = pd.DataFrame(rows, columns=names)
    for name in names[:-1]:
        frame[name] = pd.to_numeric(frame[name], errors="coerce") if _is_number(head, name) else frame[name]
    return frame


def _is_number(head: str, name: str) -> bool:
    line = next(line for line in head.splitlines() if line.startswith(f"@attribute {name}"))
    return "real" in line or "integer" in line


def mean_kl(table: TestInputs, fold: Ints, strata: Ints, draws: int) -> NDArray[np.float64]:
    """Mean column KL of the folds, then of `draws` permutations within classes."""
    contrast = Contrast(FOLDS, tuple(range(FOLDS)), "rest")
    design = Design(fold, contrast, PermutationScheme(strata=strata))
    null = label_draws(table.contributions, design, rows=table.rows_per_draw, draws=draws, seed=0)
    total = columns_of(table, null).kl + rows_of(table, null).kl
    return np.asarray(total.mean(1)) / len(table.columns)


def p_less(observed: float, drawn: NDArray[np.float64]) -> float:
    """Share of the draws at least as balanced as these folds, these counted."""
    return (1 + int((drawn <= observed).sum())) / (1 + len(drawn))


def of_set(folder: Path, seeds: int, draws: int) -> dict[str, object]:
    """One row of the table."""
    theirs, plain = keel(folder, f"{FOLDS}dobscv"), keel(folder, str(FOLDS))
    dataset, table, strata = _seen(theirs.frame)
    ours = [_value(table, _fold(dataset, seed), strata) for seed in range(seeds)]
    random = [_value(table, _random(strata, seed), strata) for seed in range(seeds)]
    rule = [_value(table, _by_its_rule(dataset, strata, seed), strata) for seed in range(seeds)]
    stratified, of_plain = _seen(plain.frame)[1:]
    report = picsc.audit(theirs.frame, folds=FOLDS, splitter="dob-scv", draws=draws, seed=0)
    assert report.balance is not None  # noqa: S101 - these are folds
    drawn = mean_kl(table, theirs.fold, strata, draws)
    return {
        "data set": folder.name,
        "rows": dataset.n,
        "columns": len(dataset.columns),
        "KEEL DOB-SCV": f"{drawn[0]:.4f}",
        "its rule, mean": f"{np.mean(rule):.4f}",
        "ours, mean": f"{np.mean(ours):.4f}",
        "std": f"{np.std(ours, ddof=1):.4f}",
        "range": f"{min(ours):.4f} - {max(ours):.4f}",
        "random": f"{np.mean(random):.4f}",
        "KEEL stratified": f"{_value(stratified, plain.fold, of_plain):.4f}",
        "ours / KEEL": f"{np.mean(ours) / drawn[0]:.2f}",
        "seeds below KEEL": f"{sum(value <= drawn[0] for value in ours)} of {seeds}",
        "p KEEL": f"{p_less(drawn[0], drawn[1:]):.3f}",
        "p ours, median": f"{np.median([p_less(value, drawn[1:]) for value in ours]):.3f}",
        "p of the audit": f"{report.balance.p_less:.3f}",
    }


def _seen(frame: pd.DataFrame) -> tuple[Dataset, TestInputs, Ints]:
    """The table, what the audit sees of its covariates, and its classes."""
    dataset = from_frame(frame, ReadSettings())
    assert dataset.target is not None  # noqa: S101 - the last column is
    return dataset, audit_table(replace(dataset, target=None), seed=0), dataset.target.values.astype(np.int64)


def _value(table: TestInputs, fold: Ints, strata: Ints) -> float:
    return float(mean_kl(table, fold, strata, FEW)[0])


def _fold(dataset: Dataset, seed: int) -> Ints:
    made = cut(dataset, CutSettings(folds=FOLDS, splitter="dob-scv"), seed=seed)
    fold = np.empty(dataset.n, np.int64)
    for i, fragment in enumerate(made.fragments):
        fold[fragment.rows] = i
    return fold


def _by_its_rule(dataset: Dataset, strata: Ints, seed: int) -> Ints:
    """Moreno-Torres' DOB-SCV to the letter: row drawn to the first fold, nearest row to the second, and so on."""
    values = np.stack([np.nan_to_num(column.values.astype(np.float64)) for column in dataset.columns], axis=1)
    values = (values - values.min(axis=0)) / np.maximum(np.ptp(values, axis=0), 1e-12)
    rng, fold = np.random.default_rng(seed), np.empty(dataset.n, np.int64)
    for code in np.unique(strata):
        left = np.flatnonzero(strata == code)
        while len(left):
            distance = np.square(values[left] - values[rng.choice(left)]).sum(axis=1)
            group = np.argsort(distance, kind="stable")[:FOLDS]
            fold[left[group]] = np.arange(len(group))
            left = np.delete(left, group)
    return fold


def _random(strata: Ints, seed: int) -> Ints:
    fold = np.empty(len(strata), np.int64)
    for i, (_, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(strata, strata)):
        fold[test] = i
    return fold


def main() -> None:
    """Print one row per data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--draws", type=int, default=999)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    rows = []
    for folder in sorted(path for path in asked.directory.iterdir() if path.is_dir()):
        rows.append(of_set(folder, asked.seeds, asked.draws))
        print(rows[-1], file=sys.stderr, flush=True)
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(map(str, row.values())) + " |" for row in rows]
    text = "\n".join(lines)
    print(text)
    if asked.output is not None:
        asked.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
