"""Log-likelihood of classes and numbers, or as a model states it, in nats per row; training is based on it.

Shape letters here: n rows, c classes.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor
from torch.nn.functional import cross_entropy

from picsc.errors import DataError

Likelihood = Literal["classes", "numbers", "stated"]
"""`classes`: softmax over logits. `numbers`: Gaussian around the output, with variance 1. `stated`: the model's output
is the log-likelihood itself."""


def log_likelihood(output: Tensor, y: Tensor, likelihood: Likelihood) -> Tensor:
    """Natural logarithm of p(y | x; theta) of each row.

    Reading: the paper has classes only; a number's likelihood is Gaussian with fixed variance 1, without its constant
        -log(2 pi)/2, so that it is 0 for a perfect fit. Targets are expected in units of their standard deviation.

    Args:
        output: logits (n, c) for classes; means (n,) or (n, 1) for numbers; log-likelihoods (n,) where they are stated.
        y: int64 (n,) class codes, or floats (n,); not used where the log-likelihood is stated.
        likelihood: `classes`, `numbers` or `stated`.

    Returns:
        (n,), at most 0, in nats.

    Raises:
        DataError: the output's shape does not fit.
    """
    if likelihood == "numbers":
        return -0.5 * _residuals(output, y).square()
    if likelihood == "stated":
        return output.reshape(len(y))
    return -cross_entropy(_logits(output, len(y)), y, reduction="none")


def summed_log_likelihood(output: Tensor, y: Tensor, likelihood: Likelihood) -> Tensor:
    """The sum of `log_likelihood` over rows, as one operation; a scalar in nats.

    Args:
        output: as in `log_likelihood`.
        y: as in `log_likelihood`.
        likelihood: as in `log_likelihood`.

    Raises:
        DataError: the output's shape does not fit.
    """
    if likelihood == "numbers":
        return -0.5 * _residuals(output, y).square().sum()
    if likelihood == "stated":
        return output.sum()
    return -cross_entropy(_logits(output, len(y)), y, reduction="sum")


def _residuals(output: Tensor, y: Tensor) -> Tensor:
    """Targets minus means, (n,)."""
    n = len(y)
    if output.numel() != n:
        raise DataError(
            f"the model gives outputs of shape {tuple(output.shape)} for {n} rows: numbers need one mean per row, "
            "shape (n,) or (n, 1)"
        )
    return y.to(output.dtype) - output.reshape(n)


def _logits(output: Tensor, n: int) -> Tensor:
    """The output as (n, c)."""
    if n == 1 and output.ndim == 1:  # a model that ends in squeeze()
        output = output[None]
    if output.ndim != 2 or output.shape[0] != n or output.shape[1] < 2:
        raise DataError(
            f"the model gives outputs of shape {tuple(output.shape)} for {n} rows: classes need one logit per class, "
            "shape (n, c) with c >= 2"
        )
    return output


def check_labels(y: Tensor, outputs: int) -> None:
    """Refuse class codes for which a model with `outputs` logits has no logit.

    Raises:
        DataError: a code is negative or too large.
    """
    low, high = (int(bound) for bound in y.aminmax())
    if low < 0 or high >= outputs:
        raise DataError(f"labels run from {low} to {high}: a model with {outputs} outputs needs 0 to {outputs - 1}")
