"""Noise band of an audit: how often it holds, and what a baseline accepts on fresh rows of the same distribution.

    python benchmarks/noise_band.py [--tables 100]

Four hospitals with four numbers and a class each; 60 rows per hospital without a shift for the band, 200 for the
baselines, where the last hospital has another mean of one number. A baseline is written for one table and compared with
`--tables` others.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import picsc
from picsc.auditing.baseline import baseline_text, compare_with_baseline, read_baseline
from picsc.reports.audit import AuditReport


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    tables = parser.parse_args().tables
    pieces = [piece for seed in range(tables) for piece in audited(hospitals(240, seed, 0.0), seed).fragments]
    for question in ("data", "model"):
        beyond = np.mean([getattr(p, f"effect_{question}") > getattr(p, f"noise_{question}") for p in pieces])
        print(f"{question} effect beyond its band: {100 * beyond:.1f} % of {len(pieces)} pieces without a shift")
    for moved in (1.5, 0.8):
        failing = [fails(moved, seed) for seed in range(1, tables + 1)]
        print(
            f"mean moved by {moved}: {tables - sum(failing)} of {tables} fresh tables known to the baseline", flush=True
        )


def hospitals(n: int, seed: int, moved: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    frame = pd.DataFrame(x, columns=["x1", "x2", "x3", "x4"]).assign(hospital=np.arange(n) % 4)
    frame["sick"] = (x[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    frame.loc[frame.hospital == 3, "x1"] += moved
    return frame


def audited(frame: pd.DataFrame, seed: int) -> AuditReport:
    return picsc.audit(frame, target="sick", by="hospital", draws=199, seed=seed)


def fails(moved: float, seed: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.json"
        path.write_text(baseline_text([audited(hospitals(800, 0, moved), 0)]), encoding="utf-8")
        return bool(compare_with_baseline(audited(hospitals(800, seed, moved), seed), read_baseline(path)).failing)


if __name__ == "__main__":
    main()
