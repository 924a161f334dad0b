"""Data sets by name: the data directory, scikit-learn, and the real openml client against recorded answers."""

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.catalog import lookup as catalog
from picsc.datasets.catalog.lookup import BUNDLED, locate
from picsc.datasets.catalog.openml import Fetched, as_images, fetch
from picsc.datasets.catalog.registry import NAMED, NamedImages, NamedTable, known_as
from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings
from tests.openml_server import serving

TWO = ("yes", "no")


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty data directory, whatever this machine has."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("PICSC_DATA", str(folder))
    return folder


def by_name(name: str, settings: ReadSettings, *, keys: Sequence[str] = ()) -> Dataset:
    """A table by name."""
    found = catalog.by_name(name, settings, keys=keys)
    assert isinstance(found, Dataset)
    return found


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def classes(dataset: Dataset) -> list[str]:
    """The class of every row."""
    assert dataset.target is not None
    return [dataset.target.levels[code] for code in dataset.target.values.astype(int)]  # noqa: PD011 - an array of ours


def column_names(dataset: Dataset) -> list[str]:
    return [column.name for column in dataset.columns]


@pytest.fixture
def openml_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """openml with its folders under tmp_path, trying once, whatever the configuration of this machine."""
    monkeypatch.setenv("HOME", str(tmp_path))  # importing openml makes folders in the home directory
    monkeypatch.setenv("OPENML_CACHE_DIR", str(tmp_path / "cache"))
    import openml

    monkeypatch.setattr(openml.config, "_root_cache_directory", tmp_path / "cache")
    monkeypatch.setattr(openml.config, "connection_n_retries", 1)
    return tmp_path / "cache"


@pytest.fixture
def openml_server(monkeypatch: pytest.MonkeyPatch, openml_cache: Path) -> Iterator[str]:
    import openml

    with serving() as address:
        monkeypatch.setattr(openml.config, "server", address)
        yield address


@pytest.mark.parametrize("name", sorted(set(BUNDLED) - {"digits"}))
def test_bundled_sets_need_no_network(name: str) -> None:
    dataset = by_name(name, ReadSettings())
    assert dataset.source == "scikit-learn"
    assert dataset.name == name
    assert dataset.target is not None
    assert dataset.n == len(dataset.target.values) > 100


def test_bundled_classes_have_their_names() -> None:
    dataset = by_name("wdbc", ReadSettings())
    assert dataset.target is not None
    assert dataset.target.levels == ("malignant", "benign")
    assert (dataset.n, len(dataset.columns), classes(dataset).count("malignant")) == (569, 30, 212)


def test_openml_by_number(openml_server: str) -> None:
    dataset = by_name("61", ReadSettings())
    assert (dataset.name, dataset.source, dataset.n) == ("iris", "OpenML 61", 150)
    assert column_names(dataset) == ["sepallength", "sepalwidth", "petallength", "petalwidth"]
    assert dataset.target is not None
    assert dataset.target.levels == ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    assert dataset.target.chosen == "OpenML's default"


def test_openml_by_name_takes_the_oldest_active_version(openml_server: str) -> None:
    dataset = by_name("cpu", ReadSettings())
    assert (dataset.source, dataset.n) == ("OpenML 561", 209)
    assert dataset.target is not None
    assert dataset.target.kind == "numbers"


def test_openml_whole_of_kr_vs_kp(openml_server: str) -> None:
    dataset = by_name("3", ReadSettings())
    assert (dataset.n, len(dataset.columns)) == (3196, 36)
    assert {column.kind for column in dataset.columns} <= {"categorical", "boolean"}


def test_row_identifier_is_dropped_unless_asked_for(openml_server: str) -> None:
    dataset = by_name("1119", ReadSettings())
    assert "ID" not in column_names(dataset) + [column.name for column in dataset.left_out]


def test_ignored_columns_are_dropped(openml_server: str) -> None:
    dataset = by_name("40966", ReadSettings(no_target=True))
    ignored = {"MouseID", "Genotype", "Treatment", "Behavior"}
    assert ignored.isdisjoint(column_names(dataset) + [column.name for column in dataset.left_out])


def test_ignored_columns_may_cut_the_table(openml_server: str) -> None:
    dataset = by_name("40966", ReadSettings(no_target=True), keys=("MouseID", "Treatment"))
    assert set(dataset.keys) == {"MouseID", "Treatment"}
    assert {"MouseID", "Treatment", "Genotype"}.isdisjoint(column_names(dataset))


def test_target_option_wins_over_the_default(openml_server: str) -> None:
    dataset = by_name("61", ReadSettings(target="petalwidth"))
    assert dataset.target is not None
    assert (dataset.target.name, dataset.target.chosen) == ("petalwidth", "--target")
    assert "class" in column_names(dataset)


def test_no_target_wins_over_the_default(openml_server: str) -> None:
    dataset = by_name("61", ReadSettings(no_target=True))
    assert dataset.target is None
    assert "class" in column_names(dataset)


def test_second_time_is_answered_from_the_cache(monkeypatch: pytest.MonkeyPatch, openml_server: str) -> None:
    import openml

    first = by_name("61", ReadSettings())
    port = openml_server.split(":")[2].split("/")[0]
    monkeypatch.setattr(openml.config, "server", f"http://127.0.0.1:{port}/nowhere")  # same cache folder, no answers
    assert by_name("61", ReadSettings()).sha256 == first.sha256


def test_unknown_name_lists_the_bundled_ones(openml_server: str) -> None:
    with pytest.raises(DataError, match=r"no data set 'irris' on OpenML, .*breast_cancer, wdbc, iris, wine"):
        by_name("irris", ReadSettings())


def test_unreachable_server(monkeypatch: pytest.MonkeyPatch, openml_cache: Path) -> None:
    import openml

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setattr(openml.config, "server", f"http://127.0.0.1:{port}/api/v1/xml")
    with pytest.raises(DataError) as caught:
        by_name("credit-g", ReadSettings())
    message = str(caught.value)
    assert "'credit-g' cannot be fetched from OpenML" in message
    assert "picsc audit FILE" in message
    assert str(openml_cache) in message


# Named sets


def test_digits_are_images_of_sixteen_pixels_a_side() -> None:
    from sklearn.datasets import load_digits

    images = catalog.by_name("digits", ReadSettings())
    assert isinstance(images, ImageSet)
    assert images.pixels.dtype == np.uint8
    assert images.pixels.shape == (1797, 1, 16, 16)
    assert (images.pixels.max(), images.test.size, images.source) == (255, 0, "scikit-learn")
    np.testing.assert_array_equal(np.rint(images.pixels[:, 0, 1::2, ::2] * (16 / 255)), load_digits().images)
    np.testing.assert_array_equal(images.pixels[:, :, ::2, ::2], images.pixels[:, :, 1::2, 1::2])
    assert np.bincount(images.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


TABLES = [name for name, entry in NAMED.items() if isinstance(entry, NamedTable)]


def test_the_paper_has_27_tables_with_a_version_for_24() -> None:
    known = [name for name in TABLES if isinstance(entry := NAMED[name], NamedTable) and entry.rows is not None]
    assert (len(TABLES), len(known)) == (27, 24)
    assert set(TABLES) - set(known) == {"appendicitis", "bupa", "monk-2"}
    assert all(known_as(name.upper().replace("-", "_")) == name for name in NAMED)


KEEL_ROWS = "a,1.5,yes\nb,2.5,no\nb,<null>,yes\n?,4.5,no\n" + "a,3.5,yes\nb,1.5,no\n" * 5


@pytest.mark.parametrize("place", ["monk-2.csv", "keel/Monk_2.csv", "KEEL27/csv/monk-2.CSV", "monk2/monk-2.csv"])
def test_a_named_file_is_found_in_its_folders(data: Path, place: str) -> None:
    path = write(data / place, KEEL_ROWS)
    assert by_name("monk-2", ReadSettings()).source == str(path)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_read_from_a_keel_csv(data: Path, name: str) -> None:
    path = write(data / f"{name}.csv", KEEL_ROWS)
    dataset = by_name(name.upper(), ReadSettings())
    assert (dataset.name, dataset.source, dataset.n) == (name, str(path), 14)
    assert classes(dataset) == ["yes", "no"] * 7
    assert dataset.target is not None
    assert (dataset.target.name, dataset.target.chosen) == ("class", "class of the file")
    assert column_names(dataset) == ["c1", "c2"]


def test_missing_values_of_keel_are_missing_and_leave_numbers(data: Path) -> None:
    write(data / "banana.csv", KEEL_ROWS)
    word, number = by_name("banana", ReadSettings()).columns
    assert (number.kind, np.flatnonzero(number.missing).tolist()) == ("numeric", [2])
    assert np.flatnonzero(word.missing).tolist() == [3]


def test_a_header_line_is_told_from_data(data: Path) -> None:
    write(data / "sonar.csv", "# a remark\n\nx,y,outcome\n1.5,2.5,M\n2.5,3.5,R\n3.5,1.5,M\n4.5,2.5,R\n")
    dataset = by_name("sonar", ReadSettings())
    assert column_names(dataset) == ["x", "y"]
    assert classes(dataset) == ["M", "R", "M", "R"]


def test_the_class_of_the_mushroom_table_is_its_first_column(data: Path) -> None:
    write(data / "uci/mushroom.csv", "# UCI\npoisonous,cap,odor\np,x,a\n" + "e,b,n\ne,x,n\np,b,a\n" * 4)
    dataset = by_name("mushroom", ReadSettings())
    assert dataset.target is not None
    assert dataset.target.name == "poisonous"
    assert column_names(dataset) == ["cap", "odor"]


def test_a_covariate_called_class_is_not_the_class(data: Path) -> None:
    write(data / "titanic.csv", "class,age,survived\n1.5,2.5,no\n2.5,3.5,yes\n1.5,4.5,no\n2.5,5.5,yes\n")
    dataset = by_name("titanic", ReadSettings())
    assert classes(dataset) == ["no", "yes", "no", "yes"]
    assert column_names(dataset) == ["class", "age"]


@pytest.mark.parametrize(
    ("name", "file", "rows", "columns"),
    [
        ("hepatitis", "hepatitis.data", "yes,1.5,2\nno,2.5,?\nyes,3.5,4\nno,4.5,5\n", ["c2", "c3"]),
        ("housevotes", "house-votes-84.data", "yes,1.5,2\nno,2.5,?\nyes,3.5,4\nno,4.5,5\n", ["c2", "c3"]),
        ("wdbc", "wdbc.data", "91,yes,1.5\n92,no,2.5\n93,yes,3.5\n94,no,4.5\n", ["c3"]),
        ("wisconsin", "breast-cancer-wisconsin.data", "91,1.5,yes\n92,2.5,no\n93,3.5,yes\n94,4.5,no\n", ["c2"]),
    ],
)
def test_files_of_uci_have_the_class_where_uci_has_it(
    data: Path, name: str, file: str, rows: str, columns: list[str]
) -> None:
    write(data / "uci" / file, rows)
    dataset = by_name(name, ReadSettings())
    assert classes(dataset) == ["yes", "no", "yes", "no"]
    assert column_names(dataset) == columns


def test_numbers_of_crx_with_leading_zeros_are_numbers(data: Path) -> None:
    rows = [f"a,3{i}.5,0,u,g,w,v,1.25,t,t,0{i},f,g,0020{i},0,{'+-'[i % 2]}" for i in range(6)]
    path = write(data / "crx.data", "\n".join(rows) + "\n")
    kinds = {column.name: column.kind for column in by_name("crx", ReadSettings(drop=("c2",))).columns}
    assert kinds == {"c11": "numeric", "c14": "numeric"}
    path.write_text("\n".join([*rows, rows[0].replace("00200", "many")]) + "\n")
    with pytest.raises(DataError, match=r"crx\.data, column 14: 'many' is no number"):
        by_name("crx", ReadSettings())


ARFF = """% remark
@relation vote
@attribute 'first-vote' { 'n', 'y'}
@attribute size numeric
@attribute Class {'democrat', 'republican'}
@data
'n',1.5,'republican'
?,2,'democrat'
'y',?,'democrat'
'n',4,'republican'
"""


def test_arff_in_place_of_keel(data: Path) -> None:
    write(data / "keel/housevotes.csv", KEEL_ROWS)
    path = write(data / "uci_uncleaned/vote.arff", ARFF)
    dataset = by_name("housevotes", ReadSettings())
    assert (dataset.source, column_names(dataset)) == (str(path), ["first-vote", "size"])
    assert classes(dataset) == ["republican", "democrat", "democrat", "republican"]
    assert [column.missing.tolist() for column in dataset.columns] == [
        [False, True, False, False],
        [False, False, True, False],
    ]
    assert dataset.columns[1].kind == "numeric"


def test_a_damaged_arff_is_refused(data: Path) -> None:
    write(data / "vote.arff", ARFF.replace("'n',1.5", "'never',1.5"))
    with pytest.raises(DataError, match=r"vote\.arff, line \d+: 'never' is none of the 2 levels"):
        by_name("housevotes", ReadSettings())


KEEL = """@relation  haberman
@attribute Age integer[30,83]
@attribute Kind{a, b}
@attribute Survival {positive,negative}
@inputs Age,Kind
@outputs Survival
@data
54, a, positive
38, b, negative
<null>, a, positive
60, ?, negative
"""
KEEL += "54, a, positive\n38, b, negative\n" * 5


def test_dat_of_keel_is_the_same_table_as_its_csv(data: Path) -> None:
    path = write(data / "keel/dat/haberman.dat", KEEL)
    dataset = by_name("haberman", ReadSettings())
    assert (dataset.source, column_names(dataset)) == (str(path), ["Age", "Kind"])
    assert classes(dataset) == ["positive", "negative"] * 7
    assert [int(column.missing.sum()) for column in dataset.columns] == [1, 1]
    assert [column.kind for column in dataset.columns] == ["numeric", "categorical"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("54, a, positive\n38", "54, positive\n38", "line 8: 2 fields where 3 attributes are declared"),
        ("54, a, positive\n38", "old, a, positive\n38", "line 8: 'old' is no number, as 'Age' is declared to be"),
        ("38, b", "38, c", "line 9: 'c' is none of the 2 levels declared for 'Kind'"),
        ("@data", "data", "line 7: 'data' belongs to no header of KEEL"),
        ("@attribute Age integer[30,83]", "@attribute Age", "line 2: '@attribute Age' declares no attribute"),
    ],
)
def test_a_damaged_dat_names_the_line(data: Path, old: str, new: str, words: str) -> None:
    write(data / "haberman.dat", KEEL.replace(old, new))
    with pytest.raises(DataError, match=words):
        by_name("haberman", ReadSettings())


def test_settings_win_over_what_is_known_of_a_file(data: Path) -> None:
    write(data / "haberman.dat", KEEL)
    dataset = by_name("haberman", ReadSettings(target="Kind", drop=("Survival",)), keys=())
    assert dataset.target is not None
    assert (dataset.target.name, dataset.target.chosen) == ("Kind", "--target")
    assert by_name("haberman", ReadSettings(no_target=True)).target is None


def test_a_table_of_the_users_own_is_read_as_a_file_is(data: Path) -> None:
    write(data / "my_table.csv", "class,a,b\nx,1.5,u\ny,2.5,v\nx,3.5,u\ny,4.5,v\n")
    dataset = by_name("My-Table", ReadSettings(), keys=("b",))
    assert dataset.target is not None
    assert (dataset.target.name, column_names(dataset), list(dataset.keys)) == ("class", ["a"], ["b"])


def test_wdbc_is_scikit_learns_until_there_is_a_file(data: Path) -> None:
    assert by_name("Wdbc", ReadSettings()).source == "scikit-learn"
    path = write(data / "wdbc.csv", KEEL_ROWS)
    assert by_name("wdbc", ReadSettings()).source == str(path)


def test_data_directory_as_argument(tmp_path: Path) -> None:
    other = tmp_path / "other"
    path = write(other / "iono.csv", "a,b\n1,x\n2,y\n3,x\n5,y\n")
    found = catalog.by_name("iono", ReadSettings(), data_dir=other)
    assert found.source == str(path)
    with pytest.raises(DataError, match="there is no such folder"):
        catalog.by_name("iono", ReadSettings(), data_dir=tmp_path / "nowhere")


def test_a_named_table_comes_from_openml_by_number(openml_server: str) -> None:
    dataset = by_name("chess", ReadSettings())
    assert (dataset.name, dataset.source, dataset.n) == ("chess", "OpenML 3", 3196)
    assert dataset.target is not None
    assert dataset.target.levels == ("won", "nowin")


def test_a_number_that_is_another_set_is_refused(monkeypatch: pytest.MonkeyPatch, openml_server: str) -> None:
    monkeypatch.setitem(NAMED, "chess", NamedTable(3196, ("chess",), 61, "kr-vs-kp"))
    with pytest.raises(DataError, match=r"OpenML 61 is 'iris' where 'kr-vs-kp' was expected; put chess\.csv"):
        by_name("chess", ReadSettings())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mnist", "put train-images-idx3-ubyte.gz, .* into {}/mnist, or name another folder with --data-dir"),
        ("cifar10", "put the folder cifar-10-batches-py of the authors' archive into {}/cifar10"),
        ("breast", r"put breast\.csv \(class last\) or breast-cancer\.arff into {}, .*picsc audit FILE"),
    ],
)
def test_unreachable_named_sets_say_which_file_to_put_where(
    monkeypatch: pytest.MonkeyPatch, openml_cache: Path, data: Path, name: str, words: str
) -> None:
    import openml

    monkeypatch.setattr(openml.config, "server", "http://127.0.0.1:9/api/v1/xml")
    with pytest.raises(DataError, match=f"data set '{name}' .* cannot be fetched from OpenML .*{words.format(data)}"):
        catalog.by_name(name, ReadSettings())


@pytest.mark.parametrize("name", ["emnist-digits", "cifar100", "appendicitis", "mammographic"])
def test_sets_without_a_number_ask_no_server(name: str, data: Path) -> None:
    with pytest.raises(DataError, match=f"'{name}' is not in {data}, and no number of it on OpenML is known; put "):
        catalog.by_name(name, ReadSettings())


# Image sets of OpenML


def pixel_table(pixels: np.ndarray, labels: list[str]) -> Fetched:
    frame = pd.DataFrame(pixels.reshape(len(pixels), -1)).add_prefix("pixel")
    return Fetched(
        frame.assign(row=range(len(labels)), label=pd.Categorical(labels)), "x", 7, "label", frozenset({"row"})
    )


@pytest.mark.parametrize("shape", [(6, 1, 4, 4), (6, 3, 4, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
def test_a_table_of_pixels_is_an_image_set(shape: tuple[int, ...], dtype: type) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(dtype)
    images = as_images(pixel_table(pixels, ["10", "9", "2", "10", "9", "2"]), NamedImages((), "", test=2), name="x")
    assert images.pixels.dtype == np.uint8
    np.testing.assert_array_equal(images.pixels, pixels)
    assert images.classes == ("2", "9", "10")
    assert images.labels.tolist() == [2, 1, 0, 2, 1, 0]
    assert images.test.tolist() == [4, 5]
    assert images.source == "OpenML 7"


def test_house_numbers_of_openml_are_those_of_the_authors_files() -> None:
    """OpenML keeps the three colours of a pixel side by side, and calls the digit 0 the class 10, as the authors do."""
    entry = NAMED["svhn"]
    assert isinstance(entry, NamedImages)
    pixels = np.random.default_rng(1).integers(0, 256, (4, 3, 5, 5))
    images = as_images(pixel_table(np.moveaxis(pixels, 1, 3), ["10", "1", "9", "10"]), entry, name="svhn")
    np.testing.assert_array_equal(images.pixels, pixels)
    assert images.classes == ("0", "1", "9")
    assert images.labels.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("pixels", "words"),
    [
        (np.zeros((6, 15)), "15 columns are the pixels of no square image"),
        (np.full((6, 16), 256), "rows 1 to 6 hold values that are no whole numbers from 0 to 255"),
        (np.full((6, 16), 0.5), "no whole numbers"),
        (np.full((6, 16), np.nan), "no whole numbers"),
        (np.full((6, 16), "a"), "no number, so it holds no pixels"),
    ],
)
def test_tables_that_hold_no_pixels_are_refused(pixels: np.ndarray, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_images(pixel_table(pixels, list("ababab")), NamedImages((), ""), name="x")


def test_images_by_number_go_through_the_client(openml_server: str) -> None:
    with pytest.raises(DataError, match="OpenML 61: rows 1 to 150 hold values that"):  # iris has 2 x 2 fractions
        as_images(fetch("61"), NamedImages((), ""), name="iris")


def test_digits_under_another_spelling_are_no_table_in_the_directory(data: Path) -> None:
    write(data / "digits.csv", KEEL_ROWS)
    assert locate("digits", data) is None
    assert isinstance(NAMED["mnist"], NamedImages)


def test_a_name_that_is_nearly_known_is_told(monkeypatch: pytest.MonkeyPatch, openml_cache: Path) -> None:
    import openml

    monkeypatch.setattr(openml.config, "server", "http://127.0.0.1:9/api/v1/xml")
    for name, meant in (("breast_canser", "breast_cancer"), ("Hepatitis2", "hepatitis"), ("Iriss", "iris")):
        with pytest.raises(DataError, match=f"it cannot be reached\\); the nearest name is {meant}; give a file"):
            by_name(name, ReadSettings())
    with pytest.raises(DataError, match=r"it cannot be reached\); give a file instead"):
        by_name("nothing-like-it", ReadSettings())
