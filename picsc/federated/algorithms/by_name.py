"""Federated algorithms by name, with their constants from the settings."""

from __future__ import annotations

from dataclasses import replace

from picsc.federated.algorithms.fedavg import FedAvg
from picsc.federated.algorithms.fedcurv import FedCurv
from picsc.federated.algorithms.picsc import Picsc
from picsc.federated.algorithms.protocol import Algorithm
from picsc.federated.algorithms.scaffold import Scaffold
from picsc.settings import FedMethod, FedSettings


def algorithm(name: FedMethod, settings: FedSettings) -> Algorithm:
    """The algorithm of a name.

    Args:
        name: one of `picsc.settings.FED_METHODS`.
        settings: constants of all algorithms.
    """
    mean, strength = settings.mean, settings.strength
    if name in ("fedavg", "fedprox"):
        return FedAvg(mean, settings.proximal if name == "fedprox" else 0.0)
    if name in ("scaffold", "scaffold-natural"):
        return Scaffold(mean)
    if name == "fedcurv":
        return FedCurv(strength, mean)
    aggregation = "mean" if settings.aggregate == "auto" else settings.aggregate
    ours = Picsc(strength, settings.alpha, settings.delta, aggregation, mean=mean)
    if name == "picsc":
        return ours
    alone = replace(ours, controls=False, preconditioned=False)
    if name == "fisher-mean":
        return replace(alone, strength=0.0, aggregation="fisher")
    return replace(alone, aggregation="mean")


WHITENED: tuple[FedMethod, ...] = ("scaffold-natural", "picsc")
"""Methods that train on whitened features (`picsc.federated.clients.whitening`) where the data can be whitened; if
learning rates are chosen, so is this, on training rows."""
DESCRIPTIONS: dict[FedMethod, str] = {
    "fedavg": "local training, then the mean of the models weighted by rows",
    "fedprox": "fedavg whose clients are held near the model they received",
    "scaffold": "local steps corrected by control variates",
    "fedcurv": "clients are held near the others' models by the others' Fisher informations; a control of picsc",
    "fisher-mean": "fedavg with the Fisher-weighted mean; a control of picsc",
    "picsc-penalty": "Algorithm 2 as printed: Eq. 16 for flagged clients and the plain mean; a control of picsc",
    "scaffold-natural": "scaffold in the coordinates of picsc; a control of picsc",
    "picsc": "Algorithm 2 with control variates and local steps in the metric of the Fisher information",
}
"""One line on each method, for reports."""
