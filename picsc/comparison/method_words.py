"""Description of every method in one line, for the report."""

from __future__ import annotations

from picsc.settings import CompareMethod, CompareSettings


def method_words(method: CompareMethod, settings: CompareSettings) -> str:
    """Description of a method under the settings of a run."""
    match = settings.weigh.match
    picsc = f"Algorithm {settings.algorithm}"
    if settings.algorithm == 1:
        picsc += f", penalty {settings.penalty.kind}"
    return {
        "st-cv": "standard training: all training rows weigh alike",
        "iw": "weights by an out-of-fold logistic classifier of training against target rows",
        "iwcv": "power of iw's weights and weight decay chosen by importance-weighted cross-validation",
        "kmm": "weights by kernel mean matching"
        + (", as near to 1 as the target's noise allows" if settings.weigh.ridge == "auto" else ""),
        "diw": f"weights anew at every step, by kernel mean matching of {match}"
        + (" with some labelled target rows" if match == "losses" else ""),
        "picsc": f"{picsc} between the training pieces",
        "ulsif": "weights by unconstrained least-squares importance fitting",
        "rulsif": f"weights by relative least-squares importance fitting, {settings.weigh.relative:g} of the target",
        "true-ratio": "weights by the true density ratio, which nobody knows outside of an experiment",
        "cv-choice": "iwcv's candidates chosen by plain cross-validation",
        "pooled": "standard training on the training rows and the target rows whose labels diw uses",
        "weight-decay": "weight decay chosen on training rows, no penalty",
        "carried": "parameters carried along the training pieces, no penalty",
        "picsc-random": f"{picsc} between pieces of the same sizes made by chance",
        "dob-scv": "standard training on folds cut by DOB-SCV",
    }[method]
