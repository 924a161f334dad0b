"""The audit of long tables: seconds, processor seconds and peak memory by rows, and where the time goes.

    python benchmarks/audit_scale.py [--rows 100000 1000000 10000000] [--repeats 3] [--other CHECKOUT] [--write FILE]

Makes tables of 28 columns (22 of normal numbers, 3 of whole and skewed numbers, one of 8 levels, one with 3 % missing
values, and a target of two classes), as one csv file and as a folder of parquet files of 500,000 rows at most. Each is
audited as `picsc audit TABLE --target target --folds 10` in a fresh process. With --other, the picsc of another
checkout takes turns with this one. A csv file of more than a million rows is not audited, since it is held in memory.

The profile is of processor seconds of one audit each, by part, in the thread that does the part.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

COLUMNS, PART, MOST_CSV = 28, 500_000, 1_000_000
PROFILED = (
    ("picsc.datasets.files.read", "read_frame", "reading"),
    ("picsc.datasets.load", "from_frame", "types of columns"),
    ("picsc.auditing.many_rows.audit_parts", "first_pass", "first pass: sample and classes"),
    ("picsc.auditing.many_rows.audit_parts", "second_pass", "second pass: counts"),
    ("picsc.auditing.cutting", "validate", "checks of the pieces"),
    ("picsc.auditing.audit", "canonical", "order of rows"),
    ("picsc.auditing.cutting", "audit_table", "codes, encoding, reference model"),
    ("picsc.auditing.two_questions", "label_draws", "permuted labels, sums of all rows"),
    ("picsc.auditing.two_questions", "columns_of", "draws of columns"),
    ("picsc.auditing.two_questions", "rows_of", "draws of the model"),
    ("picsc.auditing.two_questions", "joint_of", "forest, draws of the joint distribution"),
    ("picsc.auditing.piece_tests", "column_notes", "notes on columns"),
    ("picsc.auditing.audit", "column_effects", "sizes of columns by piece"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One audit in a process of its own."""

    seconds: float
    processor: float
    peak: float
    """MiB."""


def table(rows: int, *, seed: int) -> pd.DataFrame:
    """Rows of one law; a part of a table has its own seed."""
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.standard_normal(rows) for i in range(COLUMNS - 6)}
    missing = rng.standard_normal(rows).round(4)
    missing[rng.random(rows) < 0.03] = np.nan
    columns |= {
        "age": rng.integers(18, 95, rows),
        "amount": rng.lognormal(3, 1, rows).round(2),
        "visits": rng.poisson(2, rows),
        "kind": rng.choice(list("abcdefgh"), rows),
        "missing": missing,
    }
    score = columns["x0"] + columns["x1"] * columns["x2"] + rng.standard_normal(rows)
    return pd.DataFrame(columns | {"target": (score > 0).astype(np.int64)})


def made(rows: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write a table as files; yields the format and the path."""
    parts = folder / f"{rows}"
    parts.mkdir()
    for i, start in enumerate(range(0, rows, PART)):
        table(min(PART, rows - start), seed=i).to_parquet(parts / f"part-{i}.parquet", index=False)
    yield "parquet", parts
    if rows <= MOST_CSV:
        csv = folder / f"{rows}.csv"
        pd.concat([pd.read_parquet(file) for file in sorted(parts.iterdir())]).to_csv(csv, index=False)
        yield "csv", csv


def environment(checkout: Path) -> dict[str, str]:
    """One thread for each library, bytecode kept as in an installed package."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}


def audited(path: Path, checkout: Path) -> Run:
    """Audit a table in a fresh process."""
    command = [sys.executable, "-m", "picsc", "audit", str(path), "--target", "target", "--folds", "10"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment(checkout), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Run(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def profile(path: Path) -> dict[str, float]:
    """Processor seconds of one audit by part, in this process."""
    import picsc

    found: dict[str, float] = {}
    for module, name, words in PROFILED:
        place = import_module(module)
        if hasattr(place, name):
            setattr(place, name, _timed(getattr(place, name), words, found))
    begin = time.process_time()
    picsc.audit(path, target="target", folds=10)
    total = time.process_time() - begin
    return found | {"all other": total - sum(found.values()), "together": total}


def _timed(function: Callable[..., Any], words: str, found: dict[str, float]) -> Callable[..., Any]:
    def timed(*given: Any, **named: Any) -> Any:
        begin = time.thread_time()
        try:
            return function(*given, **named)
        finally:
            found[words] = found.get(words, 0.0) + time.thread_time() - begin

    return timed


def _medians(runs: list[Run], rows: int) -> str:
    """Cells of the table: seconds, processor seconds, peak memory, and processor microseconds a row."""
    seconds, processor, peak = (median(getattr(run, of) for run in runs) for of in Run.__slots__)
    return f"{seconds:.1f} | {processor:.1f} | {peak:.0f} | {1e6 * processor / rows:.1f}"


def _imports(checkout: Path) -> list[str]:
    """Processor seconds of imports alone, and of the audit of the embedded table."""
    lines = []
    for words, arguments in (
        ("`import torch, sklearn`", ["-c", "import torch, sklearn"]),
        ("`picsc audit`, the embedded table", ["-m", "picsc", "audit"]),
    ):
        runs = []
        for _ in range(3):
            process = subprocess.Popen(
                [sys.executable, *arguments],
                env=environment(checkout),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
            runs.append(used.ru_utime + used.ru_stime)
        lines.append(f"| {words} | {median(runs):.1f} ({min(runs):.1f} to {max(runs):.1f}) |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--other", type=Path, help="root of another checkout, which takes turns with this one")
    parser.add_argument("--profile", type=Path, help="print the parts of the audit of this table, and nothing else")
    parser.add_argument("--write", type=Path, help="file that gets the tables, besides standard output")
    given = parser.parse_args()
    if given.profile:
        for words, seconds in profile(given.profile).items():
            print(f"{words}\t{seconds:.2f}")
        return
    here = Path(__file__).resolve().parents[1]
    checkouts = {"this": here} | ({"other": given.other.resolve()} if given.other else {})
    lines = [
        "| rows | format | picsc | s | processor s | peak MiB | processor µs a row |",
        "|---:|---|---|---:|---:|---:|---:|",
    ]
    parts: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for rows in given.rows:
            for form, path in made(rows, Path(folder)):
                runs: dict[str, list[Run]] = {name: [] for name in checkouts}
                for _ in range(given.repeats):
                    for name, checkout in checkouts.items():
                        if name == "this" or rows <= MOST_CSV:
                            runs[name].append(audited(path, checkout))
                for name, each in runs.items():
                    if each:
                        lines.append(f"| {rows:,} | {form} | {name} | {_medians(each, rows)} |")
                        print(lines[-1], flush=True)
                command = [sys.executable, __file__, "--profile", str(path)]
                told = subprocess.run(command, env=environment(here), capture_output=True, text=True, check=True).stdout
                parts[f"{rows:,} {form}"] = {
                    words: float(seconds) for words, seconds in (line.split("\t") for line in told.splitlines())
                }
    words = [
        *dict.fromkeys(word for found in parts.values() for word in found if word not in ("all other", "together"))
    ]
    lines += ["", f"| processor s | {' | '.join(parts)} |", f"|---|{'---:|' * len(parts)}"]
    for word in (*words, "all other", "together"):
        cells = [f"{found[word]:.2f}" if word in found else "" for found in parts.values()]
        lines.append(f"| {word} | {' | '.join(cells)} |")
    lines += [
        "",
        "| | processor s |",
        "|---|---:|",
        *_imports(here),
        "",
        f"Python {platform.python_version()}, {platform.machine()}.",
    ]
    print("\n".join(lines))
    if given.write:
        given.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
