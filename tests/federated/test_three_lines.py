"""The sentences of a federation: PIcsC against the best baseline and the strongest control, and their p-values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from picsc.federated.three_lines import three_lines
from picsc.reports.fed import FedDifference
from tests.factories.fed import CLIENTS, fed_method

OURS = fed_method(
    "picsc",
    0.77,
    differences=(
        FedDifference("fedavg", -0.01, None, 0.4),
        FedDifference("fisher-mean", 0.07, None, 0.03),
        FedDifference("picsc-scaffold", -0.1125, None, 0.012),
    ),
)
FEDAVG, WEAK = fed_method("fedavg", 0.78), fed_method("fisher-mean", 0.7)
STRONG = fed_method("picsc-scaffold", 0.8825)


def second_line(*methods: object) -> str:
    return three_lines(methods, CLIENTS, "accuracy", None)[1]  # type: ignore[arg-type]


def test_the_strongest_control_is_named_with_its_difference() -> None:
    line = second_line(FEDAVG, WEAK, STRONG, OURS)
    assert line.startswith("picsc against fedavg, the best baseline: -1.0 points, p = 0.4, Holm 0.4, not beyond chance")
    assert line.endswith("; strongest control: picsc-scaffold, 88.2 %; picsc -11.2 points (p 0.012) against it")
    assert second_line(FEDAVG, WEAK, OURS).endswith("fisher-mean, 70.0 %; picsc +7.0 points (p 0.03) against it")


def test_without_controls_or_without_their_numbers_nothing_is_said_of_them() -> None:
    failed = replace(WEAK, accuracy=None)
    assert "control" not in second_line(FEDAVG, OURS)
    assert "control" not in second_line(FEDAVG, failed, OURS)


@pytest.mark.parametrize(("holm", "word"), [(0.08, "not beyond chance"), (0.04, "better")])
def test_the_best_baseline_is_chosen_by_its_score_and_has_holms_p(holm: float, word: str) -> None:
    found = FedDifference("fedavg", 0.05, None, 0.02, -0.1, 0.02, p_holm=holm, log_loss_p_holm=0.4)
    ours = replace(fed_method("picsc", 0.92), differences=(found,))
    _, second, _ = three_lines((fed_method("fedavg", 0.87), ours), (), "accuracy", None)
    assert second == f"picsc against fedavg, the best baseline: +5.0 points, p = 0.02, Holm {holm:.2g}, {word}"
