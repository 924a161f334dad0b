"""What does not apply to estimators, and why."""

from __future__ import annotations

from collections.abc import Iterable

from picsc.reports.common import Finding, NotApplicable

NO_GRADIENTS = (
    "an estimator has no gradients, so that penalties, Fisher information, tau, weight decay and parameters that are "
    "carried along do not apply to it"
)
"""The reason in one sentence."""
OF_CV = ("picsc", "weight-decay", "carried", "average")
"""Methods of cv that estimators do not have."""
OF_COMPARE = ("iwcv", "diw", "picsc", "cv-choice", "weight-decay", "carried", "picsc-random")
"""Methods of compare that estimators do not have."""


def not_applicable(methods: Iterable[str]) -> tuple[NotApplicable, ...]:
    """Entries of a report for methods that estimators do not have.

    Args:
        methods: their names.
    """
    return tuple(NotApplicable(method, None, NO_GRADIENTS) for method in methods)


def without_gradients(name: str) -> Finding:
    """A note on what does not apply to a model.

    Args:
        name: of the model.
    """
    return Finding("model-without-gradients", "note", f"{name}: {NO_GRADIENTS}")
