"""Predictions of test rows as a file: comma-separated values or parquet, the old file or the whole new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from picsc.errors import SettingsError
from picsc.runtime.whole_files import written_whole

ENDINGS = (".csv", ".parquet")
"""Endings of the file, which choose its format."""


@dataclass(frozen=True, slots=True)
class PredictedRows:
    """Predictions of one model. Letters: n rows, c classes."""

    repeat: int
    """Number of the repeat, 1 for the first."""
    piece: str
    """Name of the piece that is tested or trained on, or of the target."""
    method: str
    rows: NDArray[np.int64]
    """Row numbers of the table that was used, from 0, (n,)."""
    predicted: NDArray[np.float64]
    """Probabilities (n, c), or numbers (n,) in the unit of the file; NaN where the model failed."""


@dataclass(frozen=True, slots=True)
class Truths:
    """What the rows of the table are."""

    numbers: NDArray[np.int64]
    """Number of each row in its file, from 1."""
    labels: NDArray[np.int64] | NDArray[np.float64]
    """Class codes or numbers."""
    levels: tuple[str, ...]
    """Names of the classes; () for numbers."""
    weights: NDArray[np.float64] | None = None
    """How much each row counts; None without weights."""


def check_predictions_file(path: Path | None) -> None:
    """Refuse a file that cannot be written, before the computation.

    Args:
        path: of the file; None for none.

    Raises:
        SettingsError: its ending is another one, or there is no such folder.
    """
    if path is None:
        return
    if path.suffix.lower() not in ENDINGS:
        raise SettingsError(f"--predictions {path}: the file must end in {' or '.join(ENDINGS)}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        why = "it is a folder" if path.is_dir() else f"the folder {path.parent} does not exist"
        raise SettingsError(f"--predictions {path}: {why}; give a file in a folder that exists")


def write_predictions(path: Path, parts: Sequence[PredictedRows], truths: Truths) -> None:
    """Write every prediction: row, repeat, piece, method, truth, prediction and the probability of each class.

    Args:
        path: ends in one of `ENDINGS`.
        parts: of every model.
        truths: of all rows of the table.

    Raises:
        SettingsError: the file cannot be written.
    """
    frame = _frame(parts, truths)
    try:
        with written_whole(path) as part:
            if path.suffix.lower() == ".csv":
                frame.to_csv(part, index=False)
            else:
                frame.to_parquet(part, index=False)
    except OSError as error:
        raise SettingsError(f"--predictions {path}: it cannot be written: {error.strerror or error}") from None


def _frame(parts: Sequence[PredictedRows], truths: Truths) -> pd.DataFrame:
    sizes = [len(part.rows) for part in parts]
    rows = np.concatenate([part.rows for part in parts]) if parts else np.empty(0, np.int64)
    values = truths.labels[rows]
    predicted = np.concatenate([part.predicted for part in parts]) if parts else np.empty(0)
    found: dict[str, object] = {
        "row": truths.numbers[rows],
        "repeat": np.repeat([part.repeat for part in parts], sizes).astype(np.int64),
        "piece": np.repeat(np.array([part.piece for part in parts], dtype=object), sizes),
        "method": np.repeat(np.array([part.method for part in parts], dtype=object), sizes),
    }
    if truths.levels:
        levels = np.array(truths.levels, dtype=object)
        known = np.isfinite(predicted).all(-1)
        found["truth"] = levels[values.astype(np.intp)]
        found["prediction"] = np.where(known, levels[np.where(known[:, None], predicted, 0.0).argmax(-1)], None)
        found |= {f"probability {level}": predicted[:, c] for c, level in enumerate(truths.levels)}
    else:
        found |= {"truth": values.astype(np.float64), "prediction": predicted}
    if truths.weights is not None:
        found["weight"] = truths.weights[rows]
    return pd.DataFrame(found)
