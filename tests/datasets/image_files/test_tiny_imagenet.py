"""Tiny ImageNet's folders, made small."""

from __future__ import annotations

from pathlib import Path

import pytest

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.image_files.folders import read_image_folder
from picsc.errors import DataError
from picsc.settings import ReadSettings
from tests.pictures import plain, write_picture

FIRST, SECOND = "n01443537", "n01629819"
LISTED = f"val_0.JPEG\t{SECOND}\t0\t32\t44\t62\nval_1.JPEG\t{FIRST}\t52\t55\t57\t59\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny-imagenet-200"
    for i, wordnet in enumerate((FIRST, SECOND)):
        write_picture(folder / "train" / wordnet / "images" / f"{wordnet}_0.JPEG", plain((10 + i, 0, 0), 64, 64))
        (folder / "train" / wordnet / f"{wordnet}_boxes.txt").write_text("not used")
        write_picture(folder / "val" / "images" / f"val_{i}.JPEG", plain((20 + i, 0, 0), 64, 64))
    (folder / "val" / "val_annotations.txt").write_text(LISTED)
    write_picture(folder / "test" / "images" / "test_0.JPEG", plain((99, 0, 0)))
    return folder


def test_validation_pictures_are_the_test_part_with_the_listed_classes(folder: Path) -> None:
    images = by_name("tiny_imagenet", ReadSettings(), data_dir=folder.parent)
    assert images.kind == "images"
    assert images.shape == (4, 3, 64, 64)
    assert images.pixels[:, 0, 0, 0].tolist() == [10, 11, 20, 21]
    assert [images.classes[code] for code in images.labels] == [FIRST, SECOND, SECOND, FIRST]
    assert images.test.tolist() == [2, 3]


def test_training_pictures_alone(folder: Path) -> None:
    (folder / "val" / "val_annotations.txt").unlink()
    images = read_image_folder(folder, "tiny-imagenet")
    assert images.labels.tolist() == [0, 1]
    assert len(images.test) == 0


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (b"val_0.JPEG n01\n", "val_annotations.txt, line 1: there is no picture with a class, separated by a tab"),
        (b"\n../val_0.JPEG\tn01\n", "val_annotations.txt, line 2: there is no picture"),
        (b"val_9.JPEG\tn01\n", r"line 1: .*val_9.JPEG is not there; put all validation pictures there"),
        (b"\xff\xfe", "val_annotations.txt is no UTF-8 text"),
        (b"", "there are no images in it"),
    ],
)
def test_a_damaged_list_is_refused_with_the_line(folder: Path, listed: bytes, words: str) -> None:
    (folder / "val" / "val_annotations.txt").write_bytes(listed)
    with pytest.raises(DataError, match=words):
        read_image_folder(folder, "tiny-imagenet")
