"""Eq. 14's trigger in somebody's own loop: is a fragment shifted against the one before?

Letters: n rows of two fragments together, f features, b random ways to divide the rows, m entries of a sketch.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from picsc.datasets.encoding import of_numbers
from picsc.equations.covariate_kl import part_kl
from picsc.equations.trigger import DRAWS, LEVEL, calibrated_threshold, random_halves, summed_gaps, tau
from picsc.errors import DataError, SettingsError
from picsc.fisher.row_gradients import differentiable_parameters, row_gradients
from picsc.pytorch.batches import Keys, read_batch, repeatable
from picsc.pytorch.features import FeatureReader
from picsc.pytorch.likelihoods import LikelihoodName, OfRows
from picsc.pytorch.modes import row_by_row
from picsc.pytorch.named import copies, holding, unwrapped
from picsc.pytorch.row_model import RowModel
from picsc.pytorch.sketch import Sketch


@dataclass(frozen=True, slots=True)
class ShiftDecision:
    """Tau of a fragment against the one before, and its threshold.

    Example:
        >>> from picsc import ShiftDecision
        >>> ShiftDecision(shifted=False, tau=None, gamma=None)  # of the first fragment
        ShiftDecision(shifted=False, tau=None, gamma=None)
    """

    shifted: bool
    """True where tau exceeds gamma; False at the first fragment, which has none before it."""
    tau: float | None
    """Fisher gap times covariate KL, of Eq. 14; None at the first fragment."""
    gamma: float | None
    """Quantile of tau between random halves of both fragments' rows; None at the first fragment."""


class ShiftTrigger:
    """Compares every fragment of a sequence with the one before it.

    Source: Eq. 14, tau = ||I_t - I_{t-1}||_F * KL(P_t || P_{t-1}); its threshold is the quantile of tau between random
        halves of both fragments' rows, so that a share `level` of fragments fires where nothing is shifted.
    Reading: both Fisher informations are at the parameters from before the earlier of the two fragments was learned: at
        parameters that have learned from one of them the trigger fires too often. It keeps a copy of them. The
        covariates are features that the model computes. From about 2.7 million parameters on, Fisher informations are
        compared in a sketch of 16,384 random sums of theirs, observed and null alike: the level holds exactly, and tau
        is right to about 1 percent.

    Args:
        model: the model that is trained, before it has learned the first fragment.
        likelihood: as in `diagonal_fisher`.
        level: share of false alarms, in (0, 1).
        features: name of the layer whose inputs are the covariates; None takes the last `nn.Linear` that is called.
            Positions of sequences and images are averaged.
        seed: of the random halves.
        labels: as in `diagonal_fisher`.
        logits: as in `diagonal_fisher`.

    Raises:
        SettingsError: level is out of range, or the model has no layer of this name.

    Examples:
        >>> import torch
        >>> import picsc
        >>> from torch.utils.data import DataLoader, TensorDataset
        >>> def fragment(mean):
        ...     rows = torch.randn(100, 2) + mean
        ...     return DataLoader(TensorDataset(rows, (rows.sum(1) > 0).long()), batch_size=25)
        >>> model = torch.nn.Linear(2, 2)
        >>> trigger = picsc.ShiftTrigger(model)
        >>> decisions = [trigger.compare(fragment(mean)) for mean in (0.0, 3.0)]  # each before it is learned
        >>> [decision.shifted for decision in decisions]
        [False, True]
    """

    def __init__(
        self,
        model: nn.Module,
        likelihood: LikelihoodName | OfRows = "categorical",
        *,
        level: float = LEVEL,
        features: str | None = None,
        seed: int = 0,
        labels: str = "labels",
        logits: str = "logits",
    ) -> None:
        """Begin before the first fragment."""
        if not 0 < level < 1:
            raise SettingsError(f"level={level}: must be between 0 and 1")
        self.model = unwrapped(model)
        self.likelihood, self.level, self.seed = likelihood, level, seed
        self.keys = Keys(labels, logits)
        self.features = FeatureReader(self.model, features)
        self.fragments = 0
        """Fragments seen so far."""
        self._before: dict[str, Tensor] = {}
        self._previous: Iterable[Any] | None = None

    def compare(self, loader: Iterable[Any]) -> ShiftDecision:
        """Compare a fragment with the one before, before it is learned; then remember it for the next call.

        Args:
            loader: of the fragment, as in `diagonal_fisher`; it is read twice now and twice at the next call, so it
                must not be an iterator. The order of rows may change.

        Raises:
            DataError: the loader can be read once only, gives another number of rows at the second reading, or as in
                `diagonal_fisher`.
            NumericsError: as in `diagonal_fisher`.
        """
        loader = repeatable(loader)
        decision = ShiftDecision(False, None, None)
        if self._previous is not None:
            with holding(self.model, self._before):
                decision = self._between(loader, self._previous)
        self._before, self._previous = copies(self.model), loader
        self.fragments += 1
        return decision

    @torch.no_grad()
    def _between(self, loader: Iterable[Any], previous: Iterable[Any]) -> ShiftDecision:
        """The decision at the parameters that the model has now."""
        own = RowModel(self.model, self.likelihood, self.keys)
        sizes = [self._rows(each) for each in (loader, previous)]
        device = next(iter(own.wanted.values())).device
        parts = random_halves(sizes[0], sum(sizes), seed=self.seed + self.fragments, draws=DRAWS).to(device)
        sketch = Sketch([parameter.numel() for parameter in own.wanted.values()], seed=self.seed)
        first, total = parts.new_zeros(len(parts), sketch.size), parts.new_zeros(sketch.size)
        features: list[Tensor] = []
        at = 0
        with ExitStack() as stack:
            stack.enter_context(row_by_row(self.model))
            for batch in (batch for each in (loader, previous) for batch in each):
                rows = own.take(batch)
                if at + len(rows) > sum(sizes):
                    raise self._changed(sum(sizes))
                features.append(self.features.read(own, rows))
                plan = own.plan(rows)
                parameters = differentiable_parameters(own, only=plan.only)
                for part in torch.split(rows, min(plan.chunk, sketch.rows)):
                    found = row_gradients(plan, parameters, part, part)
                    kept = [one for name, one in zip(parameters, found, strict=True) if name in (plan.only or ())]
                    squares = sketch.of([one.rows().square() for one in kept]).to(first)
                    first += parts[:, at : at + len(part)] @ squares
                    total += squares.sum(0)
                    at += len(part)
        if at != sum(sizes):
            raise self._changed(sum(sizes))
        known = torch.cat(features).to(parts)
        kl = part_kl(known, parts, of_numbers(known.shape[1]))
        found_tau, gamma = calibrated_threshold(tau(summed_gaps(first, total, parts), kl).cpu(), level=self.level)
        return ShiftDecision(found_tau > gamma, found_tau, gamma)

    def _rows(self, loader: Iterable[Any]) -> int:
        """Rows of a fragment."""
        n = sum(read_batch(batch, self.keys, torch.device("cpu")).n for batch in loader)
        if n < 2:
            raise DataError(f"a fragment has {n} rows; the trigger needs at least 2")
        return n

    def _changed(self, n: int) -> DataError:
        return DataError(
            f"the loaders of both fragments gave {n} rows at first, and another number when they were read again; give "
            "loaders that always give all rows of their fragment"
        )
