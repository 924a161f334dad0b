"""Training labels replaced at random: what is learned from is wrong, and what judges is not. Letters: n rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from picsc.datasets.images import ImageSet
from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.datasets.texts import TokenSet
from picsc.errors import SettingsError

Compared = Dataset | ImageSet | TokenSet


def with_label_noise(data: Compared, share: float, clean: Rows, *, seed: int) -> Compared:
    """The data with another class, drawn evenly, in a share of the rows that are never the target.

    Args:
        data: with classes.
        share: of the rows.
        clean: rows that keep their labels: those that are the target.
        seed: of the draw.

    Raises:
        SettingsError: the target holds numbers, or one class only.
    """
    if isinstance(data, Dataset):
        target = data.target
        assert target is not None  # noqa: S101 - the verb refuses tables without one
        labels, classes = target.values, len(target.levels)
    else:
        labels, classes = data.labels, len(data.classes)
    if classes < 2:
        raise SettingsError("--label-noise replaces classes, and the target has none to replace")
    rows = np.setdiff1d(np.arange(data.n), clean)
    generator = np.random.default_rng([seed, 9])
    wrong = rows[generator.random(len(rows)) < share]
    noisy = labels.astype(np.int64)
    noisy[wrong] = (noisy[wrong] + generator.integers(1, classes, len(wrong))) % classes
    if isinstance(data, Dataset):
        return replace(data, target=replace(data.target, values=noisy))  # type: ignore[type-var] # not None, as above
    return replace(data, labels=noisy)
