import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import picsc

lightning = pytest.importorskip("lightning")
pytestmark = pytest.mark.filterwarnings("ignore")


def fragments() -> list[DataLoader[tuple[Tensor, ...]]]:
    torch.manual_seed(0)
    rows = [(torch.randn(120, 3) + mean, 3 * mean) for mean in (0.0, 0.0, 2.0)]
    return [DataLoader(TensorDataset(x, (x.sum(1) > middle).long()), batch_size=40) for x, middle in rows]


def network() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2))


def test_the_callback_trains_as_the_loop_of_the_documentation_does() -> None:
    from picsc.pytorch.lightning import Algorithm2Callback

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layers = network()

        def forward(self, x: Tensor) -> Tensor:
            return self.layers(x)

        def training_step(self, batch: list[Tensor]) -> Tensor:
            return cross_entropy(self(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    module = Module()
    merged = picsc.PosteriorMean(module)
    callback = Algorithm2Callback(picsc.ShiftTrigger(module), picsc.Anchor(module, strength=3.0), merged)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    for loader in fragments():
        trainer = lightning.Trainer(
            max_epochs=2, callbacks=[callback], accelerator="cpu", enable_model_summary=False, **quiet
        )
        trainer.fit(module, loader)

    model = network()
    trigger, anchor, mean = picsc.ShiftTrigger(model), picsc.Anchor(model, strength=3.0), picsc.PosteriorMean(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    flags = []
    for loader in fragments():
        flags.append(trigger.compare(loader).shifted)
        for _ in range(2):
            for x, y in loader:
                loss = cross_entropy(model(x), y) + (anchor.penalty() if flags[-1] else 0.0)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        fisher = picsc.diagonal_fisher(model, loader)
        anchor.move(fisher if flags[-1] else None)
        mean.update(fisher)

    assert flags == [decision.shifted for decision in callback.decisions] == [False, False, True]
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(module.layers.get_parameter(name), parameter)
        torch.testing.assert_close(merged.mean[f"layers.{name}"], mean.mean[name])
