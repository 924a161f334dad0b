"""Eq. 16 in somebody's own loop: a term that holds parameters where earlier fragments need them."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from picsc.equations.divergence import PRIOR_PRECISION
from picsc.equations.penalties import smooth
from picsc.errors import SettingsError
from picsc.pytorch.named import same_names, trainable, unwrapped
from picsc.training.optimizers import Pull, proximal_step


class Anchor:
    """Holds a model's trainable parameters near those after the fragment before, by their Fisher information there.

    Source: Eq. 16, lambda (theta - mu)' I_global (theta - mu), without a factor 1/2, and Eq. 15 for I_global.

    Args:
        model: the model that is trained; the anchor is at the parameters it has now until `move` is called.
        strength: lambda, at least 0.
        alpha: weight of the past in I_global, in [0, 1] (Eq. 15).

    Raises:
        SettingsError: strength or alpha is out of range.
        DataError: the model has no trainable parameters.

    Examples:
        >>> import torch
        >>> import picsc
        >>> model = torch.nn.Linear(2, 2)
        >>> first, second = ([(torch.randn(40, 2), torch.randint(2, (40,)))] for _ in range(2))
        >>> anchor = picsc.Anchor(model, strength=0.1)
        >>> anchor.penalty().item()
        0.0
        >>> anchor.move(picsc.diagonal_fisher(model, first))  # after the first fragment is learned
        >>> for x, y in second:
        ...     loss = torch.nn.functional.cross_entropy(model(x), y) + anchor.penalty()
        ...     loss.backward()
    """

    def __init__(self, model: nn.Module, *, strength: float = 0.1, alpha: float = 0.9) -> None:
        """Anchor at the model's current parameters."""
        if not strength >= 0:
            raise SettingsError(f"strength={strength}: must be at least 0")
        if not 0 <= alpha <= 1:
            raise SettingsError(f"alpha={alpha}: must be from 0 to 1")
        self.model = unwrapped(model)
        self.strength, self.alpha = strength, alpha
        self.mean = {name: parameter.detach().clone() for name, parameter in trainable(self.model).items()}
        """mu, by name."""
        self.fisher = {name: torch.full_like(mean, PRIOR_PRECISION) for name, mean in self.mean.items()}
        """I_global, by name; 0.01 throughout until a fragment's Fisher information is mixed in."""

    def penalty(self) -> Tensor:
        """Eq. 16's second term, lambda included, at the model's current parameters; differentiable, 0 at the anchor.

        Raises:
            DataError: the model now trains other parameters than the anchor holds; named.
        """
        return torch.stack([
            ((parameter - mean).square() * fisher.to(first.dtype)).sum().to(first)
            for parameter, mean, fisher, first in self._held()
        ]).sum() * self.strength  # fmt: skip

    def add_gradient(self) -> None:
        """Add the gradient of `penalty()` to the parameters' own, for loops whose loss is out of reach."""
        parameters = [parameter for parameter, *_ in self._held()]
        with torch.enable_grad():
            found = torch.autograd.grad(self.penalty(), parameters)
        for parameter, gradient in zip(parameters, found, strict=True):
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient

    @torch.no_grad()
    def pull(self, length: float) -> None:
        """Solve the term exactly after an optimiser's step, in the place of adding `penalty()` to the loss.

        A step along its gradient diverges where 2 lambda I_global times the learning rate exceeds 2; this never does.

        Args:
            length: the optimiser's step per unit of a constant gradient: for SGD the learning rate, with momentum m the
                learning rate over 1 - m.
        """
        for parameter, mean, fisher, _ in self._held():
            stiffness = fisher.to(parameter.dtype) * (2 * self.strength)
            proximal_step(parameter, Pull(mean.to(parameter.dtype), stiffness), length)

    @torch.no_grad()
    def move(self, fisher: Mapping[str, Tensor] | None = None) -> None:
        """Anchor at the model's current parameters, after a fragment is learned.

        Args:
            fisher: `diagonal_fisher` of the fragment, which is mixed into I_global (Eq. 15); None leaves I_global as it
                is, which Algorithm 2 does after a fragment that is not shifted.

        Raises:
            DataError: names or shapes do not fit.
        """
        parameters = trainable(self.model)
        if fisher is not None:
            same_names(fisher, parameters, "the Fisher information")
        same_names(self.fisher, parameters, "the anchor")
        self.mean = {name: parameter.detach().clone() for name, parameter in parameters.items()}
        if fisher is not None:
            self.fisher = {
                name: smooth(self.fisher[name].to(fisher[name]), fisher[name], self.alpha) for name in parameters
            }

    def state_dict(self) -> dict[str, dict[str, Tensor]]:
        """The anchor's tensors, for a checkpoint."""
        return {"mean": dict(self.mean), "fisher": dict(self.fisher)}

    def load_state_dict(self, state: Mapping[str, Mapping[str, Tensor]]) -> None:
        """The inverse of `state_dict`."""
        for part in ("mean", "fisher"):
            same_names(state[part], trainable(self.model), f"the checkpoint's {part}")
        self.mean, self.fisher = dict(state["mean"]), dict(state["fisher"])

    def _held(self) -> list[tuple[nn.Parameter, Tensor, Tensor, Tensor]]:
        """Parameter, mean and Fisher information on its device, and the first parameter."""
        parameters = trainable(self.model)
        same_names(self.mean, parameters, "the anchor")
        first = torch.empty((), device=next(iter(parameters.values())).device, dtype=torch.float32)
        if all(parameter.dtype is torch.float64 for parameter in parameters.values()):
            first = first.double()
        for name, parameter in parameters.items():  # a model that has moved to another device takes its anchor along
            self.mean[name] = self.mean[name].to(parameter.device)
            self.fisher[name] = self.fisher[name].to(parameter.device)
        return [(parameter, self.mean[name], self.fisher[name], first) for name, parameter in parameters.items()]
