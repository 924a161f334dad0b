"""The audit end to end, on the inputs that users of comparable tools tripped over (field cases P1 ... P52)."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import picsc
from picsc.errors import DataError, SettingsError

FAST = 199


def classed(n: int, f: int, seed: int = 0) -> pd.DataFrame:
    """f normal columns in random order, and a class that follows from two of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, f))
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(f)])
    return frame.assign(target=(x[:, 0] + x[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int))


def alike(n: int, f: int, pieces: int, seed: int = 0) -> pd.DataFrame:
    """Such a table in whose contiguous pieces the same rows come again, a little moved: no chance makes them differ."""
    frame = pd.concat([classed(n // pieces, f, seed)] * pieces, ignore_index=True)
    columns = [f"x{j}" for j in range(f)]
    frame[columns] += 0.01 * np.random.default_rng(seed + 1).normal(size=(n, f))
    return frame


def last_piece(report: picsc.AuditReport) -> picsc.reports.audit.FragmentReport:
    return report.fragments[-1]


def test_moved_column_is_found_and_named() -> None:
    frame = alike(1000, 6, 5)
    frame.loc[800:, "x3"] += 1
    report = picsc.audit(frame, folds=5, draws=FAST)
    assert report.verdict == "shift"
    assert [fragment.name for fragment in report.shifted] == ["fold 5"]
    assert last_piece(report).columns[0].name == "x3"
    assert last_piece(report).cell == "data only"
    assert "--shuffle" in report.summary[2]


def test_flipped_labels_are_model_only() -> None:
    frame = alike(1000, 6, 5)
    flipped = np.random.default_rng(2).permutation(np.arange(800, 1000))[:30]
    frame.loc[flipped, "target"] = 1 - frame.loc[flipped, "target"]
    report = picsc.audit(frame, folds=5, draws=FAST)
    assert [fragment.name for fragment in report.shifted] == ["fold 5"]
    assert last_piece(report).cell == "model only"
    assert "label" in last_piece(report).reason


def test_same_seed_same_bytes_whatever_the_jobs() -> None:
    frame = classed(200, 4)
    reports = [picsc.audit(frame, folds=4, draws=99, jobs=jobs).as_dict() for jobs in (1, 2, 1)]
    assert json.dumps(reports[0]) == json.dumps(reports[1]) == json.dumps(reports[2])


def test_regression_target() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(y=x[:, 0] + rng.normal(size=400))
    frame.loc[320:, "y"] += 1.5
    report = picsc.audit(frame, folds=5, draws=FAST)
    assert report.data.task == "regression"
    assert "label shift" in last_piece(report).reason


def test_no_target_asks_the_data_question_alone() -> None:
    frame = classed(300, 3).drop(columns="target")
    report = picsc.audit(frame, no_target=True, folds=3, draws=FAST)
    assert report.data.task == "unlabelled"
    assert {fragment.p_model for fragment in report.fragments} == {None}
    assert {fragment.fisher_gap for fragment in report.fragments} == {None}
    assert all(fragment.p_data is not None for fragment in report.fragments)


def test_raw_gamma_decides_and_is_warned_of() -> None:
    report = picsc.audit(classed(200, 3), folds=4, draws=99, gamma=0.0)
    assert {fragment.verdict for fragment in report.fragments} == {"shift"}
    assert "raw-threshold" in {finding.code for finding in report.findings}


def test_reference_file_previous_and_first() -> None:
    frame = alike(400, 3, 4)
    frame.loc[200:, "x0"] += 1.5
    shifted = {
        named: [each.name for each in picsc.audit(frame, batches=4, reference=named, draws=FAST, block=1).shifted]
        for named in ("previous", "first")  # the same 100 rows four times are as alike as those of a stream
    }
    assert shifted == {"previous": ["batch 3"], "first": ["batch 3", "batch 4"]}
    against = picsc.audit(frame.iloc[:200], batches=2, reference=frame.iloc[200:], draws=FAST, block=1)
    assert len(against.shifted) == 2


def test_large_table_is_subsampled_and_still_right() -> None:
    frame = classed(60_000, 3)
    frame.loc[48_000:, "x1"] += 0.3
    report = picsc.audit(frame, folds=5, draws=FAST)
    assert report.null.kind == "permutation-subsampled"
    assert [fragment.name for fragment in report.shifted][-1] == "fold 5"
    assert last_piece(report).columns[0].name == "x1"


def test_one_shifted_fold_does_not_blame_the_others_however_many_rows_there_are() -> None:
    """Every other fold differs from a rest that holds the shifted one; compared with one another they agree."""
    frame = alike(30_000, 3, 10)
    frame.loc[27_000:, "x1"] += 1.5
    report = picsc.audit(frame, folds=10, draws=FAST)
    assert [fragment.name for fragment in report.shifted] == ["fold 10"]
    assert "set-aside" in {finding.code for finding in report.findings}


def test_equal_class_shares_of_a_large_stratified_split_are_no_evidence() -> None:
    report = picsc.audit(alike(40_000, 3, 5), folds=5, draws=FAST)
    assert min(fragment.p_model or 0 for fragment in report.fragments) > 0.5


def test_blocks_widen_the_null_of_a_stream() -> None:
    """An autocorrelated stream without drift: rows alone alarm, blocks do not."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=3000)
    stream = np.zeros(3000)
    for t in range(1, 3000):
        stream[t] = 0.97 * stream[t - 1] + noise[t]
    frame = pd.DataFrame({"x": stream})
    rows = picsc.audit(frame, no_target=True, batches=4, draws=FAST, block=1)
    blocks = picsc.audit(frame, no_target=True, batches=4, draws=FAST, block=250)
    assert "lag1-autocorrelation" in {finding.code for finding in rows.findings}
    assert rows.verdict == "shift"
    assert blocks.verdict == "ok"


# --- field cases ------------------------------------------------------------------------------------------------------


def test_p1_eight_repeated_values_are_inconclusive() -> None:
    x = np.r_[np.random.default_rng(0).normal(1.2, 0.7, 150).clip(0.1), np.tile([1.4, 1.6], 4)]
    frame = pd.DataFrame({"x": x, "piece": ["old"] * 150 + ["new"] * 8})
    report = picsc.audit(frame, no_target=True, by="piece", draws=FAST)
    new = next(fragment for fragment in report.fragments if fragment.name == "piece=new")
    assert new.verdict == "inconclusive"
    assert "n = 8 < 20" in new.reason
    assert 0.3 < (new.smallest_effect or 0) <= 1


def test_p2_tiny_effects_of_huge_data_are_ok_and_real_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    huge = pd.DataFrame({"x": np.r_[rng.normal(0, 1, 200_000), rng.normal(0.02, 1, 200_000)]})
    report = picsc.audit(huge, no_target=True, batches=2, draws=FAST)
    assert report.verdict == "ok"
    assert "real but small" in last_piece(report).reason
    small = pd.DataFrame({"x": np.r_[rng.normal(0, 1, 2000), rng.normal(0.5, 1, 2000)]})
    assert picsc.audit(small, no_target=True, batches=2, draws=FAST).verdict == "shift"


@pytest.mark.slow
def test_p3_many_columns_raise_few_false_alarms() -> None:
    """At level 0.05 the bound, the binomial quantile of 1 - 1e-7, is 20 of 100."""
    alarms = 0
    for seed in range(100):
        frame = pd.DataFrame(np.random.default_rng(seed).normal(size=(200, 20)))
        frame.columns = [f"x{j}" for j in range(20)]
        alarms += picsc.audit(frame, no_target=True, folds=10, draws=FAST, seed=seed).verdict == "shift"
    assert alarms <= binom.ppf(1 - 1e-7, 100, 0.05)


@pytest.mark.slow
def test_p4_near_copies_cost_no_level() -> None:
    """Twenty copies of one column behave as one test: alarms near the level, not near 0 and not above it."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        one = rng.normal(size=(150, 1))
        frame = pd.DataFrame(one + 1e-6 * rng.normal(size=(150, 20)), columns=[f"x{j}" for j in range(20)])
        report = picsc.audit(frame, no_target=True, folds=3, draws=99, level=0.2, seed=seed, min_effect=0)
        alarms += report.verdict == "shift"
    assert binom.ppf(1e-7, 200, 0.1) <= alarms <= binom.ppf(1 - 1e-7, 200, 0.2)


def test_p5_new_category_is_named() -> None:
    rng = np.random.default_rng(0)
    cat = rng.choice(["a", "b", "c"], 600).astype(object)
    cat[400 + rng.permutation(200)[:30]] = "z"
    report = picsc.audit(pd.DataFrame({"cat": cat}), no_target=True, batches=3, draws=FAST)
    assert last_piece(report).verdict == "shift"
    assert last_piece(report).columns[0].note == "new category 'z' (15.0 % of rows)"
    assert "new category 'z'" in last_piece(report).reason


def test_p6_disjoint_supports_are_finite_and_said() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.r_[rng.uniform(0, 1, 300), rng.uniform(2, 3, 300)]})
    report = picsc.audit(frame, no_target=True, batches=2, draws=FAST)
    column = last_piece(report).columns[0]
    assert column.statistic == 1.0
    assert column.kl is not None
    assert column.note == "no overlap with the reference"


def test_p7_a_piece_without_values_is_inconclusive_and_the_rest_intact() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "num": np.r_[rng.normal(size=4998), [np.nan, np.nan]],
            "cat": np.r_[rng.choice(["a", "b"], 4998).astype(object), ["new", None]],
            "piece": ["p1"] * 2500 + ["p2"] * 2498 + ["p3"] * 2,
        }
    )
    report = picsc.audit(frame, no_target=True, by="piece", draws=FAST)
    assert [fragment.verdict for fragment in report.fragments] == ["ok", "ok", "inconclusive"]


def test_p8_p10_an_empty_column_is_skipped_with_a_reason() -> None:
    frame = alike(300, 12, 3)
    frame["x7"] = np.nan
    report = picsc.audit(frame, folds=3, draws=FAST)
    assert report.verdict == "ok"
    skipped = next(column for column in report.data.columns if column.name == "x7")
    assert not skipped.used
    assert skipped.note


def test_p9_missing_values_never_drop_rows_listwise() -> None:
    frame = classed(400, 2).assign(a=1.0, b=1.0)
    frame["a"] = np.random.default_rng(0).normal(size=400)
    frame["b"] = np.random.default_rng(1).normal(size=400)
    frame.loc[:199, "a"] = np.nan
    frame.loc[200:, "b"] = np.nan
    report = picsc.audit(frame, target="target", folds=4, splitter="kfold", shuffle=True, draws=FAST)
    assert sum(fragment.rows for fragment in report.fragments) == 400
    assert report.verdict == "ok"


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("cut", [{"batches": 5}, {"folds": 5, "splitter": "kfold"}])
def test_labels_that_are_gone_in_a_piece_are_a_shift_that_is_named(cut: dict[str, object], numbers: bool) -> None:
    frame = alike(1000, 4, 5)
    frame["target"] = frame["x0"] + frame["x1"] if numbers else frame["target"].map({0: "None", 1: "other"})
    assert picsc.audit(frame, draws=FAST, **cut).verdict == "ok"  # type: ignore[arg-type] # two sets of keywords
    frame.loc[frame.index >= 800, "target"] = None
    report = picsc.audit(frame, draws=FAST, **cut)  # type: ignore[arg-type] # as above
    first = "not tested" if "batches" in cut else "ok"
    assert [fragment.verdict for fragment in report.fragments] == [first, *["ok"] * 3, "shift"]
    strongest = last_piece(report).columns[0]
    assert (strongest.name, strongest.kind, strongest.statistic) == ("target", "missing", 1.0)
    assert last_piece(report).reason.startswith("missing rate of target +100.0 points")
    assert last_piece(report).cell == "data only"


def test_a_piece_with_more_missing_labels_is_a_shift() -> None:
    frame = alike(1000, 4, 5)
    rows = np.arange(1000)
    frame.loc[(rows % 200 < 20) | ((rows >= 800) & (rows % 200 < 100)), "target"] = None
    report = picsc.audit(frame, folds=5, splitter="kfold", draws=FAST)
    assert [fragment.name for fragment in report.shifted] == ["fold 5"]
    found = next(column for column in last_piece(report).columns if column.kind == "missing")
    assert found.statistic == pytest.approx(0.4)
    assert found.p_adjusted == 1 / (FAST + 1)


def test_missing_labels_are_tested_like_missing_values_of_a_column() -> None:
    frame = alike(1000, 4, 5)
    rows = np.arange(1000)
    frame.loc[(rows % 200 < 20) | ((rows >= 800) & (rows % 200 < 30)), ["x3", "target"]] = None
    for fragment in picsc.audit(frame, folds=5, splitter="kfold", draws=FAST).fragments:
        covariate, target = (column for column in fragment.columns if column.kind == "missing")
        assert {covariate.name, target.name} == {"x3", "target"}
        for number in ("statistic", "p_adjusted", "kl"):
            assert getattr(covariate, number) == getattr(target, number)
        assert fragment.missing_kl == pytest.approx(2 * (target.kl or 0), rel=1e-12)


@pytest.mark.parametrize("splitter", ["kfold", "stratified"])
def test_labels_that_are_missing_alike_in_all_pieces_are_no_shift(splitter: str) -> None:
    """Stratified folds deal the rows without a label out evenly, so that their null cannot differ."""
    frame = alike(1000, 4, 5)
    frame.loc[np.arange(1000) % 200 < 40, "target"] = None
    report = picsc.audit(frame, folds=5, splitter=splitter, draws=FAST)  # type: ignore[arg-type] # a splitter
    assert report.verdict == "ok"
    found = [column for fragment in report.fragments for column in fragment.columns if column.kind == "missing"]
    assert [(column.name, column.statistic, column.p_adjusted) for column in found] == [("target", 0.0, 1.0)] * 5


def test_missing_labels_of_a_reference_file_are_compared() -> None:
    frame, reference = classed(400, 3), classed(400, 3)
    frame.loc[:199, "target"] = None
    report = picsc.audit(frame, batches=2, reference=reference, draws=FAST)
    assert report.fragments[0].columns[0].kind == "missing"
    assert [fragment.verdict for fragment in report.fragments] == ["shift", "ok"]


@pytest.mark.slow
def test_labels_missing_at_random_raise_few_false_alarms() -> None:
    """At level 0.2 the bound, the binomial quantile of 1 - 1e-7, is 43 of 100."""
    alarms = 0
    for seed in range(100):
        frame = classed(200, 2, seed)
        frame.loc[np.random.default_rng([seed, 1]).random(200) < 0.3, "target"] = None
        report = picsc.audit(frame, batches=4, draws=99, level=0.2, seed=seed, min_effect=0)
        alarms += report.verdict == "shift"
    assert alarms <= binom.ppf(1 - 1e-7, 100, 0.2)


def test_p11_codes_with_leading_zeros_are_no_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    codes = [f"{code:05d}" for code in rng.permutation(400)]
    frame = classed(500, 2).assign(code=rng.choice(codes, 500))
    path = tmp_path / "codes.csv"
    frame[["code", "x0", "x1", "target"]].to_csv(path, index=False)
    report = picsc.audit(str(path), folds=5, shuffle=True, draws=FAST)
    assert report.verdict == "ok"
    assert {column.name: column.kind for column in report.data.columns}["code"] in ("categorical", "identifier")


def test_p12_swapped_codes_are_seen_as_levels() -> None:
    rng = np.random.default_rng(0)
    codes = rng.choice(np.arange(1, 8), 600, p=[0.1, 0.1, 0.3, 0.1, 0.05, 0.1, 0.25])
    late = codes[300:]
    codes[300:] = np.where(late == 3, 5, np.where(late == 5, 3, late))
    frame = pd.DataFrame({"code": codes, "x": rng.normal(size=600)})
    report = picsc.audit(frame, no_target=True, batches=2, categorical=["code"], draws=FAST)
    assert {column.name: column.kind for column in report.data.columns}["code"] == "categorical"
    assert last_piece(report).columns[0].name == "code"
    assert last_piece(report).verdict == "shift"


def test_p13_all_measures_agree_on_missingness() -> None:
    rng = np.random.default_rng(0)
    cat = rng.choice(["a", "b"], 600).astype(object)
    cat[rng.permutation(300)[:60]] = None
    frame = pd.DataFrame({"cat": cat, "x": rng.normal(size=600)})
    report = picsc.audit(frame, no_target=True, batches=2, draws=FAST)
    strongest = last_piece(report).columns[0]
    assert (strongest.name, strongest.kind) == ("cat", "missing")
    assert strongest.statistic == pytest.approx(0.2)
    assert (last_piece(report).missing_kl or 0) > 0.05
    assert last_piece(report).verdict == "shift"


def test_p16_json_is_strict() -> None:
    frame = classed(200, 3).assign(constant=1.0, empty=np.nan)
    text = json.dumps(picsc.audit(frame, target="target", folds=4, draws=99).as_dict(), allow_nan=False)
    assert json.loads(text)["schema"] == "picsc.audit/1"


def test_p24_rows_sorted_by_class() -> None:
    from sklearn.datasets import load_iris

    report = picsc.audit(load_iris(as_frame=True).frame, folds=3, splitter="kfold", draws=FAST)
    assert len(report.shifted) == 3
    assert "rows-sorted-by-class" in {finding.code for finding in report.findings}
    assert "--shuffle" in report.summary[2]
    assert "--splitter stratified" in report.summary[2]


@pytest.mark.parametrize("groups", [[1, 2, 3, None, None], ["a", "b", None, "c", "d"]])
def test_p26_missing_groups_are_counted(groups: list[object]) -> None:
    frame = classed(50, 2).assign(g=groups * 10)
    with pytest.raises(DataError, match=r"\b(20|10)\b"):
        picsc.audit(frame, target="target", folds=3, splitter="group", group="g")


def test_p33_duplicate_column_names(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("a,a,b\n" + "1,2,3\n" * 30, encoding="utf-8")
    with pytest.raises(DataError, match=r"'?a'?"):
        picsc.audit(str(path))


def test_p45_label_spelling_never_changes_a_number() -> None:
    frame = classed(200, 3)
    spellings = [(0, 1), (-1, 1), (1, 2), ("no", "yes"), (False, True), (3, 7)]
    numbers = []
    for zero, one in spellings:
        spelled = frame.assign(target=[one if value else zero for value in frame["target"]])
        report = picsc.audit(spelled, folds=4, draws=99).as_dict()
        numbers.append(json.dumps(report["fragments"]))
    assert len(set(numbers)) == 1


def test_p52_constant_target() -> None:
    with pytest.raises(DataError, match="one class only"):
        picsc.audit(classed(100, 2).assign(target=1))


@pytest.mark.parametrize(("block", "refused"), [(24, False), (48, True), (100, True)])
def test_blocks_too_long_to_permute_are_refused(block: int, refused: bool) -> None:
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"a": random.normal(size=192), "b": random.normal(size=192), "y": np.tile([0, 1], 96)})
    expected = (
        pytest.raises(SettingsError, match=r"in 24 ways only, .* use block=(12|24) or less")
        if refused
        else nullcontext()
    )
    with expected:
        picsc.audit(frame, target="y", batches=4, reference="rest", block=block, draws=99)
