"""Models that learn one piece after another: Algorithm 2 at the weight of the rows seen, beside its controls.

    PICSC_DATA=DIR python benchmarks/sequences.py [NAME ...] [--seeds 5] [--gamma 0] [--output FILE]

Sequences of images: 12,000 of Fashion-MNIST in ten batches, network 784-64-10, Adam 0.001, 5 epochs, minibatches of 64;
shifts are those of `picsc cv --batch-shift`. Sequences of tables: gas sensors by batch, activity by person, electricity
prices and weather by time, the network of `picsc cv`. A fifth of the rows of every piece tests all models. Every method
chooses on training rows alone, from six candidates (widened at an end) and six shares that a running mean keeps. One
line of JSON is written per sequence, seed and method; `--tables FILE ...` makes Markdown of such lines.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp

from picsc.cross_validation.cross_validate import _prepare, _shifted
from picsc.cross_validation.methods import ISOTROPIC, METHOD_FUNCTIONS, RUNNING
from picsc.cross_validation.piece_scores import PieceScores
from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.data import Data
from picsc.errors import PicscError
from picsc.evaluation.lifelong import lifelong_scores
from picsc.runtime.run_folder import open_run
from picsc.runtime.threads import one_thread
from picsc.settings import CvSettings, ReadSettings

IMAGES, BATCHES = 12_000, 10
SHIFTS = {"rotate": "rotate", "labels": "labels", "permute": "permute", "noise": "noise", "iid": None}
TABLES: dict[str, dict[str, object]] = {
    "gas-sensor-drift": {"time": "batch", "cuts": 8, "mix_time": True},
    "uci-har": {"time": "subject", "cuts": 30, "mix_time": True},
    "elec2": {"batches": BATCHES},
    "noaa-weather": {"batches": BATCHES},
}
FUNCTIONS = ("picsc", ISOTROPIC, "weight-decay", "carried")
"""Computations of `picsc cv` that this compares."""
OURS = ("picsc", "picsc, unmerged")
SHOWN = (*OURS, ISOTROPIC, "weight-decay", "carried", "average", RUNNING)
"""Methods in the tables; all but the first two are controls."""


def images(seed: int, shift: str | None) -> tuple[Data, CvSettings]:
    """A sample of Fashion-MNIST's training images, and settings."""
    whole = by_name("fashion-mnist", ReadSettings())
    if whole.kind != "images":
        raise TypeError(f"{whole.name} holds no images")
    rows = np.random.default_rng([seed, 0]).permutation(np.setdiff1d(np.arange(whole.n), whole.test))[:IMAGES]
    some = replace(whole, pixels=whole.pixels[rows], labels=whole.labels[rows], test=np.empty(0, np.int64))
    settings = {"cut": {"batches": BATCHES}, "train": {"model": "mlp"}, "batch_shift": shift}
    return some, CvSettings.model_validate({**settings, "seed": seed, "repeats": 1})


def table(name: str, seed: int) -> tuple[Data, CvSettings]:
    """A table of a sequence, and settings."""
    settings = CvSettings.model_validate({"cut": TABLES[name], "seed": seed, "repeats": 1})
    return by_name(name, settings.read, keys=settings.keys), settings


def scores(data: Data, settings: CvSettings) -> Iterator[tuple[str, PieceScores, float]]:
    """Scores of every method, and the seconds that it took."""
    with one_thread(), TemporaryDirectory() as folder:
        prepared = _prepare(_shifted(data, settings), settings)
        with open_run(Path(folder) / "run", prepared.manifest, resume=False) as run:
            for function in FUNCTIONS:
                started = time.monotonic()
                found = METHOD_FUNCTIONS[function](prepared.experiment, run)
                for name, each in found.items():
                    yield name, each, time.monotonic() - started


def main() -> None:
    """Run the sequences and print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[*SHIFTS, *TABLES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--gamma", type=float, help="threshold of the trigger; 0 holds at every piece")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--tables", type=Path, nargs="+", help="files of lines, in place of a run")
    asked = parser.parse_args()
    if asked.tables:
        lines = [json.loads(line) for file in asked.tables for line in file.read_text().splitlines()]
        print("\n".join(tables(pd.DataFrame(lines))))
        return
    penalty = {"strength": "posterior", "gamma": asked.gamma}
    out = sys.stdout if asked.output is None else asked.output.open("a")
    for seed in range(asked.first, asked.first + asked.seeds):
        for name in asked.names:
            data, settings = images(seed, SHIFTS[name]) if name in SHIFTS else table(name, seed)
            settings = settings.model_copy(update={"penalty": settings.penalty.model_copy(update=penalty)})
            try:
                for method, found, seconds in scores(data, settings):
                    line = _line(found) | {"seconds": round(seconds, 1)}
                    print(json.dumps({"sequence": name, "seed": seed, "method": method} | line), file=out, flush=True)
            except PicscError as error:
                print(f"{name}, seed {seed}: {error}", file=sys.stderr)


def _line(found: PieceScores) -> dict[str, object]:
    if found.matrix is None:
        raise TypeError("the pieces have no test rows")
    measures = lifelong_scores(found.matrix[0])
    numbers = {key: round(getattr(measures, key), 5) for key in ("all_pieces", "seen", "forgetting", "forward")}
    columns = found.columns
    return {
        **numbers,
        "mean": round(float(np.nanmean(columns["accuracy"])), 5),
        "last": round(float(columns["accuracy"][0, -1]), 5),
        "strength": float(columns["strength"][0, 0]),
        "flagged": int(np.nansum(columns["flagged"])),
        "share": round(float(np.nanmean(columns["share"])), 4),
        "pieces": found.matrix.shape[1],
    }


def tables(lines: pd.DataFrame) -> list[str]:
    """Means over seeds of all methods, and PIcsC against the strongest control, in Markdown.

    Args:
        lines: one row per sequence, seed and method.
    """
    found = []
    for measure, title in (("all_pieces", "last model on all pieces"), ("seen", "pieces seen so far, mean over time")):
        found += [
            f"Accuracy of the {title}, percent:" if measure == "all_pieces" else f"Accuracy over the {title}:",
            "",
        ]
        found += [f"| sequence | seeds | {' | '.join(SHOWN)} | PIcsC minus the strongest control [95 %] | p |"]
        found += ["|---|---|" + "---|" * (len(SHOWN) + 2)]
        for name in (*SHIFTS, *TABLES):
            scores = 100 * lines[lines.sequence == name].pivot_table(index="seed", columns="method", values=measure)
            complete = scores.reindex(columns=list(SHOWN)).dropna()
            if len(complete):
                found.append(_row(name, complete))
        found.append("")
    return found


def _row(name: str, scores: pd.DataFrame) -> str:
    """One sequence; scores by seed (row) and method (column)."""
    controls = [method for method in SHOWN if method not in OURS]
    best = scores[controls].mean().idxmax()
    differences = (scores[OURS[0]] - scores[best]).to_numpy()
    tested = f"{differences.mean():+.1f} ({best})"
    p = "-"
    if len(differences) > 1 and differences.std() > 0:
        test = ttest_1samp(differences, 0)
        low, high = test.confidence_interval(0.95)
        tested, p = f"{differences.mean():+.1f} [{low:.1f}, {high:.1f}] ({best})", f"{test.pvalue:.3f}"
    means = " | ".join(f"{scores[method].mean():.1f}" for method in SHOWN)
    return f"| {name} | {len(scores)} | {means} | {tested} | {p} |"


if __name__ == "__main__":
    main()
