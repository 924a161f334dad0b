"""Localisation by `picsc audit`: are the shifted pieces named, and are all others left alone?

    python benchmarks/localisation.py --audits 30 --jobs 2

Each audit has K pieces of n rows with four normal columns and a class that follows from two of them. A minority of the
pieces is shifted, all alike: the mean of two columns moves by so many standard deviations, or that share of the labels
is flipped. `all named` is the share of audits in which every shifted piece is called shifted, `innocent named` that in
which some other piece is, with its 95 % interval (Clopper and Pearson), and `exact` that in which neither is wrong.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import picsc

DRAWS = 199
KINDS = {
    "mean 0.5": 0.5,
    "mean 1": 1.0,
    "mean 2": 2.0,
    "flips 15 %": 0.15,
    "flips 30 %": 0.30,
}
SHARES = {5: (1, 2), 10: (1, 3, 4), 20: (1, 8)}
"""Numbers of shifted pieces, by the number of pieces."""
SIZES = (100, 200, 400)


class Cell(NamedTuple):
    """One kind of data set."""

    pieces: int
    shifted: int
    kind: str
    rows: int
    """Rows of each piece."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pieces", type=int, nargs="+", default=list(SHARES), choices=list(SHARES))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[200])
    parser.add_argument("--shifted", type=int, nargs="+", help="only cells with so many shifted pieces")
    args = parser.parse_args()
    cells = [
        Cell(pieces, shifted, kind, rows)
        for pieces, kind, rows in product(args.pieces, args.kinds, args.sizes)
        for shifted in SHARES[pieces]
        if not args.shifted or shifted in args.shifted
    ]
    print("| pieces | shifted | kind | rows a piece | audits | all named | innocent named (95 %) | exact |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    every = []
    with ProcessPoolExecutor(args.jobs) as pool:
        for cell in cells:
            found = list(pool.map(audited, [cell] * args.audits, range(args.audits)))
            every += found
            print(line(f"{cell.pieces} | {cell.shifted} | {cell.kind} | {cell.rows}", found), flush=True)
    print(line("**all** | | | ", every))


def audited(cell: Cell, seed: int) -> tuple[bool, bool]:
    """True if all shifted pieces are called shifted, and true if another piece is."""
    report = picsc.audit(table(cell, seed), target="y", by="piece", draws=DRAWS, seed=seed, jobs=1)
    called = {fragment.name for fragment in report.shifted}
    culprits = {f"piece={k}" for k in range(cell.shifted)}
    return culprits <= called, bool(called - culprits)


def table(cell: Cell, seed: int) -> pd.DataFrame:
    """The first pieces are shifted."""
    rng = np.random.default_rng([seed, cell.pieces, cell.rows])
    n = cell.pieces * cell.rows
    x = rng.normal(size=(n, 4))
    y = (x[:, 0] + x[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    piece = np.repeat(np.arange(cell.pieces), cell.rows)
    moved, size = piece < cell.shifted, KINDS[cell.kind]
    if cell.kind.startswith("mean"):
        x[moved, 1:3] += size
    else:
        flipped = moved & (rng.random(n) < size)
        y[flipped] = 1 - y[flipped]
    return pd.DataFrame(x, columns=["x1", "x2", "x3", "x4"]).assign(y=y, piece=piece)


def line(cell: str, found: list[tuple[bool, bool]]) -> str:
    """A row of the table."""
    n = len(found)
    named = sum(culprits for culprits, _ in found)
    innocent = sum(others for _, others in found)
    exact = sum(culprits and not others for culprits, others in found)
    interval = binomtest(innocent, n).proportion_ci()
    band = f"{100 * innocent / n:.0f} % ({100 * interval.low:.0f} to {100 * interval.high:.0f})"
    return f"| {cell} | {n} | {100 * named / n:.0f} % | {band} | {100 * exact / n:.0f} % |"


if __name__ == "__main__":
    main()
