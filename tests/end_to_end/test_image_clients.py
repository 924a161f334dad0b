"""Images with owners, EMNIST's and SVHN's files."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from picsc.datasets.catalog.inventory import describe
from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.image_files.folders import read_image_folder
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.settings import ReadSettings


def get(root: Path, name: str) -> ImageSet:
    found = by_name(name, ReadSettings(), data_dir=root)
    assert isinstance(found, ImageSet)
    return found


def test_an_archive_may_name_the_owner_of_every_image(tmp_path: Path) -> None:
    path = tmp_path / "femnist" / "femnist_digits_12clients.npz"
    path.parent.mkdir()
    x = np.arange(4 * 9, dtype=np.uint8).reshape(4, 3, 3)
    np.savez(path, x=x, y=[5, 6, 5, 6], client=[20, 3, 3, 20], test=[3])
    images = get(tmp_path, "femnist")
    assert images.owners is not None
    assert (images.owners.tolist(), images.clients, images.test.tolist()) == ([1, 0, 0, 1], ("3", "20"), [3])
    assert images.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert describe("femnist", tmp_path).clients == "2"


@pytest.mark.parametrize("client", [[1, 2, 3], [0.5, 1, 1, 1], [[1], [1], [1], [1]]])
def test_owners_that_do_not_fit_are_refused(tmp_path: Path, client: list[float]) -> None:
    np.savez(tmp_path / "femnist.npz", x=np.zeros((4, 3, 3), np.uint8), y=[0, 1, 0, 1], client=client)
    with pytest.raises(DataError, match="it must name the owner of each of the 4 images"):
        get(tmp_path, "femnist")


def test_images_have_no_owners_unless_told() -> None:
    digits = by_name("digits", ReadSettings())
    assert isinstance(digits, ImageSet)
    assert (digits.owners, digits.clients) == (None, ())
    assert digits.sha256 == "bcbfb2070ac35f7a3266afd5e42d281638b699da4d8b3be5c474c0874baaf493"


def idx(path: Path, array: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = bytes((0, 0, 8, array.ndim)) + b"".join(length.to_bytes(4, "big") for length in array.shape)
    path.write_bytes(gzip.compress(header + array.astype(np.uint8).tobytes()))


def test_emnist_is_turned_upright(tmp_path: Path) -> None:
    stored = np.arange(3 * 16).reshape(3, 4, 4)
    for part in ("train", "test"):
        idx(tmp_path / f"emnist/gzip/emnist-digits-{part}-images-idx3-ubyte.gz", stored)
        idx(tmp_path / f"emnist/gzip/emnist-digits-{part}-labels-idx1-ubyte.gz", np.array([7, 0, 7]))
        idx(tmp_path / f"emnist/gzip/emnist-letters-{part}-images-idx3-ubyte.gz", stored)
    images = get(tmp_path, "EMNIST-Digits")
    assert images.pixels[1, 0].tolist() == stored[1].T.tolist()
    assert (images.classes, images.labels.tolist()) == (("0", "7"), [1, 0, 1, 1, 0, 1])
    assert images.test.tolist() == [3, 4, 5]


def svhn(path: Path, first: int, n: int) -> np.ndarray:
    x = (np.arange(4 * 4 * 3 * n).reshape(4, 4, 3, n) + first).astype(np.uint8)
    savemat(path, {"X": x, "y": np.array([[1], [10], [9], [10]], dtype=np.uint8)[:n]})
    return x


def test_svhn_has_its_colours_and_its_zero(tmp_path: Path) -> None:
    folder = tmp_path / "SVHN"
    folder.mkdir()
    train, test = svhn(folder / "train_32x32.mat", 0, 4), svhn(folder / "test_32x32.mat", 9, 2)
    images = get(tmp_path, "svhn")
    assert images.pixels.shape == (6, 3, 4, 4)
    np.testing.assert_array_equal(images.pixels[1], train[:, :, :, 1].transpose(2, 0, 1))
    np.testing.assert_array_equal(images.pixels[5], test[:, :, :, 1].transpose(2, 0, 1))
    assert [images.classes[code] for code in images.labels] == ["1", "0", "9", "0", "1", "0"]
    assert images.test.tolist() == [4, 5]


@pytest.mark.parametrize(
    ("content", "message"), [(b"nothing of the kind", "is no MATLAB file"), (b"", "is no MATLAB file")]
)
def test_a_damaged_svhn_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "train_32x32.mat").write_bytes(content)
    with pytest.raises(DataError, match=rf"train_32x32\.mat {message}"):
        read_image_folder(tmp_path, "svhn")


def test_another_matlab_file_is_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "test_32x32.mat", {"X": np.zeros((3, 3))})
    with pytest.raises(DataError, match=r"test_32x32\.mat: there are no images X"):
        read_image_folder(tmp_path, "svhn")
    (tmp_path / "test_32x32.mat").write_bytes((tmp_path / "test_32x32.mat").read_bytes()[:-30])
    with pytest.raises(DataError, match=r"test_32x32\.mat"):
        read_image_folder(tmp_path, "svhn")
