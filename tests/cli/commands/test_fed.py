"""`picsc fed` as it is used: options, contradictions, whose rows are whose, outputs and exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from picsc.datasets.catalog.natural_clients import with_own_clients
from picsc.errors import SettingsError
from picsc.reports import FedReport
from picsc.settings import FED_METHODS, FedSettings, validated
from picsc.settings.layers import Layer, joined
from picsc_cli.app import app
from picsc_cli.commands.fed import DEMONSTRATION
from picsc_cli.output import destinations as outputs
from tests.factories.fed import fed_audit_report, fed_method, fed_report

QUICK = ("--rounds", "2", "--epochs", "1", "--repeats", "1", "--lr", "0.1", "--jobs", "1")


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


# Help


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from picsc_cli.app import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, "fed", "--help"], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert done.stdout
    assert not loaded & {
        "torch",
        "sklearn",
        "pandas",
        "scipy",
        "numpy",
        "openml",
        "pyarrow",
        "pydantic",
        "yaml",
        "rich",
    }


def test_every_option_has_one_line_of_help_at_80_columns() -> None:
    _, text, _ = picsc("fed", "--help")
    listed = text[text.index("\nData:\n") :]
    entries = [line for line in listed.splitlines() if line and not line.endswith(":")]
    assert all(re.match(r"  -\S.*\s{2,}\S", entry) and len(entry) <= 80 for entry in entries)
    sections = ["Data:", "Clients:", "Methods:", "Training:", "Run:", "Output:", "Other:"]
    assert [line for line in listed.splitlines() if line.endswith(":")] == sections


SETTINGS = FedSettings()


@pytest.mark.parametrize(
    ("option", "default"),
    [
        ("--concentration", SETTINGS.clients.concentration),
        ("--classes", SETTINGS.clients.classes),
        ("--noise", SETTINGS.clients.noise),
        ("--min-rows", SETTINGS.clients.min_rows),
        ("--validation", SETTINGS.validation),
        ("--min-client-rows", SETTINGS.min_client_rows),
        ("--mu", SETTINGS.proximal),
        ("--lambda", SETTINGS.strength),
        ("--alpha", SETTINGS.alpha),
        ("--delta", SETTINGS.delta),
        ("--aggregate", SETTINGS.aggregate),
        ("--mean", SETTINGS.mean),
        ("--server-lr", SETTINGS.server_lr),
        ("--server-momentum", SETTINGS.server_momentum),
        ("--model", SETTINGS.model),
        ("--rounds", SETTINGS.rounds),
        ("--epochs", SETTINGS.epochs),
        ("--lr", SETTINGS.lr),
        ("--momentum", SETTINGS.momentum),
        ("--weight-decay", SETTINGS.weight_decay),
        ("--sample", SETTINGS.sample),
        ("--device", SETTINGS.device),
        ("--allow-failures", SETTINGS.allow_failures),
        ("--seed", SETTINGS.seed),
    ],
)
def test_defaults_in_help_are_those_of_the_settings(option: str, default: object) -> None:
    [line] = [line for line in picsc("fed", "--help")[1].splitlines() if f"{option} " in line]
    said = re.search(r"\(default (\S+)\)", line)
    assert said is not None
    assert (said[1] == default) if isinstance(default, str) else (float(said[1]) == default)


# Settings


def test_all_bad_settings_are_reported_at_once_by_their_options() -> None:
    code, out, err = picsc(
        "fed", "x.csv", "--clients", "1", "--method", "fedavg,fedsgd", "--mu", "-1", "--lambda", "-2", "--lr", "fast",
        "--sample", "0", "--min-rows", "0", "--target-accuracy", "190", "--mean", "median",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    said = (
        "--clients 1:",
        "--method 'fedsgd'",
        "--mu '-1': must be",
        "--lambda '-2': must be",
        "--lr 'fast': must be",
        "or 'auto'",
    )
    more = (
        "--mu '-1': must be greater than or equal to 0, or 'auto'",
        "--lambda '-2': must be",
        "--sample 0.0:",
        "--min-rows 0:",
        "--target-accuracy 190",
        "--mean 'median': must be 'rows' or 'clients'",
    )
    assert [words for words in (*said, *more) if words not in err] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.csv", "--dataset", "iris"), "not both"),
        (("--verbose", "--quiet"), "choose --verbose or --quiet, not both"),
        (("--epochs", "2", "--steps", "5"), "choose --epochs or --steps, not both"),
        (("a.csv", "--by", "x", "--clients", "3"), "choose --by COL for clients that exist, or --clients N"),
        (("a.csv", "--partition", "noise"), "--partition noise needs --clients N"),
        (("a.csv", "--clients", "3", "--concentration", "1"), "goes with --partition dirichlet or quantity"),
        (("a.csv", "--clients", "3", "--classes", "1"), "--classes goes with --partition classes"),
        (("a.csv", "--clients", "3", "--noise", "1"), "--noise goes with --partition noise"),
        (("--partition", "iid", "--noise", "1"), "--noise goes with --partition noise"),
        (("a.csv", "--by", "x", "--min-rows", "5"), "--min-rows goes with --clients N"),
        (("--audit-only", "--plot", "x.svg"), "--plot draws rounds, and --audit-only has none"),
        (("--audit-only", "--resume"), "--audit-only keeps no parts"),
        (("--plot", "x.pdf"), "--plot x.pdf: the file must end in .png or .svg or .html"),
        (("--audit-only", "--engine", "flower"), "--audit-only trains no method: leave out --engine"),
        (("a.csv", "--engine", "flower", "--resume"), "--engine flower keeps no parts"),
        (
            ("--dataset", "iris", "--clients", "3", "--engine", "flower"),
            "--lr auto: real clients train with a rate that",
        ),
        (("--dataset", "digits", "--engine", "flower", "--lr", "1"), "real clients train on tables, and digits holds"),
        (("--plot", "no-such-folder/x.svg"), "cannot write no-such-folder/x.svg: the folder no-such-folder"),
        (("--output", "xml"), "must be one of table, json, csv, markdown"),
        (("no-such.csv", "--clients", "3"), "no-such.csv"),
        (("--dataset", "iris"), "name a column with --by COL, or invent some with --clients N"),
        (("--dataset", "digits", "--by", "x"), "--by x: digits has no columns"),
    ],
)
def test_contradictions_exit_2_with_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    code, out, err = picsc("fed", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("picsc: ")
    assert err.count("\n") == 1
    assert words in err


def test_the_picture_is_an_output_with_a_path_of_its_own() -> None:
    assert outputs.with_plot((), Path("a.HTML"), FedReport) == (outputs.Output("html", Path("a.HTML")),)
    assert outputs.with_plot((), None, FedReport) == ()
    with pytest.raises(SettingsError, match=r"--plot: a\.svg would be written twice"):
        outputs.with_plot(outputs.parse(["json:a.svg"]), Path("a.svg"), FedReport)


# Whose rows are whose


@pytest.mark.parametrize(
    ("invented", "chosen", "expected"),
    [
        ({}, {}, ({"clients": 10, "partition": "noise", "noise": 1.0}, {"rounds": 10, "epochs": 1, "repeats": 2})),
        (
            {"clients": 4, "noise": 0.5},
            {"rounds": 3},
            ({"clients": 4, "partition": "noise", "noise": 0.5}, {"rounds": 3, "epochs": 1, "repeats": 2}),
        ),
        (
            {"partition": "classes"},
            {"steps": 5},
            ({"clients": 10, "partition": "classes"}, {"rounds": 10, "repeats": 2, "steps": 5}),
        ),
        ({"by": "x"}, {"epochs": 3}, ({"by": "x"}, {"rounds": 10, "repeats": 2, "epochs": 3})),
    ],
)
def test_the_demonstration_gives_way_to_options(
    invented: dict[str, object], chosen: dict[str, object], expected: tuple[dict[str, object], dict[str, object]]
) -> None:
    flags = Layer("flag", {"clients": invented, **chosen})
    values = joined(FedSettings, (Layer("default", DEMONSTRATION.settings), flags)).values
    small = {"model": "mlp", "hidden": 16, "methods": ("fedavg", "fedprox", "scaffold", "picsc")}
    assert values == {"clients": expected[0], **small, **expected[1]}
    assert validated(FedSettings, **values).model == "mlp"


@pytest.mark.parametrize(
    ("name", "clients", "by"),
    [
        ("uci-har", {}, "subject"),
        ("heart-disease", {}, "site"),
        ("uci-har", {"clients": 5}, None),
        ("uci-har", {"by": "activity"}, "activity"),
        ("iris", {}, None),
        (None, {}, None),
    ],
)
def test_named_tables_bring_their_clients(name: str | None, clients: dict[str, object], by: str | None) -> None:
    settings = with_own_clients(validated(FedSettings, clients=clients), name)
    assert settings.clients.by == by
    assert settings.keys == (() if by is None else (by,))


# Outputs and exit codes


def test_a_run_writes_every_output_and_its_settings(tmp_path: Path) -> None:
    report, picture = tmp_path / "x.json", tmp_path / "x.svg"
    code, out, err = picsc(
        "fed", "--dataset", "wine", "--clients", "3", "--partition", "noise", "--noise", "2", "--method", "fedavg",
        "--method", "fedprox", "--mu", "0.25", "--server-lr", "0.5", "--seed", "3", *QUICK, "--run-dir",
        str(tmp_path / "run"), "--output", f"json:{report}", "--plot", str(picture),
    )  # fmt: skip
    assert (code, err) == (0, "")
    body = json.loads(report.read_text(encoding="utf-8"))
    settings = body["settings"]
    assert [method["method"] for method in body["methods"]] == settings["methods"] == ["fedavg", "fedprox"]
    assert (settings["clients"]["partition"], settings["clients"]["noise"]) == ("noise", 2)
    assert (settings["proximal"], settings["server_lr"], settings["lr"], settings["seed"]) == (0.25, 0.5, 0.1, 3)
    assert out.splitlines()[0] == body["summary"][0]
    assert picture.read_text(encoding="utf-8").count("<polyline") == 2


def test_a_column_makes_clients_and_is_no_covariate(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{k * 7 % 10},{k * 3 % 11},{'ab'[k % 2]},{'yn'[k * 7 % 10 > 4]}" for k in range(120)]
    table.write_text("\n".join(["x,z,site,class", *rows]) + "\n")
    code, out, err = picsc(
        "fed", str(table), "--by", "site", "--method", "fedavg", *QUICK, "--run-dir", str(tmp_path / "run"),
        "--output", "json",
    )  # fmt: skip
    body = json.loads(out)
    assert (code, err) == (0, "")
    assert [client["rows"] for client in body["clients"]] == [60, 60]
    assert "site" not in [column["name"] for column in body["data"]["columns"] if column["used"]]


def test_an_audit_exits_1_where_a_client_is_shifted() -> None:
    rows = ("--dataset", "wine", "--clients", "3", "--jobs", "1", "--quiet", "--audit-only", "--epochs", "1")
    code, out, _ = picsc("fed", *rows, "--partition", "classes", "--classes", "1")
    assert (code, out.count("\n")) == (1, 3)
    assert picsc("fed", *rows, "--by", "x")[0] == 2


def test_what_has_no_result_is_counted_for_the_exit_code() -> None:
    assert fed_report().failed == 1
    assert fed_report(methods=(fed_method("fedavg", 0.5),)).failed == 0
    assert fed_audit_report(fed_audit_report().clients[0]).verdict == "ok"


def test_help_names_methods_that_exist() -> None:
    [line] = [line for line in picsc("fed", "--help")[1].splitlines() if "--method NAME" in line]
    named = re.findall(r"\b(?:fed|scaffold|picsc)\w*", line)
    assert named == ["fedavg", "fedprox", "scaffold", "picsc"]
    assert set(named) <= set(FED_METHODS)
