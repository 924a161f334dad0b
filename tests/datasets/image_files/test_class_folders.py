"""Caltech-101's folders of pictures, made small."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.image_files import bounds, pictures
from picsc.datasets.image_files.folders import read_image_folder
from picsc.errors import DataError
from picsc.settings import ReadSettings
from tests.pictures import plain, write_picture

RED, GREEN, BLUE, GREY = (200, 10, 20), (0, 180, 0), (5, 6, 250), (90, 90, 90)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "caltech101" / "101_ObjectCategories"
    write_picture(folder / "crab" / "image_0001.jpg", plain(RED))
    write_picture(folder / "crab" / "image_0002.jpg", plain(GREEN, 100, 70))
    write_picture(folder / "anchor" / "image_0001.jpg", plain(BLUE, 7, 300))
    write_picture(folder / "BACKGROUND_Google" / "image_0001.jpg", plain(GREY))
    (folder / "crab" / ".DS_Store").write_bytes(b"no picture")
    (folder / "crab" / "._image_0001.jpg").write_bytes(b"no picture")
    return folder


def test_classes_are_the_names_of_the_folders(folder: Path) -> None:
    images = by_name("Caltech-101", ReadSettings(), data_dir=folder.parents[1])
    assert images.kind == "images"
    assert images.shape == (3, 3, 64, 64)
    assert images.classes == ("anchor", "crab")
    assert images.labels.tolist() == [0, 1, 1]
    assert len(images.test) == 0
    for image, colour in zip(images.pixels, (BLUE, RED, GREEN), strict=True):
        np.testing.assert_array_equal(image, np.broadcast_to(np.array(colour)[:, None, None], (3, 64, 64)))


def test_the_middle_of_a_wide_and_of_a_high_picture_is_kept(folder: Path) -> None:
    for file, wide in (("a.png", True), ("b.png", False)):
        pixels = plain(RED, 10, 30)
        pixels[:, 10:20] = BLUE
        write_picture(folder / "dolphin" / file, pixels if wide else pixels.swapaxes(0, 1).copy())
    images = read_image_folder(folder, "caltech101")
    middle = images.pixels[images.labels == images.classes.index("dolphin"), :, 8:-8, 8:-8]
    np.testing.assert_array_equal(middle, np.broadcast_to(np.array(BLUE)[:, None, None], middle.shape))


def test_pictures_are_real_jpegs(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1)
    for name in ("crab", "anchor"):
        (tmp_path / name).mkdir()
        Image.fromarray(pixels).save(tmp_path / name / "image_0001.jpg", quality=95)
    images = read_image_folder(tmp_path, "caltech101")
    assert np.abs(images.pixels[0].astype(int) - pixels.transpose(2, 0, 1)).mean() < 25
    with Image.open(tmp_path / "crab" / "image_0001.jpg") as image:
        np.testing.assert_array_equal(images.pixels[1], np.asarray(image).transpose(2, 0, 1))


def test_the_digest_follows_pictures_and_classes(folder: Path) -> None:
    first = read_image_folder(folder, "caltech101").sha256
    (folder / "crab").rename(folder / "lobster")
    second = read_image_folder(folder, "caltech101").sha256
    write_picture(folder / "lobster" / "image_0001.jpg", plain(GREY))
    assert len({first, second, read_image_folder(folder, "caltech101").sha256}) == 3


@pytest.mark.parametrize("content", [b"", b"no picture", b"P6\n8 8\n255\nshort"])
def test_a_damaged_picture_is_named(folder: Path, content: bytes) -> None:
    (folder / "crab" / "image_0002.jpg").write_bytes(content)
    with pytest.raises(DataError, match=r"image_0002.jpg is no picture that can be read \(\w+\); get it again"):
        read_image_folder(folder, "caltech101")


def test_without_pillow_one_sentence_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(DataError, match=r"pictures such as JPEG need Pillow; pip install 'picsc\[pictures\]'"):
        read_image_folder(folder, "caltech101")


def test_a_picture_that_promises_too_many_pixels_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MOST_PIXELS", 1000)
    with pytest.raises(DataError, match=r"a picture of 300 x 7 pixels is larger than the bound of 1000 pixels"):
        read_image_folder(folder, "caltech101")


def test_too_many_pictures_are_refused_before_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST", 3 * 3 * 64 * 64 / (1 << 30) / 1.01)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_image_folder(folder, "caltech101")
