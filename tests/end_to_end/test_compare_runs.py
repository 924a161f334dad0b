"""`picsc compare` from the command line to its report: pieces, another file, refusals, gates, bytes and resuming."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from picsc.settings import PAPERS_METHODS
from picsc_cli.app import app

QUICK = ("--epochs", "10", "--lambda", "0.1", "--repeats", "1", "--jobs", "1")
FEW = ("--method", "st-cv,kmm,picsc")


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc compare` in this process."""
    result = CliRunner().invoke(app, ["compare", *arguments])
    return result.exit_code, result.stdout, result.stderr


def table(path: Path, *, apart: float, n: int = 240) -> Path:
    """Rows of three sites; covariates of site c are moved by `apart`, and two classes follow from them."""
    random = np.random.default_rng(5)
    x = random.normal(size=(n, 3))
    site = np.repeat(["a", "b", "c"], n // 3)
    label = np.where(x[:, 0] + x[:, 1] + random.normal(0, 0.5, n) > 0, "yes", "no")
    x[site == "c"] += apart
    rows = [f"{a:.6f},{b:.6f},{c:.6f},{s},{y}" for (a, b, c), s, y in zip(x, site, label, strict=True)]
    path.write_text("\n".join(["p,q,r,site,class", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(table(tmp_path_factory.mktemp("data") / "near.csv", apart=0.5))


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(table(tmp_path_factory.mktemp("data") / "far.csv", apart=20.0))


def test_the_demonstration_selects_rows_and_says_so(tmp_path: Path) -> None:
    report = tmp_path / "x.json"
    code, out, err = picsc(*QUICK, "--run-dir", str(tmp_path / "run"), "--output", f"json:{report}")
    body = json.loads(report.read_text(encoding="utf-8"))
    assert code == 0
    assert err.startswith(
        "picsc: no DATA given, so this is a demonstration on scikit-learn's breast_cancer table; unless"
    )
    assert "\npicsc: time: st-cv 0." in err
    assert out.splitlines()[:3] == body["summary"]
    assert "Δ1: points that picsc is above st-cv; Δ2: points that picsc is above diw" in out
    assert (body["settings"]["bias"], body["measured"]) == ("auto", [])
    assert {*PAPERS_METHODS, "true-ratio"} <= {method["method"] for method in body["methods"]}
    assert body["risks"][0]["by"] == "unweighted"


def test_each_site_is_the_target_in_turn(near: str, tmp_path: Path) -> None:
    code, out, err = picsc(
        near, "--by", "site", *FEW, *QUICK, "--weigh-on", "raw", "--exponent", "0.5", "--floor", "0.01", "--adapt",
        "0.4", "--bound", "50", "--ridge", "2", "--merge", "mean", "--seed", "3", "--quiet",
        "--run-dir", str(tmp_path / "run"),
        "--output", f"json:{tmp_path / 'x.json'}",
    )  # fmt: skip
    body = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert (code, err) == (0, "")
    assert out.splitlines() == body["summary"]
    assert (body["setting"], body["failed"]) == ("in turn", 0)
    assert [target["name"] for target in body["targets"]] == ["site=a", "site=b", "site=c"]
    assert [target["train"] for target in body["targets"]] == [160, 160, 160]
    settings = body["settings"]
    expected = {
        "space": "raw",
        "exponent": 0.5,
        "floor": 0.01,
        "relative": 0.5,
        "bound": 50,
        "ridge": 2,
        "match": "losses",
    }
    assert settings["weigh"] == expected
    assert (settings["adapt"], settings["seed"], settings["penalty"]["merge"]) == (0.4, 3, "mean")


@pytest.mark.parametrize("names", [("a,b", "c"), ("site=a,site=b", "site=c")])
def test_pieces_are_named_by_value_or_in_full(near: str, names: tuple[str, str], tmp_path: Path) -> None:
    code, out, _ = picsc(
        near, "--by", "site", "--train-on", names[0], "--test-on", names[1], "--method", "picsc", *QUICK, "--quiet",
        "--run-dir", str(tmp_path / "run"), "--output", "json",
    )  # fmt: skip
    body = json.loads(out)
    assert code == 0
    assert (body["setting"], [target["name"] for target in body["targets"]]) == ("transfer", ["site=c"])


def test_another_file_is_the_target(near: str, tmp_path: Path) -> None:
    other = table(tmp_path / "new.csv", apart=0.0)
    code, out, _ = picsc(
        near, "--test-on", str(other), "--drop", "site", *FEW, *QUICK, "--quiet", "--run-dir", str(tmp_path / "run"),
        "--output", "json",
    )  # fmt: skip
    [target] = json.loads(out)["targets"]
    assert code == 0
    assert (target["name"], target["train"], target["adapt"] + target["judge"]) == ("new.csv", 240, 240)


def test_a_refused_weighting_is_told_with_its_reason_and_exits_1(far: str, tmp_path: Path) -> None:
    code, out, _ = picsc(
        far, "--by", "site", "--test-on", "c", *FEW, *QUICK, "--run-dir", str(tmp_path / "run")
    )  # fmt: skip
    reason = re.search(r"without a result: 1 of \d+ models kmm, site=c, repeat 1: (.*)", " ".join(out.split()))
    assert code == 1
    assert reason is not None
    assert re.match(r"(?!kmm:).*training and target rows hardly overlap", reason[1])


def test_the_same_seed_gives_the_same_bytes_for_any_jobs_and_after_resuming(near: str, tmp_path: Path) -> None:
    run = ("--run-dir", str(tmp_path / "run"))
    base = (near, "--by", "site", "--method", "iw,picsc", *QUICK[:-2], "--output", "json")
    _, one, _ = picsc(*base, "--jobs", "1", *run)
    _, two, _ = picsc(*base, "--jobs", "2", "--run-dir", str(tmp_path / "other"))
    for part in sorted((tmp_path / "run").rglob("*.npz"))[::2]:
        part.unlink()
    _, resumed, _ = picsc(*base, "--jobs", "1", *run, "--resume")
    assert one
    assert (two == one, resumed == one) == (True, True)


def test_timings_stay_where_they_are_asked_for(near: str, tmp_path: Path) -> None:
    code, out, err = picsc(
        near, "--method", "picsc", *QUICK, "--timings", "--run-dir", str(tmp_path / "run"), "--output", "json"
    )
    body = json.loads(out)
    assert (code, err) == (0, "")
    assert [each["method"] for each in body["measured"]] == [method["method"] for method in body["methods"]]


@pytest.mark.parametrize(
    ("gate", "code", "expected"),
    [
        (("--fail-under", "10"), 0, ""),
        (("--fail-under", "100"), 1, "picsc: --fail-under 100: picsc has "),
        (("--fail-under", "100", "--candidate", "st-cv"), 1, "picsc: --fail-under 100: st-cv has "),
        (("--fail-on", "never"), 0, ""),
    ],
)
def test_the_gate_decides_the_exit_code(
    near: str, tmp_path: Path, gate: tuple[str, ...], code: int, expected: str
) -> None:
    run = (near, "--method", "picsc", *QUICK, "--quiet", "--run-dir", str(tmp_path / "run"))
    found, out, err = picsc(*run, *gate)
    assert (found, out.count("\n"), err.startswith(expected), err.count("\n")) == (code, 3, True, code)


def test_a_candidate_that_is_worse_than_plain_training_fails_the_pipeline(tmp_path: Path) -> None:
    near = str(table(tmp_path / "near.csv", apart=0.5, n=1800))
    stiff = ("--method", "picsc", "--lambda", "1000", "--warmup", "0", "--epochs", "30", "--repeats", "8", "--quiet")
    pieces = ("--by", "site", "--train-on", "a,b", "--test-on", "c", "--jobs", "1")
    code, _, err = picsc(near, *pieces, *stiff, "--run-dir", str(tmp_path / "run"), "--fail-on", "worse")
    assert code == 1
    assert err.startswith("picsc: --fail-on worse: picsc is ")
    assert err.count("\n") == 1
