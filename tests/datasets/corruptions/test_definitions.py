"""Corruptions against what their definition says of simple images."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from picsc.datasets.corruptions.blur import defocus_blur, glass_blur, motion_blur, trailed, zoom_blur
from picsc.datasets.corruptions.digital import contrast, jpeg_compression, pixelate
from picsc.datasets.corruptions.edges import canny_edges
from picsc.datasets.corruptions.geometry import elastic_transform, rotate, scale, shear, translate
from picsc.datasets.corruptions.marks import dotted_line, stripe, zigzag
from picsc.datasets.corruptions.plasma import plasma
from picsc.datasets.corruptions.weather import brightness, fog

RNG = np.random.default_rng(0)
NOISY = RNG.random((3, 3, 32, 32)).astype(np.float32)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def point(row: int = 16, column: int = 16, s: int = 33) -> NDArray[np.float32]:
    x = np.zeros((1, 1, s, s), np.float32)
    x[0, 0, row, column] = 1
    return x


# Blur


def test_a_defocused_point_is_a_disc() -> None:
    found = defocus_blur(point(), (4, 0.1), rng())[0, 0]
    rows, columns = np.mgrid[:33, :33] - 16
    disc = rows**2 + columns**2 <= 16
    np.testing.assert_allclose(found, disc / disc.sum(), atol=1e-6)


@pytest.mark.parametrize("blurred", [defocus_blur, zoom_blur, motion_blur])
def test_blur_leaves_a_plain_image_alone(blurred: object) -> None:
    strength = {defocus_blur: (2, 0.5), zoom_blur: 1.2, motion_blur: (6, 2.0)}[blurred]  # type: ignore[index]
    x = np.full((2, 3, 32, 32), 0.3, np.float32)
    np.testing.assert_allclose(blurred(x, strength, rng()), x, atol=1e-6)  # type: ignore[operator]


def test_glass_only_moves_pixels() -> None:
    found = glass_blur(NOISY, (1e-3, 2, 2), rng())
    np.testing.assert_array_equal(np.sort(found.reshape(9, -1)), np.sort(NOISY.reshape(9, -1)))
    assert np.mean(found != NOISY) > 0.5


def test_motion_runs_along_its_line() -> None:
    found = trailed(point(), (3, 100.0), np.array([0.0]))[0, 0]
    assert np.flatnonzero(found.sum(1)).tolist() == [16]
    assert np.flatnonzero(found.sum(0)).tolist() == list(range(16, 23))
    down = trailed(point(), (3, 100.0), np.array([90.0]))[0, 0]
    assert np.flatnonzero(down.sum(0)).tolist() == [16]


# Weather


def test_brightness_raises_the_value_and_keeps_the_hue() -> None:
    x = np.array([0.4, 0.2, 0.1], np.float32)[None, :, None, None]
    np.testing.assert_allclose(brightness(x, 0.2, rng())[0, :, 0, 0], [0.6, 0.3, 0.15], rtol=1e-6)
    assert brightness(np.zeros((1, 1, 1, 1), np.float32), 0.2, rng())[0, 0, 0, 0] == pytest.approx(0.2)


def test_fog_keeps_the_largest_value_as_bound() -> None:
    found = fog(NOISY / 2, (1.5, 2), rng())
    assert np.all(found.max((1, 2, 3)) <= NOISY.max((1, 2, 3)) / 2 + 1e-6)
    assert found.mean() > 0


@pytest.mark.parametrize("side", [1, 2, 28, 32, 33])
def test_clouds_go_from_0_to_1_and_are_smoother_with_decay(side: int) -> None:
    found = plasma(50, side, 3, rng())
    assert found.shape == (50, side, side)
    assert found.min() >= 0
    assert found.max() <= 1
    if side > 8:
        rough = plasma(50, side, 1.3, rng())
        assert np.abs(np.diff(found)).mean() < 0.5 * np.abs(np.diff(rough)).mean()


# Digital


def test_contrast_shrinks_the_deviation_of_each_channel() -> None:
    found = contrast(NOISY, 0.3, rng())
    np.testing.assert_allclose(found.std((2, 3)), 0.3 * NOISY.std((2, 3)), rtol=1e-4)
    np.testing.assert_allclose(found.mean((2, 3)), NOISY.mean((2, 3)), rtol=1e-4)


def test_pixels_become_means_of_areas() -> None:
    found = pixelate(NOISY, 0.5, rng())
    means = NOISY.reshape(3, 3, 16, 2, 16, 2).mean((3, 5))
    np.testing.assert_allclose(found, means.repeat(2, 2).repeat(2, 3), atol=1e-6)
    assert pixelate(NOISY, 0.65, rng()).mean() == pytest.approx(NOISY.mean(), abs=0.02)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("s", [28, 30, 32])
def test_jpeg_of_the_best_quality_loses_little_and_of_a_low_one_much(channels: int, s: int) -> None:
    rows, columns = np.mgrid[:s, :s] / s
    smooth = np.stack([0.2 + 0.5 * rows, 0.8 - 0.5 * columns, 0.3 + 0.4 * rows * columns])[None, :channels]
    x = smooth.astype(np.float32)
    best, good, low = (np.abs(jpeg_compression(x, quality, rng()) - x).max() for quality in (100, 80, 10))
    assert best < 0.03
    assert best < good < low


def test_jpeg_rounds_the_mean_of_a_block_to_the_table() -> None:
    # quality 50 is the printed table: 16 for the mean of a block, which is 8 times the value, so steps of 2
    x = np.full((1, 1, 8, 8), 131 / 255, np.float32)
    assert jpeg_compression(x, 50, rng())[0, 0, 0, 0] * 255 == pytest.approx(132, abs=1e-3)


# Geometry


def test_a_quarter_turn_is_exact() -> None:
    found = rotate(NOISY, 90, rng())
    turned = [np.rot90(NOISY, k, (2, 3)) for k in (1, 3)]
    assert all(min(np.abs(f - t[i]).max() for t in turned) < 1e-5 for i, f in enumerate(found))


def test_scale_shrinks_about_the_middle() -> None:
    x = np.zeros((1, 1, 33, 33), np.float32)
    x[..., 4:29, 4:29] = 1
    found = scale(x, 0.5, rng())[0, 0]
    assert found.sum() == pytest.approx(x.sum() / 4, rel=0.1)
    assert found[10:23, 10:23].min() == 1


def test_shear_moves_rows_by_their_distance_from_the_middle() -> None:
    x = np.zeros((1, 1, 33, 33), np.float32)
    x[..., 16] = 1
    found = np.argmax(shear(x, 0.5, rng())[0, 0], 1)
    assert found[16] == 16
    assert abs(found[26] - 16) == 5
    assert found[26] - 16 == 16 - found[6]


def test_translation_has_its_length() -> None:
    x = np.repeat(point(), 50, 0)
    found = translate(x, 0.2, rng())[:, 0]
    rows, columns = np.mgrid[:33, :33]
    distance = np.hypot((found * rows).sum((1, 2)) - 16, (found * columns).sum((1, 2)) - 16)
    np.testing.assert_allclose(distance, 0.2 * 33, atol=0.01)


def test_an_elastic_map_of_no_strength_is_the_identity() -> None:
    np.testing.assert_allclose(elastic_transform(NOISY, (0, 0, 0), rng()), NOISY, atol=1e-5)


# Marks and edges


def test_the_stripe_inverts_the_middle() -> None:
    found = stripe(NOISY, 0.25, rng())
    np.testing.assert_allclose(found[..., 12:20], 1 - NOISY[..., 12:20])
    np.testing.assert_array_equal(found[..., :12], NOISY[..., :12])
    np.testing.assert_array_equal(found[..., 20:], NOISY[..., 20:])


def test_lines_are_white_and_cross_the_image() -> None:
    x = np.zeros((20, 1, 28, 28), np.float32)
    dotted, whole = dotted_line(x, (1, 0.5), rng())[:, 0], zigzag(x, (1, 0.1), rng())[:, 0]
    assert set(np.unique(dotted)) == {0, 1}
    assert np.all(whole.max(1) == 1)
    share = dotted.max(1).mean()
    assert 0.4 < share < 0.8
    assert np.all(whole.sum((1, 2)) > dotted.sum((1, 2)))


def test_edges_of_a_square_are_its_outline() -> None:
    x = np.zeros((2, 1, 28, 28), np.float32)
    x[0, 0, 8:20, 8:20] = 1
    found = canny_edges(x, 0.7, rng())
    assert found[1].sum() == 0
    rows, columns = np.nonzero(found[0, 0])
    outline = np.maximum(np.abs(rows - 13.5), np.abs(columns - 13.5))
    assert len(rows) > 36
    assert np.all(np.abs(outline - 6) <= 1)
