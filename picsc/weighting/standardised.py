"""Covariates of two sets of rows in the units of the first, as weightings see them.

Letters: n source rows, m target rows, f columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from picsc.errors import DataError
from picsc.runtime.devices import as_sums, placed

NOISE = 1e-5
"""Share of the largest value by which a column must vary: products of equal rows may differ in their last digits."""


def standardised(source: Tensor, target: Tensor, step: int, *, most: float) -> tuple[Tensor, Tensor]:
    """Columns that vary over the source rows, standardised by their mean and deviation there; changes both in place.

    Args:
        source: (n, f).
        target: (m, f).
        step: rows whose squares are held at once; the result does not depend on it, up to rounding.
        most: largest absolute value; larger ones are clipped.

    Raises:
        DataError: nothing varies over the source rows.
    """
    varies = source.amax(0) - source.amin(0) > NOISE * source.abs().max()
    if not bool(varies.any()):
        raise DataError(
            f"no covariate that weightings could use varies over the {len(source)} source rows; train on other rows"
        )
    source, target = source[:, varies], target[:, varies]
    mean = _mean(torch.split(source, step), len(source), source.device)
    squares = ((part - mean).square_() for part in torch.split(source, step))
    deviation = _mean(squares, len(source), source.device).sqrt_().clamp_(min=torch.finfo(source.dtype).tiny)
    for x in (source, target):
        x.sub_(mean).div_(deviation).clamp_(-most, most)
    return source, target


def _mean(parts: Iterable[Tensor], n: int, device: torch.device) -> Tensor:
    """Mean over n rows, summed up in float64 and rounded once."""
    sums = [as_sums(part).sum(0) for part in parts]
    return placed(torch.stack(sums).sum(0) / n, device)
