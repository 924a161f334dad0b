"""Differences of all methods, as real reports have them: those of the base too, and p-values adjusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from picsc.evaluation.holm import with_holm, with_holm_over_seeds
from picsc.reports.common import Difference
from picsc.reports.compare import CompareMethodReport
from picsc.reports.cv import MethodReport
from picsc.reports.fed import FedDifference, FedMethodReport

M = TypeVar("M", MethodReport, CompareMethodReport)


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def adjusted(methods: Sequence[M]) -> tuple[M, ...]:
    """Methods of which all but st-cv have differences."""
    of_base = [
        Difference(
            method.method,
            _negative(found.accuracy),
            None,
            found.accuracy_p,
            _negative(found.log_loss),
            found.log_loss_p,
        )
        for method in methods
        if (found := method.against("st-cv")) is not None
    ]
    return tuple(
        replace(method, differences=with_holm(of_base if method.method == "st-cv" else method.differences))
        for method in methods
    )


def adjusted_over_seeds(methods: Sequence[FedMethodReport]) -> tuple[FedMethodReport, ...]:
    """Methods of which all but fedavg have differences."""
    of_base = [
        FedDifference(method.method, -found.accuracy, None, found.p)
        for method in methods
        if (found := method.against("fedavg")) is not None
    ]
    return tuple(
        replace(method, differences=with_holm_over_seeds(of_base if method.method == "fedavg" else method.differences))
        for method in methods
    )
