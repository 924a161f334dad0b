"""The settings of an audit: draws that cannot bound an effect, refused where the settings count the pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.auditing import cutting
from picsc.errors import SettingsError
from picsc.settings import AuditSettings
from picsc.settings.audit import too_few_draws
from picsc.settings.by_keyword import from_keywords


@pytest.mark.parametrize("level", [0.05, 0.01, 0.3])
@pytest.mark.parametrize("pieces", [1, 7, 10])
def test_the_number_that_is_named_is_the_fewest_that_do(level: float, pieces: int) -> None:
    need = next(draws for draws in range(5000) if not too_few_draws(draws, level=level, pieces=pieces))
    assert too_few_draws(need - 1, level=level, pieces=pieces).endswith(f"must be at least {need}")


@pytest.mark.parametrize(
    ("cut", "enough"),
    [
        ({"folds": 10}, 199),
        ({"batches": 10}, 179),  # the first one has no batch before it
        ({"batches": 10, "reference": "rest"}, 199),
        ({"folds": 10, "reference": "first"}, 179),
        ({"folds": 1, "reference": "other.csv"}, 99),
        ({"clients": 10}, 199),
    ],
)
def test_settings_that_say_how_many_pieces_there_are(cut: dict[str, Any], enough: int) -> None:
    from_keywords(AuditSettings, "audit", {**cut, "equivalence": 0.2, "draws": enough})
    if enough > 99:
        with pytest.raises(SettingsError, match=f"{enough - 1} are too few .* must be at least {enough}"):
            from_keywords(AuditSettings, "audit", {**cut, "equivalence": 0.2, "draws": enough - 1})
        from_keywords(AuditSettings, "audit", {**cut, "draws": enough - 1})


@pytest.mark.parametrize("cut", [{"by": "site"}, {}, {"batches": 10, "reference": "rest"}])
def test_nothing_is_trained_before_the_refusal(cut: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "audit_table", None)
    frame = {"x": np.arange(200.0) % 7 / 10, "site": np.arange(200) // 20, "y": np.arange(200) % 3}
    with pytest.raises(SettingsError, match=r"99 are too few for equivalence= with 10 pieces at level 0\.05"):
        picsc.audit(pd.DataFrame(frame), target="y", equivalence=0.2, draws=99, **cut)
