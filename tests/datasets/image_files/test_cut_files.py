"""Files of the authors of image sets that end early, wherever they are cut: one sentence that names the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from typer.testing import CliRunner

from picsc.datasets.catalog.lookup import by_name
from picsc.errors import DataError
from picsc.settings import ReadSettings
from picsc_cli.app import app

RANDOM = np.random.default_rng(0)
CUTS = (0.0, 0.01, 0.1, 0.33, 0.5, 0.75, 0.95, 0.999)
"""Shares of a file that are left."""


def svhn(root: Path) -> Path:
    path = root / "svhn" / "train_32x32.mat"
    path.parent.mkdir()
    held = {"X": RANDOM.integers(0, 256, (32, 32, 3, 4), dtype=np.uint8), "y": np.array([[10], [1], [2], [3]])}
    savemat(path, held, do_compression=True)
    return path


def stl10(root: Path) -> Path:
    folder = root / "stl10_binary"
    folder.mkdir()
    (folder / "train_y.bin").write_bytes(bytes((1, 10, 3)))
    (folder / "train_X.bin").write_bytes(RANDOM.bytes(3 * 3 * 96 * 96))
    return folder / "train_X.bin"


def jpeg(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(RANDOM.integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(path, format="JPEG")
    return path


def caltech101(root: Path) -> Path:
    jpeg(root / "101_ObjectCategories" / "anchor" / "image_0001.jpg")
    return jpeg(root / "101_ObjectCategories" / "crab" / "image_0001.jpg")


def tiny_imagenet(root: Path) -> Path:
    jpeg(root / "tiny-imagenet-200" / "train" / "n01443537" / "images" / "n01443537_0.JPEG")
    return jpeg(root / "tiny-imagenet-200" / "train" / "n01629819" / "images" / "n01629819_0.JPEG")


def cifar100_binary(root: Path) -> Path:
    path = root / "cifar-100-binary" / "test.bin"
    path.parent.mkdir()
    path.write_bytes(b"".join(bytes((0, label)) + RANDOM.bytes(3072) for label in (1, 0, 2)))
    return path


def cifar10_c(root: Path) -> Path:
    folder = root / "CIFAR-10-C"
    folder.mkdir()
    np.save(folder / "labels.npy", np.tile(np.arange(6), 5))
    np.save(folder / "fog.npy", RANDOM.integers(0, 256, (30, 4, 4, 3), dtype=np.uint8))
    return folder / "fog.npy"


def mnist_c(root: Path) -> Path:
    folder = root / "mnist_c" / "fog"
    folder.mkdir(parents=True)
    for which in ("train", "test"):
        np.save(folder / f"{which}_images.npy", RANDOM.integers(0, 256, (9, 28, 28, 1), dtype=np.uint8))
        np.save(folder / f"{which}_labels.npy", np.arange(9) % 3)
    return folder / "test_images.npy"


SETS: dict[str, Callable[[Path], Path]] = {
    "svhn": svhn,
    "stl10": stl10,
    "caltech101": caltech101,
    "tiny-imagenet": tiny_imagenet,
    "cifar100": cifar100_binary,
    "cifar10-c-fog": cifar10_c,
    "mnist-c-fog": mnist_c,
}


@pytest.mark.parametrize("name", SETS)
def test_a_file_that_ends_early_is_named_wherever_it_is_cut(tmp_path: Path, name: str) -> None:
    path = SETS[name](tmp_path)
    by_name(name, ReadSettings(), data_dir=tmp_path)  # whole, it is read
    whole = path.read_bytes()
    for share in CUTS:
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(DataError, match=path.name.replace(".", r"\.")) as caught:
            by_name(name, ReadSettings(), data_dir=tmp_path)
        assert "\n" not in str(caught.value)


def test_the_command_ends_with_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    path = svhn(tmp_path)
    path.write_bytes(path.read_bytes()[:300])
    ran = CliRunner().invoke(app, ["cv", "--dataset", "svhn", "--data-dir", str(tmp_path), "--quiet"])
    assert ran.exit_code == 2
    assert len(ran.stderr.splitlines()) == 1
    assert str(path) in ran.stderr
