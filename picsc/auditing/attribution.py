"""Which pieces are shifted when one shifted piece is part of every other piece's reference.

With the reference "rest", a strong shift of one fold makes the rest of every other fold different too, and with enough
rows every fold would be called. So when several pieces are called, those that speak loudest are set aside and the
others are tested among themselves, again until nobody is called. When more than half of the pieces would have to go,
there is no common distribution to compare with, and the first answer stands.

Letters: K pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from picsc.reports.common import FragmentReport, Verdict


class _Judged(Protocol):
    @property
    def verdict(self) -> Verdict: ...


R = TypeVar("R", bound=_Judged)
Effects = Callable[[Sequence[R], Sequence[int]], tuple[Mapping[int, float], ...]]
"""Reports and the positions that were called to the effect of each, once per question."""

LOUD = 0.5
"""Pieces with at least this share of the largest effect are set aside together."""


def attributed(
    first: tuple[R, ...], test: Callable[[tuple[int, ...]], tuple[R, ...]], effects: Effects[R]
) -> tuple[tuple[R, ...], tuple[int, ...]]:
    """Set shifted pieces aside until the others agree.

    Args:
        first: all K pieces, each judged against all others.
        test: positions of some pieces to their reports when only they are compared with one another.
        effects: how loud the called pieces are.

    Returns:
        K reports, and the positions that were set aside: () when at most one piece was called, or too many.
    """
    called = _called(first, range(len(first)))
    if len(called) < 2:
        return first, ()
    reports, aside = list(first), list[int]()
    while called:
        aside += _loudest(effects(reports, called))
        if 2 * len(aside) > len(first):
            return first, ()
        kept = tuple(k for k in range(len(first)) if k not in aside)
        for k, report in zip(kept, test(kept), strict=True):
            reports[k] = report
        called = _called(reports, kept)
    return tuple(reports), tuple(sorted(aside))


def effects_of_pieces(reports: Sequence[FragmentReport], called: Sequence[int]) -> tuple[Mapping[int, float], ...]:
    """How far the data moved, and how much the model cares."""
    return (
        {k: reports[k].effect_data or 0.0 for k in called if reports[k].cell != "model only"},
        {k: reports[k].effect_model or 0.0 for k in called if reports[k].cell != "data only"},
    )


def _called(reports: Sequence[_Judged], positions: Sequence[int]) -> list[int]:
    return [k for k in positions if reports[k].verdict == "shift"]


def _loudest(questions: tuple[Mapping[int, float], ...]) -> list[int]:
    """The called pieces whose effect, in any question, is not far below the largest."""
    loud = set[int]()
    for effects in questions:
        largest = max(effects.values(), default=0.0)
        loud |= {k for k, effect in effects.items() if effect >= LOUD * largest}
    return sorted(loud)
