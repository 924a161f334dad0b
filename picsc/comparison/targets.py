"""Pieces as targets: the named ones or each in turn, and the pieces that are trained on for each.

Where pieces are a sequence in time, a target is learned from the pieces before it, unless something else is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from picsc.datasets.rows import Rows
from picsc.errors import SettingsError
from picsc.fragments import Fragment
from picsc.phrases import listed
from picsc.reports.common import Finding
from picsc.settings import CompareSettings

SMALLEST_PIECE = 4
"""Rows of the smallest piece that can be a target: two target rows and two test rows."""
SHOWN = 10
"""Names of pieces that a sentence lists."""


@dataclass(frozen=True, slots=True)
class Target:
    """Rows of one target, and the pieces that are trained on for it."""

    name: str
    sources: tuple[Rows, ...]
    rows: Rows


def targets_of(pieces: Sequence[Fragment], settings: CompareSettings) -> list[Target]:
    """Each target with the pieces that are trained on for it.

    Args:
        pieces: all pieces, in order of time where they are a sequence in time.
        settings: pieces that are named, and whether later pieces may be trained on.

    Raises:
        SettingsError: a piece that is named does not exist, or nothing is left to train on or to be the target.
    """
    place = {piece.name: i for i, piece in enumerate(pieces)}
    sources = [_found(name, pieces, "--train-on") for name in settings.train_on]
    wanted = [_found(name, pieces, "--test-on") for name in settings.test_on]
    for piece in (piece for piece in wanted if any(piece is source for source in sources)):
        raise SettingsError(f"--train-on and --test-on both name {piece.name}: the target must not be trained on")
    forward = settings.cut.forward
    targets = wanted or [piece for piece in pieces if not any(piece is source for source in sources)]
    if not targets:
        raise SettingsError("--train-on names all pieces: leave one as the target")
    if forward and not wanted:
        last = max((place[source.name] for source in sources), default=0)
        targets = [piece for piece in targets if place[piece.name] > last]
        if not targets:
            raise SettingsError(
                f"--train-on {pieces[last].name}: no piece is later than that, and models learn from the past alone; "
                "name the target with --test-on, or give --mix-time"
            )
    found = []
    for target in targets:
        trained = sources or [piece for piece in pieces if all(piece is not each for each in wanted or [target])]
        if not trained:
            raise SettingsError("--test-on names all pieces: leave one to train on")
        if forward and not sources:
            trained = [piece for piece in trained if place[piece.name] < place[target.name]]
            if not trained:
                raise SettingsError(
                    f"--test-on {target.name}: no piece before it is left to train on, and models learn from the past "
                    "alone; name pieces with --train-on, or give --mix-time"
                )
        found.append(Target(target.name, tuple(piece.rows for piece in trained), target.rows))
    return found


def too_small(targets: Sequence[Target]) -> list[Finding]:
    """Warning about pieces with too few rows for a target."""
    small = [target.name for target in targets if len(target.rows) < SMALLEST_PIECE]
    if not small:
        return []
    message = f"fewer than {SMALLEST_PIECE} rows, so they are trained on but are no target: {listed(small, SHOWN)}"
    return [Finding("small-target", "warning", message)]


def backwards(pieces: Sequence[Fragment], targets: Sequence[Target], settings: CompareSettings) -> list[Finding]:
    """A note on targets that are earlier than pieces that are trained on, where pieces are a sequence in time."""
    if settings.cut.time is None:
        return []
    place = {int(piece.rows[0]): i for i, piece in enumerate(pieces) if len(piece.rows)}
    early = [
        target.name
        for target in targets
        if len(target.rows)
        and any(place[int(rows[0])] > place[int(target.rows[0])] for rows in target.sources if len(rows))
    ]
    if not early:
        return []
    message = f"as asked for, models learn from later times than those of the target: {listed(early, SHOWN)}"
    advice = "" if settings.train_on else "leave out --mix-time to learn from the past alone"
    return [Finding("trained-on-later-times", "note", message, advice, tuple(early))]


def _found(name: str, pieces: Sequence[Fragment], option: str) -> Fragment:
    """The piece of a name, or of the part of a name behind `=` or `fold`."""
    short = {piece.name: piece.name.partition("=")[2] or piece.name.rpartition(" ")[2] for piece in pieces}
    for piece in pieces:
        if name in (piece.name, short[piece.name]):
            return piece
    existing = listed([piece.name for piece in pieces], SHOWN)
    raise SettingsError(f"{option} {name!r}: no such piece; there are {existing}")
