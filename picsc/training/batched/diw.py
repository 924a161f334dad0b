"""Dynamic importance weighting of many small networks at once: weights that follow the networks through training.

Shape letters here: g problems, of one model each; n rows of a problem, padding included; m rows of the target; k blocks
of all problems and b rows of a block; q values that are matched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from picsc.errors import SettingsError
from picsc.training.batched.layout import Stack
from picsc.training.batched.mlp import Weights, row_losses
from picsc.weighting.diw import BLOCK, Match, dynamic_weights, random_blocks

EVERY = 5
"""Steps between two weighings where every step sees all rows: the networks move little from one to the next."""


@dataclass(frozen=True, slots=True)
class StackGuide:
    """Rows of the target that weigh the rows of every problem of a stack."""

    rows: Stack
    """Of the same problems."""
    match: Match
    """What is matched: the rows' losses, or the hidden units' activations, for which labels are not looked at."""
    seeds: Sequence[int]
    """Of each problem's blocks and of the rows of the target that these are matched with."""


@dataclass(slots=True)
class StackWeighing:
    """Weighs the steps of a stack; remembers weights, from which the next weighing of the same rows starts."""

    guide: StackGuide
    per_epoch: int
    generators: list[torch.Generator]
    targets: list[Tensor]
    """Places of each problem's rows of the target, on the CPU."""
    weighed: dict[int, Tensor] = field(default_factory=dict)
    """Dynamic weights of a part's rows by the part's number, (g, n)."""
    places: dict[int, list[Tensor]] = field(default_factory=dict)
    """Places of each problem's rows in a part, on the CPU."""

    @property
    def of_all(self) -> Tensor:
        """How many rows of the target each problem has, (g, 1)."""
        return torch.tensor([[float(len(one))] for one in self.targets])

    def step(self, weights: Weights, part: Stack, number: int, step: int) -> Stack:
        """The rows of a step with the weights that they have in it.

        Args:
            weights: of (g, 1) models.
            part: the rows.
            number: of the part, the same whenever the same rows come.
            step: counted from 0; the first epoch is not weighted.
        """
        if step < self.per_epoch:
            return part
        if self.per_epoch > 1 or number not in self.weighed or (step - 1) % EVERY == 0:
            self.weighed[number] = self._weigh(weights, part, number)
        weight = part.weight * self.weighed[number][:, None, None]
        total = weight.sum(-1, keepdim=True)
        return replace(part, weight=weight / total.clamp_(min=torch.finfo(total.dtype).tiny))

    def _weigh(self, weights: Weights, part: Stack, number: int) -> Tensor:
        g, n = part.problems, part.x.shape[2]
        if number not in self.places:
            self.places[number] = _places(part)
        rows, there, problem = random_blocks(self.places[number], self.generators)
        flat = torch.where(there, rows + problem[:, None] * n, g * n)
        device = part.x.device
        flat, there, problem = (each.to(device, non_blocking=True) for each in (flat, there, problem))
        drawn, of_target = _drawn(self.targets, self.generators)
        target = values(weights, _rows(self.guide.rows, drawn.to(device)), self.guide.match)
        before = self.weighed.get(number)
        start = None if before is None else _padded(before.reshape(-1))[flat]
        found = dynamic_weights(
            _padded(values(weights, part, self.guide.match).flatten(0, 1))[flat],
            target[problem],
            mask=there,
            target_mask=of_target.to(device)[problem],
            start=start,
            drawn_from=self.of_all.to(device)[problem],
        )
        # what is padded is written behind the last row
        return found.new_zeros(g * n + 1).index_put_((flat,), found)[:-1].view(g, n)


def weighing(guide: StackGuide, models: int, per_epoch: int) -> StackWeighing:
    """Before the first step.

    Args:
        guide: rows of the target.
        models: per problem, which share its rows' weights.
        per_epoch: steps of an epoch.

    Raises:
        SettingsError: there are several models per problem.
    """
    if models != 1:
        raise SettingsError(
            f"dynamic importance weighting gives the rows of a problem the weights of one model: got {models}; train "
            "candidates apart"
        )
    generators = [torch.Generator().manual_seed(seed) for seed in guide.seeds]
    return StackWeighing(guide, per_epoch, generators, _places(guide.rows))


def values(weights: Weights, rows: Stack, on: Match) -> Tensor:
    """What is matched, (g, n, q).

    Args:
        weights: of (g, 1) models.
        rows: of their problems.
        on: which values.
    """
    if on == "losses":
        return row_losses(weights, rows)[:, 0].mT
    return torch.bmm(weights.hidden[:, 0], rows.x).relu_().mT


def _places(rows: Stack) -> list[Tensor]:
    """Where each problem's rows are, without padding."""
    return [one.nonzero().flatten() for one in rows.mask.flatten(1).cpu()]


def _drawn(places: Sequence[Tensor], generators: Sequence[torch.Generator]) -> tuple[Tensor, Tensor]:
    """At most 256 of each problem's places, (g, m), and which of them are none but padding, as bool."""
    drawn = [
        one[torch.randperm(len(one), generator=generator)[:BLOCK]]
        for one, generator in zip(places, generators, strict=True)
    ]
    padded = torch.nn.utils.rnn.pad_sequence(drawn, batch_first=True, padding_value=-1)
    return padded.clamp(min=0), padded >= 0


def _rows(stack: Stack, places: Tensor) -> Stack:
    """Some rows of each problem, (g, m), as far as models look at them."""
    x = stack.x.gather(2, places[:, None].expand(-1, stack.x.shape[1], -1))
    y = stack.y.gather(3, places[:, None, None].expand(-1, -1, stack.y.shape[2], -1))
    return replace(stack, x=x, y=y)


def _padded(rows: Tensor) -> Tensor:
    """One more row, of zeros."""
    return torch.cat([rows, torch.zeros_like(rows[:1])])
