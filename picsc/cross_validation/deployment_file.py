"""The rows of a deployment file beside those of the data: the same columns, encoded alike, and weights between them.

Letters: n rows of the data, m rows of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from picsc.datasets.encoding import LARGEST, fit
from picsc.datasets.reference_file import load_reference
from picsc.datasets.rows import stack
from picsc.datasets.table import Dataset
from picsc.datasets.together import read_together
from picsc.errors import DataError, NumericsError
from picsc.settings import CvSettings, Weighting
from picsc.weighting import WEIGHTINGS, separation
from picsc.weighting.diagnostics import SEPARATED

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DeploymentFile:
    """Rows that a model will be used on; their labels are not used."""

    name: str
    sha256: str
    source: Floats
    """(n, f) covariates of the data, standardised by their own rows."""
    target: Floats
    """(m, f) covariates of the file, in the same units."""


def read_deployment_file(data: Dataset, settings: CvSettings) -> DeploymentFile | None:
    """The file that `--deploy` names; None where it names no file.

    Args:
        data: the labelled rows.
        settings: say how both are read.

    Raises:
        DataError: the file cannot be read, or lacks a column of the data.
    """
    if not settings.other_files:
        return None
    (path,) = settings.other_files
    # without a target: labels of the file are not used, and its last column is not one where it has none
    read = settings.read.model_copy(update={"target": None, "no_target": True})
    other = load_reference(path, read, keys=settings.keys)
    ours, theirs = read_together(replace(data, target=None), other, read, keys=settings.keys)
    if theirs.n < 2 or ours.n < 2:
        raise DataError(f"--deploy {theirs.name}: {theirs.n} rows are too few to compare with; need at least 2")
    both = stack(ours, theirs)
    rows = np.arange(both.n)
    encoder = fit(both, rows[: ours.n])
    x, z = (encoder.transform(both, part).matrix.astype(np.float64) for part in (rows[: ours.n], rows[ours.n :]))
    spread = x.std(0)
    varies = spread > 1e-6 * np.maximum(1, np.abs(x).max(0))
    if not varies.any():
        raise DataError(f"{data.name}: no column varies that rows could be weighted by; leave out --deploy {path}")
    centre = x[:, varies].mean(0)
    x, z = (np.clip((part[:, varies] - centre) / spread[varies], -LARGEST, LARGEST) for part in (x, z))
    return DeploymentFile(theirs.name, theirs.sha256, x, z)


def weights_for(file: DeploymentFile, weighting: Weighting, seed: int) -> tuple[Floats | None, str]:
    """Weights of the data's rows, (n,) of mean 1, or None and the reason.

    Args:
        file: covariates of both.
        weighting: its name.
        seed: of the weighting.
    """
    x, z = (torch.from_numpy(part.astype(np.float32)) for part in (file.source, file.target))
    try:
        overlap = separation(x, z, seed=seed)
        if overlap > SEPARATED:
            apart = f"a classifier tells its rows from these with an AUC of {overlap:.3f} (need at most {SEPARATED:g})"
            return None, f"{apart}, so that no weights make these stand for them"
        return WEIGHTINGS[weighting](x, z, seed=seed).double().numpy(), ""
    except (DataError, NumericsError) as error:
        return None, str(error)
