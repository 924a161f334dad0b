"""Training labels replaced at random: what is learned from is wrong, and what judges is not. Letters: n rows."""

from __future__ import annotations

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.rows import Rows
from picsc.errors import SettingsError


def with_label_noise(data: Data, share: float, clean: Rows, *, seed: int) -> Data:
    """The data with another class, drawn evenly, in a share of the rows that are never the target.

    Args:
        data: with classes.
        share: of the rows.
        clean: rows that keep their labels: those that are the target.
        seed: of the draw.

    Raises:
        SettingsError: the target holds numbers, or one class only.
    """
    labels, classes = data.labels, len(data.classes)
    if labels is None or classes < 2:
        raise SettingsError("--label-noise replaces classes, and the target has none to replace")
    rows = np.setdiff1d(np.arange(data.n), clean)
    generator = np.random.default_rng([seed, 9])
    wrong = rows[generator.random(len(rows)) < share]
    noisy = labels.astype(np.int64)
    noisy[wrong] = (noisy[wrong] + generator.integers(1, classes, len(wrong))) % classes
    return data.with_labels(noisy)
