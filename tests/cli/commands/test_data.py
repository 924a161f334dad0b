"""`picsc data list`, `get`, `info` and `show`, and `--data-dir` of the audit, with OpenML's recorded answers."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from picsc.datasets.catalog.inventory import get
from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.catalog.openml import Fetched, as_images
from picsc.datasets.catalog.registry import NAMED, NamedImages
from picsc.datasets.catalog.store import keep_images, keep_table
from picsc.datasets.images import ImageSet
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings
from picsc_cli.app import app
from tests.openml_server import serving

CSV = "a,b,class\n" + "1.5,u,x\n2.5,v,y\n3.5,u,x\n0.5,v,y\n" * 8


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The data directory; there is none yet."""
    monkeypatch.setenv("HOME", str(tmp_path))  # importing openml makes folders in the home directory
    monkeypatch.setenv("OPENML_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PICSC_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def openml_server(monkeypatch: pytest.MonkeyPatch, data: Path) -> Iterator[str]:
    import openml

    monkeypatch.setattr(openml.config, "_root_cache_directory", data.parent / "cache")
    monkeypatch.setattr(openml.config, "connection_n_retries", 1)
    with serving() as address:
        monkeypatch.setattr(openml.config, "server", address)
        yield address


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def facts(text: str) -> dict[str, str]:
    """What `picsc data info` printed, by the first word of each line."""
    return {name: rest.strip() for name, _, rest in (line.partition("  ") for line in text.splitlines())}


@pytest.mark.parametrize(
    "arguments", [["data", "--help"], ["data", "list", "--help"], ["data", "get", "--help"], ["data", "show", "--help"]]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys; from picsc_cli.app import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "Usage: picsc data" in done.stdout
    assert not loaded & {"torch", "sklearn", "pandas", "scipy", "numpy", "openml", "pyarrow", "pydantic"}


# list


def test_list_shows_what_is_there_and_what_could_be_got(data: Path) -> None:
    data.mkdir()
    (data / "sonar.csv").write_text(CSV)
    (data / "banana.csv").write_text("damaged\n")
    np.savez(data / "mnist.npz", X=np.zeros((4, 3, 3), np.uint8), y=[0, 1, 0, 1])
    code, out, err = picsc("data", "list")
    first, _, header, *lines = out.splitlines()
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines}
    assert (code, err, first) == (0, "", f"data directory: {data}")
    assert header.split() == ["NAME", "KIND", "SHAPE", "WHERE"]
    assert list(rows)[: len(NAMED)] == list(NAMED)
    assert rows["mnist"] == ["images", f"4 x 1x3x3       {data}/mnist.npz"]
    assert [part.strip() for part in rows["sonar"][1].split("  ") if part] == ["32 x 3", f"{data}/sonar.csv"]
    assert rows["german"][1].split() == ["-", "OpenML", "31"]
    assert rows["cifar100"][1].split() == ["-", "files", "only"]
    assert "cannot be used: " in rows["banana"][1]
    assert rows["digits"] == ["images", "1797 x 1x16x16  scikit-learn"]


def test_list_needs_no_directory_but_a_given_one_must_be_there(data: Path) -> None:
    assert picsc("data", "list")[0] == 0
    assert not data.exists()
    code, out, err = picsc("data", "list", "--data-dir", str(data))
    assert (code, out) == (2, "")
    assert err == f"picsc: --data-dir {data}: there is no such folder; create it and put data files in it\n"


# get


def test_get_keeps_a_table_and_its_digest(openml_server: str, data: Path) -> None:
    code, out, err = picsc("data", "get", "chess")
    path = data / "chess.parquet"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (code, out, err) == (0, f"{sha256}  {path}\n", "picsc: chess was fetched\n")
    assert (data / "chess.sha256").read_text() == f"{sha256}  chess.parquet\n"
    assert sorted(file.name for file in data.iterdir()) == ["chess.parquet", "chess.sha256"]


def test_a_kept_table_is_the_one_of_openml(openml_server: str, data: Path) -> None:
    fetched = by_name("chess", ReadSettings())
    picsc("data", "get", "chess")
    kept = by_name("chess", ReadSettings())
    assert isinstance(fetched, Dataset)
    assert isinstance(kept, Dataset)
    assert (fetched.source, kept.source) == ("OpenML 3", str(data / "chess.parquet"))
    assert fetched.target is not None
    assert kept.target is not None
    assert (kept.target.name, kept.target.levels) == (fetched.target.name, fetched.target.levels)
    np.testing.assert_array_equal(kept.target.values, fetched.target.values)
    for one, other in zip(kept.columns, fetched.columns, strict=True):
        assert (one.name, one.kind, one.levels) == (other.name, other.kind, other.levels)
        np.testing.assert_array_equal(one.values, other.values)


def test_get_takes_any_number_of_openml_and_list_shows_it(openml_server: str, data: Path) -> None:
    assert picsc("data", "get", "61", "--data-dir", str(data / "deeper"))[0] == 0
    _, out, _ = picsc("data", "list", "--data-dir", str(data / "deeper"))
    assert out.splitlines()[-1].split() == ["61", "table", "150", "x", "5", f"{data}/deeper/61.parquet"]
    iris = by_name("61", ReadSettings(), data_dir=data / "deeper")
    assert isinstance(iris, Dataset)
    assert iris.target is not None
    assert iris.target.name == "class"


def test_what_is_there_is_not_fetched_again(data: Path) -> None:
    data.mkdir()
    (data / "sonar.csv").write_text(CSV)
    code, out, err = picsc("data", "get", "sonar")
    assert code == 0
    assert out == f"{hashlib.sha256(CSV.encode()).hexdigest()}  {data}/sonar.csv\n"
    assert err == "picsc: sonar is there already; remove it to fetch it again\n"


def test_kept_images_come_back_as_they_were(data: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 16), dtype=np.uint8)
    frame = pd.DataFrame(pixels).add_prefix("p").assign(digit=pd.Categorical(["7", "3"] * 10))
    fetched = Fetched(frame, "mnist_784", 554, "digit", frozenset())
    images = as_images(fetched, NamedImages((), "", test=5), name="mnist")
    keep_images(images, data / "mnist.npz")
    kept = by_name("mnist", ReadSettings())
    assert isinstance(kept, ImageSet)
    np.testing.assert_array_equal(kept.pixels, pixels.reshape(20, 1, 4, 4))
    assert kept.labels.tolist() == images.labels.tolist() == [1, 0] * 10
    assert kept.classes == ("3", "7")
    assert kept.test.tolist() == [15, 16, 17, 18, 19]
    assert (data / "mnist.sha256").read_text().split() == [kept.sha256, "mnist.npz"]


def test_a_target_that_is_not_the_last_column_is_kept(data: Path) -> None:
    frame = pd.DataFrame({"class": ["1st", "2nd"] * 5, "sex": ["m", "f"] * 5, "age": np.arange(10.0) ** 2})
    keep_table(frame, "sex", data / "titanic.parquet")
    titanic = by_name("titanic", ReadSettings())
    assert isinstance(titanic, Dataset)
    assert titanic.target is not None
    assert titanic.target.name == "sex"


@pytest.mark.parametrize("command", ["get", "info"])
def test_a_file_that_has_changed_is_refused_with_both_digests(openml_server: str, data: Path, command: str) -> None:
    kept = get("chess").sha256
    path = data / "chess.parquet"
    path.write_bytes(path.read_bytes() + b"x")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    code, out, err = picsc("data", command, "chess")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert (
        f"chess.parquet has changed since it was fetched: its SHA-256 is {found}, and chess.sha256 says {kept}" in err
    )


def test_a_digest_of_another_file_does_not_count(data: Path) -> None:
    data.mkdir()
    (data / "sonar.csv").write_text(CSV)
    (data / "sonar.sha256").write_text(f"{'0' * 64}  sonar.parquet\n")
    assert by_name("sonar", ReadSettings()).sha256 == hashlib.sha256(CSV.encode()).hexdigest()


@pytest.mark.parametrize("command", ["get", "info"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fashion-mnist", "put train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and "),
        ("german", "put german.csv (class last) or credit-g.arff into "),
        ("kmnist", "put kmnist-train-imgs.npz, "),
    ],
)
def test_unreachable_says_which_file_to_put_where(
    monkeypatch: pytest.MonkeyPatch, openml_server: str, data: Path, command: str, name: str, words: str
) -> None:
    import openml

    monkeypatch.setattr(openml.config, "server", "http://127.0.0.1:9/api/v1/xml")
    code, out, err = picsc("data", command, name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert str(data) in err
    assert not data.exists()


def test_sets_of_scikit_learn_need_not_be_got(data: Path) -> None:
    code, out, err = picsc("data", "get", "digits")
    assert (code, out) == (2, "")
    assert "digits comes with scikit-learn, so there is nothing to get" in err


def test_a_folder_that_cannot_be_written_is_one_sentence_and_leaves_nothing(openml_server: str, data: Path) -> None:
    data.write_text("a file in place of the folder")
    code, out, err = picsc("data", "get", "chess")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"cannot write {data}/chess.parquet: " in err
    assert "--data-dir" in err


def test_a_write_that_fails_leaves_the_old_file(data: Path) -> None:
    keep_table(pd.DataFrame({"a": [1, 2]}), None, data / "own.parquet")
    old = (data / "own.parquet").read_bytes()
    (data / "own.sha256").unlink()
    (data / "own.sha256").mkdir()  # cannot be replaced by a file
    with pytest.raises(DataError, match=r"cannot write .*own\.parquet"):
        keep_table(pd.DataFrame({"a": [3, 4]}), None, data / "own.parquet")
    assert (data / "own.parquet").read_bytes() == old
    assert sorted(path.name for path in data.iterdir()) == ["own.parquet", "own.sha256"]


# info


def test_info_of_a_table(data: Path) -> None:
    data.mkdir()
    (data / "sonar.csv").write_text(CSV.replace("3.5,", "?,", 1))
    code, out, _ = picsc("data", "info", "Sonar")
    assert code == 0
    assert facts(out) == {
        "name": "sonar",
        "source": str(data / "sonar.csv"),
        "table": "32 x 3 rows and columns, 1 values missing",
        "the paper's": "208 rows",
        "target": "class",
        "classes": "x 16, y 16",
        "sha256": hashlib.sha256((data / "sonar.csv").read_bytes()).hexdigest(),
    }


def test_info_of_images_and_of_numbers(data: Path) -> None:
    data.mkdir()
    np.savez(
        data / "kmnist.npz",
        x_train=np.zeros((6, 3, 3), np.uint8),
        y_train=[0, 1, 2] * 2,
        x_test=np.zeros((2, 3, 3), np.uint8),
        y_test=[0, 1],
    )
    images = facts(picsc("data", "info", "kmnist")[1])
    assert images["images"] == "8 x 1x3x3, the last 2 of them the test part"
    assert images["classes"] == "0 3, 1 3, 2 2"
    assert facts(picsc("data", "info", "diabetes")[1])["target"] == "target (numbers)"


# show


MADE = pd.DataFrame(
    {
        "id": range(100, 124),
        "size": [0.5, 1.5, 2.5, 3.5] * 6,
        "code": ["u", "v", "u", None] * 6,
        "all": ["same"] * 24,
        "class": ["a", "b", "b", "a"] * 6,
    }
)


def test_show_says_how_a_file_was_read_and_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    path.write_text(MADE.to_csv(index=False, sep=";", decimal=","), encoding="utf-8-sig")
    code, out, err = picsc("data", "show", str(path))
    head, _, columns = out.partition("\n\n")
    said = facts(head)
    assert (code, err) == (0, "")
    assert {name: said[name] for name in ("name", "source", "format", "rows", "columns", "target", "classes")} == {
        "name": "made",
        "source": str(path),
        "format": "csv",
        "rows": "24",
        "columns": "4 beside the target, 2 of them left out",
        "target": "class (named 'class')",
        "classes": "2: a 12, b 12",
    }
    assert said["duplicated"] == "24 of 24 rows (100.0 %) have an equal row"
    assert said["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert said["encoding"] == "utf-8 (byte order mark)"
    assert said["delimiter"].startswith("';' (")
    assert said["decimal"].startswith("comma (")
    assert said["header"].startswith("yes (")
    lines = [line.split(maxsplit=4) for line in columns.splitlines()]
    assert lines[0] == ["COLUMN", "KIND", "MISSING", "LEVELS", "NOTE"]
    assert [line[0] for line in lines[1:] if len(line) > 2 and line[2].isdigit()] == ["id", "size", "code", "all"]
    assert ["size", "numeric", "0", "-"] in lines
    assert ["code", "categorical", "6", "2"] in lines
    assert ["all", "constant", "0", "-", "left out: one value only: same"] in lines
    assert max(map(len, columns.splitlines())) <= 80


def test_show_takes_every_option_of_reading(tmp_path: Path) -> None:
    path = tmp_path / "made.dat"
    path.write_text("x'y|z'|p\n1|2|q\n" * 6, encoding="latin-1")
    options = ("--format", "csv", "--no-header", "--delimiter", "|", "--quote", "none", "--encoding", "latin-1")
    code, out, err = picsc(
        "data", "show", str(path), *options, "--decimal", "point", "--drop", "c2", "--output", "json"
    )
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["schema"] == "picsc.data/1"
    assert {choice["how"] for choice in found["data"]["reading"]["choices"]} == {"told"}
    assert [column["name"] for column in found["data"]["columns"]] == ["c1", "c2"]
    assert found["data"]["columns"][1]["note"] == "dropped by --drop"


def test_show_writes_strict_json_to_a_file_beside_the_table(tmp_path: Path) -> None:
    path, report = tmp_path / "made.csv", tmp_path / "report.json"
    MADE.to_csv(path, index=False)
    code, out, _ = picsc("data", "show", str(path), "--output", f"json:{report}")
    found = json.loads(report.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert out.startswith("name  ")
    assert found["classes"] == [{"name": "a", "rows": 12}, {"name": "b", "rows": 12}]
    assert (found["duplicated"], found["unlabelled"], found["no_target"]) == (24, 0, "")


def test_show_tells_of_a_target_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    MADE.assign(**{"class": "only"}).to_csv(path, index=False)
    code, out, _ = picsc("data", "show", str(path))
    assert code == 0
    assert "has one class only: 'only'" in facts(out)["target"]
    assert picsc("data", "show", str(path), "--target", "class")[0] == 2
    assert facts(picsc("data", "show", str(path), "--no-target")[1])["target"] == "none"


def test_show_of_numbers_and_missing_labels(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    MADE.assign(y=[None, *np.linspace(0.5, 9.7, 23)]).drop(columns="class").to_csv(path, index=False)
    said = facts(picsc("data", "show", str(path))[1])
    assert said["target"] == "y (named 'y'), numbers"
    assert said["unlabelled"] == "1 of 24 rows (4.2 %)"


def test_show_escapes_control_characters_and_fits_them(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    path.write_text('"a\x1b[31m","line\nbreak",class\n' + "1.5,u,x\n2.5,v,y\n" * 6)
    code, out, _ = picsc("data", "show", str(path))
    assert code == 0
    assert "a\\x1b[31m  " in out
    assert "line\\nbreak  " in out
    assert "\x1b" not in out


def test_show_of_classes_beyond_twenty_counts_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    rows = "".join(f"{i % 7}.5,k{i % 25}\n" for i in range(100))
    path.write_text(f"x,class\n{rows}")
    assert facts(picsc("data", "show", str(path))[1])["classes"].endswith("k19 4 and 5 more")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.csv"], "no such file"),
        (["missing.csv", "--output", "csv"], "the format must be one of table, json"),
        (["missing.csv", "--target", "a", "--no-target"], "--no-target contradicts --target a"),
    ],
)
def test_show_refuses_in_one_line(arguments: list[str], said: str) -> None:
    code, out, err = picsc("data", "show", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


# audit


def test_audit_takes_a_data_directory(data: Path) -> None:
    other = data.parent / "other"
    other.mkdir()
    (other / "sonar.csv").write_text(CSV)
    arguments = ("--draws", "99", "--batches", "2", "--reference", "rest")
    code, out, _ = picsc("audit", "--dataset", "sonar", "--data-dir", str(other), *arguments)
    assert code in (0, 1)
    assert "sonar, 32 rows" in out


def test_a_file_is_shown_as_the_audit_of_its_project_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a;b\n" + "1,5;x\n2,5;y\n" * 10, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.picsc.read]\ndecimal = "point"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = [picsc("data", "show", "a.csv", *more)[1] for more in ((), ("--isolated",))]
    assert ["decimal point (told)" in " ".join(text.split()) for text in shown] == [True, False]
