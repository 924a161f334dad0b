"""Fit of the reference model: values by hand, in pieces and in their references."""

import numpy as np
import pytest
import torch
from torch import nn

from picsc.auditing.design import Design
from picsc.auditing.effects.model_fit import RowFit, model_fits, row_fit
from picsc.auditing.exchangeability import Contrast, PermutationScheme

LABELS = np.repeat([0, 1], [100, 300]).astype(np.int64)
DESIGN = Design(LABELS, Contrast(2, (0, 1), "rest"), PermutationScheme())


def right(piece: int, reference: int) -> RowFit:
    score = np.concatenate([np.arange(100) < piece, np.arange(300) < reference]).astype(float)
    return RowFit("accuracy", score, 1.0 - score)


def test_accuracies_differ_in_points_with_newcombes_interval() -> None:
    found = model_fits(right(84, 273), DESIGN)[0]
    assert found is not None
    assert (found.piece, found.reference, found.difference) == pytest.approx((0.84, 0.91, -0.07))
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.15856, 0.00010), abs=2e-5)
    assert found.loss_difference == pytest.approx(0.07)
    said = found.in_words("this piece", "the rest")
    assert said.endswith("is right in 84.0 % of this piece and in 91.0 % of the rest (-7.0 points [-15.9, 0.0])")


def test_a_row_without_a_label_counts_on_neither_side() -> None:
    fit = right(84, 273)
    fit.score[:10] = fit.loss[:10] = np.nan
    found = model_fits(fit, DESIGN)[0]
    assert found is not None
    assert found.piece == pytest.approx(74 / 90)


def test_a_piece_without_labels_has_no_fit() -> None:
    fit = right(84, 273)
    fit.score[:100] = fit.loss[:100] = np.nan
    assert model_fits(fit, DESIGN) == (None, None)
    assert model_fits(None, DESIGN) == (None, None)


def test_numbers_are_off_in_their_own_unit() -> None:
    model = nn.Linear(1, 1)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    y = torch.cat([torch.full((100,), 2.0), torch.full((300,), -1.0)])
    labelled = np.ones(400, bool)
    labelled[0] = False
    fit = row_fit(model, np.zeros((400, 1), np.float32), y, labelled, unit=50.0)
    assert np.isnan(fit.score[0])
    found = model_fits(fit, DESIGN)[0]
    assert found is not None
    assert (found.piece, found.reference) == pytest.approx((100.0, 50.0))
    assert found.loss_difference == pytest.approx(1.5)
    assert found.in_words("this piece", "the rest") == (
        "the reference model is off by 100 on average in this piece and by 50 in the rest (+50)"
    )


def test_groups_widen_the_interval() -> None:
    units = np.arange(400) // 10
    fit = RowFit("accuracy", (units % 2).astype(float), 1.0 - units % 2)
    grouped = Design(LABELS, DESIGN.contrast, PermutationScheme(units=units))
    alone, together = model_fits(fit, DESIGN)[0], model_fits(fit, grouped)[0]
    assert alone is not None and together is not None  # noqa: PT018
    assert together.interval.high - together.interval.low > 2 * (alone.interval.high - alone.interval.low)
