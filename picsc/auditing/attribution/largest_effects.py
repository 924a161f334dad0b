"""Largest effects: pieces that are known by summaries alone are set aside in the order of their effects.

Summaries give no evidence beyond their draws that pieces could be ranked by. So when several pieces are shifted, those
with the largest effects are set aside and the others are tested among themselves, again until none of them is shifted.
When more than half of the pieces would have to be set aside, there is no common distribution to compare with, and the
first result stands.

Letters: K pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from picsc.auditing.attribution.majority import R, WithVerdict

Effects = Callable[[Sequence[R], Sequence[int]], tuple[Mapping[int, float], ...]]
"""From reports and the positions of the shifted ones to the effect of each shifted piece, once per question."""

LARGE_SHARE = 0.9
"""Pieces with at least this share of the largest effect are set aside together: one at a time but for near equals,
since an innocent piece whose reference has the shifted one shows a part of its effect."""


def set_shifted_aside(
    first: tuple[R, ...], test: Callable[[tuple[int, ...]], tuple[R, ...]], effects: Effects[R]
) -> tuple[tuple[R, ...], tuple[int, ...]]:
    """Set shifted pieces aside until the others agree.

    Args:
        first: reports of all K pieces, each compared with all others.
        test: from the positions of some pieces to their reports when only they are compared with one another.
        effects: size of the shifted pieces' effects.

    Returns:
        K reports, and the positions that were set aside: () when at most one piece is shifted, or too many are.
    """
    shifted = _shifted(first, range(len(first)))
    if len(shifted) < 2:
        return first, ()
    reports, aside = list(first), list[int]()
    while shifted:
        aside += _largest(effects(reports, shifted))
        if 2 * len(aside) > len(first) or len(first) - len(aside) < 2:  # of two pieces, either may be the shifted one
            return first, ()
        kept = tuple(k for k in range(len(first)) if k not in aside)
        for k, report in zip(kept, test(kept), strict=True):
            reports[k] = report
        shifted = _shifted(reports, kept)
    return tuple(reports), tuple(sorted(aside))


def _shifted(reports: Sequence[WithVerdict], positions: Sequence[int]) -> list[int]:
    return [k for k in positions if reports[k].verdict == "shift"]


def _largest(questions: tuple[Mapping[int, float], ...]) -> list[int]:
    """The shifted pieces whose effect, in any question, is not far below the largest."""
    large = set[int]()
    for effects in questions:
        largest = max(effects.values(), default=0.0)
        large |= {k for k, effect in effects.items() if effect >= LARGE_SHARE * largest}
    return sorted(large)
