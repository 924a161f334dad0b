"""Models of a user, as `--model tests/data/own_model.py:make` names them."""

from sklearn.linear_model import LogisticRegression
from torch import nn


def make(inputs: int, outputs: int, hidden: int = 8) -> nn.Module:
    """One hidden layer."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


class Skipping(nn.Module):
    """A network that is no sequence of layers."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.hidden, self.last = nn.Linear(inputs, inputs), nn.Linear(inputs, outputs)

    def forward(self, x):
        return self.last(x + self.hidden(x).relu())


def estimator(C: float = 1.0) -> LogisticRegression:
    """An estimator."""
    return LogisticRegression(C=C)


def five_outputs(inputs: int) -> nn.Module:
    """A network for five classes."""
    return nn.Linear(inputs, 5)


def number() -> int:
    """No model."""
    return 3
