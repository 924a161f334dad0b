"""The sentences of a federation: which p-value they follow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from picsc.federated.three_lines import three_lines
from picsc.reports.fed import FedDifference
from tests.factories.fed import fed_method


@pytest.mark.parametrize(("holm", "word"), [(0.08, "not beyond chance"), (0.04, "better")])
def test_the_best_baseline_is_chosen_by_its_score_and_has_holms_p(holm: float, word: str) -> None:
    found = FedDifference("fedavg", 0.05, None, 0.02, -0.1, 0.02, p_holm=holm, log_loss_p_holm=0.4)
    ours = replace(fed_method("picsc", 0.92), differences=(found,))
    _, second, _ = three_lines((fed_method("fedavg", 0.87), ours), (), "accuracy", None)
    assert second == f"picsc against fedavg, the best baseline: +5.0 points, p = 0.02, Holm {holm:.2g}, {word}"
