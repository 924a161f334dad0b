"""`picsc cv --save-model` and `picsc predict`: the same numbers in another process, and every way to be refused."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import picsc
from picsc_cli.app import app

TARGETS = ["two", "many", "number", "words"]


def table(n: int = 150, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    size = generator.normal(20, 5, n)
    gaps = generator.random((2, n)) < 0.1
    moment = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 400, n), "D")
    return pd.DataFrame(
        {
            "size": np.where(gaps[0], None, size.round(3)),
            "colour": np.where(gaps[1], None, generator.choice(["red", "green", "blue"], n)),
            "sold": generator.choice(["yes", "no"], n),
            "when": moment.strftime("%d.%m.%Y"),
            "two": (size > 20).astype(int),
            "many": (size // 4).astype(int).clip(3, 7),
            "number": size * 3 - 1000,
            "words": np.where(size > 20, "late", "früh"),
        }
    )


def call(*args: object) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    table().drop(columns=["two", "many", "number"]).to_csv(tmp_path / "data.csv", index=False)
    found = call(
        "cv", tmp_path / "data.csv", "--target", "words", "--folds", 2, "--repeats", 1, "--epochs", 10, "--lambda", 0.1,
        "--quiet", "--save-model", tmp_path / "model",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "which the report recommends, was trained on all rows and saved in" in found.stderr
    return tmp_path / "model"


@pytest.mark.parametrize("target", TARGETS)
def test_a_fresh_process_predicts_the_same_bits(target: str, tmp_path: Path) -> None:
    data = table().drop(columns=[each for each in TARGETS if each != target])
    data.to_csv(tmp_path / "data.csv", index=False)
    args = ["--target", target, "--folds", "2", "--repeats", "1", "--epochs", "10", "--lambda", "0.1", "--quiet"]
    more = ["--save-model", "model", "--save-method", "picsc"]
    subprocess.run([sys.executable, "-m", "picsc_cli", "cv", "data.csv", *args, *more], cwd=tmp_path, check=True)
    new = table(40, seed=1).drop(columns=TARGETS)[["when", "sold", "size", "colour"]]
    new.to_csv(tmp_path / "new.csv", index=False)
    subprocess.run(
        [sys.executable, "-m", "picsc_cli", "predict", "model", "new.csv", "--output", "csv:out.csv", "--quiet"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    model = picsc.load_model(tmp_path / "model")
    frame = pd.read_csv(tmp_path / "new.csv")
    assert [type(model.predict(frame)[0].item())(row[0]) for row in rows] == model.predict(frame).tolist()
    if target == "number":
        assert header == ["prediction"]
    else:
        assert header == ["prediction", *(f"probability {name}" for name in model.classes)]
        assert [[float(each) for each in row[1:]] for row in rows] == model.predict_proba(frame).tolist()


def test_compare_saves_a_model_for_its_one_target(tmp_path: Path) -> None:
    table().drop(columns=["two", "many", "number"]).to_csv(tmp_path / "data.csv", index=False)
    new = table(40, seed=1).drop(columns=["two", "many", "number"])
    new.to_csv(tmp_path / "new.csv", index=False)
    args = ["--target", "words", "--method", "iw", "--repeats", 1, "--epochs", 10, "--quiet"]
    args += ["--save-model", tmp_path / "model", "--save-method", "iw"]
    found = call("compare", tmp_path / "data.csv", "--by", "sold", *args)
    assert found.exit_code == 2
    assert "name the target with --test-on FILE" in found.stderr
    found = call("compare", tmp_path / "data.csv", "--test-on", tmp_path / "new.csv", *args)
    assert found.exit_code == 0, found.output
    assert "iw was trained on all training rows and saved in" in found.stderr
    found = call("predict", tmp_path / "model", tmp_path / "new.csv", "--output", f"csv:{tmp_path / 'out.csv'}")
    assert found.exit_code == 0, found.output
    model = picsc.load_model(tmp_path / "model")
    rows = pd.read_csv(tmp_path / "out.csv")
    assert rows["prediction"].tolist() == model.predict(new).tolist()
    assert (rows[[f"probability {name}" for name in model.classes]].to_numpy() == model.predict_proba(new)).all()


def test_fed_saves_the_global_model_of_all_clients(tmp_path: Path) -> None:
    table().drop(columns=["two", "many", "number"]).to_csv(tmp_path / "data.csv", index=False)
    args = ["fed", tmp_path / "data.csv", "--target", "words", "--clients", 3, "--rounds", 3, "--repeats", 1]
    args += ["--lr", 0.1, "--method", "fedavg,fedprox", "--whiten", "--quiet", "--save-model", tmp_path / "model"]
    found = call(*args, "--audit-only")
    assert found.exit_code == 2
    assert "--audit-only trains no method" in found.stderr
    found = call(*args)
    assert found.exit_code == 0, found.output
    assert "which has the best mean score over clients, was trained on all rows of all clients" in found.stderr
    new = table(40, seed=1).drop(columns=TARGETS)
    new.to_csv(tmp_path / "new.csv", index=False)
    found = call("predict", tmp_path / "model", tmp_path / "new.csv", "--output", f"csv:{tmp_path / 'out.csv'}")
    assert found.exit_code == 0, found.output
    model = picsc.load_model(tmp_path / "model")
    out = pd.read_csv(tmp_path / "out.csv")
    assert (out[[f"probability {name}" for name in model.classes]].to_numpy() == model.predict_proba(new)).all()


def test_a_model_of_the_users_own_is_refused_before_training(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "data.csv", index=False)
    found = call(
        "cv", tmp_path / "data.csv", "--target", "words", "--model", "sklearn:tree.DecisionTreeClassifier",
        "--save-model", tmp_path / "model",
    )  # fmt: skip
    assert found.exit_code == 2
    assert "--save-model saves the networks of picsc" in found.stderr
    assert not found.stdout


def test_reports_as_table_and_json(saved: Path, tmp_path: Path) -> None:
    table(30, seed=2).to_csv(tmp_path / "new.csv", index=False)
    found = call("predict", saved, tmp_path / "new.csv", "--output", f"json:{tmp_path / 'out.json'}")
    assert found.exit_code == 0
    assert "30 rows of" in found.stdout
    assert "note: 3 columns that the model does not know, and ignores: 'two', 'many', 'number'" in found.stdout
    assert "... and 20 more rows; --output csv:FILE has all of them" in found.stdout
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["schema"] == "picsc.predict/1"
    assert len(report["predictions"]) == 30
    assert report["classes"] == picsc.load_model(saved).classes.tolist()


def test_unknown_levels_are_predicted_and_said_so(saved: Path, tmp_path: Path) -> None:
    new = table(5, seed=3)
    new["colour"] = ["mauve", "red", "mauve", "ochre", "red"]
    new.to_csv(tmp_path / "new.csv", index=False)
    found = call("predict", saved, tmp_path / "new.csv", "--output", "csv")
    assert found.exit_code == 0
    assert len(found.stdout.splitlines()) == 6
    assert "'colour' ('mauve' in 2 rows, 'ochre' in 1 row)" in found.stderr


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x: x.drop(columns="sold"), "no column 'sold', which the model has learned from; the columns here are"),
        (lambda x: x.assign(size="big"), "column 'size' holds 'big' in data row 1, where the model knows numbers only"),
        (lambda x: x.assign(when="soon"), "column 'when' holds 'soon' in data row 1, where the model knows dates only"),
        (lambda x: x.head(0), "has a header line but no rows"),
    ],
)
def test_rows_that_cannot_be_predicted(change: Any, sentence: str, saved: Path, tmp_path: Path) -> None:
    change(table(6, seed=3)).to_csv(tmp_path / "new.csv", index=False)
    found = call("predict", saved, tmp_path / "new.csv", "--output", f"csv:{tmp_path / 'out.csv'}")
    assert found.exit_code == 2
    assert sentence in found.stderr
    assert found.stderr.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_a_changed_model_is_refused(saved: Path, tmp_path: Path) -> None:
    table(6).to_csv(tmp_path / "new.csv", index=False)
    with (saved / "weights.safetensors").open("ab") as file:
        file.write(b"x")
    found = call("predict", saved, tmp_path / "new.csv")
    assert found.exit_code == 2
    assert "weights.safetensors has changed since the model was saved" in found.stderr


def test_options_that_contradict_each_other(saved: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    for args, sentence in (
        (("--save-method", "picsc"), "--save-method goes with --save-model DIR"),
        (("--save-model", saved), "it exists already; name a folder that does not"),
        (("--save-model", tmp_path / "a" / "b"), "does not exist; make it first"),
        (("--save-model", tmp_path / "n", "--save-method", "kmm"), "--save-method 'kmm': must be one of st-cv, picsc"),
    ):
        found = call("cv", data, *args)
        assert found.exit_code == 2, found.output
        assert sentence in found.stderr
    assert not (tmp_path / "n").exists()
    found = call("predict", saved, data, "--output", f"csv:{saved / 'encoding.json'}")
    assert found.exit_code == 2
    assert "it is read, and would be gone" in found.stderr


def test_new_rows_that_have_shifted_fail(saved: Path, tmp_path: Path) -> None:
    alike, other = table(120, seed=4), table(120, seed=5)
    alike.to_csv(tmp_path / "alike.csv", index=False)
    other.assign(size=other["size"].astype(float) + 8).to_csv(tmp_path / "other.csv", index=False)
    fine = call("predict", saved, tmp_path / "alike.csv", "--audit")
    assert fine.exit_code == 0, fine.output
    assert "input: none of 4 columns has shifted against the training rows" in fine.stdout
    found = call("predict", saved, tmp_path / "other.csv", "--audit", "--output", f"json:{tmp_path / 'out.json'}")
    assert found.exit_code == 1
    assert "input: 1 of 4 columns shifted against the training rows: 'size'" in found.stdout
    assert json.loads((tmp_path / "out.json").read_text())["shift"][0]["verdict"] == "shift"
    accepted = call("predict", saved, tmp_path / "other.csv", "--audit", "--fail-on", "never", "--output", "csv")
    assert accepted.exit_code == 0
    assert "input: 1 of 4 columns shifted" in accepted.stderr
    assert len(accepted.stdout.splitlines()) == 121
    wrong = call("predict", saved, tmp_path / "other.csv", "--fail-on", "never")
    assert wrong.exit_code == 2
    assert "--fail-on goes with --audit" in wrong.stderr
