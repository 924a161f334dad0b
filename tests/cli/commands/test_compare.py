"""`picsc compare` as it is used: options, contradictions, what the exit code is about, outputs and time."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from picsc.errors import SettingsError
from picsc.reports.compare import CompareReport
from picsc.settings import COMPARE_METHODS, CompareSettings, FedSettings, validated
from picsc.settings.layers import Layer, joined
from picsc_cli.app import app
from picsc_cli.commands.compare import DEMONSTRATION, time_line, untimed
from picsc_cli.gates import FailOnWorse, Gate, check, gate, verdicts
from tests.factories.compare import above, compare_method, compare_report, one_target, timed

WORSE = FailOnWorse.WORSE


def picsc(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `picsc` in this process."""
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


# Help


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from picsc_cli.app import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "compare", "--help"], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert done.stdout
    assert not loaded & {
        "torch", "sklearn", "pandas", "scipy", "numpy", "openml", "pyarrow", "pydantic", "yaml", "rich",
    }  # fmt: skip


def test_every_option_has_one_line_of_help_at_80_columns() -> None:
    _, text, _ = picsc("compare", "--help")
    listed = text[text.index("\nData:\n") :]
    entries = [line for line in listed.splitlines() if line and not line.endswith(":")]
    assert all(re.match(r"  -\S.*\s{2,}\S", entry) and len(entry) <= 80 for entry in entries)
    sections = ["Data:", "Pieces:", "Target:", "Methods:", "Weights:", "Training:", "Run:", "Output:", "Other:"]
    assert [line for line in listed.splitlines() if line.endswith(":")] == sections


SETTINGS = CompareSettings()


@pytest.mark.parametrize(
    ("option", "default"),
    [
        ("--bias-strength", SETTINGS.bias_strength),
        ("--label-noise", SETTINGS.label_noise),
        ("--adapt", SETTINGS.adapt),
        ("--labelled", SETTINGS.labelled),
        ("--algorithm", SETTINGS.algorithm),
        ("--fragments", SETTINGS.fragments),
        ("--penalty", SETTINGS.penalty.kind),
        ("--merge", SETTINGS.penalty.evaluated),
        ("--warmup", SETTINGS.penalty.warmup),
        ("--alpha", SETTINGS.penalty.alpha),
        ("--weigh-on", SETTINGS.weigh.space),
        ("--exponent", SETTINGS.weigh.exponent),
        ("--floor", SETTINGS.weigh.floor),
        ("--relative", SETTINGS.weigh.relative),
        ("--bound", SETTINGS.weigh.bound),
        ("--ridge", SETTINGS.weigh.ridge),
        ("--match", SETTINGS.weigh.match),
        ("--optimizer", SETTINGS.train.optimizer),
        ("--device", SETTINGS.train.device),
        ("--precision", SETTINGS.train.precision),
        ("--seed", SETTINGS.seed),
        ("--candidate", Gate().candidate),
        ("--fail-on", Gate().fail_on),
    ],
)
def test_defaults_in_help_are_those_of_the_settings(option: str, default: object) -> None:
    [line] = [line for line in picsc("compare", "--help")[1].splitlines() if line.startswith(f"  {option} ")]
    said = re.search(r"\(default (\S+)\)", line)
    assert said is not None
    assert said[1] == str(default)


def test_help_names_methods_that_exist() -> None:
    [line] = [line for line in picsc("compare", "--help")[1].splitlines() if "--method NAME" in line]
    named = re.findall(r"[a-z-]{2,}", line.partition("NAME,..")[2])
    assert tuple(named) == COMPARE_METHODS[: len(named)]


# Settings


def test_all_bad_settings_are_reported_at_once_by_their_options() -> None:
    code, out, err = picsc(
        "compare", "x.csv", "--method", "picsc,kmn", "--weigh-on", "pixels", "--exponent", "2", "--floor", "1",
        "--label-noise", "1", "--adapt", "0", "--fragments", "1", "--lambda", "-2", "--folds", "1", "--lr", "0",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    said = ("--method 'kmn'", "--weigh-on 'pixels'", "--exponent 2.0:", "--floor 1.0:", "--label-noise 1.0:")
    more = ("--adapt 0.0:", "--fragments 1:", "--lambda '-2':", "--folds 1:", "--lr 0.0:")
    assert [words for words in (*said, *more) if words not in err] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.csv", "--dataset", "iris"), "choose a file (a.csv) or --dataset iris, not both"),
        (("--verbose", "--quiet"), "choose --verbose or --quiet, not both"),
        (("a.csv", "--bias-strength", "2"), "--bias-strength goes with --bias COL"),
        (("a.csv", "--relative", "0.1"), "--relative goes with --method rulsif"),
        (("a.csv", "--method", "iw", "--bound", "9"), "--bound goes with --method kmm"),
        (("a.csv", "--method", "iw", "--match", "losses"), "--match goes with --method diw"),
        (("a.csv", "--method", "kmm", "--labelled", "0.2"), "--labelled goes with --method diw"),
        (("a.csv", "--train-on", "site=a"), "--train-on names pieces: give --by, --time, --batches or --folds"),
        (("a.csv", "--by", "s", "--train-on", "a,b", "--test-on", "b,c"), "--train-on and --test-on both name b:"),
        (("a.csv", "--by", "s", "--bias", "auto"), "--bias selects training rows at random: leave out pieces"),
        (("a.csv", "--by", "s", "--folds", "3"), "choose one way to cut, not 2: --folds, --by"),
        (("a.csv", "--by", "s", "--label-noise", "0.4"), "--label-noise needs rows that are always the target"),
        (("--output", "xml"), "must be one of table, json, csv, markdown"),
        (("--output", "json:no-such-folder/x.json"), "the folder no-such-folder does not exist"),
        (("--candidate", "kmm"), "--candidate kmm goes with --fail-under A or --fail-on worse"),
        (("--fail-under", "nan"), "--fail-under nan: must be a fraction of at most 1, or above 1 a percentage"),
        (("--fail-under", "100.5"), "--fail-under 100.5: must be a fraction of at most 1, or above 1 a percentage"),
        (("--fail-on", "worse", "--candidate", "st-cv"), "--fail-on worse compares with st-cv: give --candidate"),
        (("--fail-under", "9", "--method", "st-cv,iw"), "--candidate picsc is not run: name it in --method, or"),
        (("no-such.csv",), "no-such.csv"),
    ],
)
def test_contradictions_exit_2_with_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    code, out, err = picsc("compare", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("picsc: ")
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(("given", "percent"), [(0.9, 90), (90, 90), (1, 100), (0.57, 57), (-0.2, -20), (0, 0)])
def test_a_bound_is_a_fraction_or_percent(given: float, percent: float) -> None:
    assert gate(None, given, None).fail_under == percent
    if percent > 0:
        assert validated(FedSettings, target_accuracy=given).target_accuracy == pytest.approx(percent / 100)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, {"repeats": 5, "bias": "auto"}),
        ({"bias": "mean radius", "repeats": 2}, {"repeats": 2, "bias": "mean radius"}),
        ({"cut": {"folds": 3}}, {"repeats": 5, "cut": {"folds": 3}}),
        ({"cut": {"group": "x"}}, {"repeats": 5, "cut": {"group": "x"}, "bias": "auto"}),
        ({"test_on": ("new.csv",)}, {"repeats": 5, "test_on": ("new.csv",)}),
    ],
)
def test_the_demonstration_gives_way_to_options(chosen: dict[str, object], expected: dict[str, object]) -> None:
    values = joined(CompareSettings, (Layer("default", DEMONSTRATION.settings), Layer("flag", chosen))).values
    assert values == expected
    assert validated(CompareSettings, **values).repeats == expected["repeats"]


# What the exit code is about (field case: a comparison that gates a pipeline)


def against_plain(accuracy: float | None, p: float | None, *, mean: float | None = 0.57) -> CompareReport:
    """picsc with that accuracy, and that difference from st-cv."""
    differences = (above("st-cv", accuracy, p),)
    return one_target(
        methods=(compare_method("st-cv", (0.6,)), compare_method("picsc", (mean,), differences=differences))
    )


@pytest.mark.parametrize("bound", [57.0, 56.9, 0.0, -10.0])
def test_a_candidate_at_the_bound_or_above_passes(bound: float) -> None:
    report = against_plain(0.0, 1.0, mean=0.1 * 5.7)  # 0.5700000000000001 in floating point, or just below
    assert verdicts(report, Gate(fail_under=bound)) == ()
    assert verdicts(against_plain(0.0, 1.0, mean=0.57 - 1e-16), Gate(fail_under=bound)) == ()


@pytest.mark.parametrize(("bound", "shown"), [(57.1, "57.0"), (99.0, "57.0"), (57.01, "57.0")])
def test_a_candidate_below_the_bound_fails_and_the_sentence_has_both_numbers(bound: float, shown: str) -> None:
    [said] = verdicts(against_plain(0.0, 1.0), Gate(fail_under=bound))
    assert said == f"--fail-under {bound:g}: picsc has {shown} %"


def test_the_accuracy_has_decimals_enough_to_be_below_the_bound() -> None:
    [said] = verdicts(against_plain(0.0, 1.0, mean=0.89996), Gate(fail_under=90))
    assert said == "--fail-under 90: picsc has 89.996 %"


def test_the_bound_is_about_the_candidate() -> None:
    assert verdicts(compare_report(), Gate("picsc", fail_under=80)) == ()
    assert len(verdicts(compare_report(), Gate("kmm", fail_under=80))) == 1


@pytest.mark.parametrize(("accuracy", "p", "fails"), [
    (-0.02, 0.049, 1),
    (-0.02, 0.05, 0),
    (0.02, 0.001, 0),
    (0.0, None, 0),
    (-0.02, None, 1),
    (None, None, 1),
])  # fmt: skip
def test_worse_is_below_plain_training_beyond_chance(accuracy: float | None, p: float | None, fails: int) -> None:
    assert len(verdicts(against_plain(accuracy, p), Gate(fail_on=WORSE))) == fails
    assert verdicts(against_plain(accuracy, p), Gate(fail_on=FailOnWorse.NEVER)) == ()


def test_the_sentence_says_by_how_much_it_is_worse() -> None:
    [said] = verdicts(compare_report(), Gate("kmm", fail_on=WORSE))
    assert said == "--fail-on worse: kmm is 2.5 points below st-cv (p 0.012)"


def test_a_candidate_without_a_number_passes_no_question() -> None:
    nothing = one_target(methods=(compare_method("picsc", (None,), differences=()),))
    asked = Gate(fail_under=10, fail_on=WORSE)
    without = (
        "--fail-under 10: picsc has no accuracy",
        "--fail-on worse: there is no test of picsc against st-cv; use more --repeats",
    )
    assert verdicts(nothing, asked) == without
    assert verdicts(one_target(methods=()), asked) == without


def test_the_candidate_is_looked_for_before_the_run() -> None:
    check(Gate("kmm"), ("st-cv",))  # nothing is asked of it
    check(Gate("kmm", fail_under=3), ("iw", "kmm"))
    check(Gate("st-cv", fail_under=3), ("iw", "kmm"))  # always runs
    said = "--candidate kmm is not run: name it in --method, or choose one of st-cv, iw"
    with pytest.raises(SettingsError, match=said):
        check(Gate("kmm", fail_under=3), ("iw",))


def test_a_gate_may_be_open() -> None:
    assert gate("kmm", None, FailOnWorse.NEVER) == Gate("kmm")
    assert not gate(None, None, None).shut
    assert gate(None, 0.0, None).shut


def test_a_model_without_a_result_is_counted_for_the_exit_code() -> None:
    assert compare_report().failed == 3
    assert one_target().failed == 0


# Time


def test_time_is_one_line_and_no_part_of_the_report() -> None:
    report = timed(one_target())
    assert time_line(report) == "time: st-cv 0.3 s, picsc 12.3 s"
    assert time_line(one_target()) == ""
    assert untimed(report) == one_target()
    assert untimed(report) == replace(report, measured=())
