"""Both families: every corruption changes images, more with its severity where its authors' strengths grow alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from picsc.datasets.corruptions.corrupt import COLOURED, GREY, SEVERITIES, corrupt
from picsc.errors import SettingsError

NOT_BY_STRENGTH = {"glass_blur", "frost", "elastic_transform", "snow", "pixelate", "canny_edges"}
"""Some of their numbers fall from one severity to the next, or what they change depends on where edges lie."""


def images(channels: int) -> NDArray[np.uint8]:
    """A bright disc and a bar, with slopes of brightness in coloured images."""
    s = 28 if channels == 1 else 32
    rows, columns = np.mgrid[:s, :s]
    one = np.where(((rows - 14) ** 2 + (columns - 13) ** 2 < 40) | (rows == 22), 220, 0 * rows)
    layers = [one] if channels == 1 else [one // 2 + 40, one // 3 + 3 * rows, 200 - 4 * columns]
    return np.stack([np.stack(layers)] * 40).astype(np.uint8)


@pytest.mark.parametrize(
    ("channels", "name"), [*((1, name) for name in GREY), *((3, name) for name in COLOURED)], ids=str
)
def test_every_corruption_in_every_severity(channels: int, name: str) -> None:
    clean = images(channels)
    kept = clean.copy()
    found = [corrupt(clean, name, severity, np.random.default_rng(0)) for severity in range(1, SEVERITIES + 1)]
    again = corrupt(clean, name, SEVERITIES, np.random.default_rng(0))
    assert all(each.shape == clean.shape and each.dtype == np.uint8 for each in found)
    np.testing.assert_array_equal(found[-1], again)
    np.testing.assert_array_equal(clean, kept)
    changes = [float(np.abs(each.astype(float) - clean).mean()) for each in found]
    assert changes[-1] > 0.5
    if name not in NOT_BY_STRENGTH:
        assert changes[-1] > changes[0]
        assert np.all(np.diff(changes) > -0.15 * changes[-1])


def test_both_families_have_fifteen_with_five_strengths_each() -> None:
    for known in (GREY, COLOURED):
        assert len(known) == 15
        assert {len(each.strengths) for each in known.values()} == {SEVERITIES}


@pytest.mark.parametrize(
    ("name", "severity", "words"),
    [("fogg", 1, "corruption 'fogg' is unknown"), ("fog", 0, "severity 0: need 1 to 5"), ("fog", 6, "severity 6")],
)
def test_unknown_names_and_severities_are_refused(name: str, severity: int, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        corrupt(images(1), name, severity, np.random.default_rng(0))
