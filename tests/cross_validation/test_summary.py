"""The sentences of a cross-validation: which p-value they follow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from picsc.cross_validation.summary import summary_lines
from picsc.reports.common import Difference
from picsc.reports.cv import MethodReport
from tests.factories.cv import method_report


def methods(control_holm: float) -> tuple[MethodReport, ...]:
    against = (
        Difference("st-cv", 0.05, None, 0.02, 0.0, 0.9, 0.08, 0.9),
        Difference("carried", 0.02, None, 0.02, 0.0, 0.9, control_holm, 0.9),
    )
    ours = replace(method_report("picsc", (0.9, 0.9)), differences=against)
    return method_report("st-cv", (0.85, 0.85)), ours, method_report("carried", (0.88, 0.88))


@pytest.mark.parametrize(
    ("holm", "advice"),
    [
        (0.08, "next: picsc helps, but carried does as well; the penalty is not what helps"),
        (0.04, "next: picsc helps beyond its controls here; keep it"),
    ],
)
def test_the_control_that_was_chosen_by_its_score_has_holms_p(holm: float, advice: str) -> None:
    first, second, third = summary_lines(methods(holm), "accuracy", None)
    assert "+5.0 points (p 0.02)" in first  # one comparison, named before the run
    assert second == f"strongest control: carried, 88.0 %; picsc +2.0 points (p 0.02, Holm {holm:.2g}) against it"
    assert third == advice
