"""Labels that are replaced: how many, by what, and never those that judge."""

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.images import from_images
from picsc.datasets.load import from_frame
from picsc.errors import SettingsError
from picsc.settings import ReadSettings
from picsc.simulation.label_noise import with_label_noise


def test_a_share_of_the_labels_becomes_another_class_drawn_evenly() -> None:
    y = np.arange(6000) % 3
    data = from_frame(
        pd.DataFrame({"a": np.sin(y * 1.7 + np.arange(6000)), "target": y}), ReadSettings(target="target")
    )
    clean = np.arange(0, 6000, 3)
    noisy = with_label_noise(data, 0.4, clean, seed=0)
    assert data.target is not None
    assert noisy.target is not None
    before, after = np.asarray(data.target.values), np.asarray(noisy.target.values)
    assert (before[clean] == after[clean]).all()
    rest = np.setdiff1d(np.arange(6000), clean)
    changed = before[rest] != after[rest]
    # binomial with 4,000 draws: 6 standard deviations are 0.046
    assert changed.mean() == pytest.approx(0.4, abs=0.046)
    step = (after[rest][changed] - before[rest][changed]) % 3
    assert (step == 1).mean() == pytest.approx(0.5, abs=0.08)
    other = with_label_noise(data, 0.4, clean, seed=1).target
    assert other is not None
    assert np.asarray(other.values).tolist() != after.tolist()


def test_images_keep_their_pixels() -> None:
    images = from_images(np.zeros((40, 16, 16), np.uint8), np.arange(40) % 4)
    noisy = with_label_noise(images, 0.9, np.arange(10), seed=0)
    assert (noisy.labels[:10] == images.labels[:10]).all()
    assert (noisy.labels != images.labels).sum() > 15
    assert noisy.pixels is images.pixels


def test_numbers_have_no_other_class() -> None:
    frame = pd.DataFrame({"a": np.sin(np.arange(40)), "target": np.cos(np.arange(40))})
    data = from_frame(frame, ReadSettings(target="target"))
    with pytest.raises(SettingsError, match="--label-noise replaces classes"):
        with_label_noise(data, 0.4, np.arange(1), seed=0)
