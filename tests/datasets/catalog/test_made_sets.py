"""Sets that are made from another one, and the files of their authors, made small."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from picsc.datasets.catalog import lookup
from picsc.datasets.catalog.inventory import inventory
from picsc.datasets.catalog.made_names import made_name
from picsc.datasets.catalog.made_sets import NOISES
from picsc.datasets.corruptions.corrupt import COLOURED, GREY
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.settings import ReadSettings

RNG = np.random.default_rng(0)
N, LAST = 150, 90
GREYS = RNG.integers(0, 256, (N, 28, 28), dtype=np.uint8)
COLOURS = RNG.integers(0, 256, (N, 32, 32, 3), dtype=np.uint8)
LABELS = np.arange(N) % 10


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, x in (("mnist", GREYS), ("cifar10", COLOURS)):
        np.savez(tmp_path / f"{name}.npz", X=x, y=LABELS, test=np.arange(LAST, N))
    return tmp_path


def read(name: str, root: Path) -> ImageSet:
    found = lookup.by_name(name, ReadSettings(), data_dir=root)
    assert isinstance(found, ImageSet)
    return found


def test_permuted_mnist_has_one_permutation(root: Path) -> None:
    found, other = read("p-mnist", root), read("P_MNIST-7", root)
    order = np.random.default_rng(0).permutation(784)
    np.testing.assert_array_equal(found.pixels.reshape(N, -1), GREYS.reshape(N, -1)[:, order])
    np.testing.assert_array_equal(np.sort(other.pixels.reshape(N, -1)), np.sort(GREYS.reshape(N, -1)))
    assert np.any(other.pixels != found.pixels)
    assert found.sha256 != other.sha256
    assert found.test.tolist() == list(range(LAST, N))
    assert (found.name, other.name) == ("p-mnist", "p-mnist-7")


def test_noise_of_six_deviations_by_owner(root: Path) -> None:
    found = read("mnist-noise", root)
    assert found.clients == tuple(f"noise {level}/255" for level in NOISES)
    assert found.owners is not None
    assert np.bincount(found.owners).tolist() == [25] * 6
    inner = (GREYS > 100) & (GREYS < 155)  # far from the bounds, for deviations up to 25
    for k, level in enumerate(NOISES[:3]):
        rows = found.owners == k
        change = (found.pixels[rows, 0].astype(float) - GREYS[rows])[inner[rows]]
        assert change.std() == pytest.approx((level**2 + 1 / 12) ** 0.5, rel=0.1)  # rounding adds a twelfth
    assert read("mnist-noise-25", root).owners is None


def test_each_image_is_under_one_corruption_whatever_its_class(root: Path) -> None:
    found = read("mnist-c", root)
    assert found.owners is not None
    assert found.clients == tuple(GREY)
    assert np.bincount(found.owners).tolist() == [10] * 15
    assert found.labels.tolist() == LABELS.tolist()
    assert found.test.tolist() == list(range(LAST, N))
    assert found.source == f"made from {root / 'mnist.npz'}"
    np.testing.assert_array_equal(found.pixels, read("MNIST_C", root).pixels)
    stripe = found.owners == list(GREY).index("stripe")
    np.testing.assert_array_equal(found.pixels[stripe, 0, :, 14], 255 - GREYS[stripe, :, 14])


def test_the_test_part_of_cifar_is_corrupted(root: Path) -> None:
    found = read("CIFAR-10-C", root)
    assert found.clients == tuple(COLOURED)
    assert found.n == N - LAST
    assert found.labels.tolist() == LABELS[LAST:].tolist()
    assert len(found.test) == 0


def test_one_corruption_has_severities_as_owners_and_one_severity_none(root: Path) -> None:
    found = read("cifar10-c-gaussian-noise", root)
    assert found.clients == tuple(f"severity {i}" for i in range(1, 6))
    assert read("cifar10-c-gaussian_noise-3", root).owners is None
    assert read("cifar10-c-3", root).clients == tuple(COLOURED)
    changes = [
        np.abs(read(f"cifar10-c-contrast-{i}", root).pixels.astype(float).std((2, 3))).mean() for i in range(1, 6)
    ]
    assert changes == sorted(changes, reverse=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mnist-c-fogg", "'fogg' is no corruption of mnist-c; the nearest is fog; choose shot_noise, .*canny_edges"),
        ("cifar10-c-shear", "'shear' is no corruption of cifar10-c"),
        ("mnist-c-fog-6", "6 is no severity; give 1 to 5"),
        ("mnist-c-0", "0 is no severity"),
        ("mnist-noise-0", "'0' is no standard deviation of noise; give a whole number from 1 to 255"),
        ("mnist-noise-25-3", "'25-3' is no standard deviation"),
        ("p-mnist-x", "'x' is no seed; give a whole number, as in p-mnist-1"),
        ("p-mnist-12345678901", "'12345678901' is no seed"),
    ],
)
def test_other_words_behind_the_name_are_refused(root: Path, name: str, words: str) -> None:
    with pytest.raises(DataError, match=f"data set '{name}': {words}"):
        read(name, root)


@pytest.mark.parametrize("name", ["mnist", "mnist-cc", "cifar10", "", "---", "noise", "p"])
def test_other_names_are_no_made_sets(name: str) -> None:
    assert made_name(name) is None


def test_the_list_says_what_a_set_is_made_from_and_makes_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "make", None)
    listed = {entry.name: entry.where for entry in inventory(root)[1]}
    assert listed["mnist-c"] == "made from mnist"
    assert listed["fashion-mnist-noise"] == "made from fashion-mnist, OpenML 40996"
    assert listed["cifar100-c"] == "made from cifar100, files only"


def test_a_made_set_cannot_be_fetched(root: Path) -> None:
    with pytest.raises(DataError, match=r"digits-noise-25 is made from digits, which is there; use it as --dataset"):
        lookup.fetch_by_name("digits-noise-25", root)
    with pytest.raises(DataError, match=r"cifar10-c-fog is made from cifar10, .*picsc data get cifar10\)"):
        lookup.fetch_by_name("cifar10-c-fog", root)


# Files of the authors


def cifar_files(root: Path, names: tuple[str, ...] = tuple(COLOURED), n: int = 75) -> Path:
    """CIFAR-10-C: every image is filled with its severity and the number of its corruption."""
    folder = root / "CIFAR-10-C"
    folder.mkdir()
    for name in names:
        images = np.zeros((5 * n, 4, 4, 3), np.uint8)
        images[..., 0] = np.repeat(np.arange(1, 6), n)[:, None, None]
        images[..., 1] = list(COLOURED).index(name)
        images[..., 2] = np.tile(np.arange(n), 5)[:, None, None]
        np.save(folder / f"{name}.npy", images)
    np.save(folder / "labels.npy", np.tile(np.arange(n) % 10, 5).astype(np.uint8))
    return folder


def test_authors_files_of_cifar_come_first(root: Path) -> None:
    folder = cifar_files(root)
    found = read("cifar10-c", root)
    assert found.source == str(folder)
    assert found.owners is not None
    severity, corruption, row = (found.pixels[:, k, 0, 0] for k in range(3))
    assert row.tolist() == list(range(75))
    assert corruption.tolist() == found.owners.tolist()
    assert sorted(zip(corruption.tolist(), severity.tolist(), strict=True)) == [
        (k, i) for k in range(15) for i in range(1, 6)
    ]
    assert found.labels.tolist() == (np.arange(75) % 10).tolist()
    one = read("cifar10-c-fog-4", root)
    assert np.all(one.pixels[:, 0] == 4)
    assert np.all(one.pixels[:, 1] == list(COLOURED).index("fog"))
    assert {entry.name: entry.where for entry in inventory(root)[1]}["cifar10-c"] == str(folder)


def test_one_corruption_needs_only_its_file(root: Path) -> None:
    folder = cifar_files(root, ("fog", "snow"))
    assert read("cifar10-c-snow", root).source == str(folder)
    with pytest.raises(DataError, match=r"gaussian_noise, .* is missing; .*such as cifar10-c-snow"):
        read("cifar10-c", root)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "labels.npy").unlink(), "has no file of labels; put labels.npy into it"),
        (lambda folder: np.save(folder / "labels.npy", np.arange(375)), "the labels differ between the 5 severities"),
        (lambda folder: np.save(folder / "labels.npy", np.zeros(374, int)), r"labels of int64 \(374,\) where"),
        (lambda folder: np.save(folder / "fog.npy", np.zeros((375, 4, 4, 3))), r"an array of float64 \(375, 4, 4, 3\)"),
        (lambda folder: np.save(folder / "fog.npy", np.zeros((370, 4, 4, 3), np.uint8)), r"promises bytes \(375, s"),
        (lambda folder: (folder / "fog.npy").write_bytes(b"\x93NUMPY"), "fog.npy cannot be read: it is no whole .npy"),
        (lambda folder: (folder / "fog.npy").write_bytes(b""), "fog.npy cannot be read: it is no whole .npy"),
        (
            lambda folder: np.save(folder / "fog.npy", np.array([{}, 1], object), allow_pickle=True),
            "fog.npy cannot be read: it holds Python objects, which are not read",
        ),
    ],
)
def test_damaged_files_of_cifar_are_refused(root: Path, spoil: Callable[[Path], object], words: str) -> None:
    spoil(cifar_files(root, ("fog",)))
    with pytest.raises(DataError, match=words):
        read("cifar10-c-fog", root)


def mnist_files(root: Path) -> Path:
    folder = root / "mnist_c"
    for k, name in enumerate(GREY):
        for which, n in (("train", 60), ("test", 30)):
            (folder / name).mkdir(parents=True, exist_ok=True)
            np.save(folder / name / f"{which}_images.npy", np.full((n, 28, 28, 1), k, np.uint8))
            np.save(folder / name / f"{which}_labels.npy", np.arange(n) % 10)
    return folder


def test_authors_files_of_mnist_come_first(root: Path) -> None:
    folder = mnist_files(root)
    found = read("mnist-c", root)
    assert found.source == str(folder)
    assert found.owners is not None
    assert found.pixels[:, 0, 0, 0].tolist() == found.owners.tolist()
    assert np.bincount(found.owners).tolist() == [6] * 15
    assert found.test.tolist() == list(range(60, 90))
    assert np.all(read("mnist-c-zigzag", root).pixels == list(GREY).index("zigzag"))
    assert read("mnist-c-zigzag-2", root).source.startswith("made from ")  # theirs have no severities


def test_files_of_mnist_that_do_not_belong_together_are_refused(root: Path) -> None:
    folder = mnist_files(root)
    np.save(folder / "fog" / "test_labels.npy", np.zeros(30, int))
    with pytest.raises(DataError, match=r"fog \(test\): its images or labels are not those of "):
        read("mnist-c", root)
    (folder / "fog" / "test_labels.npy").unlink()
    with pytest.raises(DataError, match=r"fog has no test_labels.npy; put all four files of MNIST-C there"):
        read("mnist-c", root)
