"""Groups of pieces that agree with one another, where no majority of all pieces does.

Letters: K pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from picsc.auditing.two_questions import shift_test
from picsc.runtime.threads import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from picsc.auditing.attribution.majority import Compared, Pieces
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import ComparedRows
    from picsc.reports.audit import FragmentReport
    from picsc.settings import AuditSettings

FEWEST, MOST = 4, 32
"""Fewest pieces that can be two groups of two, and most pieces whose pairs are compared: their number grows with the
square."""
DRAWS = 199
"""Most permutations for the pairs, whose evidence only ranks them."""


def groups_by_pairs(
    rows: ComparedRows,
    design: Design,
    settings: AuditSettings,
    among: Callable[[Pieces], Compared[FragmentReport]],
) -> tuple[tuple[int, ...], ...]:
    """Groups of two or more pieces that show no difference from one another.

    Args:
        rows: n rows.
        design: design of these rows.
        settings: level, draws, seed and jobs.
        among: tests of the pieces of a set among themselves, which confirm a group.

    Returns:
        Positions of the pieces of each group, the largest group first.
    """
    if not FEWEST <= len(design.contrast.pieces) <= MOST:
        return ()
    by_pair, pairs = design.pairs()
    with one_thread():
        test = shift_test(
            rows.inputs(rows.dataset),
            by_pair,
            level=settings.level,
            draws=min(settings.first_draws, DRAWS),
            seed=settings.seed,
            jobs=settings.jobs,
        )
    evidence = np.zeros((len(design.contrast.pieces),) * 2)
    assert test.evidence is not None  # noqa: S101 - shift_test gives it
    for (i, j), value in zip(pairs, test.evidence.tolist(), strict=True):
        evidence[i, j] = evidence[j, i] = value
    found = [group for group in linked(evidence, below=math.log(2 * len(pairs) / settings.level)) if len(group) > 1]
    return tuple(group for group in found if not among(frozenset(group)).shifted())


def linked(distance: NDArray[np.float64], *, below: float) -> list[tuple[int, ...]]:
    """Join the two nearest groups, by the mean distance of their pieces, as long as they are nearer than `below`.

    Args:
        distance: (K, K), symmetric.
        below: least distance of groups that stay apart.

    Returns:
        Positions of the pieces of each group, the largest group first.
    """
    groups: list[tuple[int, ...]] = [(k,) for k in range(len(distance))]
    while len(groups) > 1:
        means = [
            (float(distance[np.ix_(a, b)].mean()), i, j)
            for i, a in enumerate(groups)
            for j, b in enumerate(groups)
            if j < i
        ]
        nearest, i, j = min(means)
        if nearest >= below:
            break
        joined = tuple(sorted(groups[i] + groups[j]))
        groups = [group for at, group in enumerate(groups) if at not in (i, j)] + [joined]
    return sorted(groups, key=lambda group: (-len(group), group))
