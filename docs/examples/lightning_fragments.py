"""Algorithm 2 in Lightning: one `trainer.fit` per fragment. Needs `pip install "picsc[lightning]"`."""

import lightning
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import picsc
from picsc.pytorch.lightning import Algorithm2Callback


class Classifier(lightning.LightningModule):
    """A module as you have it; nothing in it knows of picsc."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)

    def training_step(self, batch: list[Tensor]) -> Tensor:
        x, y = batch
        return nn.functional.cross_entropy(self(x), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.01)


def fragment(mean: float) -> DataLoader:
    """Rows around a mean; labels say on which side of it a row is."""
    x = torch.randn(150, 4) + mean
    return DataLoader(TensorDataset(x, (x.sum(1) > 4 * mean).long()), batch_size=50)


def main() -> list[picsc.ShiftDecision]:
    """Learn three fragments, of which the last is shifted."""
    torch.manual_seed(0)
    model = Classifier()
    merged = picsc.PosteriorMean(model)
    callback = Algorithm2Callback(picsc.ShiftTrigger(model), picsc.Anchor(model, strength=0.1), merged)
    for mean in (0.0, 0.0, 2.0):
        trainer = lightning.Trainer(
            max_epochs=5,
            callbacks=[callback],
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(model, fragment(mean))
    for number, decision in enumerate(callback.decisions, 1):
        print(f"fragment {number}: {'shifted' if decision.shifted else 'not shifted'}")
    return callback.decisions


if __name__ == "__main__":
    main()
