"""Log-likelihoods of categories, yes-or-no labels and numbers, in nats per row.

Shape letters here: n rows, c classes, m outputs of a row, t positions of a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, log_softmax

from picsc.errors import DataError, SettingsError

OfRows = Callable[[Tensor, Tensor], Tensor]
"""Maps outputs (n, ...) and labels (n, ...) to the log-likelihood of each row, (n,), in nats."""
LikelihoodName = Literal["categorical", "bernoulli", "gaussian"]
"""`categorical`: softmax over logits, (n, c). `bernoulli`: one logit per yes-or-no label, (n,) or (n, m). `gaussian`:
means (n,) or (n, m), with variance 1."""
FisherKind = Literal["empirical", "expected"]
"""`empirical`: at the observed labels. `expected`: the mean over labels drawn from the model itself."""
IGNORED = -100
"""Label of a position that has none, as in `torch.nn.functional.cross_entropy`."""


def likelihood_of(likelihood: LikelihoodName | OfRows) -> OfRows:
    """The function behind a name; a function is its own.

    Raises:
        SettingsError: there is none of this name.
    """
    if callable(likelihood):
        return likelihood
    if likelihood not in _BY_NAME:
        raise SettingsError(
            f"likelihood={likelihood!r}: must be one of {', '.join(map(repr, _BY_NAME))}, or a function"
        )
    return _BY_NAME[likelihood]


def expected_terms(likelihood: LikelihoodName | OfRows, output: Tensor) -> Iterator[tuple[OfRows, Tensor | None]]:
    """Functions of the outputs, and factors (n,): squared gradients of their products add up to the expected Fisher.

    Args:
        likelihood: by name.
        output: of the model for n rows, without a graph.

    Raises:
        SettingsError: the likelihood is a function, which does not tell how labels are drawn.
        DataError: the outputs have another shape.
    """
    if callable(likelihood):
        raise SettingsError(
            "kind='expected' draws labels from the model, which a likelihood that is a function does not describe; "
            "use kind='empirical', or name the likelihood"
        )
    likelihood_of(likelihood)
    n = len(output)
    if likelihood == "categorical":
        if output.ndim != 2:
            raise DataError(
                f"the model gives outputs of shape {tuple(output.shape)}: kind='expected' needs one label per row, so "
                "logits of shape (n, c); use kind='empirical'"
            )
        for j, share in enumerate(output.softmax(1).T):
            yield _log_share(j), share.sqrt()
        return
    flat = output.reshape(n, -1)
    for j in range(flat.shape[1]):
        # a score is (y - mean) d output: its variance is p (1 - p) or 1 times the squared slope
        probability = flat[:, j].sigmoid()
        yield _one_output(j), (probability * (1 - probability)).sqrt() if likelihood == "bernoulli" else None


def _log_share(j: int) -> OfRows:
    return lambda output, _labels: log_softmax(output, 1)[:, j]


def _one_output(j: int) -> OfRows:
    return lambda output, _labels: output.reshape(len(output), -1)[:, j]


def categorical(output: Tensor, labels: Tensor) -> Tensor:
    """Log-probability of each row's class; of sequences, summed over the positions that have a label.

    Args:
        output: logits (n, c) or (n, t, c).
        labels: whole numbers (n,) or (n, t), in 0..c-1; -100 is no label.

    Raises:
        DataError: shapes do not fit.
    """
    if labels.is_floating_point() or output.ndim < 2 or output.shape[:-1] != labels.shape or output.shape[-1] < 2:
        raise DataError(
            f"the model gives outputs of shape {tuple(output.shape)} for labels of shape {tuple(labels.shape)} and "
            f"type {labels.dtype}: likelihood='categorical' needs one logit per class, and labels that are whole "
            "numbers of the same shape without the classes"
        )
    losses = cross_entropy(output.flatten(0, -2), labels.flatten().long(), reduction="none", ignore_index=IGNORED)
    return -losses.reshape(len(labels), -1).sum(1)


def bernoulli(output: Tensor, labels: Tensor) -> Tensor:
    """Log-probability of each row's yes-or-no labels, summed over the outputs.

    Args:
        output: logits (n,) or (n, m).
        labels: 0 or 1, as many as outputs.

    Raises:
        DataError: shapes do not fit.
    """
    output, labels = _alike(output, labels, "bernoulli")
    return -binary_cross_entropy_with_logits(output, labels, reduction="none").sum(1)


def gaussian(output: Tensor, labels: Tensor) -> Tensor:
    """Log-density of each row's numbers around the outputs, with variance 1 and without its constant.

    Args:
        output: means (n,) or (n, m).
        labels: as many numbers, in units of their standard deviation.

    Raises:
        DataError: shapes do not fit.
    """
    output, labels = _alike(output, labels, "gaussian")
    return -0.5 * (labels - output).square().sum(1)


def _alike(output: Tensor, labels: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Both as (n, m)."""
    if output.ndim == 0 or len(output) != len(labels) or output.numel() != labels.numel():
        raise DataError(
            f"the model gives outputs of shape {tuple(output.shape)} for labels of shape {tuple(labels.shape)}: "
            f"likelihood={name!r} needs one output per label"
        )
    return output.reshape(len(labels), -1), labels.reshape(len(labels), -1).to(output.dtype)


def check_values(likelihood: LikelihoodName | OfRows, output: Tensor, labels: Tensor) -> None:
    """Refuse labels that the outputs cannot have.

    Args:
        likelihood: of the labels.
        output: of the model for some of the rows.
        labels: of all rows.

    Raises:
        DataError: a class has no logit, or a yes-or-no label is not 0 or 1.
    """
    if likelihood == "categorical" and output.ndim > 1:
        there = labels[labels != IGNORED]
        low, high = (int(bound) for bound in there.aminmax()) if there.numel() else (0, 0)
        if low < 0 or high >= output.shape[-1]:
            raise DataError(
                f"labels run from {low} to {high}: a model with {output.shape[-1]} outputs needs 0 to "
                f"{output.shape[-1] - 1}"
            )
    if likelihood == "bernoulli" and not bool(torch.isin(labels, labels.new_tensor([0, 1])).all()):
        raise DataError("likelihood='bernoulli' needs labels that are 0 or 1: got others")


_BY_NAME: dict[LikelihoodName, OfRows] = {"categorical": categorical, "bernoulli": bernoulli, "gaussian": gaussian}
