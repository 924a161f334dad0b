"""Client summaries: statistics that stand for a client's rows on the server, of fixed size (paper, Eq. 1, 8, 14).

Letters: n rows of the client, m of them in halves, f encoded features, d parameters, b draws, c classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from picsc.datasets.encoding import Covariates
from picsc.equations.moment_kl import Moments, moments_kl
from picsc.equations.trigger import DRAWS, tau
from picsc.errors import DataError, NumericsError
from picsc.federated.small_cells import only, sent_columns
from picsc.runtime.devices import as_sums

MOST_ROWS = 512
"""Most rows that halves are drawn from, so that the cost of b draws is bounded."""
FEWEST_ROWS = 4
"""Fewest rows that are halved: with fewer, a half is a single row, which has no variance."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All that a client sends to the server for the audit; float32 except for two counts."""

    n: int
    """Number of rows of the client."""
    fisher: Tensor
    """I_k(theta) at the theta received, (d,), nats per squared parameter unit."""
    means: Tensor
    """Means of the encoded features, (f,); NaN where one is not sent, see `picsc.federated.small_cells`."""
    variances: Tensor
    """Population variances of the encoded features, (f,); NaN where one is not sent."""
    gap_halves: Tensor
    """Fisher gap between random halves of the client's own rows, (b,); empty for a client with fewer than 4 rows."""
    kl_halves: Tensor
    """Covariate KL between the same halves, (b,)."""
    halves_n: int
    """m, the number of rows of both halves together; even, and 0 for a client with fewer than 4 rows."""
    label_counts: Tensor | None = None
    """Number of rows of each class, (c,); None where they are not sent."""

    @property
    def sent(self) -> Tensor:
        """True for each feature whose mean and variance are sent, bool (f,)."""
        return ~self.means.isnan()

    @property
    def bytes(self) -> int:
        """Bytes that are sent: 4 per number."""
        sent = [self.fisher, self.means, self.variances, self.gap_halves, self.kl_halves]
        sent += [] if self.label_counts is None else [self.label_counts]
        return 4 * (2 + sum(each.numel() for each in sent))

    @property
    def halves(self) -> Tensor:
        """Eq. 14's tau between the halves, (b,), float64."""
        return tau(self.gap_halves.double(), self.kl_halves.double())

    @property
    def moments(self) -> Moments:
        """Sums that the means and variances stand for, (f,) each; all 0 for a feature that is not sent."""
        n, means = self.n * self.sent.double(), self.means.double().nan_to_num()
        return Moments(n, n * means, n * (self.variances.double().nan_to_num() + means.square()))


@dataclass(frozen=True, slots=True)
class Described:
    """The part of a summary that is the same at every model: moments of the features, and the halves."""

    n: int
    """Number of rows."""
    means: Tensor
    """As in `Summary`, (f,)."""
    variances: Tensor
    """As in `Summary`, (f,)."""
    kl_halves: Tensor
    """As in `Summary`, (b,)."""
    label_counts: Tensor | None
    """As in `Summary`, (c,)."""
    rows: Tensor
    """Numbers of the rows that are halved, increasing, int64 (m,)."""
    signs: Tensor
    """1 for rows of the first half and -1 for the others, float32 (b, m)."""


@torch.no_grad()
def described(
    x: Tensor,
    covariates: Covariates,
    *,
    seed: int,
    draws: int = DRAWS,
    most_rows: int = MOST_ROWS,
    label_counts: Tensor | None = None,
    fewest: int = 1,
) -> Described:
    """Moments of one client's features, and the covariate KL between halves of its rows.

    Source: Eq. 8.
    Reading: means and variances are sent instead of sums, because float32 keeps them to the last digit. The halves
        compare the columns that are sent, so that they are a null of the same divergence.

    Args:
        x: encoded features, or activations for images and text, (n, f).
        covariates: kinds of the features.
        seed: of the rows and halves drawn.
        draws: b.
        most_rows: bound on m.
        label_counts: number of rows of each class, (c,); None sends none.
        fewest: fewest rows of a cell that is sent.
    """
    n = len(x)
    rows, signs = _signed_halves(n, draws, min(n, most_rows), seed)
    features = as_sums(x).cpu()
    sent = sent_columns(features, covariates, fewest)
    variances, means = torch.var_mean(features, 0, correction=0) if n else (features.sum(0), features.sum(0))
    enough = len(rows) >= FEWEST_ROWS
    return Described(
        n=n,
        means=means.float().where(sent, torch.nan),
        variances=variances.float().where(sent, torch.nan),
        kl_halves=_half_kl(features[rows], signs, only(covariates, sent)) if enough else torch.empty(0),
        label_counts=None if label_counts is None else label_counts.float().cpu(),
        rows=rows,
        signs=signs,
    )


@torch.no_grad()
def summarise(client: Described, squared_scores: Iterable[Tensor]) -> Summary:
    """The summary of one client's rows at one model, from one pass over their squared scores.

    Source: Eq. 1 for the client's Fisher information; Eq. 14's tau for its halves.

    Args:
        client: moments and halves of the rows.
        squared_scores: squared gradients of log p(y | x; theta) of consecutive rows, (n_c, d) each, n in all; memory
            is one chunk and b * d floats.

    Raises:
        DataError: there are no rows, or not as many squared scores.
        NumericsError: a squared score is not finite.
    """
    n, rows, signs = client.n, client.rows, client.signs
    m = len(rows)
    total: Tensor | None = None
    differences: Tensor | None = None
    seen = 0
    for chunk in squared_scores:
        summed = as_sums(chunk.sum(0))
        total = summed if total is None else total + summed
        start, stop = torch.searchsorted(rows, torch.tensor([seen, seen + len(chunk)])).tolist()
        chosen = chunk[(rows[start:stop] - seen).to(chunk.device)]
        difference = signs[:, start:stop].to(chunk) @ chosen
        differences = difference if differences is None else differences.add_(difference)
        seen += len(chunk)
    if total is None or differences is None or seen != n or n == 0:
        raise DataError(
            f"a client has {n} rows of features and {seen} rows of squared scores: need equal numbers, at least 1"
        )
    if not bool(total.isfinite().all()):
        raise NumericsError(f"squared scores of a client's {n} rows are not finite: the model it received has diverged")
    halved = m >= FEWEST_ROWS
    gaps = differences.square().sum(1).sqrt().cpu().float() / (m / 2) if halved else torch.empty(0)
    return Summary(
        n=n,
        fisher=(total / n).float().cpu(),
        means=client.means,
        variances=client.variances,
        gap_halves=gaps,
        kl_halves=client.kl_halves,
        halves_n=m if halved else 0,
        label_counts=client.label_counts,
    )


def _signed_halves(n: int, draws: int, most_rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """An even number of random rows, in order, and random ways to halve them.

    Returns:
        int64 (m,), and float32 (b, m): 1 in the first half, -1 in the other.
    """
    generator = torch.Generator().manual_seed(seed)
    m = most_rows - most_rows % 2
    rows = torch.randperm(n, generator=generator)[:m].sort().values
    first = torch.rand(draws, m, generator=generator).argsort(1)[:, : m // 2]
    signs = torch.full((draws, m), -1.0)
    return rows, signs.scatter_(1, first, 1.0)


def _half_kl(x: Tensor, signs: Tensor, covariates: Covariates) -> Tensor:
    """Covariate KL between the halves of every draw, (b,)."""
    first = (signs > 0).to(x)
    part = Moments(first.sum(1, keepdim=True), first @ x, first @ x.square())
    return moments_kl(
        part, Moments(x.new_full((1,), len(x)), x.sum(0), x.square().sum(0)).minus(part), covariates
    ).float()
