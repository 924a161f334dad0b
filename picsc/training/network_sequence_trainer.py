"""Training of networks on sequences of fragments of images and texts, one model after another.

Letters: g sequences, a candidates, d parameters, n rows, c classes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from picsc.datasets.encoding import of_numbers
from picsc.datasets.rows import Rows
from picsc.equations.covariate_kl import part_kl
from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import Anchor
from picsc.equations.trigger import DRAWS, calibrated_threshold, part_gaps, random_halves, summed_gaps, tau
from picsc.fisher.diagonal import empirical_fisher, row_scores
from picsc.fisher.subset_sums import part_squares
from picsc.settings import Precision
from picsc.training.jobs import Fitted, TrainingRecipe
from picsc.training.network_inputs import Read
from picsc.training.predict import predict
from picsc.training.rebasing import ScaleChange
from picsc.training.single import train_by_recipe
from picsc.training.single_inputs import PLAIN, Correction, LabelledRows

ROWS_PER_PASS = 256
"""Rows per pass where rows are not trained on."""
SCORED_FLOATS = 1 << 25
"""Squared scores of single rows held at once, in floats: 134 MB."""


S = TypeVar("S")
S_in = TypeVar("S_in", contravariant=True)
"""Scale of the inputs at a fragment."""


class OneNetwork(Protocol[S_in]):
    """What the training of one network at a time needs of a trainer: networks, labels, inputs and a recipe.

    `picsc.training.network_trainer.NetworkTrainer` and `picsc.training.own.module_trainer.ModuleTrainer` implement it.
    """

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of the target."""
        ...

    def features(self, model: nn.Module, x: Tensor) -> Tensor:
        """The covariates of Eq. 14 at a network, (n, q)."""
        ...

    @property
    def device(self) -> torch.device:
        """Device of the networks."""
        ...

    @property
    def recipe(self) -> TrainingRecipe:
        """Epochs or updates of every network."""
        ...

    @property
    def precision(self) -> Precision:
        """Precision of the task's forward pass."""
        ...

    def model(self, seed: int) -> nn.Module:
        """An untrained network."""
        ...

    def labels(self, rows: Rows) -> Tensor:
        """Class codes, (n,)."""
        ...

    def reader_of_scale(self, scale: S_in) -> Read:
        """A function that reads rows standardised by a scale."""
        ...


@dataclass(frozen=True, slots=True)
class NetworkSequenceTrainer(Generic[S]):
    """Implements `picsc.training.jobs.SequenceTrainer` for g sequences of fragments of one set of images or texts."""

    trainer: OneNetwork[S]
    """Trains one network on one fragment."""
    sequences: tuple[tuple[Rows, ...], ...]
    """Rows of each fragment of each sequence."""
    seeds: tuple[int, ...]
    """Seed of each sequence."""
    scales: tuple[tuple[S, ...], ...]
    """Scale of the inputs at each fragment of each sequence."""
    candidates: int
    """Models per sequence, a."""

    def start(self) -> Tensor:
        """Initial parameters, (g, a, d)."""
        drawn = [parameters_to_vector(self.trainer.model(seed).parameters()).detach() for seed in self.seeds]
        return torch.stack(drawn)[:, None].repeat(1, self.candidates, 1)

    def sizes(self, t: int) -> Tensor:
        """Number of rows of fragment t of each sequence, (g,)."""
        return torch.tensor([len(sequence[t]) for sequence in self.sequences])

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """Train on fragment t."""
        after = theta.clone()
        diverged = torch.zeros(theta.shape[:2], dtype=torch.int64)
        shares = torch.zeros(theta.shape[:2])
        updates = self.trainer.recipe.of_fragment(t, len(self.sequences[0])).steps
        for g, a in self._models():
            same = self._same_before(g, a, theta, strength, weight_decay)
            if same is not None:  # candidates that are still alike are trained once
                after[g, a], diverged[g, a], shares[g, a] = after[g, same], diverged[g, same], shares[g, same]
                continue
            model = self._model(theta[g, a])
            correction, some = PLAIN, float(strength[g, a])
            if anchor is not None and some > 0:
                correction = Correction(some, anchor=Anchor(anchor.mean[g, a], anchor.fisher[g, a]))
            rows = self.sequences[g][t]
            labelled = LabelledRows(self._read(g, t, rows), self.trainer.labels(rows), self.trainer.likelihood)
            seed, decay = self.seeds[g] + t, float(weight_decay[g, a])
            with torch.enable_grad():
                diverged[g, a], shares[g, a] = train_by_recipe(
                    model,
                    labelled,
                    self.trainer.recipe,
                    self.trainer.precision,
                    seed=seed,
                    updates=updates,
                    decay=decay,
                    correction=correction,
                )
            after[g, a] = parameters_to_vector(model.parameters()).detach()
        return Fitted(after, diverged, shares)

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        """Diagonal empirical Fisher on fragment t, (g, a, d)."""
        found = torch.zeros_like(theta)
        for g, a in self._models():
            rows = self.sequences[g][t]
            model = without_dropout(self._model(theta[g, a]))
            if bool(theta[g, a].isfinite().all()):
                x, y = self._read(g, t, rows), self.trainer.labels(rows)
                found[g, a] = empirical_fisher(model, x, y, likelihood=self.trainer.likelihood)
            else:
                found[g, a] = torch.nan
        return found

    @torch.no_grad()
    def shift(self, theta: Tensor, t: int, *, calibrated: bool = True) -> tuple[Tensor, Tensor]:
        """Eq. 14's tau of fragment t against t - 1 at theta, and its calibrated threshold, (g, a) each.

        Source: Eq. 14; the covariates are the activations before the last layer.
        """
        taus, gammas = (torch.full(theta.shape[:2], torch.nan) for _ in range(2))
        for g, a in itertools.product(*map(range, theta.shape[:2])):
            same = self._same_before(g, a, theta)
            if same is not None:
                taus[g, a], gammas[g, a] = taus[g, same], gammas[g, same]
                continue
            if not bool(theta[g, a].isfinite().all()):
                continue
            model = without_dropout(self._model(theta[g, a]))
            now, before = self.sequences[g][t], self.sequences[g][t - 1]
            rows = np.concatenate([now, before])
            x, y = self._read(g, t, rows), self.trainer.labels(rows)
            parts = random_halves(len(now), len(rows), seed=self.seeds[g] + t, draws=DRAWS if calibrated else 0).to(
                x.device
            )
            features = torch.cat([self.trainer.features(model, part) for part in torch.split(x, ROWS_PER_PASS)])
            kl = part_kl(features, parts, of_numbers(features.shape[1]))
            taus[g, a], gammas[g, a] = calibrated_threshold(tau(_gaps(model, x, y, parts, self.trainer.likelihood), kl))
        return taus.to(theta.device), gammas.to(theta.device)

    def rebased(self, theta: Tensor, t: int) -> Tensor:
        """Parameters of the same functions at the scale of fragment t, from that of t - 1, (g, a, d)."""
        after = theta.clone()
        for g, change in self._changes(t):
            weights, biases = self._first(after[g])
            biases += change.shift * weights.view(*biases.shape, -1).sum(-1)
            weights *= change.factor
        return after

    def rebased_precision(self, fisher: Tensor, t: int) -> Tensor:
        """Fisher informations of the same models at the scale of fragment t, from that of t - 1, (g, a, d).

        Source: as in `picsc.training.rebasing.Rebasing.precision`.
        """
        after = fisher.clone()
        for g, change in self._changes(t):
            weights, biases = self._first(after[g])
            by_output = weights.view(*biases.shape, -1)
            by_output += change.shift**2 * biases[..., None]
            by_output /= change.factor**2
        return after

    def _changes(self, t: int) -> Iterator[tuple[int, ScaleChange]]:
        """The sequences whose scale changes from fragment t - 1 to t."""
        for g, scales in enumerate(self.scales):
            before, after = scales[t - 1], scales[t]
            if before is after:
                continue
            assert isinstance(before, tuple)  # noqa: S101 - images and texts have a mean and a deviation
            assert isinstance(after, tuple)  # noqa: S101 - as above
            change = ScaleChange.between(before, after)
            if change != ScaleChange():
                yield g, change

    def _first(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Views of the weights and biases of the first layer, which alone sees the scale of the inputs.

        A convolution without padding sees nothing but inputs, so that a bias takes up their mean exactly; so
        does a dense layer.
        """
        layer = next(each for each in self.trainer.model(0).children() if not isinstance(each, nn.Flatten))
        assert isinstance(layer, nn.Conv2d | nn.Linear)  # noqa: S101 - texts have no scale
        assert layer.bias is not None  # noqa: S101 - as both have
        assert isinstance(layer, nn.Linear) or not any(map(int, layer.padding))  # noqa: S101 - as LeNet's is
        n, biases = layer.weight.numel(), layer.bias.numel()
        return theta[:, :n].view(len(theta), n), theta[:, n : n + biases]

    def _read(self, g: int, t: int, rows: Rows) -> Tensor:
        """Inputs of some rows at the scale of fragment t."""
        return self.trainer.reader_of_scale(self.scales[g][t])(rows)

    def outputs(self, theta: Tensor, t: int, rows: Sequence[Rows]) -> list[NDArray[np.float32]]:
        """Log-probabilities (a, n, c) of each sequence's rows, at the scale of fragment t."""
        found = []
        for g, part in enumerate(rows):
            x = self._read(g, t, part)
            models = [self._model(theta[g, a]) for a in range(self.candidates)]
            found.append(
                np.stack([predict(model, x, likelihood=self.trainer.likelihood).cpu().numpy() for model in models])
            )
        return found

    def network(self, theta: Tensor, t: int, g: int) -> None:
        """No network apart from its images or texts."""

    def _same_before(self, g: int, a: int, *values: Tensor) -> int | None:
        """The first candidate before a whose values, (g, a, ...) each, are those of a."""
        alike = (b for b in range(a) if all(torch.equal(each[g, a], each[g, b]) for each in values))
        return next(alike, None)

    def _models(self) -> list[tuple[int, int]]:
        """Sequence and candidate of every model."""
        return [(g, a) for g in range(len(self.sequences)) for a in range(self.candidates)]

    def _model(self, theta: Tensor) -> nn.Module:
        """A network with these parameters."""
        model = self.trainer.model(0)
        vector_to_parameters(theta.to(self.trainer.device), model.parameters())
        return model


def without_dropout(model: nn.Module) -> nn.Module:
    """The same network, whose layers that drop units at random drop none: its Fisher information has no chance in it.

    Args:
        model: changed in place.
    """
    for layer in model.modules():
        if isinstance(layer, nn.modules.dropout._DropoutNd | nn.RReLU):
            layer.eval()
    return model


def _gaps(model: nn.Module, x: Tensor, y: Tensor, parts: Tensor, likelihood: Likelihood) -> Tensor:
    """Fisher gap between both parts of the rows, (b,); of texts through the few words that a row reads."""
    if not x.is_floating_point():
        sums = part_squares(model, x, y, torch.cat([parts, parts.new_ones(1, len(x))]), likelihood=likelihood)
        return summed_gaps(sums[:-1], sums[-1], parts)
    d = sum(parameter.numel() for parameter in model.parameters())
    at_once = max(1, min(ROWS_PER_PASS, SCORED_FLOATS // d))
    chunks = zip(torch.split(x, at_once), torch.split(y, at_once), strict=True)
    return part_gaps((row_scores(model, x_c, y_c, likelihood=likelihood).square_() for x_c, y_c in chunks), parts)
