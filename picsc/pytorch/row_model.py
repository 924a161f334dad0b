"""A model and a batch as one log-likelihood per row, as `picsc.fisher` differentiates it. Letters: n rows.

`picsc.fisher` cuts one tensor of inputs by rows, and a batch may hold several, by position and by name. So its inputs
are the numbers of a batch's rows, which are looked up here before the model is called.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from picsc.errors import DataError, NumericsError
from picsc.fisher.by_row import Target, vectorisable
from picsc.fisher.row_gradients import RowPlan, differentiable_parameters, make_plan
from picsc.pytorch.batches import Batch, Keys, output_of, read_batch
from picsc.pytorch.likelihoods import LikelihoodName, OfRows, check_values, likelihood_of
from picsc.pytorch.named import trainable, unwrapped

PREFIX = "model."
"""Prefix of the names of parameters in a `RowModel`: the names in the model itself follow."""


class RowModel(nn.Module):
    """Maps row numbers (n,) of the batch that was taken last to the log-likelihood of each, (n,)."""

    def __init__(self, model: nn.Module, likelihood: LikelihoodName | OfRows, keys: Keys) -> None:
        """Wrap a model whose parameters can be differentiated."""
        super().__init__()
        self.model = unwrapped(model)
        self.likelihood = likelihood
        self.keys = keys
        self.of: OfRows = likelihood_of(likelihood)
        """Function of outputs and labels that is differentiated; changed for the expected Fisher information."""
        self.wanted = trainable(self.model)
        self.batch: Batch | None = None
        self._plan: RowPlan | None = None

    def forward(self, rows: Tensor) -> Tensor:
        """The log-likelihood of some rows."""
        assert self.batch is not None  # noqa: S101 - a batch is taken first
        labels = rows if self.batch.labels is None else self.batch.labels[rows]
        found = self.of(self.outputs(rows), labels)
        if found.shape != rows.shape:
            raise DataError(
                f"the likelihood gives values of shape {tuple(found.shape)} for {len(rows)} rows; it must give one "
                "log-likelihood per row"
            )
        return found

    def outputs(self, rows: Tensor) -> Tensor:
        """The model's outputs for some rows."""
        assert self.batch is not None  # noqa: S101 - a batch is taken first
        args, kwargs = self.batch.rows(rows)
        output = output_of(self.model(*args, **kwargs), self.keys)
        if output.ndim == 0 or len(output) != len(rows):
            if len(rows) != 1:
                raise DataError(
                    f"the model gives outputs of shape {tuple(output.shape)} for {len(rows)} rows; rows must come first"
                )
            output = output[None]  # a model that ends in squeeze()
        return output

    def take(self, batch: Any, *, labelled: bool = True) -> Tensor:
        """Make a batch the one whose rows are meant from now on.

        Args:
            batch: as in `read_batch`.
            labelled: True if labels are needed.

        Returns:
            int64 (n,), the numbers of its rows.

        Raises:
            DataError: the batch, the labels and the outputs do not fit together.
            NumericsError: the model mixes rows, or is random.
        """
        device = next(iter(self.wanted.values())).device
        self.batch = read_batch(batch, self.keys, device, labelled=labelled)
        rows = torch.arange(self.batch.n, device=device)
        if self._plan is None:
            self._check_rows(rows[:2])
        if labelled and self.batch.labels is not None:
            with torch.no_grad():
                check_values(self.likelihood, self.outputs(rows[:1]), self.batch.labels)
        return rows

    def plan(self, rows: Tensor, *, second: bool = False) -> RowPlan:
        """The way that the scores of the trainable parameters are computed; made once.

        Args:
            rows: of the batch.
            second: True if the scores are differentiated once more.
        """
        if self._plan is None:
            only = frozenset(PREFIX + name for name in self.wanted)
            self._plan = make_plan(self, rows, "stated", only)
            if second and self._plan.rest and len(rows) > 2:
                leaves = differentiable_parameters(self, create_graph=True, only=only)
                target = Target(self, "stated", vectorised=True)
                fits = vectorisable(target, self._plan.rest, leaves, rows[:2], rows[:2])
                self._plan = replace(self._plan, vectorised=fits)
        return self._plan

    @torch.no_grad()
    def _check_rows(self, rows: Tensor) -> None:
        """Refuse models whose output for a row is another one in another batch."""
        together, alone = self.outputs(rows)[0], self.outputs(rows[:1])[0]
        again = self.outputs(rows)[0]
        if together.shape != alone.shape:
            return  # padded outputs: the likelihood decides
        tolerance = max(1e-3, 20 * torch.finfo(together.dtype).eps)
        for other, what in ((again, "from call to call"), (alone, "with the other rows of its batch")):
            if not torch.allclose(together, other, rtol=tolerance, atol=tolerance, equal_nan=True):
                raise NumericsError(
                    f"the model ({type(self.model).__name__}) gives a row outputs that change {what}, although it is "
                    "in evaluation mode, so that no row has a gradient of its own; switch off what draws random "
                    "numbers or mixes rows while module.training is False"
                )
