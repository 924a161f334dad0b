"""Training of many small networks at once: every problem and candidate of a comparison in one loop.

Its twin is `picsc.training.single`, which trains any one model by automatic differentiation. There are two because
for a few hundred rows and four hidden units a graph costs more than the arithmetic, while gradients written out by hand
fit this network alone. tests/training/batched/test_train.py holds both equal, model by model.

Shape letters here: g problems, a models per problem, d parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from picsc.equations.penalties import Anchor, Penalty, risen
from picsc.training.batched.diw import StackTarget, dynamic_weighting
from picsc.training.batched.early_stopping import early_stopping
from picsc.training.batched.gradients import penalised_gradient, squared_features, task_gradient
from picsc.training.batched.layout import Stack
from picsc.training.batched.mlp import Weights, empty_weights, flatten, mean_loss, unflatten
from picsc.training.batched.steps import DRAWN, steps_of
from picsc.training.divergence import has_diverged, is_checked, largest_loss
from picsc.training.jobs import Fitted, TrainingRecipe
from picsc.training.optimizers import AdamState, Pull, SgdState, adam_step, sgd_step

SHARE_EVERY = 20
"""Steps between two measurements of the penalty's share of the gradient; each costs one more gradient."""
STACK_FLOATS = 160_000
"""Activations of a stack's models, in floats: fewer waste time on starting operations, more do not fit the cache."""
KEPT_FLOATS = 7_500_000
"""30 MB, just below the size from which glibc hands every buffer back at once."""


def problems_per_stack(rows: int, models: int, hidden: int) -> int:
    """The number of problems that are fastest side by side on a processor.

    Args:
        rows: rows of the largest problem, per step.
        models: models per problem.
        hidden: hidden units.

    Returns:
        At least 1. Results do not depend on it beyond rounding.
    """
    return max(1, STACK_FLOATS // (rows * models * hidden))


@dataclass(frozen=True, slots=True)
class StackCorrection:
    """Corrections of every model of a stack: weight decay, Algorithm 1's penalty and Eq. 16's anchor."""

    weight_decay: Tensor | None = None
    """Weight decay of every model, (g, a), added to the gradient as weight_decay * parameter; None is 0."""
    strength: Tensor | None = None
    """lambda of every model, (g, a), of `penalty` and `anchor`; None is 0."""
    penalty: Penalty | None = None
    """Algorithm 1's penalty between fragments; None leaves it out."""
    anchor: Anchor | None = None
    """Mean and Fisher information of Eq. 16, (g, a, d) each; None leaves it out."""
    fragments: tuple[Tensor, ...] | None = None
    """int64 (n,), the fragment of each row of each problem, of which every minibatch then has equally many rows; None
    leaves the rows to the tiles of the stack."""


PLAIN = StackCorrection()
"""No correction."""


@torch.no_grad()
def train_stack(
    theta: Tensor,
    stack: Stack,
    recipe: TrainingRecipe,
    *,
    hidden: int,
    correction: StackCorrection = PLAIN,
    held_out: Stack | None = None,
    target_rows: StackTarget | None = None,
) -> Fitted:
    """Minimise every model's mean negative log-likelihood plus the terms of its correction.

    Source: Algorithm 1 with a penalty, Eq. 16 with an anchor. A strength of 0 throughout is plain training, bit for
        bit. `target_rows` is dynamic importance weighting: Fang et al. 2020, Algorithm 1, with one epoch of plain
        warm-up.
    Reading: one step per epoch as printed while `recipe.batch_size` is None; else minibatches, which with `fragments`
        hold equally many rows of every fragment. With `recipe.warmup` lambda rises from 0: at full strength from the
        first step, the penalty can silence hidden units before they have learned anything; the Fisher informations of
        such a model agree.
        With `target_rows` a step's rows are matched in random blocks of at most 256 with at most 256 random rows of the
        target, at every step where there are minibatches and at every fifth where steps see all rows.

    Args:
        theta: where training starts, (g, a, d).
        stack: the rows.
        recipe: epochs, learning rate and optimiser.
        hidden: hidden units.
        correction: weight decay, the penalty between fragments, and the anchor.
        held_out: other rows of the same problems, which decide when `recipe.patience` is over; None trains to the end.
        target_rows: rows of the target, from which every step's rows get new weights on top of those they have; None
            leaves the weights as they are. It needs one model per problem.

    Returns:
        The models, with early stopping those of their best epochs; those that diverged are marked and do not disturb
        the others.

    Raises:
        SettingsError: `target_rows` with several models per problem.
    """
    _keep_freed_memory()
    g, a, _ = theta.shape
    f, c = stack.features, stack.outputs
    flat, weights = _placed(theta, f, hidden, c)
    gradient, into = empty_weights(g, a, f, hidden, c, theta)
    strength, penalty, anchor = correction.strength, correction.penalty, correction.anchor
    active = strength is not None and bool((strength != 0).any())
    decay = None
    if correction.weight_decay is not None and bool((correction.weight_decay != 0).any()):
        decay = _per_parameter(correction.weight_decay, weights)
    pull = None
    if anchor is not None and active and strength is not None:
        mean, _ = _placed(anchor.mean, f, hidden, c)
        stiffness, _ = _placed(anchor.fisher, f, hidden, c)
        pull = Pull(mean, stiffness.mul_(_per_parameter(2 * strength, weights)))  # Eq. 16 has no factor 1/2
    run = steps_of(stack, recipe, correction.fragments if active else None)
    steps, per_epoch = run.in_all, run.per_epoch
    squares: dict[int, Tensor] = {}
    update = _update(flat, recipe, pull)
    task, task_weights = empty_weights(g, a, f, hidden, c, theta)
    early = None if held_out is None or recipe.patience is None else early_stopping(weights, held_out, recipe.patience)
    weighting = None if target_rows is None else dynamic_weighting(target_rows, a, per_epoch)
    signs, shares = [], []
    absurd = torch.zeros(g, a, dtype=torch.int64, device=theta.device)
    rising = recipe.warmup * steps
    for step, (i, drawn) in enumerate(islice(run.parts, steps)):
        part = drawn if weighting is None else weighting.step(weights, drawn, i, step)
        measured = step % SHARE_EVERY == 0
        if penalty is None or strength is None or not active:
            task_gradient(weights, part, into)
            if pull is not None and measured:
                task.copy_(gradient)
        else:
            if i == DRAWN or i not in squares:
                squares[i] = squared_features(part)
            penalised_gradient(weights, part, penalty, risen(strength, step, rising), squares[i], into)
            if measured:
                task_gradient(weights, part, task_weights)
        if active and measured:
            total = into
            if pull is not None:  # the update solves the anchor exactly, so that its gradient is measured only
                whole, total = empty_weights(g, a, f, hidden, c, theta)
                torch.addcmul(gradient, flat - pull.center, pull.stiffness, out=whole)
            share = _share(task_weights, total)
            shares.append(share if early is None else torch.where(early.running, share, torch.nan))
        if decay is not None:
            gradient.addcmul_(flat, decay)
        signs.append(into.out[..., -1].sum(-1))
        update(gradient)
        epoch = step // per_epoch
        if is_checked(step, steps, per_epoch):
            largest = largest_loss(drawn.y, drawn.weight, drawn.likelihood, c, (-2, -1))
            absurd = torch.where(has_diverged(mean_loss(weights, drawn), largest) & (absurd == 0), epoch + 1, absurd)
        if early is not None and ((step + 1) % per_epoch == 0 or step + 1 == steps):
            early.evaluate(weights)
            if early.over(epoch):
                break
    diverged = _earlier(_diverged(torch.stack(signs), weights, per_epoch), absurd)
    share = torch.stack(shares) if shares else theta.new_zeros(1, g, a)
    if early is None:
        last = flatten(weights).masked_fill_((diverged > 0)[..., None], torch.nan)
        return Fitted(last, diverged, share.mean(0))
    diverged = early.diverged(diverged)
    best = flatten(early.best).masked_fill_((diverged > 0)[..., None], torch.nan)
    return Fitted(best, diverged, share.nanmean(0))


def _keep_freed_memory() -> None:
    """Let a step's buffers be those that the step before has freed.

    glibc returns large buffers to the system when they are freed, and getting them back page by page costs up to a
    third of a step. It stops doing so for sizes of which it has seen one freed; elsewhere this does nothing.
    """
    torch.empty(KEPT_FLOATS)


def _placed(theta: Tensor, f: int, h: int, c: int) -> tuple[Tensor, Weights]:
    """A flat copy of (g, a, d) parameters, and its views."""
    g, a, _ = theta.shape
    flat, weights = empty_weights(g, a, f, h, c, theta)
    given = unflatten(theta, f, h, c)
    weights.hidden.copy_(given.hidden)
    weights.out.copy_(given.out)
    return flat, weights


def _per_parameter(per_model: Tensor, weights: Weights) -> Tensor:
    """A number per model, (g, a), at every entry of its parameters."""
    parts = [per_model[..., None, None].expand_as(part).reshape(-1) for part in weights]
    return torch.cat(parts)


def _update(flat: Tensor, recipe: TrainingRecipe, pull: Pull | None) -> Callable[[Tensor], None]:
    """A function that applies a gradient, and the pull of the anchors, to all models, in place."""
    pulls = None if pull is None else [pull]
    if recipe.optimizer == "adam":
        adam = AdamState([torch.zeros_like(flat)], [torch.zeros_like(flat)])
        return lambda gradient: adam_step([flat], [gradient], adam, lr=recipe.lr, pulls=pulls)
    sgd = SgdState([torch.zeros_like(flat)])
    return lambda gradient: sgd_step([flat], [gradient], sgd, lr=recipe.lr, momentum=recipe.momentum, pulls=pulls)


def _share(task: Weights, total: Weights) -> Tensor:
    """||penalty's gradient|| / (||task's|| + ||penalty's||) of every model, (g, a)."""

    def norm(parts: tuple[Tensor, ...]) -> Tensor:
        return torch.stack([part.square().sum((-2, -1)) for part in parts]).sum(0).sqrt()

    more = norm(tuple(whole - part for whole, part in zip(total, task, strict=True)))
    return more / (norm(task) + more).clamp_(min=torch.finfo(more.dtype).tiny)


def _earlier(first: Tensor, second: Tensor) -> Tensor:
    """The earlier of two epochs, counted from 1; 0 is none."""
    return torch.where((first == 0) | (second == 0), torch.maximum(first, second), torch.minimum(first, second))


def _diverged(signs: Tensor, weights: Weights, per_epoch: int) -> Tensor:
    """First epoch after which a model's gradient or parameters are not finite, counted from 1; 0 if never."""
    bad = ~signs.isfinite()
    first = torch.where(bad.any(0), bad.to(torch.int64).argmax(0) // per_epoch + 1, 0)
    finite = weights.hidden.isfinite().all(-1).all(-1) & weights.out.isfinite().all(-1).all(-1)
    return torch.where(~finite & (first == 0), -(-len(signs) // per_epoch), first)
