"""Equal rows of real tables: how many pairs coincidence explains, as they are and with copies of some rows appended.

    python benchmarks/coincidences.py FILE...

A table without copies should not be called one with copies, and appended copies should be noticed unless equal rows are
so common that they drown.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.load import load
from picsc.fragments.coincidences import EqualPairs, equal_pairs
from picsc.settings import ReadSettings


def main() -> None:
    """Print one line for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--no-header", action="store_true", help="the first line is data")
    parser.add_argument("--copied", type=float, default=0.05, help="share of the rows that are appended as copies")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{'table':24}{'rows':>7}  {'pairs':>10}{'explained':>11} copies  with {asked.copied:.0%} copied: copies")
    noticed = 0
    for file in asked.files:
        table = load(file, ReadSettings(no_target=True, header=not asked.no_header))
        columns: list[NDArray[np.generic]] = [column.values for column in table.columns]
        copied = np.random.default_rng(asked.seed).choice(table.n, max(1, round(asked.copied * table.n)), replace=False)
        found = equal_pairs(columns)
        more = equal_pairs([np.append(values, values[copied]) for values in columns])
        noticed += more.copies
        print(f"{table.name:24}{table.n:7}  {_pairs(found)}  {more.pairs:10.0f} {_yes(more.copies)}")
    print(f"copies noticed in {noticed} of {len(asked.files)} tables")


def _pairs(found: EqualPairs) -> str:
    return f"{found.pairs:10.0f}{found.explained:11.1f} {_yes(found.copies):6}"


def _yes(copies: bool) -> str:
    return "yes" if copies else "no"


if __name__ == "__main__":
    main()
