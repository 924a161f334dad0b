"""STL-10's binary files, made small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.image_files.folders import read_image_folder
from picsc.datasets.image_files.stl10 import CLASSES
from picsc.errors import DataError
from picsc.settings import ReadSettings

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 3, 96, 96), dtype=np.uint8)
LABELS = np.array([1, 10, 3, 2], dtype=np.uint8)


def write(folder: Path, part: str, rows: slice) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    columns = b"".join(channel.tobytes(order="F") for image in PIXELS[rows] for channel in image)
    (folder / f"{part}_X.bin").write_bytes(columns)
    (folder / f"{part}_y.bin").write_bytes(LABELS[rows].tobytes())


def test_both_parts_by_name_are_upright(tmp_path: Path) -> None:
    folder = tmp_path / "stl10" / "stl10_binary"
    write(folder, "train", slice(0, 3))
    write(folder, "test", slice(3, 4))
    (folder / "unlabeled_X.bin").write_bytes(b"not used")
    images = by_name("STL-10", ReadSettings(), data_dir=tmp_path)
    assert images.kind == "images"
    np.testing.assert_array_equal(images.pixels, PIXELS)
    assert [images.classes[code] for code in images.labels] == ["airplane", "truck", "car", "bird"]
    assert images.classes == CLASSES
    assert images.test.tolist() == [3]


def test_the_digest_follows_the_bytes(tmp_path: Path) -> None:
    write(tmp_path, "train", slice(0, 2))
    first = read_image_folder(tmp_path, "stl10").sha256
    (tmp_path / "train_y.bin").write_bytes(bytes([2, 2]))
    assert read_image_folder(tmp_path, "stl10").sha256 != first


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("train_X.bin", b"abc", "train_X.bin has 3 bytes, which is no whole number of images of 27648 bytes"),
        ("train_X.bin", b"", "train_X.bin has 0 bytes"),
        ("train_y.bin", bytes([1, 2]), "3 images but labels of shape"),
        ("train_y.bin", bytes([1, 0, 2]), r"train_y.bin, label 2: it is 0, and labels go from 1 to 10"),
        ("train_y.bin", bytes([1, 2, 11]), r"train_y.bin, label 3: it is 11"),
        ("train_y.bin", None, "train_X.bin has no file of labels; put train_y.bin into the same folder"),
    ],
)
def test_damaged_files_are_refused_with_the_reason(
    tmp_path: Path, file: str, content: bytes | None, words: str
) -> None:
    write(tmp_path, "train", slice(0, 3))
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_image_folder(tmp_path, "stl10")
