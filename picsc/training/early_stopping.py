"""Early stopping of one model: training ends when the loss on rows that were held out no longer falls.

The same rule for many small networks at once is in `picsc.training.batched.early_stopping`. Shape letters here: n rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from picsc.equations.likelihood import log_likelihood
from picsc.training.predict import predict
from picsc.training.single_inputs import LabelledRows


@dataclass(slots=True)
class EarlyStopping:
    """Follows a model through its epochs and remembers its best state."""

    model: nn.Module
    held_out: LabelledRows
    """Rows that the model is not trained on, with weights that are not all 0."""
    patience: int
    """Epochs without a lower loss after which training is over."""
    per_epoch: int
    """Steps of an epoch."""
    steps: int
    """Steps of the whole run; the last one ends an epoch too."""
    losses: list[float] = field(default_factory=list)
    """Mean negative log-likelihood of the rows held out after each epoch, nats."""
    best: dict[str, Tensor] = field(default_factory=dict)
    """State of the model after the epoch with the lowest loss; empty while no loss was finite."""

    def over_after(self, step: int) -> bool:
        """Evaluate the model if an epoch ends with this step, counted from 0; true if training is over."""
        return ((step + 1) % self.per_epoch == 0 or step + 1 == self.steps) and self._over()

    def _over(self) -> bool:
        """Evaluate the model; true if it has not improved for `patience` epochs. The host waits for the device here."""
        rows = self.held_out
        predicted = predict(self.model, rows.x, likelihood=rows.likelihood)
        losses = -log_likelihood(predicted, rows.y, rows.likelihood)
        mean = losses.mean() if rows.weight is None else (rows.weight * losses).sum() / rows.weight.sum()
        loss = float(mean)
        lowest = min((one for one in self.losses if one == one), default=float("inf"))
        self.losses.append(loss)
        if loss < lowest:
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}
            return False
        since = len(self.losses) - 1 - self.losses.index(lowest) if lowest in self.losses else len(self.losses)
        return since >= self.patience

    def restore(self) -> None:
        """Give the model its best state back."""
        if self.best:
            self.model.load_state_dict(self.best)
