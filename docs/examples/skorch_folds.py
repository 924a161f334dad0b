"""Algorithm 1 in skorch: the divergence between folds is one more term of the loss. Needs `pip install skorch`."""

import numpy as np
import torch
from sklearn.datasets import load_iris
from skorch import NeuralNetClassifier
from torch import Tensor, nn

import picsc


class BetweenFolds(NeuralNetClassifier):
    """A classifier that is penalised where the folds of its training rows disagree."""

    def __init__(self, *args: object, strength: float = 0.01, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.strength = strength

    def get_loss(self, y_pred: Tensor, y_true: Tensor, X: dict[str, Tensor], training: bool = False) -> Tensor:
        loss = super().get_loss(y_pred, y_true, X, training=training)
        if not training:
            return loss
        return loss + self.strength * picsc.fisher_penalty(self.module_, (X["x"], y_true), X["fold"])


class Network(nn.Module):
    """Takes the fold as well, and does not look at it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x: Tensor, fold: Tensor | None = None) -> Tensor:  # noqa: ARG002 - skorch gives all inputs
        return self.layers(x)


def main() -> float:
    """Train on iris, with the fold of each row beside its inputs."""
    torch.manual_seed(0)
    x, y = load_iris(return_X_y=True)
    x = ((x - x.mean(0)) / x.std(0)).astype(np.float32)
    inputs = {"x": x, "fold": np.arange(len(x)) % 3}
    training = {"optimizer": torch.optim.Adam, "lr": 0.02, "max_epochs": 30, "batch_size": 50, "train_split": None}
    net = BetweenFolds(Network, criterion=nn.CrossEntropyLoss, verbose=0, **training)
    net.fit(inputs, y)
    accuracy = float((net.predict(inputs) == y).mean())
    print(f"accuracy on the training rows: {100 * accuracy:.1f} percent")
    return accuracy


if __name__ == "__main__":
    main()
