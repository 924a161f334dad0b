"""How far the p-value of the joint distribution moves with the forest's seed, and how far with that of the draws.

    python benchmarks/forest_seeds.py

Four tables of 500 rows in five pieces, in which nothing is shifted; eight forests with the same 999 draws, then eight
sets of draws with the same forest. Printed are the p-values of the largest piece statistic, and their standard
deviation, table by table and over all. This is why the forest has a fixed seed, see docs/method.md.
"""

from __future__ import annotations

import numpy as np
import torch
from audit_innocents import classed

from picsc.auditing.design import Design
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.auditing.joint_distribution import joint_of
from picsc.auditing.permutations import label_draws
from picsc.auditing.table_view import audit_table
from picsc.datasets.open import open_data
from picsc.settings import ReadSettings

TABLES, SEEDS, PIECES, ROWS = 4, 8, 5, 500


def p_values(table: int) -> tuple[np.ndarray, np.ndarray]:
    """p-values by forest, and by set of draws."""
    data = open_data(classed(ROWS, np.random.default_rng([table, 0, 9])), None, ReadSettings(target="y"))
    inputs = audit_table(data, seed=0)  # type: ignore[arg-type] # a table
    labels = np.arange(ROWS) * PIECES // ROWS
    design = Design(labels, Contrast(PIECES, tuple(range(PIECES)), "rest"), PermutationScheme())

    def p(forest: int, draws: int) -> float:
        null = label_draws(inputs.contributions, design, rows=inputs.rows_per_draw, draws=999, seed=draws)
        largest = null.evidence(joint_of(inputs, null, seed=forest, jobs=1).statistic).value.amax(1)
        return float((largest >= largest[0]).double().mean())

    return np.array([p(seed, 0) for seed in range(SEEDS)]), np.array([p(0, seed) for seed in range(SEEDS)])


def main() -> None:
    """Print a line per table, and the standard deviations over all."""
    torch.set_num_threads(1)
    spread = []
    for table in range(TABLES):
        forests, draws = p_values(table)
        spread.append([forests.std(), draws.std()])
        print(f"table {table}: forests {np.round(forests, 2)}, draws {np.round(draws, 2)}", flush=True)
    by_forest, by_draws = np.sqrt(np.square(spread).mean(0))
    print(f"standard deviation: {by_forest:.2f} over forests, {by_draws:.2f} over draws")


if __name__ == "__main__":
    main()
