"""Dynamic importance weighting of many small networks at once: row weights that follow the networks through training.

The same for one model of any kind is `picsc.training.objectives.matched_to_target`; the weights themselves are those of
`picsc.weighting.diw` in both. Shape letters here: g problems, of one model each; n rows of a problem, padding included;
m rows of the target; q values that are matched.
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
"""Steps between two estimates of the weights where steps see all rows: networks move little from one to the next."""


@dataclass(frozen=True, slots=True)
class StackTarget:
    """Rows of the target that the rows of every problem of a stack are weighted to match."""

    rows: Stack
    """Rows of the target for each problem."""
    match: Match
    """Values that are matched: the rows' losses, or the hidden units' activations, which need no labels."""
    seeds: Sequence[int]
    """Seed of each problem's blocks and of the rows of the target that these are matched with."""


@dataclass(slots=True)
class DynamicWeighting:
    """Row weights of a stack's steps; the last ones of a part are kept, from which its next estimate starts."""

    target: StackTarget
    per_epoch: int
    """Steps of an epoch."""
    generators: list[torch.Generator]
    """Random draws of each problem."""
    target_places: list[Tensor]
    """Places of each problem's rows of the target, on the CPU."""
    last: dict[int, Tensor] = field(default_factory=dict)
    """Last weights of a part's rows by the part's number, (g, n)."""
    places: dict[int, list[Tensor]] = field(default_factory=dict)
    """Places of each problem's rows in a part, by the part's number, on the CPU."""

    @property
    def target_counts(self) -> Tensor:
        """Rows of the target of each problem, (g, 1)."""
        return torch.tensor([[float(len(one))] for one in self.target_places])

    def step(self, weights: Weights, part: Stack, number: int, step: int) -> Stack:
        """The rows of a step with the weights that they have in it.

        Args:
            weights: of (g, 1) models.
            part: the rows.
            number: of the part, the same whenever the same rows come.
            step: counted from 0; rows keep their own weights in the first epoch.
        """
        if step < self.per_epoch:
            return part
        if self.per_epoch > 1 or number not in self.last or (step - 1) % EVERY == 0:
            self.last[number] = self._estimate(weights, part, number)
        weight = part.weight * self.last[number][:, None, None]
        total = weight.sum(-1, keepdim=True)
        return replace(part, weight=weight / total.clamp_(min=torch.finfo(total.dtype).tiny))

    def _estimate(self, weights: Weights, part: Stack, number: int) -> Tensor:
        """Dynamic weights of a part's rows, (g, n), in blocks of at most 256."""
        g, n = part.problems, part.x.shape[2]
        if number not in self.places:
            self.places[number] = _places(part)
        rows, there, problem = random_blocks(self.places[number], self.generators)
        flat = torch.where(there, rows + problem[:, None] * n, g * n)
        device = part.x.device
        flat, there, problem = (each.to(device, non_blocking=True) for each in (flat, there, problem))
        drawn, of_target = _drawn(self.target_places, self.generators)
        target = values(weights, _rows(self.target.rows, drawn.to(device)), self.target.match)
        before = self.last.get(number)
        start = None if before is None else _padded(before.reshape(-1))[flat]
        found = dynamic_weights(
            _padded(values(weights, part, self.target.match).flatten(0, 1))[flat],
            target[problem],
            mask=there,
            target_mask=of_target.to(device)[problem],
            start=start,
            drawn_from=self.target_counts.to(device)[problem],
        )
        # padding is written behind the last row
        return found.new_zeros(g * n + 1).index_put_((flat,), found)[:-1].view(g, n)


def dynamic_weighting(target: StackTarget, models: int, per_epoch: int) -> DynamicWeighting:
    """Dynamic weighting before the first step.

    Args:
        target: rows of the target.
        models: models per problem, which would share its rows' weights; only one is possible.
        per_epoch: steps of an epoch.

    Raises:
        SettingsError: there are several models per problem.
    """
    if models != 1:
        raise SettingsError(
            f"dynamic importance weighting gives the rows of a problem the weights of one model: got {models}; train "
            "candidates apart"
        )
    generators = [torch.Generator().manual_seed(seed) for seed in target.seeds]
    return DynamicWeighting(target, per_epoch, generators, _places(target.rows))


def values(weights: Weights, rows: Stack, match: Match) -> Tensor:
    """The values that are matched, (g, n, q).

    Args:
        weights: of (g, 1) models.
        rows: of their problems.
        match: losses or features.
    """
    if match == "losses":
        return row_losses(weights, rows)[:, 0].mT
    return torch.bmm(weights.hidden[:, 0], rows.x).relu_().mT


def _places(rows: Stack) -> list[Tensor]:
    """Places of each problem's rows, without padding."""
    return [one.nonzero().flatten() for one in rows.mask.flatten(1).cpu()]


def _drawn(places: Sequence[Tensor], generators: Sequence[torch.Generator]) -> tuple[Tensor, Tensor]:
    """At most 256 of each problem's places, (g, m), and True where they are rows and not padding."""
    drawn = [
        one[torch.randperm(len(one), generator=generator)[:BLOCK]]
        for one, generator in zip(places, generators, strict=True)
    ]
    padded = torch.nn.utils.rnn.pad_sequence(drawn, batch_first=True, padding_value=-1)
    return padded.clamp(min=0), padded >= 0


def _rows(stack: Stack, places: Tensor) -> Stack:
    """Some rows of each problem, (g, m), with the inputs and targets that models use."""
    x = stack.x.gather(2, places[:, None].expand(-1, stack.x.shape[1], -1))
    y = stack.y.gather(3, places[:, None, None].expand(-1, -1, stack.y.shape[2], -1))
    return replace(stack, x=x, y=y)


def _padded(rows: Tensor) -> Tensor:
    """The rows and one more, of zeros."""
    return torch.cat([rows, torch.zeros_like(rows[:1])])
