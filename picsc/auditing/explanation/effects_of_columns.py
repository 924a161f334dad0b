"""Effects of the columns that are significant by their own tests, and pieces where none is.

Letters: K pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from picsc.auditing.null_statistics import ColumnTest

Floats = NDArray[np.float64]


def effects_of_columns(tests: Sequence[ColumnTest], led: Mapping[str, Floats], level: float) -> dict[str, Floats]:
    """Effect of the largest column that is significant by its own test, and by its KL alone; where none is, `led`.

    A unit that changed in one piece makes the KL of all others large, too, since their reference has that piece; how
    far they are from it is what the columns' own tests say.

    Args:
        tests: values and missing rates of all columns.
        led: effect of the column with the most evidence, for both statistics.
        level: family-wise error rate.
    """
    by_test = [np.where(test.p_adjusted <= level, np.nan_to_num(test.effect), -1.0) for test in tests]
    by_kl = [
        np.where((test.of_kl.p_adjusted <= level) & (test.p_adjusted > level), test.of_kl.effect, -1.0)
        for test in tests
        if test.of_kl is not None
    ]
    found = {}
    for name, effects in (("columns", by_test), ("covariate KL", by_kl)):
        largest = np.max(effects, axis=0) if effects else np.full_like(led[name], -1.0)
        found[name] = np.where(largest >= 0, largest, led[name])
    return found


def jointly_alone(joint_p: Floats, tests: Sequence[ColumnTest], level: float) -> list[int]:
    """Positions of the pieces in which the joint distribution is significant and no column is.

    Args:
        joint_p: (K,) p-values of the joint distribution.
        tests: values and missing rates of all columns.
        level: family-wise error rate.
    """
    alone = joint_p <= level
    for test in tests:
        alone &= test.p_adjusted > level
        alone &= True if test.of_kl is None else test.of_kl.p_adjusted > level
    return [int(k) for k in np.flatnonzero(alone)]
