"""Attribution: which pieces are shifted when one shifted piece is part of every other piece's reference.

With the reference "rest", a strong shift of one fold makes the rest of every other fold different too, and with enough
rows every fold would be reported as shifted. So when several pieces are, those with the largest effects are set aside
and the others are tested among themselves, again until none of them is shifted. When more than half of the pieces would
have to be set aside, there is no common distribution to compare with, and the first result stands.

Letters: K pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from picsc.auditing.piece_tests import run_piece_tests
from picsc.phrases import listed
from picsc.reports.common import Finding

if TYPE_CHECKING:
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import ComparedRows, PieceTests
    from picsc.reports.audit import FragmentReport
    from picsc.reports.common import Verdict
    from picsc.settings import AuditSettings


class _WithVerdict(Protocol):
    @property
    def verdict(self) -> Verdict: ...


R = TypeVar("R", bound=_WithVerdict)
Effects = Callable[[Sequence[R], Sequence[int]], tuple[Mapping[int, float], ...]]
"""From reports and the positions of the shifted ones to the effect of each shifted piece, once per question."""

LARGE_SHARE = 0.9
"""Pieces with at least this share of the largest effect are set aside together: one at a time but for near equals,
since an innocent piece whose reference has the shifted one shows a part of its effect."""


def attribute(
    tests: PieceTests,
    rows: ComparedRows,
    design: Design,
    settings: AuditSettings,
    progress: Callable[[str], None] = lambda _: None,
) -> PieceTests:
    """Set shifted pieces aside where pieces are compared with the rest, and test the others among themselves.

    Args:
        tests: results of all pieces.
        rows: n rows.
        design: design of these rows.
        settings: as for `run_piece_tests`; a raw threshold knows no level, so nothing is set aside under it.
        progress: called with a few words on each step.

    Returns:
        The results with the final reports and the pieces that were set aside; the mean column KL stays that of all.
    """
    if design.contrast.reference != "rest" or settings.gamma is not None:
        return tests

    def among(kept: tuple[int, ...]) -> tuple[FragmentReport, ...]:
        some, fewer = design.among(kept)
        return run_piece_tests(rows.among(some), fewer, settings, progress).reports

    effects = partial(effects_of_pieces, level=settings.level)
    reports, aside = set_shifted_aside(tests.reports, among, effects)
    return replace(tests, reports=reports, set_aside=aside)


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
        if 2 * len(aside) > len(first):
            return first, ()
        kept = tuple(k for k in range(len(first)) if k not in aside)
        for k, report in zip(kept, test(kept), strict=True):
            reports[k] = report
        shifted = _shifted(reports, kept)
    return tuple(reports), tuple(sorted(aside))


def effects_of_pieces(
    reports: Sequence[FragmentReport], shifted: Sequence[int], *, level: float
) -> tuple[Mapping[int, float], ...]:
    """Effects of the shifted pieces: how far the data moved, and how much the model cares.

    Where the KL alone shows that a piece moved, the KL itself counts for all: as a distance it is near 1 both in the
    piece with a few far values and in those that lack them.
    """
    moved = [k for k in shifted if reports[k].cell != "model only"]
    by_kl = any(column.by_kl(level) for k in moved for column in reports[k].moved(level)[:1])
    return (
        {k: (reports[k].kl if by_kl else reports[k].effect_data) or 0.0 for k in moved},
        {k: reports[k].effect_model or 0.0 for k in shifted if reports[k].cell != "data only"},
    )


def set_aside_finding(names: Sequence[str], what: str) -> list[Finding]:
    """Name the pieces that are no part of the others' reference.

    Args:
        names: names of the pieces that were set aside.
        what: noun for the others, in the plural.

    Returns:
        One note; [] when none was set aside.
    """
    if not names:
        return []
    message = f"set aside: {listed(names)}; the other {what} are compared with one another only"
    return [Finding("set-aside", "note", message)]


def _shifted(reports: Sequence[_WithVerdict], positions: Sequence[int]) -> list[int]:
    return [k for k in positions if reports[k].verdict == "shift"]


def _largest(questions: tuple[Mapping[int, float], ...]) -> list[int]:
    """The shifted pieces whose effect, in any question, is not far below the largest."""
    large = set[int]()
    for effects in questions:
        largest = max(effects.values(), default=0.0)
        large |= {k for k, effect in effects.items() if effect >= LARGE_SHARE * largest}
    return sorted(large)
