"""Fold balance: how alike folds are, measured by their mean column KL and compared with random folds.

Letters: B draws (an axis of B + 1 has the observed value first).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from picsc.reports.audit import Balance
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from picsc.fragments import Cut

SLACK = 1e-9
"""Relative difference below which two sums of the same numbers in another order are equal."""


def balance(pieces: Cut, mean_kl: NDArray[np.float64] | None, *, with_file: bool) -> Balance | None:
    """Compare the folds' mean column KL with its draws under the null.

    Reading: the paper compares cross-validation by accuracy alone; a one-sided test in the lower tail shows whether a
        splitter makes folds more alike than chance does.

    Args:
        pieces: how the table was cut.
        mean_kl: (B + 1,) covariate KL, mean over columns and pieces, nats; None without columns.
        with_file: the pieces are compared with a file, which no splitter balances them against.

    Returns:
        The balance; None where the pieces are no folds, or are compared with a file.
    """
    if mean_kl is None or with_file or any(fragment.kind != "fold" for fragment in pieces.fragments):
        return None
    observed = float(mean_kl[0])
    as_alike = int((mean_kl[1:] <= observed * (1 + SLACK)).sum())
    return Balance(observed, float(np.median(mean_kl[1:])), (1 + as_alike) / len(mean_kl))


def more_balanced(found: Balance | None, level: float) -> list[Finding]:
    """Note that the folds are more alike than random ones.

    Args:
        found: the balance of the folds; None where the pieces are no folds.
        level: largest lower-tail p-value that is worth a note.
    """
    if found is None or found.p_less > level:
        return []
    return [
        Finding(
            "more-balanced",
            "note",
            f"the folds are more alike than random ones: mean column KL {found.kl:.3g} where random folds have "
            f"{found.expected:.3g} (p {found.p_less:.2g})",
        )
    ]
