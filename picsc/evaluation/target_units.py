"""Units of a numeric target: those in which a model is trained, and those in which every model is scored.

Each model sees its target in standard deviations of its own training rows. Scores of models with other training rows
can be compared only once their predictions are in one unit, which is the standard deviation over all rows with a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = TypeVar("Numbers", bound=NDArray[np.floating])
Values = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TargetUnits:
    """A zero and a unit of a numeric target, in the numbers of the file."""

    mean: float
    """The number that is 0 in these units."""
    deviation: float
    """The difference that is 1 in these units, above 0."""

    @classmethod
    def of(cls, values: Values) -> TargetUnits:
        """Mean and standard deviation of some rows, (n,); the deviation of a constant is 1.

        Args:
            values: numbers of the file, none missing, at least one.
        """
        numbers = values.astype(np.float64)
        # exactly: rounding leaves a constant target a deviation above 0
        return cls(float(numbers.mean()), float(numbers.std()) if numbers.min() < numbers.max() else 1.0)

    def scaled(self, values: Values) -> NDArray[np.float64]:
        """Numbers of the file in these units."""
        return np.asarray((values.astype(np.float64) - self.mean) / self.deviation, np.float64)

    def converted(self, values: Numbers, to: TargetUnits) -> Numbers:
        """Numbers in these units, in other ones; of the same type and shape."""
        shift, factor = (self.mean - to.mean) / to.deviation, self.deviation / to.deviation
        with np.errstate(over="ignore", invalid="ignore"):
            return (values * factor + shift).astype(values.dtype)  # type: ignore[return-value] # the type is kept
