"""Where the data directory is, and how a name finds its file there."""

from pathlib import Path

import pytest

from picsc.datasets.catalog.directory import data_directory, existing_directory, find_file, find_folders, key
from picsc.datasets.catalog.lookup import locate
from picsc.errors import DataError
from picsc.runtime import cache


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No variable set; the home directory is tmp_path."""
    for name in ("PICSC_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


def test_explicit_wins_over_the_variable_over_the_cache(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert data_directory() == bare / ".cache" / "picsc" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "xdg"))
    assert data_directory() == bare / "xdg" / "picsc" / "data"
    monkeypatch.setenv("PICSC_DATA", str(bare / "variable"))
    assert data_directory() == bare / "variable"
    assert data_directory(Path("~/given")) == bare / "given"


@pytest.mark.parametrize(("variable", "value"), [("PICSC_DATA", ""), ("XDG_CACHE_HOME", "relative/folder")])
def test_empty_and_relative_variables_do_not_count(
    monkeypatch: pytest.MonkeyPatch, bare: Path, variable: str, value: str
) -> None:
    monkeypatch.setattr(cache.sys, "platform", "linux")
    monkeypatch.setenv(variable, value)
    assert data_directory() == bare / ".cache" / "picsc" / "data"


def test_cache_folder_of_macos_and_windows(monkeypatch: pytest.MonkeyPatch, bare: Path) -> None:
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    assert data_directory() == bare / "Library" / "Caches" / "picsc" / "data"
    monkeypatch.setattr(cache.sys, "platform", "win32")
    assert data_directory() == bare / "AppData" / "Local" / "picsc" / "data"
    monkeypatch.setenv("LOCALAPPDATA", str(bare / "local"))
    assert data_directory() == bare / "local" / "picsc" / "data"


def test_a_folder_that_was_asked_for_must_be_there(bare: Path) -> None:
    with pytest.raises(DataError, match=r"--data-dir .*nowhere: there is no such folder"):
        existing_directory(bare / "nowhere")
    assert existing_directory() == data_directory()


def test_spelling_does_not_matter() -> None:
    assert key("Fashion-MNIST") == key("fashion_mnist") == key("FashionMNIST")
    assert key("monk-2") != key("monk-1")


def test_files_and_folders_are_found_however_spelled(tmp_path: Path) -> None:
    inner = tmp_path / "KEEL27" / "CSV"
    inner.mkdir(parents=True)
    (inner / "Monk_2.CSV").touch()
    (inner / "monk2.dat").mkdir()  # a folder is no file
    assert list(find_folders(tmp_path, ("", "nothing", "keel27/csv"))) == [tmp_path, inner]
    assert find_file(inner, ["monk-2.dat", "monk-2.csv"]) == inner / "Monk_2.CSV"
    assert find_file(tmp_path / "nothing", ["monk-2.csv"]) is None


def test_the_version_that_the_paper_ran_comes_first(tmp_path: Path) -> None:
    for name in ("keel/breast.csv", "uci_uncleaned/breast-cancer.arff", "keel/hepatitis.csv", "uci/Hepatitis.data"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert locate("Breast", tmp_path) == tmp_path / "uci_uncleaned" / "breast-cancer.arff"
    assert locate("hepatitis", tmp_path) == tmp_path / "uci" / "Hepatitis.data"


@pytest.mark.parametrize("name", ["../secret", "/etc/secret", ".secret", "a\\secret", ""])
def test_a_name_leads_out_of_no_directory(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    for folder in (tmp_path, inside):
        (folder / "secret.csv").touch()
        (folder / ".secret.csv").touch()
    assert locate(name, inside) is None
    assert locate("secret", inside) == inside / "secret.csv"


def test_names_of_scikit_learn_are_not_shadowed(tmp_path: Path) -> None:
    for name in ("breast-cancer.arff", "diabetes.arff", "wdbc.csv"):
        (tmp_path / name).touch()
    assert locate("breast_cancer", tmp_path) is None
    assert locate("diabetes", tmp_path) is None
    assert locate("pima", tmp_path) == tmp_path / "diabetes.arff"
    assert locate("wdbc", tmp_path) == tmp_path / "wdbc.csv"
