"""Upper ends of effects, for those who must show that data did not shift.

By the triangle inequality, the distance of two distributions is at most that of their samples plus what sampling adds.
What it adds is drawn by the permutations, whose distances are all of sampling. An effect is below D with confidence
1 - level where its observed value plus that quantile of its draws is below D. All columns of a piece must pass, which
is an intersection-union test (Berger, 1982): the chance to call a piece equivalent that is not is at most `level`
without a correction for the number of columns; over K pieces each has its share of the level.

Letters: B draws (an axis of B + 1 has the observed value first), m columns or their missing rates, K pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from picsc.errors import SettingsError
from picsc.settings.audit import too_few_draws

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The largest upper end over all columns of each piece."""

    bound: Tensor
    """(K,) float64 in [0, 1]; 1 where nothing can be said."""
    name: tuple[str, ...]
    """The column that has it, by piece."""
    observed: Tensor
    """(K,) that column's observed effect."""

    @classmethod
    def none(cls, pieces: int) -> Ceilings:
        """The upper ends before any column was seen."""
        nothing = torch.zeros(pieces, dtype=torch.float64)
        return cls(nothing, ("",) * pieces, nothing)

    def joined(self, effects: Tensor, names: Sequence[str], *, level: float, excess: float) -> Ceilings:
        """With more columns.

        Args:
            effects: (B + 1, m, K), draws as they are at the observed sizes; NaN where a side is empty.
            names: (m,) of the columns.
            level: chance that a piece is wrongly called equivalent, over all pieces.
            excess: factor by which squares are larger than drawn ones, for streams.
        """
        draws, _, pieces = effects[1:].shape
        rank = rank_of(level, draws, pieces)
        added = effects[1:].double().sort(0, descending=True).values[rank - 1]
        upper = (effects[0].double() + math.sqrt(excess) * added).nan_to_num(1.0).clamp(max=1)
        largest, which = upper.max(0)
        higher = largest > self.bound
        own = effects[0].double().gather(0, which[None])[0].nan_to_num(1.0)
        return Ceilings(
            torch.where(higher, largest, self.bound),
            tuple(names[int(i)] if new else old for i, new, old in zip(which, higher, self.name, strict=True)),
            torch.where(higher, own, self.observed),
        )


def rank_of(level: float, draws: int, pieces: int) -> int:
    """The rank, among draws from the largest, whose value is exceeded with probability `level` / K at most.

    Raises:
        SettingsError: so few draws have no such value.
    """
    problem = too_few_draws(draws, level=level, pieces=pieces)
    if problem:
        raise SettingsError(problem)
    return math.floor(level / pieces * (draws + 1) + 1e-9)
