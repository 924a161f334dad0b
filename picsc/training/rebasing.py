"""Parameters carried from one encoding to the next, so that a model's function stays the same.

Along a sequence of pieces means and deviations grow with the pieces. A value that was z in the old encoding is z' with
z = factor * z' + shift in the new one, so a weight W of it becomes W * factor, and the bias takes up W * shift.

Letters: g sequences, a models of each, d parameters, f encoded features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.datasets.encoding import LARGEST, Encoder, of_table
from picsc.datasets.table import Dataset
from picsc.evaluation.target_units import TargetUnits
from picsc.training.batched.mlp import Weights, flatten, unflatten


@dataclass(frozen=True, slots=True)
class ScaleChange:
    """The change of one scale: z = factor * z' + shift."""

    factor: float = 1.0
    """Above 0."""
    shift: float = 0.0

    @classmethod
    def between(cls, old: tuple[float, float], new: tuple[float, float]) -> ScaleChange:
        """The change from one mean and deviation to another.

        Reading: a column that was constant so far had a weight that met only zeros, which stays as it was initialised;
            the bias keeps the function of the constant. A deviation that grows more than eightfold is taken for a
            column that was nearly constant in the same way: values were clipped at eight deviations, and a weight
            learned on such a scale would explode on the new one.

        Args:
            old: mean and deviation before; a deviation of 0 is a constant, a mean of NaN no value at all.
            new: mean and deviation after.
        """
        (mean, deviation), (to_mean, to_deviation) = old, new
        if to_deviation == 0 or old == new or np.isnan(mean):
            return cls()
        unit = max(deviation, to_deviation / LARGEST) if deviation > 0 else to_deviation
        return cls(to_deviation / unit, (to_mean - mean) / unit)


@dataclass(frozen=True, slots=True)
class Rebasing:
    """The change of encoding of the g networks of a table."""

    factor: Tensor
    """(g, f): 1 for levels and indicators."""
    shift: Tensor
    """(g, f): 0 for levels and indicators."""
    flag: Tensor
    """int64 (f,): position of the indicator of missing values of each numeric feature, f where there is none."""
    outputs: tuple[ScaleChange, ...]
    """Change of the units of each numeric target; no change for classes."""
    hidden: int
    """Hidden units."""
    classes: int
    """Outputs of a model."""

    @property
    def changes(self) -> bool:
        """False where every encoding stays as it was."""
        inputs = bool((self.factor != 1).any() or (self.shift != 0).any())
        return inputs or any(change != ScaleChange() for change in self.outputs)

    def parameters(self, theta: Tensor) -> Tensor:
        """Parameters of the same functions in the new encoding, (g, a, d).

        A missing value is 0 in every encoding, so its indicator gives back what the bias took up.
        """
        hidden, out = self._unpacked(theta)
        by_input = hidden[..., :-1] * self.shift[:, None, None]
        moved = torch.cat([hidden[..., :-1] * self.factor[:, None, None], hidden[..., -1:]], -1)
        moved[..., -1] += by_input.sum(-1)
        moved.index_add_(-1, self.flag, -self._flagged(by_input))
        unit, zero = self._out(theta)
        out = out / unit
        out[..., -1] -= zero
        return flatten(Weights(moved, out))

    def precision(self, fisher: Tensor) -> Tensor:
        """Fisher informations of the same models in the new encoding, (g, a, d).

        Source: the diagonal of M' diag(I) M, where the old parameters are M times the new ones; that is the quadratic
            form of Eq. 16 in the new parameters. A weight's own part scales by the inverse square of its factor.
        Reading: entries off the diagonal are left out, as everywhere in the paper's Fisher informations.
        """
        hidden, out = self._unpacked(fisher)
        factor, shift = self.factor[:, None, None], self.shift[:, None, None]
        bias = hidden[..., -1:]
        of_flag = torch.where(self.flag < len(self.flag), hidden[..., self.flag], torch.zeros_like(bias))
        inputs = (hidden[..., :-1] + shift.square() * (bias + of_flag)) / factor.square()
        unit, _ = self._out(fisher)
        # a loss in the target's new units is the old one over unit squared, and a squared score that over its square
        scale = unit.square().square()
        return flatten(Weights(torch.cat([inputs, bias], -1) / scale, out * unit.square() / scale))

    def _unpacked(self, theta: Tensor) -> Weights:
        return unflatten(theta, len(self.flag), self.hidden, self.classes)

    def _flagged(self, by_input: Tensor) -> Tensor:
        """What the indicators give back, (g, a, h, f); 0 for features without one."""
        return by_input * (self.flag < len(self.flag)).to(by_input)

    def _out(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Factor and shift of the targets' units, (g, 1, 1, 1) and (g, 1, 1)."""
        unit = like.new_tensor([change.factor for change in self.outputs])
        zero = like.new_tensor([change.shift / change.factor for change in self.outputs])
        return unit[:, None, None, None], zero[:, None, None]


def between_encoders(
    old: Sequence[Encoder], new: Sequence[Encoder], dataset: Dataset
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Factors and shifts of the features, (g, f) each, and the positions of their indicators, (f,).

    Args:
        old: encodings, one per sequence.
        new: as many.
        dataset: the table that all were fitted on.
    """
    f = len(new[0].names)
    factor, shift = np.ones((len(new), f)), np.zeros((len(new), f))
    covariates = of_table(dataset)
    flags, flag = set(covariates.flags), np.full(f, f)
    for j in covariates.numeric:
        flag[j] = j + 1 if j + 1 in flags else f
    numbered = [i for i, column in enumerate(dataset.columns) if not column.coded]
    for g, (before, after) in enumerate(zip(old, new, strict=True)):
        if before is not after:
            for i, j in zip(numbered, covariates.numeric, strict=True):
                change = ScaleChange.between(before.scales[i], after.scales[i])
                factor[g, j], shift[g, j] = change.factor, change.shift
    return factor, shift, flag


def between_units(old: TargetUnits | None, new: TargetUnits | None) -> ScaleChange:
    """The change of a numeric target's units; none for classes.

    Args:
        old: units before.
        new: units after.
    """
    if old is None or new is None or old == new:
        return ScaleChange()
    return ScaleChange(new.deviation / old.deviation, (new.mean - old.mean) / old.deviation)
