"""Networks as users write them: attention, residual connections with batch normalisation, recurrence."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import relu, scaled_dot_product_attention


class Block(nn.Module):
    """Attention with one projection for queries, keys and values, then two dense layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        n, t, width = x.shape
        q, k, v = (each.reshape(n, t, 2, -1).transpose(1, 2) for each in self.qkv(self.first(x)).chunk(3, -1))
        seen = None if mask is None else mask[:, None, None, :].bool()
        mixed = scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).reshape(n, t, width)
        x = x + self.drop(self.out(mixed))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


class Transformer(nn.Module):
    """A classifier of short texts that takes and returns dictionaries, as those of large libraries do."""

    def __init__(self, words: int = 11, width: int = 8, layers: int = 1, classes: int = 3) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(16, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.last = nn.Linear(width, classes)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Mapping[str, Tensor]:
        x = self.words(input_ids) + self.places(torch.arange(input_ids.shape[1], device=input_ids.device))
        for block in self.blocks:
            x = block(x, attention_mask)
        return {"logits": self.last(x.mean(1)), "hidden": x}


class Residual(nn.Module):
    """Two convolutions with batch normalisation beside a shortcut, as in ResNet-18."""

    def __init__(self, into: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or into != out:
            self.shortcut = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: Tensor) -> Tensor:
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += self.shortcut(x)
        return self.relu(out)


class ResNet(nn.Module):
    """ResNet-18 for one channel with as many channels as wanted: 64 in the original."""

    def __init__(self, channels: int = 64, classes: int = 10, blocks: int = 2, stages: int = 4) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(1, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels)
        layers: list[nn.Module] = []
        width = channels
        for stage in range(stages):
            for i in range(blocks):
                out = channels << stage
                layers.append(Residual(width, out, 2 if stage and not i else 1))
                width = out
        self.stages = nn.Sequential(*layers)
        self.last = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.stages(relu(self.norm(self.stem(x)))).mean((2, 3)))


class Recurrent(nn.Module):
    """A recurrent classifier of texts."""

    def __init__(self, words: int = 11, width: int = 4, classes: int = 3) -> None:
        super().__init__()
        self.words, self.lstm = nn.Embedding(words, width), nn.LSTM(width, 5, batch_first=True)
        self.last = nn.Linear(5, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.last(self.lstm(self.words(tokens))[0][:, -1])


class Attention(nn.Module):
    """PyTorch's own encoder layer, whose attention no rule covers."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.last = nn.Embedding(11, 4), nn.Linear(4, 3)
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, 0.1, batch_first=True)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.last(self.layer(self.words(tokens)).mean(1))
