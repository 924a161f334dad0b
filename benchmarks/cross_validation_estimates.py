"""How far a cross-validation estimate is from the truth: bias, spread, coverage of intervals, choices between models.

    PICSC_DATA=FOLDER python benchmarks/cross_validation_estimates.py [--draws 200] [--rows 100 300 1000]
        [--scenarios same groups future shifted product] [--tables elec2 sea] [--keep results.csv] [--show]

A small sample is drawn from a table of many rows. Accuracy is estimated from the sample, and the truth is the accuracy
of the model of the whole sample on the rest. Each finished draw is added to the file of results; `--show` prints the
tables of that file and runs nothing. Draws that the file has already are not run again.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import pandas as pd
from estimates import future, groups, product, same, shifted, summary
from estimates.scores import Result
from estimates.tables import FUTURE, GROUPS, SAME, TABLES

from picsc.runtime.threads import one_thread

SCENARIOS = {
    "same": (same.results, SAME),
    "groups": (groups.results, GROUPS),
    "future": (future.results, FUTURE),
    "shifted": (shifted.results, SAME),
    "product": (product.results, SAME),
}
PART_OF = {"new groups": "groups", "same groups": "groups", **dict.fromkeys(shifted.FORCES, "shifted")}
"""Scenarios by the names that their results have."""

KEYS = ["scenario", "table", "n", "draw", "model", "estimate"]


def finished(keep: Path) -> set[tuple[str, str, int, int]]:
    """Draws that the file has, but for the last one, which may be a part."""
    if not keep.exists():
        return set()
    found = pd.read_csv(keep, usecols=["scenario", "table", "n", "draw"]).drop_duplicates()
    found["scenario"] = found["scenario"].map(lambda name: PART_OF.get(name, name))
    return set(found.iloc[:-1].itertuples(index=False, name=None))


def run(options: argparse.Namespace) -> None:
    new, done = not options.keep.exists(), finished(options.keep)
    with options.keep.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(Result._fields)
        for n in options.rows:
            for scenario in options.scenarios:
                function, names = SCENARIOS[scenario]
                for name in options.tables or names:
                    if name not in names:
                        continue
                    table, began = TABLES[name](), time.perf_counter()
                    for number in range(options.draws):
                        if (scenario, name, n, number) in done:
                            continue
                        for result in function(name, table, n, number):
                            writer.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in result])
                    file.flush()
                    print(f"{scenario}, {name}, {n} rows: {time.perf_counter() - began:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--tables", nargs="+", choices=TABLES)
    parser.add_argument("--keep", type=Path, default=Path("cross-validation-estimates.csv"))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if not options.show:
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(options)
    print(summary.markdown(pd.read_csv(options.keep).drop_duplicates(KEYS)))


if __name__ == "__main__":
    main()
