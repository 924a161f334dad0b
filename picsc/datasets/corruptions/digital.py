"""Lower contrast, larger pixels and the loss of JPEG. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn, idctn

from picsc.datasets.corruptions.noise import Images

_BLOCK = 8
_LUMINANCE = np.array([
    [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56],
    [14, 17, 22, 29, 51, 87, 80, 62], [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
    [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99],
])  # fmt: skip
_CHROMINANCE = np.array([
    [17, 18, 24, 47, 99, 99, 99, 99], [18, 21, 26, 66, 99, 99, 99, 99], [24, 26, 56, 99, 99, 99, 99, 99],
    [47, 66, 99, 99, 99, 99, 99, 99], *[[99] * 8] * 4,
])  # fmt: skip
"""Tables K.1 and K.2 of ITU-T T.81, the standard of JPEG."""
_TO_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])


def contrast(x: Images, factor: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Shrink the distance of every value from the mean of its channel.

    Args:
        x: images.
        factor: factor of the distance.
        rng: not used.
    """
    mean = x.mean((2, 3), keepdims=True)
    result: Images = mean + np.float32(factor) * (x - mean)
    return result


def pixelate(x: Images, share: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Shrink the image to fewer pixels, each the mean of its area, and enlarge them again.

    Args:
        x: images.
        share: share of the pixels a side that is left.
        rng: not used.
    """
    s = x.shape[2]
    few = max(int(s * share), 1)
    edges = np.arange(few + 1) * s / few
    places = np.arange(s)
    overlap = np.minimum(edges[1:, None], places + 1) - np.maximum(edges[:-1, None], places)
    shrink = (overlap.clip(0) * few / s).astype(np.float32)
    back = ((places + 0.5) * few / s).astype(np.int64)
    small = shrink @ x @ shrink.T
    result: Images = small[:, :, back][:, :, :, back]
    return result


def jpeg_compression(x: Images, quality: int, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """The image as it comes back from a file of JPEG.

    Source: ITU-T T.81: cosine transform of blocks of 8 x 8 values, divided by the tables of its Annex K and rounded;
    quality scales the tables as in the Independent JPEG Group's library. Colours have half the resolution.

    Reading: the codes in a file lose nothing and are left out, so no file is written and no library is needed.

    Args:
        x: images.
        quality: 1 to 100.
        rng: not used.
    """
    scale = 5000 / quality if quality < 50 else 200 - 2 * quality
    light, colour = (np.floor((table * scale + 50) / 100).clip(1, 255) for table in (_LUMINANCE, _CHROMINANCE))
    values = np.rint(x.clip(0, 1) * 255).astype(np.float64)
    if x.shape[1] == 1:
        return (_quantised(values[:, 0] - 128, light)[:, None] + 128).astype(np.float32) / np.float32(255)
    y, blue, red = np.moveaxis(np.einsum("ij,njhw->nihw", _TO_YCC, values), 1, 0)
    channels = [_quantised(y - 128, light) + 128, *(_half(each, colour) for each in (blue, red))]
    back = np.einsum("ij,njhw->nihw", np.linalg.inv(_TO_YCC), np.stack(channels, 1))
    result: Images = (back / 255).astype(np.float32)
    return result


def _half(channel: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """A channel of colour, quantised at half the resolution."""
    s = channel.shape[1]
    even = _padded(channel, 2)
    small = even.reshape(len(even), even.shape[1] // 2, 2, -1, 2).mean((2, 4))
    return _quantised(small, table).repeat(2, 1).repeat(2, 2)[:, :s, :s]


def _quantised(channel: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """A channel (n, s, s) whose transformed blocks were rounded to multiples of the table."""
    s = channel.shape[1]
    padded = _padded(channel, _BLOCK)
    n, wide, _ = padded.shape
    blocks = padded.reshape(n, wide // _BLOCK, _BLOCK, wide // _BLOCK, _BLOCK).swapaxes(2, 3)
    kept = np.rint(dctn(blocks, axes=(3, 4), norm="ortho") / table) * table
    found: NDArray[np.float64] = idctn(kept, axes=(3, 4), norm="ortho").swapaxes(2, 3).reshape(n, wide, wide)
    return found[:, :s, :s]


def _padded(channel: NDArray[np.float64], multiple: int) -> NDArray[np.float64]:
    """The channel with its last row and column repeated until its side is a multiple of this."""
    more = -channel.shape[1] % multiple
    return np.pad(channel, ((0, 0), (0, more), (0, more)), mode="edge")
