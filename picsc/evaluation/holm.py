"""Holm's correction of p-values of one method that is compared with several others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from picsc.reports.common import Difference
from picsc.reports.fed import FedDifference
from picsc.reports.recipes import PairedDifference

Paired = TypeVar("Paired", Difference, PairedDifference)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values: at or below a level, they bound the probability of any false rejection by that level.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Args:
        ps: p-values of one family; None where there is no test, which is no part of the family.

    Returns:
        In the same order, at least the p-value and at most 1; None where there is none.
    """
    known = sorted((p, k) for k, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    largest = 0.0
    for rank, (p, k) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[k] = largest
    return adjusted


def with_holm(differences: Iterable[Paired]) -> tuple[Paired, ...]:
    """The differences of one method from several others, with p-values adjusted over these, score by score."""
    found = tuple(differences)
    scores, losses = holm([each.accuracy_p for each in found]), holm([each.log_loss_p for each in found])
    return tuple(
        replace(each, accuracy_p_holm=score, log_loss_p_holm=loss)
        for each, score, loss in zip(found, scores, losses, strict=True)
    )


def with_holm_over_seeds(differences: Iterable[FedDifference]) -> tuple[FedDifference, ...]:
    """The same for a federated method."""
    found = tuple(differences)
    scores, losses = holm([each.p for each in found]), holm([each.log_loss_p for each in found])
    return tuple(
        replace(each, p_holm=score, log_loss_p_holm=loss)
        for each, score, loss in zip(found, scores, losses, strict=True)
    )
