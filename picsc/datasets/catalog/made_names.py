"""Names of image sets that are made from another set, with what is wanted of them: `cifar10-c-fog-3`, `p-mnist-7`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from picsc.datasets.catalog.directory import key
from picsc.datasets.catalog.registry import NAMED, NamedMade
from picsc.datasets.corruptions.corrupt import COLOURED, GREY, SEVERITIES
from picsc.errors import DataError
from picsc.phrases import listed

_LARGEST_NOISE = 255
_LONGEST_SEED = 9
"""Digits of a seed at most."""


@dataclass(frozen=True, slots=True)
class Made:
    """A set that is made from another one."""

    name: str
    """The name in full, as it is registered, with what is wanted: `cifar10-c-fog-3`."""
    known: str
    """Its registered name."""
    entry: NamedMade
    corruption: str | None = None
    """Name of the only corruption; None takes all."""
    severity: int | None = None
    """The only severity; None takes all five."""
    noise: int | None = None
    """The only standard deviation, in 255ths; None takes six."""
    seed: int = 0
    """Seed of the permutation of pixels."""

    @property
    def corruptions(self) -> tuple[str, ...]:
        """Names of all corruptions of its family."""
        return tuple(GREY if self.entry.grey else COLOURED)


def made_name(name: str) -> Made | None:
    """The made set that a name means, in any spelling; None if it means none.

    Raises:
        DataError: what follows the name is no corruption, severity, noise or seed of it.
    """
    words = [word for word in re.split(r"[-_ .]+", name.lower()) if word]
    for end in range(len(words), 0, -1):
        known = _MADE.get("".join(words[:end]))
        if known is not None:
            return _with(*known, words[end:])
    return None


def _with(known: str, entry: NamedMade, rest: list[str]) -> Made:
    made = Made("-".join([known, *rest]), known, entry)
    number = int(rest[-1]) if rest and re.fullmatch(f"[0-9]{{1,{_LONGEST_SEED}}}", rest[-1]) else None
    if not rest:
        return made
    if entry.way == "corrupted":
        return _corrupted(made, rest[:-1] if number is not None else rest, number)
    if entry.way == "noisy":
        if len(rest) == 1 and number is not None and 1 <= number <= _LARGEST_NOISE:
            return Made(made.name, known, entry, noise=number)
        raise DataError(
            f"data set {made.name!r}: {'-'.join(rest)!r} is no standard deviation of noise; give a whole number from 1 "
            f"to {_LARGEST_NOISE}, which is divided by 255, as in {known}-25"
        )
    if len(rest) == 1 and number is not None:
        return Made(made.name, known, entry, seed=number)
    raise DataError(f"data set {made.name!r}: {'-'.join(rest)!r} is no seed; give a whole number, as in {known}-1")


def _corrupted(made: Made, words: list[str], severity: int | None) -> Made:
    if severity is not None and not 1 <= severity <= SEVERITIES:
        raise DataError(f"data set {made.name!r}: {severity} is no severity; give 1 to {SEVERITIES}")
    corruption = None
    if words:
        names = {key(each): each for each in made.corruptions}
        corruption = names.get("".join(words))
        if corruption is None:
            near = get_close_matches("_".join(words), made.corruptions, n=1)
            nearest = f"; the nearest is {near[0]}" if near else ""
            raise DataError(
                f"data set {made.name!r}: {'-'.join(words)!r} is no corruption of {made.known}{nearest}; choose "
                f"{listed(list(made.corruptions), limit=len(made.corruptions))}"
            )
    return Made(made.name, made.known, made.entry, corruption=corruption, severity=severity)


_MADE = {key(name): (name, entry) for name, entry in NAMED.items() if isinstance(entry, NamedMade)}
