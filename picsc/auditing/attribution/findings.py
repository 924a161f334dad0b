"""Findings of attribution: the pieces that are set aside, and groups of pieces that agree with one another."""

from __future__ import annotations

from collections.abc import Sequence

from picsc.phrases import listed
from picsc.reports.common import Finding


def set_aside_finding(names: Sequence[str], what: str, *, agree: bool = False) -> list[Finding]:
    """Name the pieces that are no part of the others' reference.

    Args:
        names: names of the pieces that were set aside.
        what: noun for the others, in the plural.
        agree: True if the pieces set aside show no difference from one another.

    Returns:
        One note; [] when none was set aside.
    """
    if not names:
        return []
    message = f"set aside: {listed(names)}; the other {what} are compared with one another only"
    message += f"; the {what} set aside show no difference from one another" if agree else ""
    return [Finding("set-aside", "note", message)]


def groups_finding(groups: Sequence[Sequence[str]], pieces: int) -> list[Finding]:
    """Name the groups of pieces that agree with one another where no majority does.

    Args:
        groups: names of the pieces of each group.
        pieces: number of all pieces.

    Returns:
        One note; [] for fewer than two groups.
    """
    if len(groups) < 2:
        return []
    others = pieces - sum(len(group) for group in groups)
    apart = f"; the other {others} agree with no group" if others > 1 else "; the other one agrees with no group"
    message = (
        f"{len(groups)} groups of pieces: {' and '.join('{' + ', '.join(group) + '}' for group in groups)}; the pieces "
        f"of a group show no difference from one another{apart if others else ''}"
    )
    return [Finding("groups-of-pieces", "note", f"{message}; no group holds more than half of all pieces")]
