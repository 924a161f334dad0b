"""What does not apply to models without gradients of single rows, and why."""

from __future__ import annotations

from collections.abc import Iterable

from picsc.reports.common import Finding, NotApplicable
from picsc.training.jobs import Trainer
from picsc.training.own.checked_module import mixing_rows
from picsc.training.own.estimator_trainer import EstimatorTrainer
from picsc.training.own.module_trainer import ModuleTrainer
from picsc.training.own.named import NO_GRADIENTS

OF_CV = ("picsc", "weight-decay", "carried", "average")
"""Methods of cv that models without gradients do not have."""
OF_COMPARE = ("iwcv", "diw", "picsc", "cv-choice", "weight-decay", "carried", "picsc-random")
"""Methods of compare that models without gradients do not have."""


def not_applicable(methods: Iterable[str], why: str) -> tuple[NotApplicable, ...]:
    """Entries of a report for methods that a model does not have; none without a reason.

    Args:
        methods: their names.
        why: the reason; empty where the model has them.
    """
    return tuple(NotApplicable(method, None, why) for method in methods) if why else ()


def without_gradients(trainer: Trainer) -> str:
    """Reason why a trainer's models have no gradients of single rows; empty where they have them.

    Args:
        trainer: of any kind of data and of models.
    """
    if isinstance(trainer, EstimatorTrainer):
        return NO_GRADIENTS
    return mixing_rows(trainer.model(0)) if isinstance(trainer, ModuleTrainer) else ""


def on_gradients(name: str, why: str) -> list[Finding]:
    """A note on what does not apply to a model; none without a reason.

    Args:
        name: of the model.
        why: the reason.
    """
    return [Finding("model-without-gradients", "note", f"{name}: {why}")] if why else []
