"""Image files as their authors give them out, made small; damaged and malicious ones are refused."""

from __future__ import annotations

import gzip
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.files.pickled_arrays import load_plain
from picsc.datasets.image_files import bounds
from picsc.datasets.image_files.folders import read_image_folder, read_npz
from picsc.datasets.images import ImageSet
from picsc.errors import DataError
from picsc.settings import ReadSettings

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (7, 5, 5), dtype=np.uint8)
LABELS = np.array([0, 1, 2, 0, 1, 2, 9], dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (3, 3072), dtype=np.uint8)
IDX = {"train": slice(0, 4), "t10k": slice(4, 7)}


def idx(array: NDArray[np.uint8]) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_idx(folder: Path, part: str, *, packed: bool, rows: slice | None = None) -> None:
    rows = rows or IDX[part]
    for kind, array in (("images-idx3", GREY), ("labels-idx1", LABELS)):
        content = idx(array[rows])
        name = f"{part}-{kind}-ubyte"
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(content) if packed else content)


def same_images(images: ImageSet) -> None:
    assert images.pixels.dtype == np.uint8
    assert images.pixels.shape == (7, 1, 5, 5)
    np.testing.assert_array_equal(images.pixels[:, 0], GREY)
    assert [images.classes[code] for code in images.labels] == [str(label) for label in LABELS]


# IDX


@pytest.mark.parametrize("packed", [False, True])
def test_idx_pairs(tmp_path: Path, packed: bool) -> None:
    for part in IDX:
        write_idx(tmp_path, part, packed=packed)
    images = read_image_folder(tmp_path, "mnist")
    same_images(images)
    assert images.test.tolist() == [4, 5, 6]
    assert images.classes == ("0", "1", "2", "9")
    assert (images.name, images.source) == ("mnist", str(tmp_path))


@pytest.mark.parametrize("part", ["train", "t10k"])
def test_half_of_an_idx_set_has_no_test_part(tmp_path: Path, part: str) -> None:
    write_idx(tmp_path, part, packed=True)
    images = read_image_folder(tmp_path, "mnist")
    assert images.n == len(range(7)[IDX[part]])
    assert images.test.size == 0


def test_names_with_a_dot_and_in_a_sub_folder_are_the_same_set(tmp_path: Path) -> None:
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    write_idx(folder, "train", packed=False)
    (folder / "train-images-idx3-ubyte").rename(folder / "train-images.idx3-ubyte")
    images = by_name("mnist", ReadSettings(), data_dir=tmp_path)
    assert isinstance(images, ImageSet)
    assert images.source == str(folder)


def test_the_digest_follows_the_bytes(tmp_path: Path) -> None:
    write_idx(tmp_path, "train", packed=False)
    first = read_image_folder(tmp_path, "mnist").sha256
    assert read_image_folder(tmp_path, "mnist").sha256 == first
    changed = tmp_path / "train-labels-idx1-ubyte"
    changed.write_bytes(changed.read_bytes()[:-1] + b"\1")
    assert read_image_folder(tmp_path, "mnist").sha256 != first


@pytest.mark.parametrize("packed", [False, True])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_idx_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, packed: bool, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    write_idx(folder, "train", packed=packed)
    path = folder / ("train-images-idx3-ubyte.gz" if packed else "train-images-idx3-ubyte")
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(DataError, match="train-images-idx3-ubyte"):
        read_image_folder(folder, "mnist")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (idx(LABELS), "begins with the bytes 00 00 08 01 where IDX images begin with 00 00 08 03; is it another file"),
        (idx(GREY) + b"x", r"more than 175 bytes where its header promises 7 x 5 x 5 = 175; get it again"),
        (idx(GREY)[:-1], r"only 174 bytes"),
        (idx(GREY[:, :4]), "images of 4 x 5 pixels are not square"),
        (idx(GREY[:6]), "6 images but labels of shape \\(7,\\)"),
        (bytes((0, 0, 8, 3)) + struct.pack(">3I", 2**31, 2**31, 2**31), "only 0 bytes"),
        (b"\x1f\x8b damaged", "ends early or is damaged"),
        (b"", "begins with the bytes of an empty file"),
    ],
)
def test_damaged_idx_images_are_refused_with_the_reason(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(content)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(LABELS))
    with pytest.raises(DataError, match=words):
        read_image_folder(tmp_path, "mnist")


def test_images_without_labels_say_which_file_is_missing(tmp_path: Path) -> None:
    write_idx(tmp_path, "train", packed=True)
    (tmp_path / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(DataError, match=r"no file of labels; put train-labels-idx1-ubyte\.gz"):
        read_image_folder(tmp_path, "mnist")


def test_training_and_test_images_of_two_sizes_are_refused(tmp_path: Path) -> None:
    write_idx(tmp_path, "train", packed=False)
    write_idx(tmp_path, "t10k", packed=False)
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(idx(GREY[4:, :4, :4]))
    with pytest.raises(DataError, match="mixed sizes \\(1x5x5 and 1x4x4\\)"):
        read_image_folder(tmp_path, "mnist")


# npz


def test_npz_with_both_parts(tmp_path: Path) -> None:
    path = tmp_path / "mnist.npz"
    np.savez(path, x_train=GREY[:4], y_train=LABELS[:4], x_test=GREY[4:], y_test=LABELS[4:])
    images = by_name("mnist", ReadSettings(), data_dir=tmp_path)
    assert isinstance(images, ImageSet)
    same_images(images)
    assert images.test.tolist() == [4, 5, 6]


def test_npz_with_all_images_and_the_rows_of_the_test_part(tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    np.savez(path, X=GREY, y=LABELS[:, None], test=[1, 3])
    images = read_npz(path, "own")
    same_images(images)
    assert images.test.tolist() == [1, 3]


@pytest.mark.parametrize("channels_last", [False, True])
def test_npz_with_colours_has_channels_first(tmp_path: Path, channels_last: bool) -> None:
    colours = RNG.integers(0, 256, (6, 3, 8, 8), dtype=np.uint8)
    stored = np.moveaxis(colours, 1, 3) if channels_last else colours
    np.savez(tmp_path / "own.npz", X=stored, y=list("abcabc"))
    images = by_name("own", ReadSettings(), data_dir=tmp_path)
    assert isinstance(images, ImageSet)
    np.testing.assert_array_equal(images.pixels, colours)
    assert images.classes == ("a", "b", "c")


def test_kmnist_pairs_and_its_test_half_alone(tmp_path: Path) -> None:
    for part, rows in (("train", slice(0, 4)), ("test", slice(4, 7))):
        np.savez(tmp_path / f"kmnist-{part}-imgs.npz", GREY[rows])
        np.savez(tmp_path / f"kmnist-{part}-labels.npz", LABELS[rows])
    whole = read_image_folder(tmp_path, "kmnist")
    same_images(whole)
    assert whole.test.tolist() == [4, 5, 6]
    (tmp_path / "kmnist-train-imgs.npz").unlink()
    half = read_image_folder(tmp_path, "kmnist")
    assert (half.n, half.test.size) == (3, 0)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": GREY.astype(float) / 255, "y": LABELS}, "not all whole numbers from 0 to 255"),
        ({"X": GREY.astype(int) - 256, "y": LABELS}, "not all whole numbers from 0 to 255"),
        ({"X": np.full((2, 3, 3), np.nan), "y": LABELS[:2]}, "not all whole numbers from 0 to 255"),
        ({"X": np.array([GREY[0], GREY[1, :4]], dtype=object), "y": LABELS[:2]}, "Python objects"),
        ({"X": GREY}, "an array x but no y"),
        ({"x_train": GREY, "y_train": LABELS[:3]}, "7 images but labels of shape \\(3,\\)"),
        ({"X": GREY, "y": LABELS, "test": [3, 1]}, "increasing row numbers from 0 to 6"),
        ({"X": GREY, "y": LABELS, "test": [7]}, "increasing row numbers from 0 to 6"),
        ({"X": GREY, "y": LABELS, "classes": list("abc")}, "labels from 0 to 9 do not fit its 3 class names"),
        ({"pictures": GREY}, "no array named X, x_train or x_test \\(arrays in it: pictures\\)"),
        ({"X": GREY[:0], "y": LABELS[:0]}, "no images in it"),
        ({"X": GREY[0], "y": LABELS}, "an array of shape \\(5, 5\\) holds no images"),
        ({"X": GREY, "y": LABELS + 0.5}, "labels are float64"),
    ],
)
def test_npz_that_holds_no_images_is_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez(tmp_path / "mnist.npz", **arrays)
    with pytest.raises(DataError, match=words):
        by_name("mnist", ReadSettings(), data_dir=tmp_path)


def test_a_small_npz_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((2100, 32, 32), np.uint8), y=np.zeros(2100, np.uint8))
    monkeypatch.setattr(bounds, "MOST", 2 / 1024)
    with pytest.raises(DataError, match=r"a\.npz unpacks to more than"):
        read_npz(tmp_path / "a.npz", "mine")


@pytest.mark.parametrize("header", [b"{'descr': (", b"{'descr': '|u1', 'fortran_order': 0}", b"(((", b"'"])
def test_an_npz_with_a_damaged_header_is_refused(tmp_path: Path, header: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    with pytest.raises(DataError, match="no whole npz archive"):
        read_npz(tmp_path / "a.npz", "mine")


def test_a_damaged_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mnist.npz"
    np.savez(path, X=GREY, y=LABELS)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"mnist\.npz cannot be read: it is no whole npz archive"):
        read_npz(path, "mnist")


# CIFAR


def dumped(held: object, protocol: int = 2) -> bytes:
    return pickle.dumps(held, protocol=protocol)


def batch(label: str = "labels", protocol: int = 2) -> bytes:
    return dumped({b"data": COLOUR, label.encode(): [1, 0, 2], b"filenames": [b"a.png", "b.png"]}, protocol)


def cifar10(folder: Path, *, protocol: int = 2) -> Path:
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        (folder / name).write_bytes(batch(protocol=protocol))
    (folder / "batches.meta").write_bytes(dumped({"label_names": ["plane", "car", "bird"]}))
    return folder


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_cifar10_for_python(tmp_path: Path, protocol: int) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    cifar10(folder, protocol=protocol)
    images = by_name("CIFAR-10", ReadSettings(), data_dir=tmp_path)
    assert isinstance(images, ImageSet)
    assert images.pixels.shape == (18, 3, 32, 32)
    np.testing.assert_array_equal(images.pixels[:3].reshape(3, -1), COLOUR)
    assert images.labels.tolist() == [1, 0, 2] * 6
    assert images.classes == ("plane", "car", "bird")
    assert images.test.tolist() == [15, 16, 17]


def test_a_batch_written_by_python_2(tmp_path: Path) -> None:
    """As cPickle of Python 2 wrote it: the bytes of the array are a string, and numpy has its old names."""
    pixels = COLOUR.tobytes()
    head = b"\x80\x02}q\x00(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R("
    kind = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    shape = b"K\x01K\x03M\x00\x0c\x86" + kind + b"\x89T" + struct.pack("<I", len(pixels)) + pixels + b"tb"
    (tmp_path / "test_batch").write_bytes(head + shape + b"U\x06labels](K\x01K\x00K\x02eu.")
    images = read_image_folder(tmp_path, "cifar10")
    np.testing.assert_array_equal(images.pixels.reshape(3, -1), COLOUR)
    assert [images.classes[code] for code in images.labels] == ["1", "0", "2"]


def test_cifar100_takes_the_fine_labels(tmp_path: Path) -> None:
    for name in ("train", "test"):
        held = {"data": COLOUR, "fine_labels": [5, 7, 5], "coarse_labels": [0, 0, 0]}
        (tmp_path / name).write_bytes(dumped(held))
    images = read_image_folder(tmp_path, "cifar100")
    assert images.classes == ("5", "7")
    assert images.test.tolist() == [3, 4, 5]


def test_binary_versions_are_the_same_images(tmp_path: Path) -> None:
    ten, hundred = tmp_path / "ten", tmp_path / "hundred"
    for folder in (ten, hundred):
        folder.mkdir()
    records = b"".join(bytes((label,)) + row.tobytes() for label, row in zip((1, 0, 2), COLOUR, strict=True))
    for name in (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"):
        (ten / name).write_bytes(records)
    (ten / "batches.meta.txt").write_text("plane\ncar\nbird\n\n")
    coarse = b"".join(bytes((3, label)) + row.tobytes() for label, row in zip((1, 0, 2), COLOUR, strict=True))
    (hundred / "test.bin").write_bytes(coarse)
    first, second = read_image_folder(ten, "cifar10"), read_image_folder(hundred, "cifar100")
    assert first.classes == ("plane", "car", "bird")
    assert first.test.tolist() == [15, 16, 17]
    np.testing.assert_array_equal(first.pixels[:3], second.pixels)
    np.testing.assert_array_equal(first.pixels[:3].reshape(3, -1), COLOUR)
    assert second.labels.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "data_batch_3",
            None,
            "data_batch_3 is missing, although data_batch_1 is there; put all training batches there",
        ),
        ("data_batch_3", dumped([1, 2]), "holds a list where a batch holds a dictionary"),
        ("data_batch_3", dumped({"data": COLOUR}), "no array 'data' with a list 'labels' in it \\(entries: data\\)"),
        ("data_batch_3", dumped({"data": COLOUR[:, :10], "labels": [1, 0, 2]}), "are no CIFAR images"),
        ("data_batch_3", dumped({"data": COLOUR, "labels": [1, 0]}), "3 images but labels of shape \\(2,\\)"),
        ("data_batch_3", dumped({"data": COLOUR, "labels": ["a", "b", "c"]}), "labels are not whole numbers"),
        ("data_batch_3", dumped({"data": COLOUR, "labels": [1, 0, 3]}), "do not fit its 3 class names"),
        ("data_batch_3", batch()[:-20], "no whole pickle file"),
        ("data_batch_3", b"", "no whole pickle file"),
    ],
)
def test_damaged_cifar_batches_are_refused(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    folder = cifar10(tmp_path)
    (folder / name).unlink()
    for each in [] if content is None else [content]:
        (folder / name).write_bytes(each)
    with pytest.raises(DataError, match=words):
        read_image_folder(folder, "cifar10")


def test_a_binary_batch_that_ends_early_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_batch.bin").write_bytes(b"\1" * 3000)
    with pytest.raises(DataError, match="3000 bytes, which is no whole number of images of 3073 bytes"):
        read_image_folder(tmp_path, "cifar10")


# Pickles that ask for more than arrays


class _Runs:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, (f"open({str(self.path)!r}, 'w').close()",)


def test_a_malicious_batch_is_refused_and_not_run(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    content = dumped({b"data": COLOUR, b"labels": [1, 0, 2], b"x": _Runs(evidence)})
    pickle.loads(content)  # noqa: S301 - that the file is malicious is the point
    assert evidence.exists()
    evidence.unlink()
    (tmp_path / "test_batch").write_bytes(content)
    with pytest.raises(DataError, match=r"test_batch asks for __builtin__\.exec, .* it was not run"):
        read_image_folder(tmp_path, "cifar10")
    assert not evidence.exists()


@pytest.mark.parametrize(
    "name",
    [
        "os\nsystem",
        "builtins\neval",
        "numpy\nload",
        "numpy\nfromfile",
        "numpy.core.multiarray\nscalar",
        "numpy.ma\narray",
        "codecs\nencode",
    ],
)
def test_no_other_name_is_looked_up(tmp_path: Path, name: str) -> None:
    path = tmp_path / "batch"
    path.write_bytes(b"\x80\x02c" + name.encode() + b"\n.")
    with pytest.raises(DataError, match="the file is refused"):
        load_plain(path)


@pytest.mark.parametrize(
    "held", [np.array([print], dtype=object), np.array(["a"]), np.array([1 + 2j]), [np.float64(1)]]
)
def test_arrays_of_anything_but_numbers_are_refused(tmp_path: Path, held: object) -> None:
    path = tmp_path / "batch"
    path.write_bytes(dumped(held, 4))
    with pytest.raises(DataError):
        load_plain(path)


@pytest.mark.parametrize("dtype", ["<i8", ">i4", "<f4", "u1", ">u2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_numbers_come_back_as_they_were(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype, order=order)
    path = tmp_path / "batch"
    path.write_bytes(dumped([array, {"a": array[0].copy()}], 3))
    (back, inner), _ = load_plain(path)
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(inner["a"], array[0])
    assert back.dtype == array.dtype


@given(position=st.integers(0, 10_000), byte=st.integers(0, 255))
@settings(max_examples=150, deadline=None)
def test_a_changed_byte_gives_a_value_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, position: int, byte: int
) -> None:
    content = bytearray(dumped({b"data": np.arange(6, dtype=np.uint8), b"labels": [1, 0]}))
    content[position % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / "changed-batch"  # a folder per example would take most of the time
    path.write_bytes(bytes(content))
    outcomes: list[object] = []
    try:
        outcomes.append(load_plain(path))
    except DataError as error:
        outcomes.append(str(error))
    assert outcomes
