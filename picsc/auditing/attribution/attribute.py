"""The stage of attribution: tests of the pieces that agree among themselves, and of the others against them.

Letters: K pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from picsc.auditing.attribution.groups import groups_by_pairs
from picsc.auditing.attribution.majority import Compared, Pieces, SetTests, find_majority
from picsc.auditing.piece_tests import run_piece_tests

if TYPE_CHECKING:
    from picsc.auditing.attribution.majority import Majority
    from picsc.auditing.design import Design
    from picsc.auditing.piece_tests import ComparedRows, PieceTests
    from picsc.reports.audit import FragmentReport
    from picsc.settings import AuditSettings


def attribute(
    tests: PieceTests,
    rows: ComparedRows,
    design: Design,
    settings: AuditSettings,
    progress: Callable[[str], None] = lambda _: None,
) -> PieceTests:
    """Where pieces are compared with the rest, set those aside that do not agree with the majority, and test again.

    The reference model is trained again and columns are coded again for the pieces of each set, since one piece in
    another unit would otherwise decide what can be seen in all others; against the contrast forest this costs little.

    Args:
        tests: results of all pieces.
        rows: n rows.
        design: design of these rows.
        settings: as for `run_piece_tests`; a raw threshold knows no level, so nothing is set aside under it.
        progress: called with a few words on each step.

    Returns:
        The results with the final reports, the pieces that were set aside, and groups of pieces that agree; the mean
        column KL stays that of all.
    """
    if design.contrast.reference != "rest" or settings.gamma is not None:
        return tests
    every = tuple(range(len(tests.reports)))
    first = _compared(tests, every)
    if len(first.shifted()) < 2:
        return tests

    def among(members: Pieces) -> Compared[FragmentReport]:
        kept = tuple(sorted(members))
        some, fewer = design.among(kept)
        return _compared(run_piece_tests(rows.among(some), fewer, settings, progress), kept)

    def against(members: Pieces) -> Compared[FragmentReport]:
        others = tuple(k for k in every if k not in members)
        if not others:
            return Compared({}, {})
        some, fewer = design.against(tuple(sorted(members)), others)
        return _compared(run_piece_tests(rows.among(some), fewer, settings, progress), others)

    found = find_majority(first, SetTests(among, against), overwhelming=overwhelming(len(every), settings.level))
    if found is None:
        groups = groups_by_pairs(rows, design, settings, among)
        return replace(tests, groups=groups if len(groups) > 1 else ())
    return _set_aside(tests, found, among)


def overwhelming(pieces: int, level: float) -> float:
    """Evidence that no correction for the number of tests could make doubtful: twice what Bonferroni asks for.

    Args:
        pieces: K; each has two questions.
        level: family-wise error rate.
    """
    return 2 * math.log(2 * pieces / level)


def _compared(tests: PieceTests, positions: tuple[int, ...]) -> Compared[FragmentReport]:
    """The results of tests of some pieces, by their position among all."""
    return Compared(dict(zip(positions, tests.reports, strict=True)), dict(zip(positions, tests.evidence, strict=True)))


def _set_aside(
    tests: PieceTests, found: Majority[FragmentReport], among: Callable[[Pieces], Compared[FragmentReport]]
) -> PieceTests:
    """The results where a majority agrees; pieces set aside that agree with one another are a group."""
    reports = {**found.inside.reports, **found.outside.reports}
    aside = tuple(sorted(found.outside.reports))
    together = aside if len(aside) > 1 and not among(frozenset(aside)).shifted() else ()
    return replace(
        tests,
        reports=tuple(reports[k] for k in sorted(reports)),
        set_aside=aside,
        groups=(together,) if together else (),
    )
