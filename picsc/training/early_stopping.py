"""Stopping a training run when rows that were held out stop gaining. Letters: n rows, c classes."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood, log_likelihood
from picsc.training.predict import predict


@dataclass(slots=True)
class Watch:
    """Follows a model through its epochs and remembers its best state."""

    model: nn.Module
    x: Tensor
    """Inputs of the rows held out."""
    y: Tensor
    likelihood: Likelihood
    patience: int
    """Epochs without a lower loss after which training is over."""
    weight: Tensor | None = None
    """Of the rows held out, (n,), not all 0; None weighs all alike."""
    losses: list[float] = field(default_factory=list)
    """Mean negative log-likelihood after each epoch, nats."""
    best: dict[str, Tensor] = field(default_factory=dict)
    """State of the model after the epoch with the lowest loss; empty while no loss was finite."""

    def over(self) -> bool:
        """Look at the model after an epoch; whether training is over. The host waits for the device here."""
        predicted = predict(self.model, self.x, likelihood=self.likelihood)
        losses = -log_likelihood(predicted, self.y, self.likelihood)
        mean = losses.mean() if self.weight is None else (self.weight * losses).sum() / self.weight.sum()
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
