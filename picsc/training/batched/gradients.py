"""Gradients and Fisher informations of many small networks at once, in closed form.

They are written out, because for a few hundred rows a graph costs more than the arithmetic, and because Algorithm 1
needs the gradient of the Fisher informations themselves: scores of single rows and their second-order terms, each a
batched product over tiles. For any other model, `picsc.training.objectives` and `picsc.training.algorithm_1` use
automatic differentiation; tests/training/batched/test_train.py and test_mlp.py hold both equal.

Shape letters here: g problems, a models per problem (they share its rows), t tiles, m rows of a tile, h hidden units,
f features, c outputs, o readouts, k fragments, n rows, d parameters of a model.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from picsc.equations.penalties import Penalty
from picsc.training.batched.layout import Stack
from picsc.training.batched.mlp import Scores, Weights, scores

_relu_backward = torch.ops.aten.threshold_backward


class Squares(NamedTuple):
    """Squared factors of the rows' scores, tile by tile."""

    x: Tensor
    """(g t, f + 1, m) features."""
    hidden: Tensor
    """(g t, a, h, m) activations."""
    signal: Tensor
    """(g t, a, h, m) derivative in the hidden units' inputs."""
    delta: Tensor
    """(g t, a, o, m) derivative in the readouts."""


def task_gradient(weights: Weights, stack: Stack, into: Weights) -> None:
    """Gradient of the mean negative log-likelihood of every model.

    Args:
        weights: of (g, a) models.
        stack: their rows.
        into: receives the gradient.
    """
    found = scores(weights, stack)
    delta = found.delta.mul_(stack.weight)
    _backward(weights, stack, found.hidden, delta, None, _towards_hidden(found.readout, delta), into)


def fragment_fishers(weights: Weights, stack: Stack) -> Weights:
    """Diagonal empirical Fisher of every fragment for every model.

    Source: Eq. 1 on each F_i.

    Returns:
        Weights whose first two dimensions are (g, k) and then a: hidden (g, k, a, h, f + 1), out (g, k, a, c, h + 1);
        nats per squared parameter unit.
    """
    found = scores(weights, stack)
    fishers = _fishers(_squares(found, _signal(found), squared_features(stack), stack), stack)
    h, f, c, o = *weights.hidden.shape[2:], weights.out.shape[2], stack.y.shape[2]
    hidden, out, bias = torch.split_with_sizes(fishers, _layout(h, f, o), -1)
    gka = fishers.shape[:3]
    out = torch.cat([out.reshape(*gka, o, h), bias[..., None]], -1)
    # two logits have opposite scores, whose squares are the same
    return Weights(hidden.reshape(*gka, h, f), out.expand(-1, -1, -1, c, -1))


def squared_scores(weights: Weights, stack: Stack) -> Tensor:
    """Squared gradient of log p(y | x; theta) of every row, of one model on one problem of one tile.

    Args:
        weights: of (1, 1) models.
        stack: one problem whose rows are one fragment in one tile.

    Returns:
        (n, d), in the order of `Weights`.
    """
    found = scores(weights, stack)
    hidden = _signal(found)[0, 0].square()[:, None] * stack.x[0].square()
    loss, c = found.delta[0, 0].square(), weights.out.shape[2]
    activations = torch.cat([found.hidden[0, 0].square(), torch.ones_like(loss[:1])])
    out = (loss[:, None] * activations).expand(c, -1, -1)
    return torch.cat([hidden.flatten(0, 1), out.flatten(0, 1)]).T


def squared_features(stack: Stack) -> Tensor:
    """The features' squares tile by tile, (g t, f + 1, m); they stay the same through training."""
    return _tiled_square(stack.x[:, None], stack.tiles)[:, 0]


def penalised_gradient(
    weights: Weights, stack: Stack, penalty: Penalty, strength: Tensor, squares: Tensor, into: Weights
) -> None:
    """Gradient of the mean negative log-likelihood plus strength times Algorithm 1's penalty.

    Source: Algorithm 1 with its one step per epoch; Eq. 7.
    Reading: d_ij is differentiated through the Fisher informations, which the printed algorithm leaves constant.

    Args:
        weights: of (g, a) models.
        stack: their rows, k >= 2 fragments.
        penalty: of the fragments' Fishers.
        strength: lambda of every model, (g, a).
        squares: the stack's `squared_features`.
        into: receives the gradient.
    """
    found = scores(weights, stack)
    hidden, readout, delta = found.hidden, found.readout, found.delta
    signal = _signal(found)
    squared = _squares(found, signal, squares, stack)
    slopes = _pull_back(_fishers(squared, stack), penalty, strength, stack)
    h, f, o, lines = hidden.shape[2], squares.shape[1], delta.shape[2], weights.out.shape[2] // delta.shape[2]
    first, second, bias = torch.split_with_sizes(slopes, _layout(h, f, o), -1)
    # two logits share one readout, and the penalty counts both
    second, bias = (second * lines).view(*slopes.shape[:2], o, h), bias[..., None] * lines

    # the penalty's derivative in the factors of the scores: signal (h), delta (o) and activations (h) of every row
    by_signal = _times_tiled(signal, torch.bmm(first.reshape(len(first), -1, f), squared.x).view_as(squared.signal))
    by_delta = _bmm(readout, by_signal, _times_tiled(delta, _bmm(second, squared.hidden, bias)))
    total = _through_link(by_delta, delta, stack).addcmul_(delta, stack.weight)
    towards = _times_tiled(hidden, _towards_hidden(second, squared.delta))
    towards += _towards_hidden(readout, total)
    _backward(weights, stack, hidden, total, _bmm(delta, by_signal.mT), towards, into)


def _bmm(left: Tensor, right: Tensor, plus: Tensor | None = None) -> Tensor:
    """Product of matrices with two leading dimensions, plus something."""
    x, y = left.flatten(0, 1), right.flatten(0, 1)
    product = torch.bmm(x, y) if plus is None else torch.baddbmm(plus.flatten(0, 1), x, y)
    return product.view(*left.shape[:2], *product.shape[1:])


def _towards_hidden(readout: Tensor, delta: Tensor) -> Tensor:
    """Transposed readout times delta, (..., a, h, rows); an outer product where there is one readout."""
    return readout.mT * delta if readout.shape[2] == 1 else _bmm(readout.mT, delta)


def _signal(found: Scores) -> Tensor:
    """Minus the derivative of every row's log-likelihood in the hidden units' inputs, (g, a, h, t m)."""
    back = _towards_hidden(found.readout, found.delta)
    _relu_backward.grad_input(back, found.hidden, 0, grad_input=back)
    return back


def _tiled_square(values: Tensor, t: int) -> Tensor:
    """Squares tile by tile: (g, a, q, t m) to (g t, a, q, m)."""
    if t == 1:
        return values.square()
    g, a, q, _ = values.shape
    tiles = values.view(g, a, q, t, -1).permute(0, 3, 1, 2, 4)
    return torch.mul(tiles, tiles, out=values.new_empty(tiles.shape)).flatten(0, 1)


def _times_tiled(values: Tensor, of_tiles: Tensor) -> Tensor:
    """Product of rows in one piece, (g, a, q, t m), and rows by tile, (g t, a, q, m); in one piece."""
    g, a, q, _ = values.shape
    in_order = of_tiles.view(g, -1, a, q, of_tiles.shape[3]).permute(0, 2, 3, 1, 4)
    return (values.view(in_order.shape) * in_order).view(values.shape)


def _squares(found: Scores, signal: Tensor, features: Tensor, stack: Stack) -> Squares:
    """Squares of the scores' factors."""
    return Squares(features, *(_tiled_square(each, stack.tiles) for each in (found.hidden, signal, found.delta)))


def _backward(
    weights: Weights,
    stack: Stack,
    hidden: Tensor,
    delta: Tensor,
    more: Tensor | None,
    towards: Tensor,
    into: Weights,
) -> None:
    """From derivatives in readouts and activations to those in the weights.

    Args:
        weights: of (g, a) models.
        stack: their rows.
        hidden: activations, (g, a, h, t m).
        delta: derivative in the readouts, (g, a, o, t m).
        more: derivative in the readout's weights by another path, (g, a, o, h).
        towards: derivative in the activations, (g, a, h, t m); overwritten.
        into: receives the gradient.
    """
    g, a, h, _ = weights.hidden.shape
    _relu_backward.grad_input(towards, hidden, 0, grad_input=towards)
    torch.bmm(towards.view(g, a * h, -1), stack.x.mT, out=into.hidden.view(g, a * h, -1))
    by_out = _bmm(delta, hidden.mT, more)
    bias = delta.sum(-1)
    if by_out.shape[2] < into.out.shape[2]:  # the two logits' gradients are opposite
        into.out[:, :, 1:, :-1], into.out[:, :, 1:, -1] = by_out, bias
        torch.neg(into.out[:, :, 1:], out=into.out[:, :, :1])
    else:
        into.out[..., :-1], into.out[..., -1] = by_out, bias


def _fishers(squared: Squares, stack: Stack) -> Tensor:
    """Means over fragments of squared scores, (g, k, a, d), in the order of `_layout`; one line per readout."""
    gt, a = squared.hidden.shape[:2]
    by_hidden = torch.bmm(squared.signal.flatten(1, 2), squared.x.mT).view(gt, a, -1)
    by_out = _bmm(squared.delta, squared.hidden.mT).view(gt, a, -1)
    of_tiles = torch.cat([by_hidden, by_out, squared.delta.sum(-1)], -1)
    g, k, t = stack.share.shape
    return torch.bmm(stack.share, of_tiles.view(g, t, -1)).view(g, k, a, -1)


def _layout(h: int, f: int, o: int) -> list[int]:
    """Sizes of the first layer with its biases, the second layer, and its biases; f counts the constant."""
    return [h * f, o * h, o]


def _pull_back(fishers: Tensor, penalty: Penalty, strength: Tensor, stack: Stack) -> Tensor:
    """Derivative of strength * penalty in the squared scores of a tile's rows, times two (that of a square).

    Args:
        fishers: (g, k, a, d).
        penalty: of the fragments' Fishers.
        strength: (g, a).
        stack: the rows.

    Returns:
        (g t, a, d).
    """
    g, k, t = stack.share.shape
    slopes = penalty.gradient(fishers.movedim(1, 2)) * (2 * strength[..., None, None])  # (g, a, k, d)
    return torch.bmm(stack.share.mT, slopes.movedim(2, 1).reshape(g, k, -1)).view(g * t, fishers.shape[2], -1)


def _through_link(by_delta: Tensor, delta: Tensor, stack: Stack) -> Tensor:
    """From the derivative in delta = p(z) - y to that in z; overwrites its first argument."""
    if stack.likelihood == "numbers":
        return by_delta
    p = delta + stack.y
    if by_delta.shape[2] == 1:
        return by_delta.mul_(torch.addcmul(p, p, p, value=-1))
    return by_delta.sub_((by_delta * p).sum(2, keepdim=True)).mul_(p)
