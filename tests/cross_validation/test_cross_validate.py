"""Cross-validation end to end, on the inputs that users of comparable tools tripped over (field cases P22 ... P50)."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.cross_validation import cross_validate as cross_validation
from picsc.datasets.load import from_frame, load
from picsc.errors import DataError, SettingsError
from picsc.reports.cv import CvReport, MethodReport
from picsc.settings import METHODS, CvSettings, ReadSettings, validated


def classed(n: int = 60, f: int = 3, classes: int = 2, seed: int = 0) -> pd.DataFrame:
    """Normal columns whose means follow from the class; classes in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % classes)
    x = rng.normal(size=(n, f)) + 1.5 * y[:, None] * (np.arange(f) % 2 == 0)
    return pd.DataFrame(x, columns=[f"x{j}" for j in range(f)]).assign(target=y)


def compared(frame: pd.DataFrame, **options: object) -> CvReport:
    """A comparison of less than a second, unless options say otherwise."""
    return picsc.cross_validate(frame, **{"epochs": 8, "repeats": 1, "strength": 0.1, **options})


def method(report: CvReport, name: str) -> MethodReport:
    return next(each for each in report.methods if each.method == name)


def codes(report: CvReport) -> set[str]:
    return {finding.code for finding in report.findings}


def dumped(report: CvReport) -> str:
    return json.dumps(report.as_dict(), allow_nan=False)


def test_p22_fewer_groups_than_folds() -> None:
    frame = classed(30).assign(g=np.repeat(list("abc"), 10))
    with pytest.raises(DataError, match=r"3 groups < 5 folds.*by='g'"):
        compared(frame, target="target", folds=5, splitter="group", group="g")


def test_p23_classes_missing_from_folds_are_reported_and_the_present_ones_scored() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(6, 2)), columns=["a", "b"]).assign(g=list("abbccd"), y=[1, 1, 0, 0, 2, 2])
    report = compared(frame, target="y", folds=2, splitter="group", group="g", repeats=20)
    assert "class-missing-from-pieces" in codes(report)
    units = [unit for unit in method(report, "st-cv").units if unit.fragment != "whole set"]
    assert len(units) == 40
    assert all(unit.accuracy is not None and unit.log_loss is not None for unit in units)


def test_p24_rows_sorted_by_class_and_not_shuffled() -> None:
    frame = classed(90, classes=3).sort_values("target")
    report = compared(frame, folds=3, splitter="kfold", shuffle=False)
    assert "rows-sorted-by-class" in codes(report)
    assert method(report, "st-cv").mean == 0
    assert "rows-sorted-by-class" not in codes(compared(frame, folds=3))


def test_p25_a_singleton_class_is_listed_and_can_be_kept_in_training() -> None:
    frame = classed(60)
    lone = pd.DataFrame({"x0": [9.0], "x1": [0.0], "x2": [9.0], "target": [2]})
    frame = pd.concat([frame, lone], ignore_index=True)
    tested = compared(frame, folds=3, epochs=40, lr=0.1)
    kept = compared(frame, folds=3, epochs=40, lr=0.1, keep_rare=True)
    (finding,) = (each for each in tested.findings if each.code == "rare-class")
    assert "'2' (1 row)" in finding.message
    assert "--keep-rare" in finding.advice
    rows = {name: [unit.rows for unit in method(each, "st-cv").units] for name, each in (("no", tested), ("yes", kept))}
    assert sum(rows["yes"][:3]) == sum(rows["no"][:3]) + 1
    worst = {name: method(each, "st-cv").log_loss for name, each in (("no", tested), ("yes", kept))}
    assert worst["yes"] < worst["no"]


def test_p27_folds_of_one_class_have_no_auc_and_say_so_before_training() -> None:
    group = np.repeat([0, 1, 2, 3], [10, 10, 10, 2])
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=32), "g": group, "y": np.where(group == 1, 1, 0)})
    frame.loc[:1, "y"] = 1
    report = compared(frame, target="y", folds=2, splitter="group", group="g")
    (finding,) = (each for each in report.findings if each.code == "one-class-piece")
    units = {unit.fragment: unit for unit in method(report, "st-cv").units}
    for name in finding.fragments:
        assert units[name].auc is None
        assert units[name].reason == "no balanced accuracy and no AUC: one class only"
        assert units[name].accuracy is not None
    pieces = set(report.fragments)
    assert {units[name].reason for name in pieces - set(finding.fragments)} == {""}


def eight_classes(*sizes: int) -> pd.DataFrame:
    y = np.repeat(np.arange(8), sizes)
    return pd.DataFrame(np.random.default_rng(0).normal(size=(len(y), 2)), columns=["a", "b"]).assign(target=y)


def test_p28_too_many_folds_for_any_class_are_refused() -> None:
    with pytest.raises(DataError, match=r"8 stratified folds: the largest class.* has 7 rows; use folds=7 or fewer"):
        compared(eight_classes(*[7] * 8), folds=8)


def test_p28_the_number_of_folds_is_kept_where_a_class_is_rare() -> None:
    report = compared(eight_classes(*[7] * 7, 8), folds=8)
    assert len(report.fragments) == 8
    assert "rare-class" in codes(report)


def test_p49_weighted_and_plain_accuracy_are_both_shown() -> None:
    """Rows of the target, which lies 1.5 standard deviations off, have labels that nothing predicts."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2))
    y = np.where(x[:, 0] < 1, x[:, 1] > 0, rng.random(2000) < 0.5).astype(int)
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(y=y, w=np.exp(1.5 * x[:, 0] - 1.125))
    report = compared(frame, target="y", folds=4, weights="w", epochs=60, lr=0.05)
    for each in report.methods:
        assert each.mean - each.weighted_accuracy > 0.1
    plain = compared(frame.drop(columns="w"), target="y", folds=4, epochs=60, lr=0.05)
    assert {each.weighted_accuracy for each in plain.methods} == {None}
    assert method(plain, "st-cv").mean != method(report, "st-cv").mean  # the loss is weighted too


def test_p50_models_that_diverge_are_failed_units_with_what_to_change() -> None:
    report = compared(classed(30), folds=3, lr=1e30)
    assert report.failed == sum(len(each.units) for each in report.methods) > 0
    for unit in method(report, "picsc").units:
        assert unit.accuracy is None
        assert unit.reason.startswith("diverged at epoch ")
        assert unit.reason.endswith(" with lambda 0.1 and learning rate 1e+30")
    assert "weight decay" in method(report, "weight-decay").units[0].reason
    assert "lower --lr" in report.summary[2]
    dumped(report)


def test_p50_an_error_in_a_process_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_validation, "SMALL_WORK", 0)
    frame = classed(40).assign(w=(np.arange(40) < 10) * 1.0)
    with pytest.raises(DataError, match=r"weights of \d+ training rows sum to 0"):
        compared(frame, target="target", folds=2, splitter="kfold", shuffle=False, weights="w", jobs=2)


def test_the_jobs_never_change_a_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_validation, "SMALL_WORK", 0)
    one, two = (dumped(compared(classed(40), batches=2, epochs=3, jobs=jobs)) for jobs in (1, 2))
    assert one == two


@pytest.mark.parametrize("cut", [{"folds": 3}, {"batches": 3}])
@pytest.mark.parametrize("batch_size", [None, 16])
def test_lambda_0_of_algorithm_1_is_standard_cross_validation(cut: dict[str, int], batch_size: int | None) -> None:
    options = {**cut, "algorithm": 1, "batch_size": batch_size}
    none, some = (compared(classed(), strength=strength, **options) for strength in (0.0, 0.1))
    # batch-wise Algorithm 1 has the batches so far
    control = "st-cv" if "folds" in cut else "st-cv, batches so far"
    plain = method(none, control).units
    if "batches" in cut:
        plain += tuple(unit for unit in method(none, "st-cv").units if unit.fragment == "whole set")
    assert [replace(unit, strength=None, penalty_share=None) for unit in method(none, "picsc").units] == list(plain)
    assert {unit.penalty_share for unit in method(none, "picsc").units} == {0}
    assert method(some, "picsc").log_loss != method(some, control).log_loss
    assert method(some, control).units == plain[: len(method(some, control).units)]


def test_algorithms_1_and_2_stand_side_by_side_over_batches() -> None:
    both, first = (compared(classed(), batches=3, algorithm=algorithm) for algorithm in (2, 1))
    ours = method(both, "picsc, algorithm 1")
    alone = [unit for unit in method(both, "st-cv").units if unit.fragment != "whole set"]
    assert (both.algorithm, first.algorithm) == (2, 1)
    assert ours.units == tuple(unit for unit in method(first, "picsc").units if unit.fragment != "whole set")
    assert "picsc, algorithm 1" not in {each.method for each in first.methods}
    assert [unit.rows for unit in ours.units] == list(np.cumsum([unit.rows for unit in alone]))
    # the first batch is compared with none: no lambda, and the model of this batch alone
    assert [unit.strength for unit in ours.units] == [None, 0.1, 0.1]
    assert replace(ours.units[0], penalty_share=None) == alone[0]
    control = method(both, "st-cv, batches so far")
    assert control.units[0] == alone[0]
    assert all(a.log_loss != b.log_loss for a, b in zip(ours.units[1:], control.units[1:], strict=True))


@pytest.mark.parametrize("cut", [{"folds": 3}, {"batches": 3}])
def test_lambda_0_of_algorithm_2_carries_parameters_and_no_more(cut: dict[str, int]) -> None:
    last, merged = (compared(classed(), algorithm=2, strength=0.0, merge=merge, **cut) for merge in ("none", "fisher"))
    carried = [replace(unit, strength=0.0, penalty_share=0.0) for unit in method(last, "carried").units]
    pieces = [unit for unit in method(last, "picsc").units if unit.fragment != "whole set"]
    assert pieces == carried
    assert list(method(merged, "picsc, unmerged").units) == carried
    assert method(merged, "picsc").log_loss != method(merged, "carried").log_loss
    merely_merged = [replace(unit, strength=0.0, penalty_share=0.0) for unit in method(merged, "carried, merged").units]
    ours = [unit for unit in method(merged, "picsc").units if unit.fragment != "whole set"]
    assert ours == merely_merged
    assert "carried, merged" not in {each.method for each in last.methods}
    mean = compared(classed(), algorithm=2, strength=0.0, merge="mean", **cut)
    assert method(mean, "picsc").log_loss == method(mean, "average").log_loss


def test_numbers_are_scored_by_the_variance_explained() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(y=100 + 20 * x[:, 0] + rng.normal(size=120))
    for cut in ({"folds": 3}, {"batches": 3, "algorithm": 2}):
        report = compared(frame, target="y", epochs=50, lr=0.1, **cut)
        assert report.data.task == "regression"
        assert method(report, "st-cv").mean > 0.5
        assert {unit.auc for unit in method(report, "st-cv").units} == {None}
        dumped(report)


def test_leaving_one_row_out_has_the_r2_of_all_rows_together() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 3)), columns=["a", "b", "c"])
    frame["y"] = 3 * frame.a - frame.b + 7
    report = compared(frame, target="y", folds=12, repeats=2)
    assert report.pooled
    for each in report.methods:
        units = [unit for unit in each.units if unit.fragment != "whole set"]
        assert {unit.reason for unit in units} == {"no R2 of its own: one row is tested"}
        # the log-loss is half a squared error, where the target of all rows has the variance 1
        assert each.mean == pytest.approx(1 - np.mean([2 * unit.log_loss for unit in units]))
        assert each.interval.low < each.mean < each.interval.high < 1
    assert report.without_result == ()
    assert report.summary[0].startswith("picsc: R2 ")
    assert method(report, "carried").against("st-cv").accuracy_p is not None


def test_test_rows_of_one_value_have_no_score_and_the_run_says_why() -> None:
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=40), "site": np.repeat(["a", "b"], [30, 10])})
    frame["y"] = np.where(frame.site == "b", 7.0, frame.a)
    report = compared(frame, target="y", by="site", epochs=5)
    (unit,) = (u for u in method(report, "st-cv").units if u.fragment == "site=b" and u.repeat == 1)
    assert (unit.accuracy, unit.reason) == (None, "no R2 of its own: the tested rows have one value only")
    assert not report.pooled
    assert report.without_result == ()


def test_log_losses_of_numbers_are_in_one_unit_whatever_the_pieces_spread() -> None:
    """Models of batches see their target in units of their own; scores of all methods must not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    frame["y"] = frame.sum(axis=1) + rng.normal(size=300)
    frame.loc[:59, "y"] /= 10  # the first batch's targets are spread less
    report = compared(frame, target="y", batches=5, repeats=3, epochs=60, strength=0.1)
    for each in report.methods:
        pairs = [(u.accuracy, u.log_loss) for u in each.units if u.fragment != "whole set" and u.repeat == 1]
        ratios = [(1 - accuracy) / loss for accuracy, loss in pairs]
        # the same test rows: squared errors over one variance, whatever the model was trained on
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-4)


def test_a_rare_class_is_seen_beside_the_accuracy() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    frame["y"] = np.where(rng.permutation(400) < 12, "sick", "well")
    report = compared(frame, target="y", folds=4, epochs=100)
    assert report.majority.name == "well"
    assert report.majority.share == pytest.approx(0.97)
    plain = method(report, "st-cv")
    assert plain.balanced_accuracy == pytest.approx(0.5, abs=0.1)
    assert 0 <= plain.auc <= 1
    assert "97.0 %, the share of class well" in report.summary[2]
    assert '"metric": "accuracy"' in dumped(report)


@pytest.mark.parametrize("cut", [{"batches": 4, "algorithm": 1}, {"folds": 3, "algorithm": 2}])
def test_three_classes(cut: dict[str, int]) -> None:
    report = compared(classed(120, 4, classes=3), epochs=40, lr=0.1, **cut)
    assert all(each.mean > 0.5 for each in report.methods)
    dumped(report)


@pytest.mark.parametrize("cut", [{"folds": 3}, {"batches": 4}])
def test_every_unit_belongs_to_a_repeat_and_a_piece(cut: dict[str, int]) -> None:
    report = compared(classed(80), repeats=2, strength="auto", **cut)
    assert {each.method for each in report.methods} >= set(METHODS)
    for each in report.methods:
        pieces = [(unit.repeat, unit.fragment) for unit in each.units if unit.fragment != "whole set"]
        assert pieces == [(repeat, name) for repeat in (1, 2) for name in report.fragments]
        assert len(each.units) - len(pieces) == (0 if each.whole is None else 2)
        assert each.fragments == pytest.approx(
            [np.mean([unit.accuracy for unit in each.units if unit.fragment == name]) for name in report.fragments]
        )
    loss = report.loss
    assert loss.total == pytest.approx(loss.smaller_sample + loss.shift)
    if "batches" in cut:
        assert loss.total == pytest.approx(method(report, "st-cv").whole - method(report, "st-cv").mean)


@pytest.mark.parametrize("cut", [{"folds": 3}, {"batches": 3}])
def test_repeats_and_seeds_differ_and_the_same_seed_does_not(cut: dict[str, int]) -> None:
    report = compared(classed(), repeats=2, **cut)
    losses = {unit.log_loss for unit in method(report, "st-cv").units}
    assert len(losses) == len(method(report, "st-cv").units)
    assert dumped(compared(classed(), repeats=2, **cut)) == dumped(report)
    other = compared(classed(), repeats=1, seed=1, **cut)
    second = [unit for unit in method(report, "st-cv").units if unit.repeat == 2]
    for unit, twin in zip(method(other, "st-cv").units, second, strict=True):
        # one repeat is trained beside another, and a vectorised kernel rounds by a number's place among all
        assert unit.log_loss == pytest.approx(twin.log_loss, rel=1e-5)
        assert replace(unit, repeat=2, log_loss=twin.log_loss, auc=twin.auc) == twin


def test_pieces_of_time_are_the_same_in_every_repeat() -> None:
    """They would be others, or fewer, if random validation rows were drawn before the table is cut."""
    frame = classed(60).assign(t=np.arange(60.0))
    report = compared(frame, target="target", time="t", cuts=4, repeats=3, epochs=2)
    names = [unit.fragment for unit in method(report, "carried").units]
    assert names == 3 * ["0..11", "12..23", "24..35", "36..47"]  # the latest fifth tests
    report = compared(frame, target="target", time="t", cuts=4, repeats=3, epochs=2, mix_time=True)
    names = [unit.fragment for unit in method(report, "carried").units]
    assert names == 3 * ["0..14", "15..29", "30..44", "45..59"]


def test_whole_set_models_where_validation_rows_empty_pieces_in_some_repeats() -> None:
    """Two rows per piece: which pieces have none left besides validation rows differs between repeats."""
    frame = classed(24).assign(s=np.repeat(np.arange(12), 2))
    report = compared(frame, target="target", by="s", repeats=6, epochs=2)
    assert method(report, "picsc").whole is not None
    assert report.failed == 0


def test_early_stopping_is_the_same_for_all_and_off_by_default() -> None:
    dataset = from_frame(classed(80), ReadSettings())
    for cut in ({"folds": 2}, {"batches": 2}):
        base = {"cut": cut, "repeats": 1, "penalty": {"strength": 0.0, "merge": "none"}}
        train = {"epochs": 80, "lr": 0.3}
        full, short = (
            cross_validation.cross_validate_dataset(
                dataset, validated(CvSettings, train={**train, "patience": patience}, **base)
            )
            for patience in (None, 3)
        )
        assert short.failed == 0
        assert method(short, "st-cv").log_loss < method(full, "st-cv").log_loss  # 80 epochs at 0.3 fit noise
        assert method(short, "picsc").log_loss in {method(short, name).log_loss for name in ("st-cv", "carried")}


SCRIPT = """
import sys
from pathlib import Path
from picsc.cross_validation.cross_validate import cross_validate_dataset
from picsc.datasets.load import load
from picsc.settings import CvSettings, validated
settings = validated(CvSettings, cut={"batches": 6}, penalty={"strength": 0.1}, train={"epochs": 30}, repeats=1)
cross_validate_dataset(load(sys.argv[1], settings.read, keys=()), settings, run_dir=Path(sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    path, folder, fresh = tmp_path / "table.csv", tmp_path / "run", tmp_path / "fresh"
    classed(200).to_csv(path, index=False)
    settings = validated(CvSettings, cut={"batches": 6}, penalty={"strength": 0.1}, train={"epochs": 30}, repeats=1)
    dataset = load(str(path), settings.read, keys=())
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path), str(folder)])
    deadline = time.monotonic() + 60
    while len(list(folder.glob("parts/**/[!.]*.npz"))) < 3 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = {part: part.stat().st_mtime_ns for part in folder.glob("parts/**/[!.]*.npz")}
    other = settings.model_copy(update={"penalty": settings.penalty.model_copy(update={"strength": 0.07})})
    with pytest.raises(SettingsError, match=r"penalty\.strength was 0\.1, now 0\.07"):
        cross_validation.cross_validate_dataset(dataset, other, run_dir=folder, resume=True)
    resumed = cross_validation.cross_validate_dataset(dataset, settings, run_dir=folder, resume=True)
    whole = cross_validation.cross_validate_dataset(dataset, settings, run_dir=fresh)
    assert dumped(resumed) == dumped(whole)
    parts = list(folder.glob("parts/**/[!.]*.npz"))
    assert 3 <= len(kept) < len(parts)
    assert {part: part.stat().st_mtime_ns for part in kept} == kept


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"weights": "w"}, DataError, "memory holds -1 in row 3; weights must be"),
        ({"weights": "s"}, DataError, "weights='s': memory holds no numbers"),
        ({"batches": 30}, DataError, r"batch \d+ has 1 row to learn from and needs at least 2: use fewer"),
        ({"folds": 3, "batches": 2}, SettingsError, "choose one way to cut"),
    ],
)
def test_options_that_cannot_be_used_are_named(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    frame = classed(40).assign(w=np.where(np.arange(40) == 2, -1.0, 1.0), s="a")
    with pytest.raises(error, match=message):
        compared(frame, target="target", **options)


def test_a_table_without_a_target_or_without_training_rows_is_refused() -> None:
    unlabelled = from_frame(classed(40).drop(columns="target"), ReadSettings(no_target=True))
    with pytest.raises(SettingsError, match="needs a target"):
        cross_validation.cross_validate_dataset(unlabelled, CvSettings())
    dataset = from_frame(classed(40), ReadSettings())
    with pytest.raises(DataError, match="leaves none to learn from; lower --validation"):
        cross_validation.cross_validate_dataset(dataset, validated(CvSettings, validation=0.99))


def test_rows_without_a_label_take_no_part() -> None:
    frame = classed(60).astype({"target": float})
    frame.loc[[3, 7], "target"] = np.nan
    with_gaps, without = (compared(each, folds=3, target="target") for each in (frame, frame.dropna()))
    assert "rows-without-label" in codes(with_gaps)
    assert method(with_gaps, "st-cv").units == method(without, "st-cv").units
