"""Streams: block length, false alarms and power of `picsc audit --batches` where neighbouring rows are alike.

    python benchmarks/streams.py [--audits 200] [--jobs 2]

A stream is an autoregression of order one, x[t] = phi x[t - 1] + noise, with a standard deviation of 1, cut into
batches. With --day R, a day has R rows, whose values are an autoregression over days plus noise of the same standard
deviation, and batches are cut by --time day. "too short" is the share of audits that test nothing, since blocks that
are long enough would be too few (the warning `stream-too-short`). Without a shift, an alarm is an audit that calls any
batch shifted, and its rate is that among the audits that test. For the power, the mean of the last batch is moved by 1
or 2 standard deviations, and an audit counts, among all, in which that batch is called shifted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.stats import binomtest

import picsc
from picsc.reports.audit import AuditReport

PHIS = (0.0, 0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of stream, and how it is cut."""

    phi: float
    rows: int
    batches: int
    columns: int
    target: bool
    draws: int
    block: str
    still: bool
    """Only the stream without a shift is audited."""
    day: int
    """Rows of a day; 0 for a stream without days."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One stream audited as it is, and with a batch moved by 1 and by 2 standard deviations."""

    block: int
    alarm: bool
    too_short: bool
    found: tuple[bool, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=200, help="streams per cell")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--phi", type=float, nargs="+", default=PHIS)
    parser.add_argument("--rows", type=int, nargs="+", default=(600, 2000, 5000))
    parser.add_argument("--batches", type=int, nargs="+", default=(5, 8))
    parser.add_argument("--columns", type=int, nargs="+", default=(1,))
    parser.add_argument("--target", action="store_true", help="a class that follows the first column")
    parser.add_argument("--draws", type=int, default=199)
    parser.add_argument("--block", default="auto", help="auto, or a number of rows")
    parser.add_argument("--day", type=int, default=0, help="rows of a day, for batches that are cut by time")
    parser.add_argument("--still", action="store_true", help="false alarms only, in a third of the time")
    given = parser.parse_args()
    print("| phi | rows | batches | columns | block | too short | false alarms | 95 % interval | 1 sd | 2 sd |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for rows, batches, columns, phi in product(given.rows, given.batches, given.columns, given.phi):
            cell = Cell(phi, rows, batches, columns, given.target, given.draws, given.block, given.still, given.day)
            print(line(cell, list(pool.map(audited, [cell] * given.audits, range(given.audits)))), flush=True)


def line(cell: Cell, outcomes: Sequence[Outcome]) -> str:
    """The row of a cell in the table."""
    n = sum(not each.too_short for each in outcomes)
    alarms = sum(each.alarm for each in outcomes)
    measured = "none tested | "
    if n:
        low, high = binomtest(alarms, n).proportion_ci(0.95)
        measured = f"{alarms} of {n} = {100 * alarms / n:.1f} % | {100 * low:.1f} to {100 * high:.1f} %"
    power = ["" if cell.still else f"{100 * np.mean([each.found[i] for each in outcomes]):.0f} %" for i in range(2)]
    short = f"{100 * np.mean([each.too_short for each in outcomes]):.0f} %"
    what = (
        f"{cell.phi:g} | {cell.rows} | {cell.batches} | {cell.columns} | {np.median([o.block for o in outcomes]):.0f}"
    )
    return f"| {what} | {short} | {measured} | {' | '.join(power)} |"


def audited(cell: Cell, seed: int) -> Outcome:
    """Audit one stream three times: as it is, and with the last batch moved."""
    rng = np.random.default_rng([seed, cell.rows, round(100 * cell.phi)])
    steps = cell.rows // max(1, cell.day)
    noise = rng.normal(size=(cell.columns, steps)) * np.sqrt(1 - cell.phi**2)
    noise[:, 0] /= np.sqrt(1 - cell.phi**2)  # stationary from the first row on
    x = lfilter([1.0], [1.0, -cell.phi], noise, axis=1).T
    rows = np.array_split(np.arange(steps), cell.batches)[-1]
    if cell.day:
        x = np.repeat(x, cell.day, axis=0)
        x = (x + rng.normal(size=x.shape)) / np.sqrt(2)
        rows = np.flatnonzero(np.isin(np.repeat(np.arange(steps), cell.day), rows))
    reports = []
    for moved in (0.0,) if cell.still else (0.0, 1.0, 2.0):
        y = x.copy()
        y[rows, 0] += moved
        frame = pd.DataFrame(y, columns=[f"x{i + 1}" for i in range(cell.columns)])
        if cell.target:
            frame["target"] = np.where(y[:, 0] + np.random.default_rng(seed).normal(size=len(y)) > 0, "yes", "no")
        if cell.day:
            frame["day"] = np.repeat(pd.date_range("2020-01-01", periods=steps), cell.day)
        reports.append(audit(frame, cell, seed))
    still = reports[0]
    return Outcome(
        block=still.manifest["block"]["rows"],  # type: ignore[index]
        alarm=still.verdict == "shift",
        too_short=any(finding.code == "stream-too-short" for finding in still.findings),
        found=tuple(called(report) for report in reports[1:]),
    )


def audit(frame: pd.DataFrame, cell: Cell, seed: int) -> AuditReport:
    block = "auto" if cell.block == "auto" else int(cell.block)
    target = {"target": "target"} if cell.target else {"no_target": True}
    cut = {"time": "day", "cuts": cell.batches} if cell.day else {"batches": cell.batches}
    return picsc.audit(frame, **cut, draws=cell.draws, block=block, seed=seed, jobs=1, **target)  # type: ignore[arg-type]


def called(report: AuditReport) -> bool:
    return report.fragments[-1].verdict == "shift"


if __name__ == "__main__":
    main()
