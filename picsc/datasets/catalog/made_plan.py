"""The plan of a made set: which corruption, severity or noise each image gets, and who owns it.

Images are dealt out at random, whatever their classes, so that each image is there once. Letters: n images.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.catalog.made_names import Made
from picsc.datasets.corruptions.corrupt import SEVERITIES
from picsc.datasets.images import ImageSet
from picsc.runtime.digests import digest

SEED = 0
"""Seed of all made sets; only the permutation of pixels has one that can be chosen."""
Owners = tuple[NDArray[np.int64], Sequence[str]]
"""Codes of all images, and the names of the codes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The corruption and the severity of every image."""

    corruptions: NDArray[np.str_]
    """(n,) names."""
    severities: NDArray[np.int64]
    """(n,) from 1 to 5."""
    owners: Owners
    """The corruption; the severity where there is a single corruption."""

    @property
    def names(self) -> list[str]:
        """Names of the corruptions that occur."""
        return sorted(set(self.corruptions.tolist()))


def wanted_corruptions(made: Made) -> tuple[str, ...]:
    """The corruption of a set's name, or all."""
    return (made.corruption,) if made.corruption is not None else made.corruptions


def planned(made: Made, n: int) -> Plan:
    """The plan for a corrupted set of n images."""
    names = wanted_corruptions(made)
    levels = (made.severity,) if made.severity is not None else tuple(range(1, SEVERITIES + 1))
    hands = dealt(n, len(names) * len(levels))
    which, level = hands % len(names), hands // len(names)
    owners = (which, names) if len(names) > 1 else (level, [f"severity {each}" for each in levels])
    return Plan(np.array(names)[which], np.array(levels)[level], owners)


def dealt(n: int, hands: int) -> NDArray[np.int64]:
    """A hand from 0 for each of n images, at random, with sizes that differ by at most one."""
    found: NDArray[np.int64] = np.random.default_rng([SEED, n, hands]).permutation(np.arange(n) % hands)
    return found


def owned(images: ImageSet, owners: Owners) -> ImageSet:
    """The images with their owners; without, where there is only one."""
    if len(owners[1]) < 2:
        return images
    return replace(images, owners=owners[0].astype(np.int64), clients=tuple(owners[1]))


def made_digest(made: Made, digests: list[str]) -> str:
    """The digest of a made set: that of its name and of what was read."""
    return hashlib.sha256(f"{made.name}\0{digest(digests)}".encode()).hexdigest()
