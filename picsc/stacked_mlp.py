"""Many small networks with one hidden layer at once: outputs, gradients and Fisher informations in closed form.

The networks are `picsc.models.mlp`: hidden ReLU units, then logits or a mean. Their gradients are written out, because
for a few hundred rows a graph costs more than the arithmetic, and because Algorithm 1 needs the gradient of the Fisher
informations themselves: scores of single rows and their second-order terms, each a batched product over tiles.

Shape letters here: g problems, a models per problem (they share its rows), t tiles, m rows of a tile, h hidden units,
f features, c outputs, o readouts, k fragments, d parameters of a model. Two classes have one readout, the difference
of their logits, since both logits' gradients are opposite; parameters and Fisher informations are those of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from picsc.penalty import Penalty
from picsc.stack import Stack

_relu_backward = torch.ops.aten.threshold_backward


class Weights(NamedTuple):
    """Parameters, or anything of their shape: gradients, Fisher informations, moments."""

    hidden: Tensor
    """(g, a, h, f + 1): the first layer, its bias last."""
    out: Tensor
    """(g, a, c, h + 1): the second layer, its bias last."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One pass over the rows: what every row's gradient is made of."""

    hidden: Tensor
    """(g t, a, h, m) activations."""
    readout: Tensor
    """(g t, a, o, h) second layer as it reads out."""
    delta: Tensor
    """(g t, a, o, m): output minus target, minus the derivative of log p in the readout; 0 where padded."""


def empty_weights(g: int, a: int, f: int, h: int, c: int, like: Tensor) -> tuple[Tensor, Weights]:
    """One flat tensor, and views of it as weights: what acts on single entries then is one operation."""
    first = g * a * h * (f + 1)
    flat = like.new_zeros(first + g * a * c * (h + 1))
    return flat, Weights(flat[:first].view(g, a, h, f + 1), flat[first:].view(g, a, c, h + 1))


def flatten(weights: Weights) -> Tensor:
    """(g, a, d) in `parameters_to_vector` order of `picsc.models.mlp`."""
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
    w1, b1, w2, b2 = theta.split([h * f, h, c * h, c], dim=-1)
    ga = theta.shape[:2]
    hidden = torch.cat([w1.reshape(*ga, h, f), b1[..., None]], -1)
    return Weights(hidden, torch.cat([w2.reshape(*ga, c, h), b2[..., None]], -1))


def outputs(weights: Weights, x: Tensor, *, readouts: int) -> Tensor:
    """What the models say of rows of their problem.

    Args:
        weights: of (g, a) models.
        x: (g, f + 1, n), the constant last.
        readouts: o.

    Returns:
        (g, a, o, n): logits, the difference of two logits, or means.
    """
    g, a, h, _ = weights.hidden.shape
    hidden = torch.bmm(weights.hidden.reshape(g, a * h, -1), x).relu_().view(g * a, h, -1)
    out = _readout(weights.out, readouts)
    return torch.baddbmm(out[..., -1:].flatten(0, 1), out[..., :-1].flatten(0, 1), hidden).view(g, a, readouts, -1)


def scores(weights: Weights, stack: Stack) -> Scores:
    """Forward pass, and the derivative of every row's log-likelihood in its readouts."""
    g, a, h, _ = weights.hidden.shape
    t, o, m = stack.tiles, stack.y.shape[2], stack.rows
    hidden = torch.bmm(_per_tile(weights.hidden.reshape(g, a * h, -1), t), stack.x).relu_()
    out = _per_tile(_readout(weights.out, o), t)
    readout = out[..., :-1]
    z = torch.baddbmm(out[..., -1:].reshape(-1, o, 1), readout.reshape(-1, o, h), hidden.view(-1, h, m)).view(
        g * t, a, o, m
    )
    if o > 1:
        z = z.softmax(2)
    elif stack.likelihood == "classes":
        z.sigmoid_()
    return Scores(hidden.view(g * t, a, h, m), readout, z.sub_(stack.y).mul_(stack.mask))


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
    signal = _signal(found)
    return _fishers(found, signal, stack, stack.x.square(), weights.out.shape[2])


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
        squares: the stack's features squared, (g t, f + 1, m).
        into: receives the gradient.
    """
    found = scores(weights, stack)
    hidden, readout, delta = found.hidden, found.readout, found.delta
    gt, a, h, m = hidden.shape
    signal = _signal(found)
    first, second = _pull_back(_fishers(found, signal, stack, squares, weights.out.shape[2]), penalty, strength, stack)

    # the penalty's derivative in what the scores are made of: signal (h), delta (o) and activations (h) of every row
    by_signal = torch.bmm(first.reshape(gt, a * h, -1), squares).view(gt, a, h, m).mul_(signal)
    by_delta = _bmm(second[..., :-1], hidden.square()).add_(second[..., -1:]).mul_(delta)
    by_delta += _bmm(readout, by_signal)
    total = _through_link(by_delta, delta, stack).addcmul_(delta, stack.weight)
    towards = _towards_hidden(second[..., :-1], delta.square()).mul_(hidden).add_(_towards_hidden(readout, total))
    _backward(weights, stack, hidden, total, _bmm(delta, by_signal.mT), towards, into)


def _readout(out: Tensor, o: int) -> Tensor:
    """(g, a, o, h + 1): the second layer, or the difference of its two lines."""
    return out[:, :, 1:] - out[:, :, :1] if o < out.shape[2] else out


def _per_tile(values: Tensor, t: int) -> Tensor:
    """The same for every tile of a problem: (g, ...) to (g t, ...)."""
    return values if t == 1 else values.repeat_interleave(t, 0)


def _bmm(left: Tensor, right: Tensor) -> Tensor:
    """Product of matrices with two leading dimensions."""
    gt, a = left.shape[:2]
    return torch.bmm(left.flatten(0, 1), right.flatten(0, 1)).unflatten(0, (gt, a))


def _towards_hidden(readout: Tensor, delta: Tensor) -> Tensor:
    """readout' delta, (g t, a, h, m); an outer product where there is one readout."""
    return readout.mT * delta if readout.shape[2] == 1 else _bmm(readout.mT, delta)


def _signal(found: Scores) -> Tensor:
    """Minus the derivative of every row's log-likelihood in the hidden units' inputs, (g t, a, h, m)."""
    back = _towards_hidden(found.readout, found.delta)
    return _relu_backward.grad_input(back, found.hidden, 0, grad_input=back)


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
        hidden: activations, (g t, a, h, m).
        delta: derivative in the readouts, (g t, a, o, m).
        more: derivative in the readout's weights by another path, (g t, a, o, h).
        towards: derivative in the activations, (g t, a, h, m); overwritten.
        into: receives the gradient.
    """
    g, a, h, _ = weights.hidden.shape
    t, gt = stack.tiles, len(stack.x)
    _relu_backward.grad_input(towards, hidden, 0, grad_input=towards)
    by_hidden = torch.bmm(towards.view(gt, a * h, -1), stack.x.mT)
    by_out = _bmm(delta, hidden.mT)
    if more is not None:
        by_out += more
    bias = delta.sum(-1)
    if t > 1:
        by_hidden, by_out, bias = (each.unflatten(0, (g, t)).sum(1) for each in (by_hidden, by_out, bias))
    into.hidden.copy_(by_hidden.view(g, a, h, -1))
    if by_out.shape[2] < into.out.shape[2]:  # the two logits' gradients are opposite
        into.out[:, :, 1:, :-1], into.out[:, :, 1:, -1] = by_out, bias
        torch.neg(into.out[:, :, 1:], out=into.out[:, :, :1])
    else:
        into.out[..., :-1], into.out[..., -1] = by_out, bias


def _fishers(found: Scores, signal: Tensor, stack: Stack, squares: Tensor, c: int) -> Weights:
    """Means over fragments of squared scores."""
    gt, a, h, m = signal.shape
    by_hidden = torch.bmm(signal.square().view(gt, a * h, m), squares.mT)
    loss = found.delta.square()
    by_out = torch.cat([_bmm(loss, found.hidden.square().mT), loss.sum(-1, keepdim=True)], -1)
    means = _over_fragments(by_out, stack)
    if means.shape[3] < c:  # opposite scores have the same square
        means = means.expand(-1, -1, -1, c, -1)
    return Weights(_over_fragments(by_hidden.view(gt, a, h, -1), stack), means)


def _over_fragments(of_tiles: Tensor, stack: Stack) -> Tensor:
    """Sums over tiles to means over fragments: (g t, ...) to (g, k, ...)."""
    g, k, t = stack.share.shape
    return torch.bmm(stack.share, of_tiles.reshape(g, t, -1)).view(g, k, *of_tiles.shape[1:])


def _pull_back(fishers: Weights, penalty: Penalty, strength: Tensor, stack: Stack) -> tuple[Tensor, Tensor]:
    """Derivative of strength * penalty in the squared scores of a tile's rows, times two (that of a square).

    Returns:
        (g t, a, h, f + 1) and (g t, a, o, h + 1).
    """
    g, k, t = stack.share.shape
    hidden, out = (part.movedim(1, 2) for part in fishers)  # (g, a, k, ...)
    joined = torch.cat([hidden.flatten(3), out.flatten(3)], -1)
    slopes = penalty.gradient(joined) * (2 * strength[..., None, None])
    of_tiles = torch.bmm(stack.share.mT, slopes.movedim(2, 1).reshape(g, k, -1)).view(g * t, *slopes.shape[1:2], -1)
    first, second = of_tiles.split([hidden[0, 0, 0].numel(), out[0, 0, 0].numel()], -1)
    second = second.unflatten(-1, out.shape[3:])
    o = stack.y.shape[2]
    return first.unflatten(-1, hidden.shape[3:]), second.sum(2, keepdim=True) if o < second.shape[2] else second


def _through_link(by_delta: Tensor, delta: Tensor, stack: Stack) -> Tensor:
    """From the derivative in delta = p(z) - y to that in z; overwrites its first argument."""
    if stack.likelihood == "numbers":
        return by_delta
    p = delta + stack.y
    if by_delta.shape[2] == 1:
        return by_delta.mul_(p).mul_(1 - p)
    return by_delta.sub_((by_delta * p).sum(2, keepdim=True)).mul_(p)
