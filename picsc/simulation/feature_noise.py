"""Gaussian noise on the features of each client, the same in audit and training.

Letters: n rows, N clients, m rows of a client, c channels, s pixels a side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from picsc.datasets.images import ImageSet
    from picsc.datasets.table import Column, Dataset
    from picsc.fragments import Fragment

LARGEST_PIXEL = 255
ROWS_AT_ONCE = 1024
"""Number of images whose noise is in memory at once; the drawn numbers do not depend on it."""


def noisy(values: NDArray[np.float32], scale: float, *, seed: int, client: int) -> NDArray[np.float32]:
    """Add Gaussian noise of one standard deviation to all values of one client.

    Args:
        values: an array of any shape; missing values (NaN) stay missing.
        scale: standard deviation, in the unit of the values; 0 adds no noise.
        seed: seed of the run.
        client: position of the client, from 0.

    Returns:
        A new array, or `values` itself if there is no noise.
    """
    return values if scale == 0 else _added(values, scale, np.random.default_rng([seed, 6, client]))


def noisy_table(dataset: Dataset, clients: Sequence[Fragment], noise: NDArray[np.float64], *, seed: int) -> Dataset:
    """The table with noise on every numeric column, in units of the column's standard deviation over clients' rows.

    Args:
        dataset: n rows.
        clients: N sets of rows; rows of no client stay as they are.
        noise: (N,) standard deviation of each client's noise.
        seed: seed of the run.
    """
    numeric = [column for column in dataset.columns if column.kind == "numeric"]
    if not numeric or not noise.any():
        return dataset
    held = np.sort(np.concatenate([client.rows for client in clients]))
    scales = [_deviation(column, held) for column in numeric]
    changed = {column.name: column.values.copy() for column in numeric}
    for k, (client, sigma) in enumerate(zip(clients, noise.tolist(), strict=True)):
        added = noisy(np.zeros((len(client.rows), len(numeric)), np.float32), sigma, seed=seed, client=k)
        for j, (column, scale) in enumerate(zip(numeric, scales, strict=True)):
            changed[column.name][client.rows] += scale * added[:, j]
    return replace(
        dataset,
        columns=tuple(
            replace(column, values=changed[column.name]) if column.name in changed else column
            for column in dataset.columns
        ),
    )


def noisy_images(
    images: ImageSet, clients: Sequence[NDArray[np.int64]], noise: NDArray[np.float64], *, seed: int
) -> ImageSet:
    """The images with noise on every pixel, in units of the range of a pixel, rounded and clipped to 0 and 255.

    Args:
        images: n images.
        clients: N sets of their row numbers.
        noise: (N,) standard deviation of each client's noise.
        seed: seed of the run.
    """
    if not noise.any():
        return images
    pixels = images.pixels.copy()
    for k, (client, sigma) in enumerate(zip(clients, noise.tolist(), strict=True)):
        if sigma == 0:
            continue
        rng = np.random.default_rng([seed, 6, k])
        for start in range(0, len(client), ROWS_AT_ONCE):
            rows = client[start : start + ROWS_AT_ONCE]
            changed = _added(pixels[rows].astype(np.float32), sigma * LARGEST_PIXEL, rng)
            pixels[rows] = np.rint(changed).clip(0, LARGEST_PIXEL).astype(np.uint8)
    return replace(images, pixels=pixels)


def with_feature_noise(
    data: Dataset | ImageSet, clients: Sequence[Fragment], noise: NDArray[np.float64], *, seed: int
) -> Dataset | ImageSet:
    """The same data with each client's noise on its features; see `noisy_table` and `noisy_images`.

    Args:
        data: a table or images.
        clients: N sets of row numbers.
        noise: (N,) standard deviation of each client's noise.
        seed: seed of the run.
    """
    if data.kind == "images":
        return noisy_images(data, [client.rows for client in clients], noise, seed=seed)
    return noisy_table(data, clients, noise, seed=seed)


def _added(values: NDArray[np.float32], scale: float, rng: np.random.Generator) -> NDArray[np.float32]:
    drawn: NDArray[np.float32] = rng.standard_normal(values.shape, dtype=np.float32)
    return values + np.float32(scale) * drawn


def _deviation(column: Column, rows: NDArray[np.int64]) -> float:
    """Standard deviation of the values that are present in some rows; 0 if there are none."""
    values = column.values[rows]
    present = values[~np.isnan(values)]
    return float(present.std()) if len(present) else 0.0
