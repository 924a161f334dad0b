"""Summaries of clients as arrays by name, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.federated.client_summary import Summary

_OF_SUMMARY = ("fisher", "means", "variances", "gap_halves", "kl_halves")


def arrays_of(summary: Summary) -> dict[str, NDArray[Any]]:
    """All that a summary sends."""
    found: dict[str, NDArray[Any]] = {name: getattr(summary, name).numpy() for name in _OF_SUMMARY}
    if summary.label_counts is not None:
        found["label_counts"] = summary.label_counts.numpy()
    return found | {"counts": np.array([summary.n, summary.halves_n])}


def summary_of(arrays: Mapping[str, NDArray[Any]]) -> Summary | None:
    """The inverse of `arrays_of`; None of a model that had diverged, of which nothing is sent."""
    if not arrays:
        return None
    n, halves_n = arrays["counts"].tolist()
    labels = tensor(arrays["label_counts"]) if "label_counts" in arrays else None
    return Summary(
        n=n,
        fisher=tensor(arrays["fisher"]),
        means=tensor(arrays["means"]),
        variances=tensor(arrays["variances"]),
        gap_halves=tensor(arrays["gap_halves"]),
        kl_halves=tensor(arrays["kl_halves"]),
        halves_n=halves_n,
        label_counts=labels,
    )


def tensor(array: NDArray[Any]) -> torch.Tensor:
    """A tensor of an array that came with a message, and cannot be written to."""
    return torch.from_numpy(np.array(array))
