"""Algorithm 1's penalty in somebody's own loop. Letters: n rows, k fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from picsc.equations.penalties import PENALTIES
from picsc.errors import DataError, SettingsError
from picsc.pytorch.batches import Keys
from picsc.pytorch.likelihoods import LikelihoodName, OfRows
from picsc.pytorch.modes import row_by_row
from picsc.pytorch.row_model import RowModel
from picsc.training.algorithm_1 import all_rows, penalised_gradient

PenaltyName = Literal["kl", "frobenius", "trace"]
"""Reading of the penalty: mean KL divergence over pairs of fragments, Fishr, or the trace of the Fisher information."""


def fisher_penalty(
    model: nn.Module,
    batch: Any,
    fragments: Tensor | Sequence[int],
    likelihood: LikelihoodName | OfRows = "categorical",
    *,
    reading: PenaltyName = "kl",
    labels: str = "labels",
    logits: str = "logits",
) -> Tensor:
    """The divergence between the Fisher informations of a batch's fragments, to be added to the loss.

    Its gradient is computed with it, in closed form and two backward passes whatever the number of fragments, so that
    no graph is kept and `backward()` only adds it up; it can be differentiated once. The model computes as in
    `diagonal_fisher`: batch normalisation with its running statistics, no dropout, no autocast; nothing of it changes.

    Source: Algorithm 1, d_ij with Eq. 5, differentiated through the Fisher information.
    Reading: a mean over pairs, so that lambda means the same for any number of fragments, which have equal weight
        whatever their size. Only trainable parameters count.

    Args:
        model: as in `diagonal_fisher`. Layers with a closed form (Linear, Conv2d, Embedding, EmbeddingBag and
            normalisations) cost no more than the batch; parameters of others (LSTM, MultiheadAttention) a pass per row.
        batch: one batch, as in `diagonal_fisher`, with labels.
        fragments: (n,), the fragment of each row, as whole numbers; at least two different ones.
        likelihood: as in `diagonal_fisher`.
        reading: `kl` (the paper's), `frobenius` (also known as Fishr) or `trace`.
        labels: as in `diagonal_fisher`.
        logits: as in `diagonal_fisher`.

    Returns:
        A number, at least 0, in nats for `kl`, without lambda.

    Raises:
        DataError: a batch of one fragment, or as in `diagonal_fisher`.
        NumericsError: as in `diagonal_fisher`.
        SettingsError: an unknown likelihood or reading.

    Examples:
        >>> import torch
        >>> import picsc
        >>> model = torch.nn.Linear(2, 2)
        >>> x, y, fold = torch.randn(60, 2), torch.randint(2, (60,)), torch.arange(60) % 3
        >>> loss = torch.nn.functional.cross_entropy(model(x), y)
        >>> loss = loss + 0.1 * picsc.fisher_penalty(model, (x, y), fold)
        >>> loss.backward()
    """
    if reading not in PENALTIES:
        raise SettingsError(f"reading={reading!r}: must be one of {', '.join(map(repr, PENALTIES))}")
    own = RowModel(model, likelihood, Keys(labels, logits))
    with row_by_row(own.model, second=True):
        rows = own.take(batch)
        codes, k = _codes(fragments, rows)
        order, shares = all_rows(codes, k)
        found = penalised_gradient(own.plan(rows, second=True), order, order, shares, PENALTIES[reading])
    value: Tensor = _Known.apply(  # type: ignore[no-untyped-call]
        found.value.detach(), found.penalty, *own.wanted.values()
    )
    return value


def _codes(fragments: Tensor | Sequence[int], rows: Tensor) -> tuple[Tensor, int]:
    """Fragments numbered from 0, and how many there are."""
    given = torch.as_tensor(fragments, device=rows.device)
    if given.shape != rows.shape or given.is_floating_point():
        raise DataError(
            f"fragments have shape {tuple(given.shape)} and type {given.dtype}: need one whole number per row, "
            f"shape ({len(rows)},)"
        )
    names, codes = torch.unique(given, return_inverse=True)
    if len(names) < 2:
        raise DataError(
            f"all {len(rows)} rows of the batch are of fragment {int(names[0])}, and the penalty compares at least 2; "
            "draw rows of several fragments into every batch, or leave the penalty out of this one"
        )
    return codes, len(names)


class _Known(torch.autograd.Function):
    """A number whose gradient in the parameters is known."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, gradients: list[Tensor], *_parameters: Tensor) -> Tensor:
        """The number itself."""
        ctx.save_for_backward(*gradients)
        return value.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        """The known gradient, times that of what became of the number."""
        return None, None, *(gradient * slope for gradient in ctx.saved_tensors)
