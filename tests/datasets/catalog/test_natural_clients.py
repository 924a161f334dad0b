"""Tables with natural clients by name: every layout of their files, and a key that is never a covariate."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from picsc.datasets.catalog import lookup as catalog
from picsc.datasets.catalog.inventory import describe
from picsc.datasets.catalog.natural_clients import NATURAL, natural_client
from picsc.datasets.catalog.natural_files import GASES
from picsc.datasets.catalog.registry import NAMED, NamedFolder
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.settings import ReadSettings

NUMBERS = [[round(math.sin(1 + i * 7 + j) * 9, 3) for j in range(128)] for i in range(6)]


def comma(folder: Path) -> None:
    for batch in (1, 2, 10):
        lines = [f"{GASES[i]},{10 * i}.000," + ",".join(map(str, NUMBERS[i])) for i in range(6)]
        (folder / f"batch{batch}.dat").write_text("\n".join(lines) + "\n")


def uci(folder: Path, head: Callable[[int], str]) -> None:
    for batch in (1, 2, 10):
        lines = [head(i) + " ".join(f"{j + 1}:{value}" for j, value in enumerate(NUMBERS[i])) for i in range(6)]
        (folder / f"batch{batch}.dat").write_text(" \n".join(lines) + " \n")


def uci_with(folder: Path) -> None:
    uci(folder, lambda i: f"{i + 1};{10 * i}.0 ")


def uci_without(folder: Path) -> None:
    uci(folder, lambda i: f"{i + 1} ")


def archive(folder: Path) -> None:
    x = np.arange(24, dtype=np.float32).reshape(8, 3) % 7
    np.savez(folder / "har_feat3.npz", x=x, y=np.arange(8) % 2 + 1, subject=np.arange(8) // 2)


def har_text(folder: Path) -> None:
    x = np.arange(24).reshape(8, 3) % 7
    for part, rows in (("train", slice(0, 6)), ("test", slice(6, 8))):
        (folder / part).mkdir()
        np.savetxt(folder / part / f"X_{part}.txt", x[rows], fmt="  %.7e")
        np.savetxt(folder / part / f"y_{part}.txt", (np.arange(8) % 2 + 1)[rows], fmt="%d")
        np.savetxt(folder / part / f"subject_{part}.txt", (np.arange(8) // 2)[rows], fmt="%d")


HEART = "63.0,1.0,{},145,233,1,2,150,0,2.3,3,0,6,{}\n"


def heart(folder: Path) -> None:
    names = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,target\n"
    for site in ("cleveland", "hungarian", "va"):
        rows = [HEART.format(i % 4 + 1, i % 3).replace("145", f"14{i}") for i in range(6)]
        (folder / f"processed.{site}.data").write_text(
            names * (site == "va") + "".join(rows) + "41,,2,?,180,0,?,,1,0,2,?,,0\n"
        )


def parkinsons(folder: Path) -> None:
    rows = [f"{i // 2},7{i},{i % 2},{i}.5,28.{i},3{i}.1,0.0{i * i % 5}\n" for i in range(8)]
    (folder / "parkinsons_updrs.data").write_text(
        "subject#,age,sex,test_time,motor_UPDRS,total_UPDRS,Jitter(%)\n" + "".join(rows)
    )


def contraception(folder: Path) -> None:
    rows = [f'"{i}","{i}","{i // 3}","{"NY"[i % 2]}","{i % 3}",{i * i}.5,"{"YN"[i % 2]}"\n' for i in range(9)]
    (folder / "mlmRev_Contraception.csv").write_text(
        '"","woman","district","use","livch","age","urban"\n' + "".join(rows)
    )


def stream(folder: Path) -> None:
    rows = [f"{i * i % 7}.5,{i}.25,{i % 2}\n" for i in range(40)]
    (folder / "weather.csv").write_text("feat_1,feat_2,target\n" + "".join(rows))


WAYS = [
    ("gas-sensor-drift", "gas_sensor_drift", comma),
    ("gas-sensor-drift", "gas_sensor_drift/Dataset", uci_with),
    ("gas-sensor-drift", "Gas_Sensor_Drift", uci_without),
    ("uci-har", "uci_har_subjects", archive),
    ("uci-har", "UCI HAR Dataset", har_text),
    ("heart-disease", "heart_disease_4sites", heart),
    ("parkinsons-telemonitoring", "parkinsons_telemonitoring", parkinsons),
    ("contraception", "site_tabular", contraception),
    ("noaa-weather", "drift_streams", stream),
]


def get(root: Path, name: str, keys: tuple[str, ...] = (), **settings: object) -> Dataset:
    found = catalog.by_name(name, ReadSettings(**settings), keys=keys, data_dir=root)
    assert isinstance(found, Dataset)
    return found


def put(root: Path, folder: str, make: Callable[[Path], None]) -> Path:
    (root / folder).mkdir(parents=True)
    make(root / folder)
    return root


def covariates(dataset: Dataset) -> set[str]:
    return {column.name for column in dataset.columns} | {column.name for column in dataset.left_out}


@pytest.mark.parametrize(("name", "folder", "make"), WAYS)
def test_the_client_is_a_key_if_asked_for_and_never_a_covariate(
    tmp_path: Path, name: str, folder: str, make: Callable[[Path], None]
) -> None:
    put(tmp_path, folder, make)
    key = natural_client(name)
    assert key is not None
    plain, cut = get(tmp_path, name), get(tmp_path, name, (key,))
    assert not covariates(plain) & {key, NATURAL[name].target, *NATURAL[name].leave}
    assert covariates(cut) == covariates(plain)
    assert (list(plain.keys), list(cut.keys)) == ([], [key])
    assert len(set(cut.keys[key].tolist())) >= 3
    assert plain.target is not None
    assert plain.target.name == NATURAL[name].target
    assert (plain.name, len(plain.sha256), describe(name, tmp_path).clients) == (name, 64, key)


def test_every_layout_of_the_gas_sensors_gives_the_same_table(tmp_path: Path) -> None:
    tables = []
    for way, make in (("a", comma), ("b", uci_with), ("c", uci_without)):
        tables.append(get(put(tmp_path / way, "gas-sensor-drift", make), "gas-sensor-drift", ("batch",)))
    for table in tables:
        assert (table.n, len(table.columns)) == (18, 128)
        assert table.target is not None
        assert table.target.levels == GASES
        assert table.keys["batch"].tolist() == [1] * 6 + [2] * 6 + [10] * 6
        np.testing.assert_array_equal(table.columns[7].values, [row[7] for row in NUMBERS] * 3)


def test_the_second_target_can_be_the_target(tmp_path: Path) -> None:
    put(tmp_path, "parkinsons_telemonitoring", parkinsons)
    table = get(tmp_path, "parkinsons-telemonitoring", target="motor_UPDRS")
    assert table.target is not None
    assert (table.target.name, table.target.kind) == ("motor_UPDRS", "numbers")
    assert not covariates(table) & {"total_UPDRS", "subject"}
    put(tmp_path, "gas_sensor_drift", comma)
    assert "concentration" in {
        column.name for column in get(tmp_path, "gas-sensor-drift", drop=("concentration",)).left_out
    }


def test_both_layouts_of_the_activities_give_the_same_table(tmp_path: Path) -> None:
    one = get(put(tmp_path / "a", "uci-har", archive), "uci-har", ("subject",))
    other = get(put(tmp_path / "b", "uci-har", har_text), "uci-har", ("subject",))
    for left, right in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(left.values, right.values)
    assert one.keys["subject"].tolist() == other.keys["subject"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    (tmp_path / "b/uci-har/activity_labels.txt").write_text("1 WALKING\n2 LAYING\n")
    assert one.target is not None
    assert one.target.levels == ("1", "2")
    named = get(tmp_path / "b", "uci-har").target
    assert named is not None
    assert named.levels == ("WALKING", "LAYING")


def test_hospitals_with_and_without_a_header_line(tmp_path: Path) -> None:
    table = get(put(tmp_path, "heart_disease_4sites", heart), "heart-disease", ("site",))
    assert table.keys["site"].tolist() == ["cleveland"] * 7 + ["hungarian"] * 7 + ["va"] * 7
    assert table.target is not None
    assert [table.target.levels[code] for code in table.target.values[:7].astype(int)] == [
        "no", "yes", "yes", "no", "yes", "yes", "no",
    ]  # fmt: skip
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds["cp"] == "categorical"
    missing = {column.name: int(column.missing.sum()) for column in table.columns}
    assert (missing["cp"], missing["trestbps"], missing["ca"]) == (0, 3, 3)


@pytest.mark.parametrize(
    ("name", "file", "text", "message"),
    [
        ("gas-sensor-drift", "batch1.dat", "1;10 1:2\n", r"batch1\.dat, line 1: it is no measurement of 128 features"),
        ("gas-sensor-drift", "batch1.dat", "Ethanol,1,2\n", r"line 1: .*2 numbers where there should be 129"),
        ("gas-sensor-drift", "batch1.dat", "\n", r"there are no measurements in it"),
        ("gas-sensor-drift", "batchX.dat", "1\n", r"there is no batch1\.dat or other batch"),
        ("uci-har", "har.npz", "x", r"har\.npz is no npz archive with x, y and subject"),
        ("uci-har", "train/X_train.txt", "1 2\n", r"y_train\.txt cannot be read: No such file"),
        ("uci-har", "train/X_train.txt", "1 b\n", r"X_train\.txt is no file of numbers"),
        ("heart-disease", "processed.va.data", "1,2\n", r"data row 1 has 2 fields where there should be rows of 14"),
        ("heart-disease", "processed.va.data", "", r"there are no rows where there should be rows of 14"),
        ("heart-disease", "processed.va.data", HEART.format("x", 0), r"a value is no number \(.*'x'"),
        ("heart-disease", "processed.paris.data", "1", r"there is no processed\.cleveland\.data or other hospital"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, name: str, file: str, text: str, message: str) -> None:
    path = tmp_path / name / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        get(tmp_path, name)


def test_where_there_are_no_files_it_says_which_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'heart-disease' is not in .*; put processed\.cleveland\.data.* into /"):
        get(tmp_path, "heart-disease")


def test_every_natural_table_has_a_folder_and_the_other_way_round() -> None:
    tables = {name for name, entry in NAMED.items() if isinstance(entry, NamedFolder) and entry.kind == "table"}
    assert tables == set(NATURAL)
    assert natural_client("Gas_Sensor_Drift") == "batch"
    assert natural_client("wdbc") is natural_client("shakespeare") is natural_client("no such set") is None


def test_a_stream_is_cut_into_ten_stretches_in_order(tmp_path: Path) -> None:
    table = get(put(tmp_path, "drift_streams", stream), "noaa-weather", ("stretch",))
    assert table.keys["stretch"].tolist() == [1 + i // 4 for i in range(40)]
