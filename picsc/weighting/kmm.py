"""Kernel mean matching: weights under which the training rows have the targets' mean in a kernel's feature space.

Letters: `...` any batch of problems, n training rows, m target rows, f columns. Weights have no unit and mean 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from picsc.errors import NumericsError, SettingsError
from picsc.runtime.devices import as_sums, sum_dtype
from picsc.weighting.checks import ADVICE, checked, normalised
from picsc.weighting.kernels import centred, gaussian, median_distance

BOUND = 1000.0
"""B, the largest weight allowed."""
BLOCK = 2000
"""Most training rows matched at once; K is of that many squared."""
CHUNK = 2000
"""Target rows whose kernel with a block is held at once; changes nothing beyond rounding."""
EVERY = 50
"""Steps between two checks of convergence, each of which waits for the device."""
SMALLEST_RIDGE, RIDGE_STEP = 1e-3, 2.0
"""Ridges are tried from n down to the smallest, divided by the step each time."""
LONGER, SHORTER = 0.95, 2.0
"""Factors of 1 / step after a step that was taken, and after one that was too long and is not taken."""


class Stopping(NamedTuple):
    """The end of the solver's iterations."""

    iterations: int = 3000
    """Steps at most."""
    tolerance: float = 1e-4
    """Stop once no weights can be better by more than this share of the objective, or steps have ceased to gain. 0
    takes all steps and never waits for the device."""


CONVERGED = Stopping()
"""Stop at convergence."""


def solve(
    gram: Tensor,
    towards: Tensor,
    *,
    bound: float = BOUND,
    slack: float | None = None,
    mask: Tensor | None = None,
    start: Tensor | None = None,
    stop: Stopping = CONVERGED,
) -> Tensor:
    """Minimise 1/2 b'Kb - k'b over 0 <= b <= B and |mean b - 1| <= slack, a whole batch of problems at once.

    Accelerated projected gradient: momentum is dropped where it points uphill, and steps adapt to the curvature met
    (Beck and Teboulle 2009; O'Donoghue and Candes 2015). One product with K per step.

    Source: Huang et al. 2007, Section 3; the paper compares with it under "vs. state of the art".

    Args:
        gram: K, (..., n, n), symmetric and positive semi-definite; its precision is that of the solver.
        towards: k, (..., n), n times the mean of the kernel between each training row and the target rows.
        bound: B >= 1.
        slack: how far from 1 the mean may be; None is (sqrt n - 1) / sqrt n.
        mask: (..., n), 1 for rows and 0 for padding, whose weight is 0 and which n does not count; None is all 1.
        start: (..., n) first guess; None is 1 for every row, the optimum where training and target rows are the same.
        stop: when to stop.

    Returns:
        b, (..., n). Its mean is within the slack, not exactly 1.

    Raises:
        SettingsError: bound < 1, or a negative slack.
    """
    if bound < 1 or (slack is not None and slack < 0):
        raise SettingsError(f"weights of mean 1 need bound >= 1 and slack >= 0: got bound {bound} and slack {slack}")
    upper = torch.full_like(towards, bound) if mask is None else bound * mask.to(towards)
    n = upper.sum(-1, keepdim=True) / bound
    width = n - n.sqrt() if slack is None else slack * n
    least, most = n - width, torch.minimum(n + width, bound * n)
    steepest = lipschitz(gram, towards, upper / bound)
    steep = steepest
    b = project(upper / bound if start is None else start.to(towards), upper, least, most)
    product = times(gram, b)
    ahead, product_ahead = b, product
    t = torch.ones_like(n)
    before = torch.full_like(n, torch.inf)
    for i in range(stop.iterations):
        new = project(ahead - (product_ahead - towards) / steep, upper, least, most)
        product_new = times(gram, new)
        moved, product_moved = new - ahead, product_new - product_ahead
        # Steps are as long as the curvature along the way allows, which is small once few rows have weight.
        taken = ((moved * (product_moved - steep * moved)).sum(-1, keepdim=True) <= 0) | (steep >= steepest)
        step = new - b
        uphill = (moved * step).sum(-1, keepdim=True) < 0
        t_new = torch.where(uphill, 1.0, (1 + (1 + 4 * t.square()).sqrt()) / 2)
        momentum = torch.where(uphill, 0.0, (t - 1) / t_new)
        ahead = torch.where(taken, new + momentum * step, ahead)
        product_ahead = torch.where(taken, product_new + momentum * (product_new - product), product_ahead)
        b, product, t = (
            torch.where(taken, new, b),
            torch.where(taken, product_new, product),
            torch.where(taken, t_new, t),
        )
        steep = torch.where(taken, steep * LONGER, steep * SHORTER).minimum(steepest)
        if stop.tolerance and (i + 1) % EVERY == 0:
            now = (b * (product / 2 - towards)).sum(-1, keepdim=True)
            gap = duality_gap(b, product - towards, upper, least, most)
            allowed = stop.tolerance * now.abs()
            # Far from the optimum by c / t^2 after t steps, one has gained 2 EVERY / t of the distance since last time.
            ahead_still = (before - now) * (i + 1) / (2 * EVERY)
            if bool(((gap <= allowed) | (ahead_still <= allowed / 8)).all()):
                break
            before = now
    return b


def times(matrix: Tensor, vector: Tensor) -> Tensor:
    """Products of a batch of symmetric matrices (..., n, n) and vectors (..., n); from the left they are fastest."""
    return (vector.unsqueeze(-2) @ matrix).squeeze(-2)


def project(v: Tensor, upper: Tensor, least: Tensor, most: Tensor) -> Tensor:
    """The nearest point whose entries are in [0, upper] and whose sum is in [least, most].

    That point is v - t cut to the box; the sum is piecewise linear in t, so t follows from its sorted corners.

    Args:
        v: (..., n).
        upper: (..., n).
        least: (..., 1).
        most: (..., 1), not above the sum of `upper`.

    Returns:
        (..., n).
    """
    n = v.shape[-1]
    cut = v.clamp(min=0).minimum(upper)
    total = cut.sum(-1, keepdim=True)
    wanted = total.maximum(least).minimum(most)
    if v.device.type == "cpu" and bool((wanted == total).all()):  # elsewhere asking would cost more than the rest
        return cut
    corners, order = torch.cat([v - upper, v], -1).sort(-1)
    slope = torch.where(order < n, -1.0, 1.0).to(v.dtype).cumsum(-1)[..., :-1]
    fallen = (slope * corners.diff(dim=-1)).cumsum(-1)
    sums = upper.sum(-1, keepdim=True) + torch.cat([torch.zeros_like(total), fallen], -1)
    at = (torch.searchsorted(-sums, -wanted, right=True) - 1).clamp(0, 2 * n - 2)
    t = corners.gather(-1, at) + (wanted - sums.gather(-1, at)) / slope.gather(-1, at).clamp(max=-1)
    t = torch.where(wanted == total, 0.0, t)
    return (v - t).clamp(min=0).minimum(upper)


def lipschitz(gram: Tensor, towards: Tensor, mask: Tensor, *, rounds: int = 3) -> Tensor:
    """An upper bound of the largest eigenvalue of K, (..., 1), by Collatz and Wielandt's ratio for |K|.

    Args:
        gram: (..., n, n).
        towards: (..., n), only for a floor that keeps steps finite where K is 0.
        mask: (..., n), 1 for rows that count.
        rounds: products with |K|; each tightens the bound.
    """
    magnitude = gram.abs()
    v = mask
    largest = torch.ones_like(mask[..., :1])
    tiny = torch.finfo(gram.dtype).tiny
    for _ in range(rounds):
        w = mask * times(magnitude, v)
        largest = (w / v.clamp(min=tiny)).amax(-1, keepdim=True)
        v = w / w.amax(-1, keepdim=True).clamp(min=tiny)
    floor = torch.finfo(gram.dtype).eps * towards.abs().amax(-1, keepdim=True)
    return largest.maximum(floor).clamp(min=torch.finfo(gram.dtype).eps)


def duality_gap(b: Tensor, gradient: Tensor, upper: Tensor, least: Tensor, most: Tensor) -> Tensor:
    """The most by which the optimum can be better than b, (..., 1): gradient'(b - s) for the worst allowed s."""
    slopes, order = gradient.sort(-1)
    room = upper.gather(-1, order)
    used = room.cumsum(-1) - room
    budget = torch.where(slopes < 0, most, least)
    filled = (budget - used).clamp(min=0).minimum(room)
    return (gradient * b).sum(-1, keepdim=True) - (slopes * filled).sum(-1, keepdim=True)


def noise_ridge(gram: Tensor, towards: Tensor, inner: float, m: int, *, bound: float = BOUND) -> float:
    """The largest ridge under which weighted training rows are as near to the target as its own sampling noise.

    The squared distance of the weighted mean from the target's, in the kernel's feature space, is that of two samples
    of one distribution in the mean: (1 - k) / n + (1 - k) / m with k the mean kernel between different rows.

    Args:
        gram: K, (n, n), with ones on its diagonal.
        towards: k, (n,), as in `solve`.
        inner: mean of the kernel between different target rows.
        m: target rows.
        bound: B.

    Returns:
        Infinite where weights of 1 are near enough; 0 where none are.
    """
    n = len(gram)
    own = (float(as_sums(gram).sum()) / n - 1) / max(1, n - 1)
    noise = (1 - own) / n + (1 - inner) / m
    of_target = ((m - 1) * inner + 1) / m

    def distance(b: Tensor) -> float:
        b, k = as_sums(b), as_sums(towards)
        return float((b * (as_sums(times(gram, b.to(gram))) - 2 * k)).sum()) / n**2 + of_target

    b, ridge = torch.ones_like(towards), float(n)
    if distance(b) <= noise:
        return math.inf
    while ridge > SMALLEST_RIDGE:
        b = _near_1(gram, towards, ridge, bound=bound, start=b)
        if distance(b) <= noise:
            return ridge
        ridge /= RIDGE_STEP
    return 0.0


def _near_1(gram: Tensor, towards: Tensor, ridge: float, *, bound: float, start: Tensor | None = None) -> Tensor:
    """The solution with a ridge around weights of 1, which is that of another problem of the same kind."""
    if math.isinf(ridge):
        return torch.ones_like(towards)
    held = gram if ridge == 0 else gram + ridge * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    return solve(held, towards + ridge, bound=bound, start=start)


def _spread_of(z: Tensor, width: float) -> tuple[float, int]:
    """Mean kernel between different target rows, and their number."""
    m = len(z)
    return (float(as_sums(gaussian(z, z, width)).sum()) / m - 1) / max(1, m - 1), m


def kmm(
    x: Tensor,
    z: Tensor,
    *,
    seed: int,
    bound: float = BOUND,
    block: int = BLOCK,
    sigma: float | None = None,
    ridge: float | None = 0.0,
) -> Tensor:
    """Weights by kernel mean matching with a Gaussian kernel.

    Source: paper, "vs. state of the art"; Huang et al. 2007, Section 3.
    Reading: more rows than `block` are dealt at random into blocks of about equal size, each of which is matched to all
        target rows and gets mean 1. With a ridge, ridge / 2 ||b - 1||^2 is added. Few target rows are a noisy picture
        of their distribution, and weights that match it exactly are noise of variance n / m each; `ridge=None` takes
        the weights nearest to 1 whose distance from the target's mean is what chance alone makes (Morozov's
        discrepancy principle).

    Args:
        x: training rows, (n, f), in comparable units.
        z: target rows, (m, f).
        seed: of blocks, and of the rows that the median distance is taken from.
        bound: B, the largest weight before scaling to mean 1.
        block: most rows matched at once.
        sigma: width of the kernel; None is the median distance between rows.
        ridge: of weights around 1, >= 0; None is as large as the noise of the target rows allows, found on one block.

    Returns:
        (n,) weights, non-negative, of mean 1.

    Raises:
        DataError: rows that cannot be weighted.
        NumericsError: the training rows do not meet the targets.
    """
    x, z = centred(*checked(x, z))
    width = median_distance(x, z, seed=seed) if sigma is None else sigma
    n = len(x)
    dealt = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).to(x.device)
    weights = torch.empty(n, dtype=sum_dtype(x.device), device=x.device)
    for rows in dealt.tensor_split(-(-n // block)) if n > block else [torch.arange(n, device=x.device)]:
        inside = x[rows]
        towards = torch.zeros(len(rows), dtype=weights.dtype, device=x.device)
        for part in torch.split(z, CHUNK):
            towards += gaussian(inside, part, width).sum(1)
        towards *= len(rows) / len(z)
        if not bool((towards > 0).any()):
            raise NumericsError(f"kmm: no training row is within reach of a target row at sigma {width:.3g}: {ADVICE}")
        gram, towards = gaussian(inside, inside, width), towards.to(x.dtype)
        if ridge is None:
            ridge = noise_ridge(gram, towards, *_spread_of(z[:block], width), bound=bound)
        weights[rows] = normalised(_near_1(gram, towards, ridge, bound=bound), name="kmm")
    return normalised(weights, name="kmm")
