"""The verdict of a piece that is to be shown to be like its reference, with its reason in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from picsc.phrases import counted

if TYPE_CHECKING:
    from picsc.auditing.explanation.reasons import Subject
    from picsc.reports.audit import FragmentReport
    from picsc.reports.common import Verdict


def equivalent(subject: Subject, rows: int) -> tuple[Verdict, str]:
    """Whether every column is shown to be close to its reference, and by how much.

    Args:
        subject: a piece that is not shifted.
        rows: number of its rows.
    """
    ceilings, wanted, k = subject.test.ceilings, subject.rule.equivalence, subject.k
    assert ceilings is not None  # noqa: S101 - the caller asked for them
    assert wanted is not None  # noqa: S101 - likewise
    sure = f"{100 * (1 - subject.rule.level):g} % confidence"
    bound, observed, name = float(ceilings.bound[k]), float(ceilings.observed[k]), ceilings.name[k]
    if bound < wanted:
        return "equivalent", f"every column differs by less than {bound:.3f} ({sure})"
    may = f"{name} may differ by up to {bound:.2f} ({sure}), not below --equivalence {wanted:g}"
    if observed >= wanted:
        return "inconclusive", f"{may}; it does so by {observed:.2f} in these rows"
    need = math.ceil(rows * ((bound - observed) / (wanted - observed)) ** 2)
    return "inconclusive", f"{may}; about {need:,} rows in the piece could show it"


def summary_of_equivalence(tested: Sequence[FragmentReport], verdict: Verdict, about: str) -> tuple[str, str, str]:
    """The three lines of a report where no piece is shifted.

    Args:
        tested: the pieces that have a reference.
        verdict: of all of them.
        about: how the pieces were cut, and what was asked.
    """
    shown = sum(fragment.verdict == "equivalent" for fragment in tested)
    first = f"{verdict}: {shown} of {counted(len(tested), 'piece')} {about}"
    if verdict == "equivalent":
        return first, f"for example: {tested[0].name} - {tested[0].reason}", "next: nothing to do"
    smallest = min((each for each in tested if each.verdict != "equivalent"), key=lambda each: each.rows)
    more = "next: add rows, cut into fewer pieces, or ask for a larger --equivalence"
    return first, f"open: {smallest.name} - {smallest.reason}", more
