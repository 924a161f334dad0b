"""Bias, spread, coverage and choices of estimates over draws, as tables in Markdown."""

from __future__ import annotations

import numpy as np
import pandas as pd

PAIR = ("ridge", "neighbours")
"""Models of which the better one is chosen."""
TITLES = (
    "rows", "estimate", "cells", "draws", "bias", "size of bias", "spread", "sd of error", "coverage", "worst cell",
    "of the method", "width", "better model", "no result",
)  # fmt: skip
NONE = "-"


def per_cell(results: pd.DataFrame) -> pd.DataFrame:
    """One row per scenario, table, rows, model and estimate."""
    results = results.assign(
        error=100 * (results["value"] - results["truth"]),
        covered=_covered(results, results["truth"]),
        width=100 * (results["high"] - results["low"]),
    )
    keys = ["scenario", "table", "n", "model", "estimate"]
    method = results.groupby(["scenario", "table", "n", "model"])["truth"].transform("mean")
    results["of_method"] = _covered(results, method)
    found = results.groupby(keys, sort=False).agg(
        draws=("draw", "nunique"),
        truth=("truth", lambda v: 100 * v.mean()),
        bias=("error", "mean"),
        error_sd=("error", "std"),
        spread=("value", lambda v: 100 * v.std()),
        coverage=("covered", "mean"),
        coverage_of_method=("of_method", "mean"),
        width=("width", "median"),
        missing=("value", lambda v: v.isna().mean()),
        note=("note", "mean"),
    )
    return found.reset_index()


def _covered(results: pd.DataFrame, truth: pd.Series) -> pd.Series:
    inside = (results["low"] <= truth) & (truth <= results["high"])
    return inside.astype(float).where(results["low"].notna())


def chosen(results: pd.DataFrame) -> pd.DataFrame:
    """Share of draws in which the better of two models has the higher estimate; ties count half, equal truths none."""
    pair = results[results["model"].isin(PAIR)]
    if pair.empty:
        return pd.DataFrame(columns=["scenario", "table", "n", "estimate", "chosen"])
    wide = pair.pivot_table(
        index=["scenario", "table", "n", "estimate", "draw"], columns="model", values=["value", "truth"], sort=False
    )
    by = {key: wide[key][PAIR[0]] - wide[key][PAIR[1]] for key in ("value", "truth")}
    right = (np.sign(by["value"]) * np.sign(by["truth"]) + 1) / 2
    right = right[(by["truth"] != 0) & by["value"].notna()]
    return right.groupby(level=["scenario", "table", "n", "estimate"], sort=False).mean().rename("chosen").reset_index()


def over_tables(results: pd.DataFrame) -> pd.DataFrame:
    """One row per scenario, estimate and number of rows: means over tables and models."""
    cells, choices = per_cell(results), chosen(results)
    cells["size"] = cells["bias"].abs()
    found = cells.groupby(["scenario", "n", "estimate"], sort=False).agg(
        cells=("table", "size"),
        draws=("draws", "min"),
        most_draws=("draws", "max"),
        bias=("bias", "mean"),
        size=("size", "mean"),
        spread=("spread", "mean"),
        error_sd=("error_sd", "mean"),
        coverage=("coverage", "mean"),
        least=("coverage", "min"),
        coverage_of_method=("coverage_of_method", "mean"),
        width=("width", "mean"),
        missing=("missing", "mean"),
        note=("note", "mean"),
    )
    better = choices.groupby(["scenario", "n", "estimate"], sort=False)["chosen"].mean()
    return found.join(better).reset_index()


def markdown(results: pd.DataFrame) -> str:
    """The tables, one per scenario."""
    lines: list[str] = []
    summary = over_tables(results)
    for scenario, part in summary.groupby("scenario", sort=False):
        lines += [f"### {scenario}", ""]
        lines += [
            f"| {' | '.join(TITLES)} |",
            "|---" * len(TITLES) + "|",
        ]
        for _, row in part.sort_values(["n"], kind="stable").iterrows():
            percents = [row["coverage"], row["least"], row["coverage_of_method"]]
            few, many = row["draws"], row["most_draws"]
            cells = [str(row["n"]), str(row["estimate"]), str(row["cells"])]
            cells.append(str(few) if few == many else f"{few}-{many}")
            cells += [f"{row['bias']:+.1f}", *(f"{row[key]:.1f}" for key in ("size", "spread", "error_sd"))]
            cells += [NONE if np.isnan(v) else f"{100 * v:.0f}" for v in percents]
            cells += [NONE if np.isnan(row["width"]) else f"{row['width']:.0f}"]
            cells += [NONE if np.isnan(row["chosen"]) else f"{100 * row['chosen']:.0f}", f"{100 * row['missing']:.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)
