"""Checks of the rows before every weighting, and the scale of its weights.

Letters: n training rows, m target rows, f columns.
"""

from __future__ import annotations

from torch import Tensor

from picsc.errors import DataError, NumericsError
from picsc.runtime.devices import as_sums, sum_dtype

FLOOR = 0.05
"""Share of n below which an effective sample size, or a mean weight that should be 1, is too small to go on."""
ADVICE = "training and target rows hardly overlap; train without weights or on rows nearer to the target"


def checked(x: Tensor, z: Tensor, *, least: int = 1) -> tuple[Tensor, Tensor]:
    """Training and target rows as floats of one precision, after a check that they can be used.

    Args:
        x: training rows, (n, f).
        z: target rows, (m, f), on the same device.
        least: rows that each must have.

    Returns:
        x and z, as they are where they are floats already.

    Raises:
        DataError: not two tables, different columns, too few rows, or a number that is not finite.
    """
    if x.ndim != 2 or z.ndim != 2 or x.shape[1] != z.shape[1] or x.shape[1] == 0:
        raise DataError(
            f"training rows of shape {tuple(x.shape)} and target rows of shape {tuple(z.shape)} cannot be weighted: "
            "need two tables with the same columns"
        )
    if min(len(x), len(z)) < least:
        raise DataError(f"cannot weight {len(x)} training rows for {len(z)} target rows: need at least {least} of each")
    for name, rows in (("training", x), ("target", z)):
        broken = (~rows.isfinite().all(1)).nonzero().flatten()
        if len(broken):
            raise DataError(
                f"row {int(broken[0])} of the {name} rows, counted from 0, is not finite ({len(broken)} such rows): "
                "fill missing values before weighting"
            )
    dtype = x.dtype if x.dtype == sum_dtype(x.device) else None
    return (x, z.to(dtype)) if dtype else (x.float(), z.float())


def normalised(ratio: Tensor, *, name: str, floor: float = 0.0) -> Tensor:
    """Weights of mean 1 in proportion to a density ratio.

    Args:
        ratio: (n,), non-negative.
        name: name of the weighting, for the message.
        floor: the least mean that `ratio` may have. The mean of a density ratio over the training rows, by itself or
            as a share of that over the target rows, tends to 0 where the two do not meet.

    Returns:
        (n,), in the precision of sums.

    Raises:
        NumericsError: the weights are all 0 or not finite, or their mean is below the floor.
    """
    total = as_sums(ratio).mean()
    mean = float(total)
    if not 0 < mean < float("inf"):
        raise NumericsError(f"{name}: the weights of all {len(ratio):,} training rows are 0 or not finite: {ADVICE}")
    if mean < floor:
        raise NumericsError(
            f"{name}: the training rows reach {100 * mean:.2g} % of the target rows (need {100 * floor:g} %): {ADVICE}"
        )
    return ratio.to(sum_dtype(ratio.device)) / total.to(ratio.device, sum_dtype(ratio.device))
