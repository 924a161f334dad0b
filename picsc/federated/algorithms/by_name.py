"""Federated algorithms by name, with their constants from the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from picsc.federated.algorithms.fedavg import FedAvg
from picsc.federated.algorithms.fedcurv import FedCurv
from picsc.federated.algorithms.picsc import Picsc
from picsc.federated.algorithms.protocol import Algorithm
from picsc.federated.algorithms.scaffold import Scaffold
from picsc.settings import FedMethod, FedSettings
from picsc.training.tuning.grid import Axis


@dataclass(frozen=True, slots=True)
class Constant:
    """The one constant that a method has of its own."""

    setting: Literal["proximal", "strength", "delta"]
    """The setting that gives it."""
    symbol: str
    """Its letter in papers."""
    default: float
    """Its value where learning rates are given, so that nothing is chosen."""
    axis: Axis
    """Values that are tried where learning rates are chosen; beyond an end only where the best one is there."""

    def given(self, settings: FedSettings) -> float | None:
        """The value in the settings; None for auto."""
        value = getattr(settings, self.setting)
        return None if value == "auto" else float(value)


def _decades(*values: float) -> Axis:
    return Axis(values, most=1e4, least=1e-3, digits=(1,))


CONSTANTS: dict[FedMethod, Constant] = {
    "fedprox": Constant("proximal", "mu", 0.01, _decades(0.01, 0.1)),
    "fedcurv": Constant("strength", "lambda", 0.1, _decades(0.01, 0.1)),
    "fisher-mean": Constant("delta", "delta", 1e-4, Axis((1e-4, 1e-2), most=1.0, least=1e-6, digits=(1,))),
    "picsc-scaffold": Constant("strength", "lambda", 0.1, _decades(0.1, 1.0)),
    "picsc": Constant("strength", "lambda", 0.1, _decades(0.1, 1.0)),
}
"""The constants of the methods that have one."""


def algorithm(name: FedMethod, settings: FedSettings, constant: float | None = None) -> Algorithm:
    """The algorithm of a name.

    Args:
        name: one of `picsc.settings.FED_METHODS`.
        settings: constants of all algorithms.
        constant: the method's own one, if it has one; None is that of the settings, or the default.
    """
    mean = settings.mean
    own = CONSTANTS.get(name)
    value = constant if constant is not None else 0.0 if own is None else fixed_constant(own, settings)
    if name in ("fedavg", "fedprox"):
        return FedAvg(mean, value)
    if name == "scaffold":
        return Scaffold(mean)
    if name == "fedcurv":
        return FedCurv(value, mean)
    if name == "fisher-mean":
        return Picsc(0.0, settings.alpha, value, "fisher", controls=False, preconditioned=False, mean=mean)
    aggregation = "mean" if settings.aggregate == "auto" else settings.aggregate
    delta = fixed_constant(CONSTANTS["fisher-mean"], settings)
    alone = name == "picsc"
    return Picsc(value, settings.alpha, delta, aggregation, controls=not alone, preconditioned=not alone, mean=mean)


def fixed_constant(constant: Constant, settings: FedSettings) -> float:
    """The value in the settings, or the default for auto."""
    given = constant.given(settings)
    return constant.default if given is None else given


DESCRIPTIONS: dict[FedMethod, str] = {
    "fedavg": "local training, then the mean of the models weighted by rows",
    "fedprox": "fedavg whose clients are held near the model they received",
    "scaffold": "local steps corrected by control variates",
    "fedcurv": "clients are held near the others' models by the others' Fisher informations; a control of picsc",
    "fisher-mean": "fedavg with the Fisher-weighted mean; a control of picsc",
    "picsc-scaffold": (
        "picsc with scaffold's control variates and local steps in the metric of the Fisher information; "
        "a control of picsc"
    ),
    "picsc": "PIcsC (Algorithm 2): clients that Eq. 14 flags are held by Eq. 16, with the Fisher information of Eq. 15",
}
"""One line on each method, for reports."""
