"""Small cells: the parts of a client's statistics that so few rows decide that the server could read these rows off.

Means of one-hot columns are counts, and their second moments are contingency tables. Mean and variance of a column of
two or three values give the counts of these values. A cell of 1 to `fewest` - 1 rows is therefore not sent, together
with everything from which it could be calculated: all levels of its column, or the whole table of its two columns.

Letters: n rows of the client, f encoded features, c cells.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import torch
from torch import Tensor

from picsc.datasets.encoding import Covariates
from picsc.federated.cell_sizes import FEW_VALUES


def sent_columns(x: Tensor, covariates: Covariates, fewest: int) -> Tensor:
    """True for each feature whose mean and variance are sent, bool (f,).

    Args:
        x: encoded features of a client, (n, f).
        covariates: their kinds.
        fewest: fewest rows of a cell that is sent.
    """
    sent = torch.ones(x.shape[1], dtype=torch.bool)
    if fewest > 1:
        for part, cells in _divided(x, covariates):
            sent[part] = not _small(cells.sum(0), fewest)
    return sent


def sent_products(x: Tensor, covariates: Covariates, fewest: int) -> Tensor:
    """True for each pair of features whose second moment is sent, bool (f, f), symmetric.

    Args:
        x: encoded features of a client, (n, f).
        covariates: their kinds.
        fewest: fewest rows of a cell that is sent.
    """
    columns = sent_columns(x, covariates, fewest)
    sent = columns[:, None] & columns
    if fewest == 1:
        return sent
    divided = [(part, cells) for part, cells in _divided(x, covariates) if bool(columns[part].all())]
    for (first, cells), (other, other_cells) in combinations_with_replacement(divided, 2):
        if first != other and _small(cells.T @ other_cells, fewest):
            sent[first, other] = sent[other, first] = False
    return sent


def label_counts(y: Tensor, classes: int, fewest: int) -> Tensor | None:
    """Number of a client's rows of each class, (classes,); None where a class has a small cell, so that none is sent.

    Args:
        y: class codes, (n,).
        classes: number of classes.
        fewest: fewest rows of a cell that is sent.
    """
    counts = torch.bincount(y, minlength=classes)
    return None if _small(counts, fewest) else counts


def only(covariates: Covariates, kept: Tensor) -> Covariates:
    """The kinds of the features that are kept, at their positions; levels are kept or left out together.

    Args:
        covariates: kinds of all features.
        kept: bool (f,).
    """
    return Covariates(
        tuple(j for j in covariates.numeric if kept[j]),
        tuple(j for j in covariates.flags if kept[j]),
        tuple((start, stop) for start, stop in covariates.levels if bool(kept[start:stop].all())),
    )


def _small(counts: Tensor, fewest: int) -> bool:
    return bool(((counts > 0) & (counts < fewest)).any())


def _divided(x: Tensor, covariates: Covariates) -> list[tuple[slice, Tensor]]:
    """Features that divide the rows into cells, and the cell of each row as one-hot float64, (n, c)."""
    x = x.double().cpu()
    found = []
    for j in _few_values(x, covariates.numeric):
        values = torch.from_numpy(np.unique(x[:, j].numpy()))
        found.append((slice(j, j + 1), (x[:, j, None] == values).double()))
    found += [(slice(j, j + 1), torch.stack([x[:, j], 1 - x[:, j]], 1)) for j in covariates.flags]
    for start, stop in covariates.levels:
        block = x[:, start:stop]
        found.append((slice(start, stop), torch.cat([block, 1 - block.sum(1, keepdim=True)], 1)))
    return found


def _few_values(x: Tensor, numeric: tuple[int, ...]) -> list[int]:
    """Positions of numeric features with at most `FEW_VALUES` different values."""
    ranked = x[:, list(numeric)].sort(0).values
    different = 1 + (ranked[1:] != ranked[:-1]).sum(0)
    return [j for j, count in zip(numeric, different.tolist(), strict=True) if count <= FEW_VALUES]
