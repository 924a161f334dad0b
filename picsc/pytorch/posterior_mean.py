"""The running mean of parameters along fragments, weighted by Fisher information, in somebody's own loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from picsc.equations.divergence import PRIOR_PRECISION
from picsc.errors import DataError, SettingsError
from picsc.pytorch.named import holding, same_names, trainable, unwrapped


class PosteriorMean:
    """Mean of the parameters after every fragment, each weighted by its Fisher information there.

    Source: `--merge fisher` of Algorithm 2: m_t = (S m_{t-1} + (I_t + delta) theta_t) / (S + I_t + delta), S decayed
        by `decay`: the product of the Gaussians that Eq. 3 to 5 make of each fragment. Training goes on from theta_t;
        m_t is for predictions.

    Args:
        model: the model that is trained.
        decay: share of the past's precision that is kept at each fragment, in [0, 1].
        fisher_weighted: False weights every parameter alike, which is the control of the weighted mean.

    Raises:
        SettingsError: decay is out of range.
        DataError: the model has no trainable parameters.

    Examples:
        >>> import torch
        >>> import picsc
        >>> model = torch.nn.Linear(2, 2)
        >>> fragments = [[(torch.randn(40, 2), torch.randint(2, (40,)))] for _ in range(3)]
        >>> merged = picsc.PosteriorMean(model)
        >>> for loader in fragments:  # after training on each
        ...     merged.update(picsc.diagonal_fisher(model, loader))
        >>> with merged.applied():
        ...     outputs = model(torch.randn(5, 2))
        >>> merged.fragments
        3
    """

    def __init__(self, model: nn.Module, *, decay: float = 0.9, fisher_weighted: bool = True) -> None:
        """Begin without a fragment."""
        if not 0 <= decay <= 1:
            raise SettingsError(f"decay={decay}: must be from 0 to 1")
        self.model = unwrapped(model)
        self.decay, self.fisher_weighted = decay, fisher_weighted
        self.mean = {name: parameter.detach().clone() for name, parameter in trainable(self.model).items()}
        """m_t, by name."""
        self.mass = {name: torch.zeros_like(mean) for name, mean in self.mean.items()}
        """S, the precision of m_t, by name."""
        self.fragments = 0
        """Fragments that the mean is of."""

    @torch.no_grad()
    def update(self, fisher: Mapping[str, Tensor]) -> None:
        """Take the model's current parameters into the mean, after a fragment is learned.

        Args:
            fisher: `diagonal_fisher` of the fragment at these parameters.

        Raises:
            DataError: names or shapes do not fit.
        """
        parameters = trainable(self.model)
        same_names(fisher, parameters, "the Fisher information")
        same_names(self.mean, parameters, "the running mean")
        for name, parameter in parameters.items():
            precision = fisher[name] + PRIOR_PRECISION
            if not self.fisher_weighted:
                precision = torch.ones_like(precision)
            past = self.mass[name].to(precision)
            mass = past + precision
            mean = self.mean[name].to(precision)
            self.mean[name] = mean + (parameter - mean) * (precision / mass)
            self.mass[name] = self.decay * mass
        self.fragments += 1

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the mean inside, and its own parameters again afterwards; buffers stay those of the model.

        Running statistics of batch normalisation belong to the last parameters, so that a model with such layers needs
        some batches in training mode inside before it predicts.

        Raises:
            DataError: there is no mean yet, or the model now trains other parameters.
        """
        if self.fragments == 0:
            raise DataError("there is no mean yet; call update(...) after the first fragment")
        same_names(self.mean, trainable(self.model), "the running mean")
        with holding(self.model, self.mean):
            yield

    def state_dict(self) -> dict[str, object]:
        """Tensors and the number of fragments, for a checkpoint."""
        return {"mean": dict(self.mean), "mass": dict(self.mass), "fragments": self.fragments}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """The inverse of `state_dict`."""
        mean, mass, fragments = state["mean"], state["mass"], state["fragments"]
        if not isinstance(mean, Mapping) or not isinstance(mass, Mapping) or not isinstance(fragments, int):
            raise DataError("the checkpoint is none of PosteriorMean.state_dict()")
        for part in (mean, mass):
            same_names(part, trainable(self.model), "the checkpoint")
        self.mean, self.mass, self.fragments = dict(mean), dict(mass), fragments
