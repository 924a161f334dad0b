"""Shifts between batches of images: what each changes, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import picsc
from picsc.datasets.images import ImageSet, from_images
from picsc.errors import DataError, SettingsError
from picsc.settings import CvSettings
from picsc.settings.choices import BatchShift
from picsc.simulation.batch_shift import with_batch_shift

K = 6
KINDS: tuple[BatchShift, ...] = ("rotate", "return", "labels", "permute", "noise")


def images(n: int = 240, seed: int = 0) -> ImageSet:
    """Images of which each has one bright corner, and its own number in its brightness."""
    pixels = np.zeros((n, 16, 16), np.int64)
    pixels[:, 2:5, 2:5] = 100 + (np.arange(n) % 150)[:, None, None]
    labels = np.random.default_rng(seed).integers(0, 4, n)
    return replace(from_images(pixels, labels), test=np.arange(0, n, 7))


def batches(found: ImageSet) -> list[np.ndarray]:
    return np.array_split(found.pixels[:, 0].astype(float), K)


@pytest.mark.parametrize("kind", KINDS)
def test_every_image_is_in_one_batch_by_the_seed(kind: BatchShift) -> None:
    one, again, other = (with_batch_shift(images(), kind, K, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(one.pixels, again.pixels)
    assert np.array_equal(one.labels, again.labels)
    assert not np.array_equal(one.labels, other.labels)
    assert np.bincount(one.labels).tolist() == np.bincount(images().labels).tolist()
    assert len(one.test) == 0
    assert images().pixels.max() == with_batch_shift(images(), "labels", K, seed=0).pixels.max()


def test_batches_are_turned_further_and_further_about_the_centre() -> None:
    found = batches(with_batch_shift(images(), "rotate", K, seed=0))
    angles = []
    for part in found:
        mean = part.mean(0)
        y, x = (np.average(np.arange(16) - 7.5, weights=mean.sum(axis)) for axis in (1, 0))
        angles.append(np.degrees(np.arctan2(y, x)))
    assert np.diff(np.unwrap(angles, period=360)) == pytest.approx(np.full(K - 1, angles[1] - angles[0]), abs=2)
    assert abs(np.unwrap(angles, period=360)[-1] - angles[0]) == pytest.approx(60, abs=2)


def test_batches_are_turned_there_and_back() -> None:
    one_way = batches(with_batch_shift(images(), "rotate", 3, seed=0))
    pixels = with_batch_shift(images(), "return", 5, seed=0).pixels[:, 0]
    found = [part.mean(0) > 0 for part in np.array_split(pixels, 5)]
    assert np.array_equal(found[0], found[4])
    assert np.array_equal(found[1], found[3])
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[1], found[2])
    assert np.array_equal(found[2], one_way[-1].mean(0) > 0)


def test_pixels_are_permuted_anew_in_every_second_batch() -> None:
    found = [(part.mean(0) > 0) for part in batches(with_batch_shift(images(), "permute", K, seed=0))]
    same = [np.array_equal(one, other) for one, other in pairwise(found)]
    assert same == [True, False, True, False, True]
    assert [part.sum() for part in found] == [9] * K


def test_noise_grows_from_0_to_one_and_a_half_deviations() -> None:
    grey = from_images(np.full((600, 16, 16), 128), np.arange(600) % 3)
    grey = replace(
        grey, pixels=grey.pixels + np.random.default_rng(0).integers(-9, 10, grey.pixels.shape).astype(np.uint8)
    )
    own = grey.pixels.std()
    spreads = [part.std() for part in batches(with_batch_shift(grey, "noise", K, seed=0))]
    assert spreads == pytest.approx([own * np.hypot(1, 1.5 * b / (K - 1)) for b in range(K)], rel=0.02)


def test_classes_have_other_shares_in_every_batch_and_batches_keep_their_size() -> None:
    plain, drawn = (
        [np.bincount(part, minlength=4) for part in np.array_split(found.labels, K)]
        for found in (with_batch_shift(images(), "permute", K, seed=2), with_batch_shift(images(), "labels", K, seed=2))
    )
    assert [part.sum() for part in drawn] == [40] * K
    assert np.std(drawn, axis=0).mean() > 2 * np.std(plain, axis=0).mean()


def test_every_batch_is_tested_on_its_own_images_which_no_model_learns_from() -> None:
    report = picsc.cross_validate(
        images(), batches=K, batch_shift="permute", model="mlp", epochs=1, strength=0.0, methods=("st-cv",)
    )
    scores = report.method("carried")
    assert scores is not None
    assert scores.lifelong is not None
    assert np.shape(scores.lifelong.matrix) == (K, K)
    assert scores.lifelong.all_pieces == pytest.approx(np.mean(scores.lifelong.matrix[-1]))


def test_a_shift_needs_batches_of_images() -> None:
    with pytest.raises(SettingsError, match="add batches=K"):
        picsc.cross_validate(images(), folds=3, batch_shift="noise")
    with pytest.raises(SettingsError, match="is for images"):
        picsc.cross_validate(np.eye(40), np.arange(40) % 2, batches=3, batch_shift="noise")
    with pytest.raises(SettingsError, match="is for images"):
        picsc.cross_validate(np.eye(40), np.arange(40) % 2, batches=3, model="mlp")
    with pytest.raises(DataError, match="need at least 2 a batch"):
        picsc.cross_validate(images(9), batches=5, batch_shift="noise")
    with pytest.raises(SettingsError, match="there and back: give batches=3 or more"):
        picsc.cross_validate(images(), batches=2, batch_shift="return")
    assert CvSettings().batch_shift is None
