"""The majority of pieces that agree with one another, found by tests of sets of pieces.

The search is made so that a closed test's argument holds for it (Marcus, Peritz and Gabriel, 1976). Let I be the pieces
that nothing has moved, more than half of all. The test of I among itself is significant with probability `level` at
most. Where neither it nor that of a smaller set inside I is, no refused set lies within I, and a piece of I joins
whatever part of I the search holds; it can be left out only if its evidence is overwhelming, far beyond the level.

Letters: K pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from picsc.reports.common import Verdict


class WithVerdict(Protocol):
    """A report of one piece."""

    @property
    def verdict(self) -> Verdict:
        """The piece is shifted, agrees with its reference, or has no answer."""
        ...


R = TypeVar("R", bound=WithVerdict)
Pieces = frozenset[int]


@dataclass(frozen=True, slots=True)
class Compared(Generic[R]):
    """Some pieces, each compared with its reference."""

    reports: Mapping[int, R]
    """Report of each piece, by its position."""
    evidence: Mapping[int, float]
    """-log p of each piece, by its position; it goes on beyond the largest draw."""

    def shifted(self) -> list[int]:
        """Positions of the shifted pieces, the one with the most evidence first."""
        found = [k for k, report in self.reports.items() if report.verdict == "shift"]
        return sorted(found, key=lambda k: (-self.evidence[k], k))


@dataclass(frozen=True, slots=True)
class Majority(Generic[R]):
    """Pieces that agree, more than half of all, and the others."""

    members: tuple[int, ...]
    """Positions, increasing."""
    inside: Compared[R]
    """Each member compared with the other members; none is shifted."""
    outside: Compared[R]
    """Every other piece compared with all members together."""


@dataclass(frozen=True, slots=True)
class SetTests(Generic[R]):
    """The two tests of a set of pieces."""

    among: Callable[[Pieces], Compared[R]]
    """Each piece of the set compared with the others of the set."""
    against: Callable[[Pieces], Compared[R]]
    """Every piece outside the set compared with all of the set together."""


def find_majority(first: Compared[R], tests: SetTests[R], *, overwhelming: float) -> Majority[R] | None:
    """Find a set of more than half of the pieces that agree, as large as the tests let it be.

    It begins with the pieces that agree best with all others. Pieces outside are compared with the set together; those
    without overwhelming evidence join, the nearest first. Then the pieces of the set are compared with one another:
    where some are shifted, this set is refused, the one with the most evidence leaves, and no set that holds a refused
    one is tried again. So a piece that left because another shifted one was there comes back after that one has left.

    Args:
        first: every piece compared with all others.
        tests: tests of sets.
        overwhelming: least evidence that keeps a piece out of the set without a test of the set with it.

    Returns:
        None if more than half of the pieces would have to be left out.
    """
    called = set(first.shifted())
    order = sorted(first.reports, key=lambda k: (k in called, first.evidence[k], k))
    members = frozenset(order[: max(len(order) // 2 + 1, len(order) - len(called))])
    refused: list[Pieces] = []
    silent: dict[Pieces, Compared[R]] = {}
    while True:
        outside = tests.against(members)
        larger = joined(members, outside, refused, overwhelming)
        if 2 * len(larger) <= len(order):
            return None
        if larger not in silent:
            inside = tests.among(larger)
            shifted = inside.shifted()
            if shifted:
                refused.append(larger)
                members = larger - {shifted[0]}
                continue
            silent[larger] = inside
        if larger == members:
            return Majority(tuple(sorted(members)), silent[members], outside)
        members = larger


def joined(members: Pieces, outside: Compared[R], refused: list[Pieces], overwhelming: float) -> Pieces:
    """The set with those pieces from outside that may belong to it, nearest first.

    Args:
        members: the set.
        outside: all other pieces, compared with the set together.
        refused: sets that no larger set may hold.
        overwhelming: see `find_majority`.
    """
    called = set(outside.shifted())
    for k in sorted(outside.reports, key=lambda k: (outside.evidence[k], k)):
        doubtful = k not in called or outside.evidence[k] < overwhelming
        if doubtful and not any(each <= members | {k} for each in refused):
            members |= {k}
    return members
