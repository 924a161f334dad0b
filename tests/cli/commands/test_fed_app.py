"""`picsc fed-app` as it is used: a project whose settings are those of the command, and refusals."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from picsc.settings import FedSettings, validated
from picsc_cli.app import app


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def test_the_project_holds_the_settings_of_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    options = ("--target", 'a "b" é', "--lr", "0.2", "--method", "fedavg,picsc", "--rounds", "7")
    code, output, _ = picsc("fed-app", str(folder), "--nodes", "3", "--patience", "20", *options)
    assert (code, output) == (0, f"wrote {folder}: start the server and the clients as docs/flower.md says\n")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["flwr"]["app"]
    assert (project["config"]["clients"], project["config"]["patience"], project["config"]["resume"]) == (3, 20, False)
    settings = validated(FedSettings, **json.loads(project["config"]["settings"]))
    assert settings.read.target == 'a "b" é'
    assert (settings.lr, settings.methods, settings.rounds) == (0.2, ("fedavg", "picsc"), 7)
    for name in project["components"].values():
        module, _, value = name.partition(":")
        text = (folder / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        assert f"import {value}\n" in text
        assert len(text.splitlines()) == 5


def test_a_project_fetches_nothing_when_it_runs(tmp_path: Path) -> None:
    picsc("fed-app", str(tmp_path / "trial"), "--nodes", "2", "--lr", "0.1", "--target", "y")
    assert tomllib.loads((tmp_path / "trial" / "pyproject.toml").read_text())["project"]["dependencies"] == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--nodes", "3"), "--lr auto: real clients train with a rate that is given"),
        (("--nodes", "3", "--lr", "0.1", "--whiten"), "--whiten and --inputs are for simulations"),
        (("--nodes", "3", "--lr", "0.1", "--model", "lenet"), "--model lenet: real clients train the mlp on tables"),
        (("--nodes", "1", "--lr", "0.1"), "--nodes"),
        (("--lr", "0.1"), "picsc fed-app needs N"),
    ],
    ids=["rate", "whitened", "model", "one", "none"],
)
def test_what_real_clients_do_not_have_is_refused(tmp_path: Path, options: tuple[str, ...], sentence: str) -> None:
    code, output, error = picsc("fed-app", str(tmp_path / "trial"), *options)
    assert (code, output) == (2, "")
    assert sentence in " ".join(error.split())
    assert not (tmp_path / "trial").exists()


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, error = picsc("fed-app", str(tmp_path), "--nodes", "3", "--lr", "0.1")
    assert (code, error) == (2, f"picsc: {tmp_path} holds mine.txt: name a folder that is new or empty\n")
