from contextlib import nullcontext

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from picsc.fisher import by_row
from picsc.fisher.by_row import Target, vectorisable
from picsc.fisher.row_gradients import differentiable_parameters


def agrees(model: nn.Module, x: Tensor) -> bool:
    parameters = differentiable_parameters(model, create_graph=True)
    with sdpa_kernel(SDPBackend.MATH):
        target = Target(model, "classes", vectorised=True)
        return vectorisable(target, list(parameters), parameters, x, torch.tensor([0, 1]))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last = nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.layer(x)[:, 0])


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last = nn.LSTM(4, 3, batch_first=True), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.layer(x)[0][:, -1])


def test_vectorised_second_derivatives_are_used_only_where_they_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    encoder, x = Encoder().double(), torch.randn(2, 5, 4, dtype=torch.float64)
    assert agrees(encoder, x)
    monkeypatch.setattr(by_row, "_plain_layer_norm", lambda _wanted: nullcontext())
    assert not agrees(encoder, x)  # torch's fused layer normalisation


def test_what_cannot_be_vectorised_goes_row_by_row() -> None:
    torch.manual_seed(0)
    assert agrees(Recurrent().double(), torch.randn(2, 5, 4, dtype=torch.float64))  # both ways are the loop
