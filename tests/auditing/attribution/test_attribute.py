"""Shifted pieces in tables: who is named, and what is said of groups."""

import numpy as np
import pandas as pd
import pytest

import picsc
from benchmarks.localisation import Cell, audited
from picsc.auditing.attribution.attribute import overwhelming

FAST = 199


def pieces(shifts: list[float], rows: int = 150, seed: int = 0) -> pd.DataFrame:
    """Pieces that hold the same rows, a little moved and then shifted: no chance makes them differ."""
    rng = np.random.default_rng(seed)
    x = np.tile(rng.normal(size=(rows, 3)), (len(shifts), 1)) + 0.01 * rng.normal(size=(rows * len(shifts), 3))
    x[:, 1] += np.repeat(shifts, rows)
    frame = pd.DataFrame(x, columns=["x1", "x2", "x3"])
    return frame.assign(piece=np.repeat(np.arange(len(shifts)), rows))


def audit(shifts: list[float]) -> picsc.AuditReport:
    return picsc.audit(pieces(shifts), no_target=True, by="piece", draws=FAST)


def names(report: picsc.AuditReport) -> list[int]:
    return [int(fragment.name.removeprefix("piece=")) for fragment in report.shifted]


def message(report: picsc.AuditReport, code: str) -> str:
    return "".join(finding.message for finding in report.findings if finding.code == code)


def test_two_of_five_that_are_alike_are_named_and_said_to_agree() -> None:
    report = audit([0, 2, 0, 2, 0])
    assert names(report) == [1, 3]
    assert "the pieces set aside show no difference from one another" in message(report, "set-aside")


def test_two_that_differ_in_opposite_ways_do_not_agree() -> None:
    report = audit([0, 2, 0, -2, 0])
    assert names(report) == [1, 3]
    assert "show no difference" not in message(report, "set-aside")


def test_the_effect_of_one_is_not_diluted_by_the_other() -> None:
    alone, both = (
        audit(shifts).fragments[1].columns[0].statistic or 0 for shifts in ([0, 1, 0, 0, 0], [0, 1, 0, 1, 0])
    )
    assert both == pytest.approx(alone, abs=0.02)


def test_two_camps_are_named_where_no_majority_agrees() -> None:
    report = audit([0, 2, 0, 2])
    assert names(report) == [0, 1, 2, 3]
    assert message(report, "set-aside") == ""
    assert "{piece=0, piece=2} and {piece=1, piece=3}" in message(report, "groups-of-pieces")


def test_pieces_that_all_differ_are_no_groups() -> None:
    report = audit([0, 2, 4, 6])
    assert names(report) == [0, 1, 2, 3]
    assert message(report, "groups-of-pieces") == ""


def test_overwhelming_evidence_is_twice_bonferronis() -> None:
    assert overwhelming(5, 0.05) == pytest.approx(2 * np.log(200))


@pytest.mark.slow
def test_innocent_pieces_are_left_alone() -> None:
    """Two of five moved alike by two deviations: at a true rate of 5 %, more than 7 of 30 has probability 1e-4."""
    found = [audited(Cell(5, 2, "mean 2", 200), seed) for seed in range(30)]
    assert all(culprits for culprits, _ in found)
    assert sum(others for _, others in found) <= 7
