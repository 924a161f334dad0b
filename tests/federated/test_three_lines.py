"""The second line: PIcsC against the best baseline, and against the strongest control."""

from __future__ import annotations

from dataclasses import replace

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
    assert line.startswith("picsc against fedavg, the best baseline: -1.0 points, p = 0.4, not beyond chance")
    assert line.endswith("; strongest control: picsc-scaffold, 88.2 %; picsc -11.2 points (p 0.012) against it")
    assert second_line(FEDAVG, WEAK, OURS).endswith("fisher-mean, 70.0 %; picsc +7.0 points (p 0.03) against it")


def test_without_controls_or_without_their_numbers_nothing_is_said_of_them() -> None:
    failed = replace(WEAK, accuracy=None)
    assert "control" not in second_line(FEDAVG, OURS)
    assert "control" not in second_line(FEDAVG, failed, OURS)
