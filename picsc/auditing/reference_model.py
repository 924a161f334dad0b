"""The reference model of an audit: a small network whose gradients the model tests use."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from picsc.equations.likelihood import Likelihood, check_labels
from picsc.training.networks import mlp
from picsc.training.own.checked_module import checked_module
from picsc.training.own.named import OwnModel
from picsc.training.single import train
from picsc.training.single_inputs import LabelledRows, OptimizerSettings

REFERENCE_STEPS, REFERENCE_LR, REFERENCE_BATCH = 300, 0.02, 1024
"""Steps, learning rate and batch size of the training: the same work for any number of rows."""


def fit_reference(
    x: Tensor, y: Tensor, *, likelihood: Likelihood, outputs: int, seed: int, own: OwnModel | None = None
) -> nn.Module:
    """Train the audit's reference model: the paper's MLP on the pooled rows.

    Source: "Model architectures": four hidden ReLU units, Adam.

    Args:
        x: encoded, standardised features (n, f).
        y: int64 (n,) classes, or floats (n,) in units of their standard deviation.
        likelihood: classes or numbers, as y.
        outputs: number of classes, or 1 for numbers.
        seed: of the initial weights and of the minibatches.
        own: a torch module of the user in the place of the MLP; None is the MLP.

    Returns:
        The trained model, in x's precision and on its device. Its distribution does not depend on the order of rows.

    Raises:
        DataError: there are no rows, or the labels do not fit.
        NumericsError: training left the finite numbers.
    """
    if likelihood == "classes" and len(y):
        check_labels(y, outputs)
    if own is None:
        model: nn.Module = mlp(x.shape[1], outputs, seed=seed, dtype=x.dtype, device=x.device)
    else:
        model = checked_module(own, seed, (x.shape[1], outputs), likelihood, x.device).to(x.dtype)
    settings = OptimizerSettings(REFERENCE_STEPS, REFERENCE_LR, REFERENCE_BATCH, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # of dropout, if an own module has any
        train(model, LabelledRows(x, y, likelihood), settings)
    return model if own is None else model.eval()  # dropout and batch normalisation as in use
