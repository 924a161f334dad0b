"""A torch module of the user that fits the data: it takes the encoded columns and has the outputs of the target."""

from __future__ import annotations

import torch
from torch import nn

from picsc.equations.likelihood import Likelihood
from picsc.errors import DataError, PicscError
from picsc.fisher.row_gradients import refuse_mixing
from picsc.training.own.named import OwnModel


def checked_module(
    own: OwnModel, seed: int, shape: tuple[int, int], likelihood: Likelihood, device: torch.device
) -> nn.Module:
    """An untrained module.

    Args:
        own: what the user named.
        seed: of the initial weights.
        shape: numbers of encoded columns and of outputs.
        likelihood: classes or numbers.
        device: of the parameters.

    Raises:
        DataError: it takes other inputs, has another number of outputs, or nothing that can be trained.
    """
    inputs, outputs = shape
    model: nn.Module = own.made(seed=seed, inputs=inputs, outputs=outputs).float().to(device)
    modes = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.inference_mode():
            given = model(torch.zeros(2, inputs, device=device))
    except Exception as error:
        raise DataError(
            f"--model {own.name}: it does not take 2 rows of {inputs} encoded columns: {' '.join(str(error).split())}; "
            "a function with a parameter `inputs` is told the number"
        ) from error
    for module in modes:
        module.training = True
    wanted = ((2, outputs),) if likelihood == "classes" else ((2, 1), (2,))
    found = tuple(getattr(given, "shape", ()))
    if found not in wanted:
        need = "a number needs one output" if likelihood == "numbers" else f"{outputs} classes need a logit each"
        raise DataError(
            f"--model {own.name}: it gives outputs of shape {found} for 2 rows: {need}, shape {wanted[0]}; a function "
            "with a parameter `outputs` is told the number"
        )
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise DataError(f"--model {own.name}: it has no parameter that can be trained")
    return model


def mixing_rows(model: nn.Module) -> str:
    """Reason why single rows have no gradients of their own, as with batch normalisation or dropout; empty if they do.

    Args:
        model: in the mode that it is trained in.
    """
    try:
        refuse_mixing(model)
    except PicscError as error:
        return (
            f"{str(error).partition(', so ')[0]}, and penalties, Fisher information and parameters that are carried "
            "along need the gradient of each row: use GroupNorm or LayerNorm, and no dropout, to have them"
        )
    return ""
