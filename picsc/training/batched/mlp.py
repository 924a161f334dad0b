"""Many small networks with one hidden layer at once: parameters, outputs, losses and predictions.

The networks are `picsc.training.networks.mlp`: hidden ReLU units, then logits or a mean.

Shape letters here: g problems, a models per problem (they share its rows), t tiles, m rows of a tile, h hidden units,
f features, c outputs, o readouts, n rows, d parameters of a model. Two classes have one readout, the difference of
their logits, since both logits' gradients are opposite; parameters and Fisher informations are those of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from picsc.equations.likelihood import Likelihood
from picsc.training.batched.layout import Stack, readouts_of


class Weights(NamedTuple):
    """Parameters, or anything of their shape: gradients, Fisher informations, moments."""

    hidden: Tensor
    """(g, a, h, f + 1): the first layer, its bias last."""
    out: Tensor
    """(g, a, c, h + 1): the second layer, its bias last."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Factors of every row's gradient, from one pass over the rows."""

    hidden: Tensor
    """(g, a, h, t m) activations."""
    readout: Tensor
    """(g, a, o, h) weights of the readouts, without biases."""
    delta: Tensor
    """(g, a, o, t m): output minus target, minus the derivative of log p in the readout; 0 where padded."""


def empty_weights(g: int, a: int, f: int, h: int, c: int, like: Tensor) -> tuple[Tensor, Weights]:
    """One flat tensor, and views of it as weights, so that an update of all parameters is one operation."""
    first = g * a * h * (f + 1)
    flat = like.new_zeros(first + g * a * c * (h + 1))
    return flat, Weights(flat[:first].view(g, a, h, f + 1), flat[first:].view(g, a, c, h + 1))


def flatten(weights: Weights) -> Tensor:
    """(g, a, d) in `parameters_to_vector` order of `picsc.training.networks.mlp`."""
    hidden, out = weights
    parts = (hidden[..., :-1], hidden[..., -1], out[..., :-1], out[..., -1])
    return torch.cat([part.reshape(*hidden.shape[:2], -1) for part in parts], -1)


def unflatten(theta: Tensor, f: int, h: int, c: int) -> Weights:
    """The inverse of `flatten`.

    Args:
        theta: (g, a, d).
        f: features.
        h: hidden units.
        c: outputs.
    """
    w1, b1, w2, b2 = torch.split(theta, [h * f, h, c * h, c], dim=-1)
    ga = theta.shape[:2]
    hidden = torch.cat([w1.reshape(*ga, h, f), b1[..., None]], -1)
    return Weights(hidden, torch.cat([w2.reshape(*ga, c, h), b2[..., None]], -1))


def outputs(weights: Weights, x: Tensor, *, readouts: int) -> Tensor:
    """Outputs of the models for rows of their problem.

    Args:
        weights: of (g, a) models.
        x: (g, f + 1, n), the constant last.
        readouts: o.

    Returns:
        (g, a, o, n): logits, the difference of two logits, or means.
    """
    g, a, h, _ = weights.hidden.shape
    hidden = torch.bmm(weights.hidden.reshape(g, a * h, -1), x).relu_().view(g * a, h, -1)
    out = readout_of(weights.out, readouts)
    return torch.baddbmm(out[..., -1:].flatten(0, 1), out[..., :-1].flatten(0, 1), hidden).view(g, a, readouts, -1)


def row_losses(weights: Weights, rows: Stack) -> Tensor:
    """Negative log-likelihood of every row under every model, (g, a, 1, n), nats; without meaning where padded.

    Args:
        weights: of (g, a) models.
        rows: of their problems.
    """
    z = outputs(weights, rows.x, readouts=rows.y.shape[2])
    if rows.likelihood == "numbers":
        return (z - rows.y).square() / 2
    if z.shape[2] == 1:
        return softplus(z) - rows.y * z
    return z.logsumexp(2, keepdim=True) - (rows.y * z).sum(2, keepdim=True)


def mean_loss(weights: Weights, rows: Stack) -> Tensor:
    """Mean negative log-likelihood of every model, (g, a), nats.

    Args:
        weights: of (g, a) models.
        rows: of their problems, with the rows' shares in the loss.
    """
    return (row_losses(weights, rows) * rows.weight).sum((-2, -1))


def predicted(weights: Weights, x: Tensor, likelihood: Likelihood) -> Tensor:
    """Predictions of the models of one problem.

    Args:
        weights: of (1, a) models.
        x: features and the constant, (n, f + 1).
        likelihood: of the targets.

    Returns:
        Log-probabilities (a, n, c), or means (a, n).
    """
    z = outputs(weights, x.T[None], readouts=readouts_of(likelihood, weights.out.shape[2]))[0]
    if likelihood == "numbers":
        return z[:, 0]
    logits = torch.stack([torch.zeros_like(z[:, 0]), z[:, 0]], 1) if z.shape[1] == 1 else z
    return logits.log_softmax(1).mT


def scores(weights: Weights, stack: Stack) -> Scores:
    """Forward pass, and the derivative of every row's log-likelihood in its readouts."""
    g, a, h, _ = weights.hidden.shape
    o = stack.y.shape[2]
    hidden = torch.bmm(weights.hidden.view(g, a * h, -1), stack.x).relu_()
    out = readout_of(weights.out, o)
    readout = out[..., :-1]
    z = torch.baddbmm(out[..., -1:].reshape(-1, o, 1), readout.reshape(-1, o, h), hidden.view(g * a, h, -1))
    z = z.view(g, a, o, -1)
    if o > 1:
        z = z.softmax(2)
    elif stack.likelihood == "classes":
        z.sigmoid_()
    return Scores(hidden.view(g, a, h, -1), readout, z.sub_(stack.y).mul_(stack.mask))


def readout_of(out: Tensor, o: int) -> Tensor:
    """Weights of the readouts, (g, a, o, h + 1): the second layer, or the difference of its two lines.

    Args:
        out: the second layer, (g, a, c, h + 1).
        o: readouts.
    """
    return out[:, :, 1:] - out[:, :, :1] if o < out.shape[2] else out
