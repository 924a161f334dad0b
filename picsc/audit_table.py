"""From a data set to what the shift tests see: coded columns, a reference model, and what each row contributes.

Everything here is a function of the pooled rows and never of the cut, which is what makes the pieces exchangeable.
Letters: n rows, f encoded columns, d parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.column_shift import Coded, code_levels, code_numbers
from picsc.datasets.encoding import encode
from picsc.engine import fit_reference
from picsc.fisher import row_scores
from picsc.nulls import ROWS_PER_DRAW, Ints
from picsc.shift_test import PerRow, Table

if TYPE_CHECKING:
    from picsc.datasets.table import Column, Dataset, Target

EXACT_ROWS = 5_000
"""Up to here sums are in float64, where they cost nothing; beyond, float32."""
SCORE_CELLS = 50_000_000
"""Most per-row gradients, with their squares, that the draws hold at once."""


def audit_table(dataset: Dataset, *, seed: int) -> Table:
    """Code the columns, train the reference model on all rows, and say what each row contributes.

    Source: Section "Model architectures" for the model; Eq. 1 for its per-row gradients.

    Args:
        dataset: of n rows, all of which are in a piece or in the reference.
        seed: of the model's initial parameters and minibatches.
    """
    encoded = encode(dataset).matrix
    numeric = [column for column in dataset.columns if not column.coded]
    target, scores, width = None, None, 0
    if dataset.target is not None:
        target = _coded_target(dataset.target)
        scores, width = _scores(encoded, dataset.target, seed=seed)
    exact = torch.float64 if dataset.n <= EXACT_ROWS else torch.float32
    return Table(
        columns=tuple(_coded(column) for column in dataset.columns),
        numbers=_standardised([cast("NDArray[np.float64]", column.values) for column in numeric], exact),
        encoded=encoded,
        target=target,
        target_number=_target_number(dataset.target, exact),
        scores=scores,
        rows_per_draw=min(ROWS_PER_DRAW, max(2_000, SCORE_CELLS // max(1, 2 * width))),
    )


def _coded(column: Column) -> Coded:
    if column.coded:
        return code_levels(column.name, cast("NDArray[np.int32]", column.values), len(column.levels))
    return code_numbers(column.name, cast("NDArray[np.float64]", column.values))


def _coded_target(target: Target) -> Coded:
    if target.kind == "classes":
        return code_levels(target.name, cast("NDArray[np.int64]", target.values), len(target.levels))
    return code_numbers(target.name, cast("NDArray[np.float64]", target.values))


def _target_number(target: Target | None, dtype: torch.dtype) -> PerRow | None:
    if target is None or target.kind == "classes":
        return None
    return _standardised([cast("NDArray[np.float64]", target.values)], dtype)


def _standardised(columns: list[NDArray[np.float64]], dtype: torch.dtype) -> PerRow:
    """Rows to (m, 2 f): standardised values, 0 where missing, then 1 where present."""
    centres = [(float(np.nanmean(values)), float(np.nanstd(values)) or 1.0) for values in columns]

    def per_row(rows: Ints) -> Tensor:
        out = torch.zeros((len(rows), 2 * len(columns)), dtype=dtype)
        for j, (values, (mean, sd)) in enumerate(zip(columns, centres, strict=True)):
            taken = values[rows]
            present = ~np.isnan(taken)
            out[:, j] = torch.from_numpy(np.where(present, (taken - mean) / sd, 0.0))
            out[:, len(columns) + j] = torch.from_numpy(present)
        return out

    return per_row


def _scores(encoded: NDArray[np.float32], target: Target, *, seed: int) -> tuple[PerRow, int]:
    """Train the reference model on the labelled rows; return its per-row gradients and their number d.

    The parameters are float64 for the gradients of short tables, so that row order changes nothing beyond 1e-12.
    """
    labelled = ~target.missing
    y = _model_target(target)
    likelihood = target.kind
    model = fit_reference(
        torch.from_numpy(encoded[labelled]),
        y[torch.from_numpy(labelled)],
        likelihood=likelihood,
        outputs=len(target.levels) if likelihood == "classes" else 1,
        seed=seed,
    )
    exact = torch.float64 if len(encoded) <= EXACT_ROWS else torch.float32
    model = model.to(exact)
    d = sum(parameter.numel() for parameter in model.parameters())

    def per_row(rows: Ints) -> Tensor:
        known = labelled[rows]
        out = torch.zeros((len(rows), d + 1), dtype=exact)
        x = torch.from_numpy(encoded[rows[known]]).to(exact)
        labels = y[torch.from_numpy(rows[known])]
        if len(x) > 0:
            out[torch.from_numpy(known), :-1] = row_scores(
                model, x, labels if likelihood == "classes" else labels.to(exact), likelihood=likelihood
            )
        out[:, -1] = torch.from_numpy(known)
        return out

    return per_row, d


def _model_target(target: Target) -> Tensor:
    """Class codes as they are; numbers in units of their standard deviation."""
    if target.kind == "classes":
        return torch.from_numpy(target.values.astype(np.int64))
    values = target.values.astype(np.float64)
    return torch.from_numpy((values - np.nanmean(values)) / (np.nanstd(values) or 1.0)).float()
