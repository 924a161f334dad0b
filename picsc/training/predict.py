"""Predictions of a trained model, a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from picsc.equations.likelihood import Likelihood

PREDICTED_AT_ONCE = 512
"""Rows of one pass unless the caller gives another number."""


def predict(
    model: nn.Module, x: Tensor, *, likelihood: Likelihood = "classes", chunk: int = PREDICTED_AT_ONCE
) -> Tensor:
    """Predictions of a model for rows, in evaluation mode.

    Args:
        model: nothing of it is changed.
        x: inputs (n, ...).
        likelihood: `classes` or `numbers`.
        chunk: rows per pass; the result does not depend on it.

    Returns:
        Log-probabilities (n, c) in nats, or means (n,); without a graph, in the model's precision and on its device.
    """
    with _evaluating(model):
        parts = [_predicted(model, part, likelihood) for part in torch.split(x, chunk)]
    return torch.cat(parts)


@torch.inference_mode()
def _predicted(model: nn.Module, x: Tensor, likelihood: Likelihood) -> Tensor:
    output = model(pixels_together(x))
    return output.reshape(len(x)) if likelihood == "numbers" else log_softmax(output.reshape(len(x), -1), 1)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Batch normalisation and dropout as in use; every layer's mode is as before afterwards."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def pixels_together(x: Tensor) -> Tensor:
    """Grey images laid out by pixel, for which the CPU has a faster convolution; colour gains nothing from it."""
    grey = x.ndim == 4 and x.shape[1] == 1 and x.device.type == "cpu"
    return x.to(memory_format=torch.channels_last) if grey else x
