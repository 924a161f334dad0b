"""How often `picsc audit --equivalence D` certifies a piece that differs by D, and how often one that does not differ.

    python benchmarks/equivalence.py --audits 200

Each audit has five pieces and three columns: normal numbers, words of six levels, and numbers of which a tenth is
missing. One piece differs in one column by exactly D, in the worst case for a certificate: normal numbers whose mean is
moved so that the Kolmogorov-Smirnov distance to the rest is D, levels whose total variation distance is D, or a missing
rate that is D higher. It may be called equivalent in a share `level` of audits at most. The last kind moves nothing;
there, the more pieces are certified, the better.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from scipy import stats

import picsc

PIECES, BOUND, LEVEL = 5, 0.1, 0.05
KINDS = ("numbers", "levels", "missing", "none")
LEVELS = np.array(list("abcdef"))


def table(kind: str, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Pieces one after the other; the last one differs."""
    n = rows * PIECES
    number, word, holed = rng.normal(size=n), rng.choice(LEVELS, n), rng.normal(size=n)
    rate = np.full(n, 0.1)
    last = slice(n - rows, n)
    if kind == "numbers":
        number[last] += 2 * stats.norm.ppf((1 + BOUND) / 2)  # the KS distance of two normals is 2 Phi(shift / 2) - 1
    elif kind == "levels":
        shares = np.full(6, 1 / 6) + BOUND * np.array([1, -0.2, -0.2, -0.2, -0.2, -0.2])
        word[last] = rng.choice(LEVELS, rows, p=shares)
    elif kind == "missing":
        rate[last] += BOUND
    holed[rng.random(n) < rate] = np.nan
    return pd.DataFrame({"number": number, "word": word, "holed": holed})


def certified(kind: str, rows: int, audit: int) -> tuple[int, int]:
    """Certified pieces among those that may be, and whether the moved one is among them."""
    frame = table(kind, rows, np.random.default_rng([audit, KINDS.index(kind), rows]))
    settings = {"batches": PIECES, "reference": "rest", "block": 1, "no_target": True, "draws": 199}
    report = picsc.audit(frame, equivalence=BOUND, level=LEVEL, seed=audit, min_effect=0.5, **settings)
    found = [piece.verdict == "equivalent" for piece in report.fragments]
    return sum(found), int(found[-1])


def main() -> None:
    """Print one line of a table per kind and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    asked = parser.parse_args()
    print("| differs in | rows a piece | audits | moved piece certified (95 %) | all pieces certified |")
    print("|---|---|---|---|---|")
    for rows in asked.rows:
        for kind in asked.kinds:
            found = [certified(kind, rows, audit) for audit in range(asked.audits)]
            wrong, every = sum(moved for _, moved in found), sum(total == PIECES for total, _ in found)
            low, high = stats.binomtest(wrong, len(found)).proportion_ci()
            share = "-" if kind == "none" else f"{wrong} = {wrong / len(found):.1%} ({low:.1%} to {high:.1%})"
            print(f"| {kind} | {rows} | {len(found)} | {share} | {every / len(found):.0%} |", flush=True)


if __name__ == "__main__":
    main()
