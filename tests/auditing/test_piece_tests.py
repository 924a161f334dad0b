"""How often an audit draws: more often where the first draws leave a verdict in doubt."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.reports.audit import AuditReport

SETTINGS = {"by": "piece", "no_target": True}


def table(moved: float, rows: int = 500, seed: int = 0) -> pd.DataFrame:
    """Five pieces, of which the second has one column moved by so many standard deviations."""
    frame = pd.DataFrame(np.random.default_rng(seed).normal(size=(rows, 3)), columns=["a", "b", "c"])
    frame["piece"] = np.repeat(np.arange(5), rows // 5)
    frame.loc[frame["piece"] == 1, "a"] += moved
    return frame


def audit(frame: pd.DataFrame, **more: object) -> AuditReport:
    return picsc.audit(frame, **SETTINGS, **more)  # type: ignore[arg-type]


def smallest(report: AuditReport) -> float:
    return min(piece.p_adjusted for piece in report.fragments if piece.p_adjusted is not None)


def test_a_clear_verdict_needs_no_more_draws() -> None:
    report = audit(table(3.0))
    assert report.null.draws == 999
    assert smallest(report) < 0.05 / 3
    assert report.fragments[1].verdict == "shift"


def test_a_verdict_in_doubt_is_drawn_anew() -> None:
    frame = table(0.25)
    first, second = audit(frame, draws=999), audit(frame)
    assert 0.02 < smallest(first) < 0.12, "the table should be in doubt by a margin"
    assert (first.null.draws, second.null.draws) == (999, 9999)
    assert second.settings["draws"] == "auto"
    assert second.fragments == audit(frame, draws=9999).fragments


def test_a_table_that_would_take_long_is_not_drawn_anew() -> None:
    assert audit(table(0.08, rows=7000)).null.draws == 999


@pytest.mark.slow
def test_near_the_level_p_hardly_depends_on_the_seed() -> None:
    """Of 999 draws with a tail of its own for each piece, p was 0.004 to 0.057 by eight seeds."""
    ps = np.log([smallest(audit(table(0.25), seed=seed)) for seed in range(8)])
    assert ps.std() < 0.2
