"""Random wrong labels for a share of the training rows; test rows keep theirs. Letters: n rows."""

from __future__ import annotations

import numpy as np

from picsc.datasets.data import Data
from picsc.datasets.rows import Rows
from picsc.errors import SettingsError


def with_label_noise(data: Data, share: float, clean: Rows, *, seed: int) -> Data:
    """The data with a uniformly drawn wrong class for a share of the rows outside the target.

    Args:
        data: data with classes.
        share: expected share of those rows that get a wrong class, in [0, 1].
        clean: rows that keep their labels: the rows of the target.
        seed: seed of the draw.

    Raises:
        SettingsError: the labels are numbers, or there is only one class.
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
