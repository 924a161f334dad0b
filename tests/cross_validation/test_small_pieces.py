"""Pieces of a few rows among large ones: what is said of them, and what the penalty makes of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.reports.common import Finding
from picsc.reports.cv import CvReport


def sites(tiny: int, n: int = 12_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6))
    frame = pd.DataFrame(x, columns=list("abcdef"))
    frame["y"] = np.where(x @ np.array([1.5, -1, 0.5, 0, 0, 0]) + rng.normal(size=n) > 0, "u", "v")
    site = rng.integers(0, 3, n).astype(str).astype(object)
    site[:tiny] = "tiny"
    return frame.assign(site=site)


def by_site(tiny: int, **options: object) -> CvReport:
    given = {"target": "y", "by": "site", "strength": 0.1, "repeats": 1, "epochs": 20, "batch_size": 1024, **options}
    return picsc.cross_validate(sites(tiny), **given)


def found(report: CvReport) -> list[Finding]:
    return [each for each in report.findings if each.code == "piece-too-small-for-fisher"]


@pytest.mark.parametrize("tiny", [3, 40])
def test_a_tiny_piece_does_not_spoil_the_models_of_the_others(tiny: int) -> None:
    report = by_site(tiny)
    loss = {}
    for name in ("st-cv", "picsc"):
        (method,) = (each for each in report.methods if each.method == name)
        units = [unit.log_loss for unit in method.units if unit.fragment not in ("whole set", "site=tiny")]
        loss[name] = float(np.mean([each for each in units if each is not None]))
    assert loss["picsc"] < loss["st-cv"] + 0.03
    [finding] = found(report)
    assert finding.severity == "warning"
    assert f"({tiny} rows)" in finding.message
    assert len(finding.fragments) == 1


def test_large_pieces_and_lambda_0_are_no_matter() -> None:
    assert found(by_site(0, epochs=1)) == []
    assert found(by_site(3, epochs=1, strength=0.0)) == []
