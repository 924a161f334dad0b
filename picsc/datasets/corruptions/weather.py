"""Snow, frost, fog, brightness and spatter. Letters: n images, c channels, s pixels a side."""

from __future__ import annotations

import numpy as np

from picsc.datasets.corruptions.blur import smoothed, trailed, zoomed
from picsc.datasets.corruptions.noise import Images
from picsc.datasets.corruptions.plasma import plasma

_GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""Weights of red, green and blue in grey (ITU-R BT.601)."""
_FROST = np.array([0.75, 0.85, 0.95], dtype=np.float32)
_WATER = np.array([0.69, 0.93, 0.93], dtype=np.float32)


def brightness(x: Images, more: float, rng: np.random.Generator) -> Images:  # noqa: ARG001
    """Raise the value in the colour space of hue, saturation and value.

    Args:
        x: images.
        more: what is added to the value.
        rng: not used.
    """
    value = x.max(1, keepdims=True)
    raised = (value + np.float32(more)).clip(0, 1)
    result: Images = np.where(value > 0, x * (raised / np.maximum(value, np.float32(1e-12))), raised)
    return result


def fog(x: Images, strength: tuple[float, float], rng: np.random.Generator) -> Images:
    """Add clouds, then scale the image back to its own largest value.

    Args:
        x: images.
        strength: height of the clouds, and decay of their noise (see `plasma`).
        rng: generator of the clouds.
    """
    height, decay = strength
    largest = x.max((1, 2, 3), keepdims=True)
    clouds = plasma(len(x), x.shape[2], decay, rng)[:, None]
    result: Images = (x + np.float32(height) * clouds) * largest / (largest + np.float32(height))
    return result


def frost(x: Images, strength: tuple[float, float], rng: np.random.Generator) -> Images:
    """Mix the image with one of frost.

    Reading: the authors cut the frost out of six photographs. Here it is drawn: crystals run along the ridges of random
    clouds.

    Args:
        x: images.
        strength: factors of the image and of the frost.
        rng: generator of the frost.
    """
    own, added = strength
    ridges = 1 - np.abs(2 * plasma(len(x), x.shape[2], 1.5, rng) - 1)
    return np.float32(own) * x + np.float32(added) * _coloured(ridges[:, None] ** 2, x, _FROST)


def snow(x: Images, strength: tuple[float, float, float, float, int, float, float], rng: np.random.Generator) -> Images:
    """Whiten the image, then add falling flakes and the same flakes upside down.

    Args:
        x: images.
        strength: mean and standard deviation of the flakes, their enlargement, the threshold below which there is none,
            radius and decay of their trail (see `motion_blur`), and the factor of the image.
        rng: generator of the flakes.
    """
    mean, deviation, larger, threshold, radius, decay, own = strength
    flakes = rng.normal(mean, deviation, (len(x), 1, *x.shape[2:])).astype(np.float32)
    flakes = zoomed(flakes, larger)
    flakes[flakes < threshold] = 0
    flakes = trailed(flakes.clip(0, 1), (radius, decay), rng.uniform(-135, -45, len(x)))
    grey = x if x.shape[1] == 1 else np.einsum("c,nchw->nhw", _GREY, x)[:, None]
    whitened = np.float32(own) * x + np.float32(1 - own) * np.maximum(x, grey * np.float32(1.5) + np.float32(0.5))
    result: Images = whitened + flakes + flakes[:, :, ::-1, ::-1]
    return result


def spatter(x: Images, strength: tuple[float, float, float, float, float], rng: np.random.Generator) -> Images:
    """Cover the image with drops of water.

    Args:
        x: images.
        strength: mean and standard deviation of a random layer, standard deviation of its blur in pixels, threshold
            above which there is water, and the water's opacity.
        rng: generator of the layer.
    """
    mean, deviation, blur, threshold, opacity = strength
    layer = smoothed(rng.normal(mean, deviation, (len(x), 1, *x.shape[2:])).astype(np.float32), blur)
    water = np.float32(opacity) * smoothed((layer > threshold).astype(np.float32), 0.5)
    return x * (1 - water) + _coloured(water, x, _WATER)


def _coloured(layer: Images, x: Images, colour: Images) -> Images:
    """A grey layer (n, 1, s, s) in a colour, for images that have colours."""
    found: Images = layer * (colour[None, :, None, None] if x.shape[1] == len(colour) else colour.mean())
    return found
