"""Covariate KL by column, each with a p-value: which columns a sum over all of them has seen.

Letters: B draws (an axis of B + 1 has the observed value first), K pieces, f numeric columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from picsc.auditing.model_tests import moment_kl
from picsc.auditing.multiplicity import p_among
from picsc.auditing.null_statistics import ColumnKl
from picsc.auditing.permutations import RowSums
from picsc.reports.columns import kl_distance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from picsc.auditing.null_statistics import ColumnDraws, ColumnTest, TestInputs
    from picsc.auditing.permutations import LabelDraws

NUMBERS_AT_ONCE = 8_000_000
"""Most divergences that are in memory at a time: draws times pieces times columns."""


def with_kl_by_column(
    tests: tuple[ColumnTest, ...], inputs: TestInputs, null: LabelDraws, columns: ColumnDraws
) -> tuple[ColumnTest, ...]:
    """Add the test of its KL to every column.

    Source: Eq. 8, whose sum over columns says that something moved, and not what.

    Args:
        tests: all columns, values and missing rates, in the order of `columns.members`.
        inputs: n rows as the tests see them.
        null: permuted labels of these rows.
        columns: draws of the columns, with those of the KL of categorical ones.

    Returns:
        The tests; the p-values are corrected over all columns and pieces by the largest evidence in each draw.
    """
    numeric, largest = [], columns.largest_kl
    for found in _numeric(inputs, null):
        largest = torch.maximum(largest, found.amax((1, 2)))
        numeric += list(found[0].T)
    from_moments, completed = iter(numeric), []
    for test, of_levels in zip(tests, columns.members.kl_evidence, strict=True):
        if test.test != "values":
            completed.append(test)
            continue
        if bool(of_levels.isnan().all()):
            observed, effect = next(from_moments), np.array([kl_distance(kl) for kl in test.kl])
        else:
            observed, effect = of_levels, test.effect
        tested = ColumnKl(observed.numpy(), p_among(observed, largest).numpy(), np.nan_to_num(effect))
        completed.append(replace(test, of_kl=tested))
    return tuple(completed)


def _numeric(inputs: TestInputs, null: LabelDraws) -> Iterator[Tensor]:
    """Evidence of the Gaussian KL of a block of numeric columns after the other, (B + 1, K, block)."""
    start, sums, contrast = 2 * inputs.parameters + 1, null.sums, null.contrast
    stored = (sums.matrix.shape[1] - start - 1) // 3  # a numeric target is stored like a column, and is none
    draws, pieces = len(null.labels), len(contrast.pieces)
    together = max(1, NUMBERS_AT_ONCE // (draws * pieces))

    def reduce(block: Tensor) -> Tensor:
        values, squares, sizes = block[..., :-1].double().chunk(3, dim=-1)
        effective = contrast.effective(block[..., -1].double())
        return effective[..., None] * moment_kl(values, squares, sizes, contrast)

    for first in range(0, inputs.f_numeric, together):
        columns = torch.arange(first, min(first + together, inputs.f_numeric))
        kept = torch.cat([start + part * stored + columns for part in range(3)] + [torch.tensor([-1])])
        kept %= sums.matrix.shape[1]
        offset = None if sums.offset is None else sums.offset[:, kept]
        block = RowSums(sums.matrix[:, kept], offset, sums.observed[..., kept])
        drawn = replace(null, sums=block).reduced(reduce).nan_to_num(0.0, posinf=0.0)
        yield null.evidence(drawn.double()).value
