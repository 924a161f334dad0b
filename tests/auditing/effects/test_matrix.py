from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from picsc.auditing.audit import audit
from picsc.auditing.effects import matrix
from picsc.reports.audit import AuditReport
from tests.auditing.effects.test_distributions import table


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audit(table(), by="part", draws=99)


def test_sizes_in_every_piece_are_those_of_the_tests(report: AuditReport) -> None:
    sizes = {(each.name, each.kind): each.sizes for each in report.column_effects}
    told = 0
    for k, piece in enumerate(report.fragments):
        for column in piece.columns:
            assert sizes[column.name, column.kind][k] == pytest.approx(column.statistic, abs=0.012)
            told += 1
    assert told >= 10
    assert all(len(each.sizes) == len(report.fragments) for each in report.column_effects)


def test_the_size_of_a_number_is_its_ks_distance_from_the_reference(report: AuditReport) -> None:
    a = table()["a"].to_numpy()
    sizes = next(each.sizes for each in report.column_effects if each.name == "a")
    assert sizes[2] == pytest.approx(ks_2samp(a[200:300], np.delete(a, slice(200, 300))).statistic, abs=0.012)


def test_steps_of_a_long_column_are_found_in_a_sample(report: AuditReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "SAMPLE", 100)
    again = audit(table(), by="part", draws=99)
    for some, every in zip(again.column_effects, report.column_effects, strict=True):
        assert some.sizes == pytest.approx(every.sizes, abs=0.02)
