"""Both training engines with flat keyword arguments, so that a test can name only what it is about."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from torch import Tensor, nn

from picsc.training.batched import train as batched
from picsc.training.batched.diw import StackTarget
from picsc.training.batched.layout import Stack
from picsc.training.jobs import Fitted, TrainingRecipe
from picsc.training.single import TrainLog
from picsc.training.single import train as train_one
from picsc.training.single_inputs import Correction, LabelledRows, OptimizerSettings
from picsc.weighting.diw import TargetData


def train(
    model: nn.Module, x: Tensor, y: Tensor, *, target_rows: TargetData | None = None, **keywords: Any
) -> TrainLog:
    """`picsc.training.single.train` with the fields of its rows, settings and correction as keywords."""
    rows = LabelledRows(x, y, **_taken(LabelledRows, keywords))
    settings, correction = (kind(**_taken(kind, keywords)) for kind in (OptimizerSettings, Correction))
    assert not keywords, keywords
    return train_one(model, rows, settings, correction=correction, target_rows=target_rows)


def train_stack(
    theta: Tensor,
    stack: Stack,
    recipe: TrainingRecipe,
    *,
    hidden: int,
    held_out: Stack | None = None,
    target_rows: StackTarget | None = None,
    **keywords: Any,
) -> Fitted:
    """`picsc.training.batched.train.train_stack` with the fields of its correction as keywords."""
    correction = batched.StackCorrection(**keywords)
    return batched.train_stack(
        theta, stack, recipe, hidden=hidden, correction=correction, held_out=held_out, target_rows=target_rows
    )


def _taken(kind: type, keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords that are fields of a class, removed from the others."""
    return {field.name: keywords.pop(field.name) for field in fields(kind) if field.name in keywords}
