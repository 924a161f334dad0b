"""Data sets by name, through the real openml client against recorded answers."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from openml_server import serving

from picsc.datasets.catalog import BUNDLED, by_name
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings


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


@pytest.mark.parametrize("name", sorted(BUNDLED))
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
    assert (dataset.n, len(dataset.columns), int((dataset.target.values == 0).sum())) == (569, 30, 212)


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
