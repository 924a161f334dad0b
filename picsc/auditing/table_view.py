"""A table as the tests see it: coded columns, a reference model, and the numbers that each row contributes.

Everything here is a function of the pooled rows and never of the cut; this makes the pieces exchangeable.
Letters: n rows, f encoded columns, d parameters.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from picsc.auditing.effects.model_fit import row_fit
from picsc.auditing.exchangeability import ROWS_PER_DRAW, Ints
from picsc.auditing.ks_and_g_tests import Coded, code_levels, code_numbers, tell_kinds_apart
from picsc.auditing.null_statistics import TestInputs
from picsc.auditing.other_columns.codes import beside
from picsc.auditing.reference_model import fit_reference
from picsc.datasets.encoding import encode, fit
from picsc.datasets.table import Target
from picsc.fisher.diagonal import row_scores
from picsc.reports.common import Finding
from picsc.reports.effects import SmallestEffects

if TYPE_CHECKING:
    from collections.abc import Callable

    from picsc.datasets.table import Column, Dataset
    from picsc.training.own.named import OwnModel

    _Scores = Callable[[Ints, Tensor, Tensor], None]

EXACT_ROWS = 5_000
"""Most rows whose sums are in float64, where it costs little; of more rows, float32."""
MOST_INPUTS, COMBINATIONS = 2_000, 1_000
"""Most encoded columns that the reference model sees one by one, and the number of random combinations that it sees
instead where there are more: the cost of a draw grows with the model's parameters."""
FENCES = 6.0
"""Interquartile ranges from the middle half of a numeric target beyond which the reference model sees no value."""
CONTRIBUTIONS = 50_000_000
"""Most numbers per draw: rows times the numbers that each contributes."""


def audit_table(
    dataset: Dataset,
    *,
    seed: int,
    covariates: Dataset | None = None,
    smallest: SmallestEffects | None = None,
    own: OwnModel | None = None,
) -> TestInputs:
    """Code the columns, train the reference model on all rows, and prepare what each row contributes.

    Source: Section "Model architectures" for the model; Eq. 1 for its per-row gradients.

    Args:
        dataset: n rows, all of which are in a piece or in the reference.
        seed: of the model's initial parameters and minibatches.
        covariates: the same rows with columns that the data question is asked of instead; the model sees `dataset`.
        smallest: effects worth a verdict. The model does not see columns that are monitored; the contrast forest does
            not see these, nor columns with a larger bound of their own, which would make a verdict through it.
        own: a torch module of the user as the reference model; None is the paper's network.
    """
    bounds = smallest or SmallestEffects()
    names = [column.name for column in dataset.columns]
    monitored, alone = frozenset(filter(bounds.monitors, names)), frozenset(filter(bounds.tolerates, names))
    encoded = encode(_without(dataset, monitored)).matrix
    target = _usable(dataset.target)
    inputs = encoded if target is None else _combined(encoded, seed=seed)
    model = None if target is None else _trained(inputs, target, seed=seed, own=own)
    if covariates is not None:
        return table_of(covariates, encode(covariates).matrix, inputs, model)
    jointly = encoded if alone == monitored else encode(_without(dataset, alone)).matrix
    return replace(table_of(dataset, jointly, inputs, model, alone), monitored=monitored)


def _without(dataset: Dataset, names: frozenset[str]) -> Dataset:
    """The table without some columns."""
    if not names:
        return dataset
    return replace(dataset, columns=tuple(column for column in dataset.columns if column.name not in names))


def too_wide(dataset: Dataset) -> list[Finding]:
    """Note that the reference model does not see every column by itself."""
    width = len(fit(dataset, np.zeros(0, np.int64)).names)
    if width <= MOST_INPUTS or _usable(dataset.target) is None:
        return []
    message = f"the reference model sees {COMBINATIONS:,} random combinations of the {width:,} encoded columns"
    return [Finding("wide-table", "note", f"{message}; every column is tested by itself all the same")]


def _combined(encoded: NDArray[np.float32], *, seed: int) -> NDArray[np.float32]:
    """Random combinations of very many columns, which keep the distances between rows; else the columns themselves.

    Their coefficients are drawn for one column after the other, and never depend on a value.
    """
    width = encoded.shape[1]
    if width <= MOST_INPUTS:
        return encoded
    rng = np.random.default_rng([seed, 5])
    out = np.zeros((len(encoded), COMBINATIONS), np.float32)
    for start in range(0, width, MOST_INPUTS):
        part = encoded[:, start : start + MOST_INPUTS]
        out += part @ rng.standard_normal((part.shape[1], COMBINATIONS), np.float32)
    combined: NDArray[np.float32] = out / np.float32(np.sqrt(width))
    return combined


def table_of(
    dataset: Dataset,
    encoded: NDArray[np.float32],
    inputs: NDArray[np.float32],
    model: nn.Module | None,
    alone: frozenset[str] = frozenset(),
) -> TestInputs:
    """Code the columns, and prepare what each row contributes, with a model that is already trained.

    The gradients of short tables are taken in float64, so that row order changes nothing beyond 1e-12.

    Args:
        dataset: n rows.
        encoded: (n, f) encoded covariates for the contrast forest.
        inputs: (n, ...) inputs of the model.
        model: gives logits, or means of a standardised numeric target; None without a target.
        alone: names of columns that `encoded` is without.
    """
    exact = torch.float64 if dataset.n <= EXACT_ROWS else torch.float32
    target = _usable(dataset.target)
    numbers = [cast("NDArray[np.float64]", column.values) for column in dataset.columns if not column.coded]
    f_numeric = len(numbers)
    if target is not None and target.kind == "numbers":
        numbers.append(cast("NDArray[np.float64]", target.values))
    fit = None
    if target is None or model is None:
        scores, d = _no_scores()
    else:
        y, unit = _model_target(target)
        scores, d = _scores(inputs, target, y, model, exact)
        fit = row_fit(model, inputs, y, ~target.missing, unit)
    values = _standardised(numbers)

    def contributions(rows: Ints) -> Tensor:
        out = torch.empty((len(rows), 2 * d + 3 * len(numbers) + 2), dtype=exact)
        widths = [d, d, 1, *[len(numbers)] * 3]
        gradient, squared, labelled, *moments, one = out.tensor_split(np.cumsum(widths).tolist(), dim=1)
        scores(rows, gradient, labelled)
        torch.square(gradient, out=squared)
        values(rows, *moments)
        one.fill_(1.0)
        return out

    return TestInputs(
        columns=tuple(_coded(column) for column in dataset.columns),
        target=None if target is None else _coded(target),
        beside=beside(dataset, target),
        encoded=encoded,
        contributions=contributions,
        parameters=d,
        f_numeric=f_numeric,
        rows_per_draw=min(ROWS_PER_DRAW, max(2_000, CONTRIBUTIONS // (2 * d + 3 * len(numbers) + 2))),
        alone=alone,
        fit=fit,
    )


def _usable(target: Target | None) -> Target | None:
    return None if target is None or target.missing.all() else target


def _coded(column: Column | Target) -> Coded:
    coded = column.kind == "classes" if isinstance(column, Target) else column.coded
    if coded:
        found = code_levels(column.name, cast("NDArray[np.int64]", column.values), len(column.levels))
    else:
        found = code_numbers(column.name, cast("NDArray[np.float64]", column.ordered))
    return found if isinstance(column, Target) else tell_kinds_apart(found, column.absent)


def _standardised(columns: list[NDArray[np.float64]]) -> Callable[[Ints, Tensor, Tensor, Tensor], None]:
    """Function that writes standardised values, 0 where missing; their squares; and 1 where present: (m, f) each."""
    centres = [_centre(values) for values in columns]

    def write(rows: Ints, out: Tensor, squared: Tensor, there: Tensor) -> None:
        where = _as_slice(rows)
        for j, (values, (mean, sd)) in enumerate(zip(columns, centres, strict=True)):
            taken = (values[where] - mean) / sd
            gone = np.isnan(taken)
            there[:, j] = 1.0
            if gone.any():
                taken[gone] = 0.0
                there[torch.from_numpy(gone), j] = 0.0
            out[:, j] = torch.from_numpy(taken)
        torch.square(out, out=squared)

    return write


def _as_slice(rows: Ints) -> Ints | slice:
    """Rows one after the other as a slice, which copies nothing."""
    follow = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows) and bool((np.diff(rows) == 1).all())
    return slice(int(rows[0]), int(rows[-1]) + 1) if follow else rows


def _centre(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard deviation of the values present; (0, 1) without values, and 1 instead of a deviation of 0."""
    present = values[~np.isnan(values)]
    return (float(present.mean()), float(present.std()) or 1.0) if len(present) else (0.0, 1.0)


def _no_scores() -> tuple[_Scores, int]:
    def write(_: Ints, __: Tensor, labelled: Tensor) -> None:
        labelled.zero_()

    return write, 0


def _trained(encoded: NDArray[np.float32], target: Target, *, seed: int, own: OwnModel | None) -> nn.Module:
    """The reference model, trained on the labelled rows."""
    labelled = ~target.missing
    return fit_reference(
        torch.from_numpy(encoded[labelled]),
        _model_target(target)[0][torch.from_numpy(labelled)],
        likelihood=target.kind,
        outputs=len(target.levels) if target.kind == "classes" else 1,
        seed=seed,
        own=own,
    )


def _scores(
    inputs: NDArray[np.float32], target: Target, y: Tensor, model: nn.Module, exact: torch.dtype
) -> tuple[_Scores, int]:
    """Function that writes the model's per-row gradients, and d."""
    labelled, likelihood = ~target.missing, target.kind
    model = deepcopy(model).to(exact)
    d = sum(parameter.numel() for parameter in model.parameters())

    def write(rows: Ints, gradient: Tensor, known: Tensor) -> None:
        """Gradients, (m, d), 0 without a label; and 1 where there is one, (m, 1)."""
        where = _as_slice(rows)
        there = labelled[where]
        known[:, 0] = torch.from_numpy(there)
        every = bool(there.all())
        if not every:
            gradient.zero_()
            where = rows[there]
        x = torch.from_numpy(inputs[where]).to(exact)
        if len(x) == 0:
            return
        labels = y[where if isinstance(where, slice) else torch.from_numpy(where)]
        found = row_scores(model, x, labels if likelihood == "classes" else labels.to(exact), likelihood=likelihood)
        if every:
            gradient.copy_(found)
        else:
            gradient[torch.from_numpy(there)] = found

    return write, d


def _model_target(target: Target) -> tuple[Tensor, float]:
    """The target as the model predicts it: class codes, or numbers in units of their deviation; and that unit."""
    if target.kind == "classes":
        return torch.from_numpy(target.values.astype(np.int64)), 1.0
    values = _within_fences(target.values.astype(np.float64))
    mean, deviation = _centre(values)
    return torch.from_numpy((values - mean) / deviation).float(), deviation


def _within_fences(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers of any shape, with those far out moved to `FENCES` interquartile ranges from the middle half.

    One value of 100,000 among values near 1 would make the standard deviation so large that the model learned nothing
    of all others. Where the middle half is one value, numbers stay as they are.
    """
    present = values[~np.isnan(values)]
    low, high = np.quantile(present, [0.25, 0.75]) if len(present) else (0.0, 0.0)
    far = FENCES * (high - low)
    return values if far == 0 else values.clip(low - far, high + far)
