"""SVHN's two MATLAB files, made small."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.image_files import bounds
from picsc.datasets.image_files.folders import read_image_folder
from picsc.errors import DataError
from picsc.settings import ReadSettings

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 3, 32, 32), dtype=np.uint8)
DIGITS = np.array([10, 1, 9, 10, 3], dtype=np.uint8)


def write(folder: Path, part: str, rows: slice, *, packed: bool = True) -> None:
    folder.mkdir(exist_ok=True)
    held = {"X": PIXELS[rows].transpose(2, 3, 1, 0), "y": DIGITS[rows, None]}
    savemat(folder / f"{part}_32x32.mat", held, do_compression=packed)


@pytest.mark.parametrize("packed", [True, False])
def test_both_parts_by_name_with_ten_as_the_digit_0(tmp_path: Path, packed: bool) -> None:
    write(tmp_path / "SVHN", "train", slice(0, 3), packed=packed)
    write(tmp_path / "SVHN", "test", slice(3, 5), packed=packed)
    images = by_name("svhn", ReadSettings(), data_dir=tmp_path)
    assert images.kind == "images"
    np.testing.assert_array_equal(images.pixels, PIXELS)
    assert [images.classes[code] for code in images.labels] == ["0", "1", "9", "0", "3"]
    assert images.test.tolist() == [3, 4]


def test_one_part_alone_has_no_test_part(tmp_path: Path) -> None:
    write(tmp_path, "test", slice(0, 5))
    assert read_image_folder(tmp_path, "svhn").test.tolist() == []


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "train", slice(0, 5))
    path = tmp_path / "train_32x32.mat"
    whole = path.read_bytes()
    for length in (0, 1, 60, 127, 128, 132, 136, 140, 500, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"train_32x32\.mat"):
            read_image_folder(tmp_path, "svhn")


def test_a_file_without_images_is_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "train_32x32.mat", {"X": np.zeros((4, 4)), "y": np.zeros(4, np.uint8)})
    with pytest.raises(DataError, match="no images X"):
        read_image_folder(tmp_path, "svhn")


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MOST", 1 / 1024)
    write(tmp_path, "train", slice(0, 5))
    path = tmp_path / "train_32x32.mat"
    packed = zlib.compress(bytes(1 << 21))
    path.write_bytes(path.read_bytes()[:128] + struct.pack("<II", 15, len(packed)) + packed)
    with pytest.raises(DataError, match=r"train_32x32.mat unpacks to more than 0.000976562 GiB, the bound for images"):
        read_image_folder(tmp_path, "svhn")
