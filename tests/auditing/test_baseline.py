"""Baselines: the entry that is written for a shift, and the comparison of a later audit with it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import picsc
from picsc.auditing.baseline import Baseline, baseline_text, compare_with_baseline, read_baseline
from picsc.errors import SettingsError
from picsc.reports.audit import AuditReport, FragmentReport
from picsc.reports.columns import ColumnShift
from tests.factories.audit import MODEL_ONLY, SHIFTED, audit_report, column_shift, fragment

NOT_FINITE = """{"schema": "picsc.baseline/1", "files": {"a": {"cut": "", "pieces": {
    "b": {"rows": 1, "moved": {"model": NaN}}}}}}"""
AGE, MASS = column_shift("age", 0.31), column_shift("mass", 0.4)


def piece(*columns: ColumnShift, **changes: object) -> FragmentReport:
    """A shifted piece whose data moved by these columns."""
    fields = {"cell": "data only", "effect_data": 0.31, "noise_data": 0.1, "noise_model": 0.2, "reason": "age moved"}
    return fragment("fold 3", "shift", columns=columns, **{**fields, **changes})


def written(folder: Path, *reports: AuditReport) -> Baseline:
    path = folder / "baseline.json"
    path.write_text(baseline_text(reports), encoding="utf-8")
    return read_baseline(path)


def compared(folder: Path, before: FragmentReport, now: FragmentReport) -> AuditReport:
    return compare_with_baseline(audit_report(now), written(folder, audit_report(before)))


def hospitals(n: int, seed: int, *, moved: float = 0.8, drawn: bool = False) -> pd.DataFrame:
    """Four hospitals, of which the last has another mean of x1.

    Unless they are drawn one by one, all have the same patients, a little moved: no chance makes the others differ.
    """
    rng = np.random.default_rng(seed)
    x, noise = rng.normal(size=(n, 4)), rng.normal(size=n)
    if not drawn:
        x, noise = x[np.arange(n) // 4] + 0.01 * rng.normal(size=(n, 4)), noise[np.arange(n) // 4]
    frame = pd.DataFrame(x, columns=["x1", "x2", "x3", "x4"]).assign(hospital=np.arange(n) % 4)
    frame["sick"] = (x[:, 1] + 0.5 * noise > 0).astype(int)
    frame.loc[frame.hospital == 3, "x1"] += moved
    return frame


def audited(frame: pd.DataFrame, seed: int = 0) -> AuditReport:
    return picsc.audit(frame, target="sick", by="hospital", draws=199, seed=seed)


def test_the_file_has_one_entry_per_line_sorted_and_nothing_else() -> None:
    text = baseline_text([audit_report(fragment("fold 1"), SHIFTED, MODEL_ONLY)])
    assert json.loads(text)["files"] == {
        "tumours.csv": {
            "cut": "5 stratified folds, unshuffled, reference rest",
            "pieces": {
                "fold 3": {
                    "rows": 57,
                    "moved": {
                        "KL of compactness": 1.0,
                        "missing smoothness": 0.12,
                        "model": 0.0,
                        "numeric area error": 0.11,
                        "numeric mean [red]texture": 0.3,
                        "numeric worst concave points": 0.52,
                        "numeric β→γ": 0.42,  # noqa: RUF001 - Greek is meant
                    },
                },
                "fold 4": {"rows": 57, "moved": {"model": 0.0}},
            },
        }
    }
    names = [line.strip() for line in text.splitlines() if line.startswith('      "')]
    assert len(names) == 8
    assert "p_adjusted" not in text


@pytest.mark.parametrize(
    ("effect", "written_as"),
    [(0.3, 0.3), (0.3 + 1e-13, 0.3), (0.3101, 0.4), (0.0, 0.0), (9.991, 10.0), (12.34, 13.0), (1234.5, 1300.0)],
)
def test_effects_are_rounded_outward(effect: float, written_as: float) -> None:
    text = baseline_text([audit_report(piece(cell="model only", effect_model=effect))])
    assert json.loads(text)["files"]["tumours.csv"]["pieces"]["fold 3"]["moved"] == {"model": written_as}


@pytest.mark.parametrize(("distance", "written_as"), [(0.31, 0.31), (0.31 + 1e-13, 0.31), (0.3101, 0.32), (1.0, 1.0)])
def test_distances_of_columns_have_two_decimals(distance: float, written_as: float) -> None:
    text = baseline_text([audit_report(piece(column_shift("age", distance)))])
    moved = json.loads(text)["files"]["tumours.csv"]["pieces"]["fold 3"]["moved"]
    assert moved == {"numeric age": written_as}


def test_an_effect_on_the_model_that_was_not_significant_is_kept(tmp_path: Path) -> None:
    found = compared(tmp_path, piece(AGE, effect_model=0.52), piece(AGE, cell="both", effect_model=0.85))
    assert found.shifted[0].standing == "known"


def test_the_same_shift_is_known_and_fails_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, piece(AGE), piece(AGE))
    assert [each.standing for each in found.shifted] == ["known"]
    assert found.failing == ()
    assert found.verdict == "shift"
    assert found.baseline == str(tmp_path / "baseline.json")
    assert found.summary[0].endswith(f", known to {tmp_path / 'baseline.json'}")
    assert found.summary[2].startswith("next: nothing is new or worse")


def test_a_piece_that_the_baseline_lacks_is_new(tmp_path: Path) -> None:
    known = written(tmp_path, audit_report(piece(AGE)))
    found = compare_with_baseline(
        audit_report(piece(AGE), replace(piece(AGE), name="fold 4", reason="mass moved")), known
    )
    assert [each.standing for each in found.shifted] == ["known", "new"]
    assert "(1 new, 1 known beside" in found.summary[0]
    assert found.summary[1].startswith("worst of those new or worse: fold 4 - mass moved")


def test_a_file_that_the_baseline_lacks_is_new(tmp_path: Path) -> None:
    known = written(tmp_path, audit_report(piece(AGE)))
    report = audit_report(piece(AGE))
    found = compare_with_baseline(replace(report, data=replace(report.data, name="other", source="other.csv")), known)
    assert [each.standing for each in found.shifted] == ["new"]


@pytest.mark.parametrize(
    ("now", "expected", "message"),
    [
        (piece(AGE, MASS), "new", "not in the baseline: numeric mass 0.40"),
        (piece(column_shift("age", 0.31, kind="missing"), AGE), "new", "not in the baseline: missing age 0.31"),
        (piece(AGE, cell="both", effect_model=0.5), "new", "not in the baseline: model 0.50"),
        (piece(cell="data only", effect_data=0.6), "new", "not in the baseline: joint distribution 0.60"),
        (
            piece(column_shift("age", 0.46)),
            "worse",
            "worse than in the baseline: numeric age 0.46 (was 0.31, noise 0.1",
        ),
        (piece(column_shift("age", 0.45)), "known", "age moved"),
        (piece(AGE, column_shift("mass", 0.14)), "known", "age moved"),
        (piece(AGE, column_shift("mass", 0.4, 0.06)), "known", "age moved"),
        (piece(column_shift("age", 0.33), noise_data=0.0), "worse", "(was 0.31, noise 0.00)"),
        (piece(AGE, cell="both", effect_model=0.28), "known", "age moved"),
    ],
)
def test_new_worse_and_known(tmp_path: Path, now: FragmentReport, expected: str, message: str) -> None:
    """The band at equal numbers of rows is sqrt(2) times the null's: 0.14 of 0.1, 0.28 of 0.2."""
    found = compared(tmp_path, piece(AGE), now)
    assert found.shifted[0].standing == expected
    assert message in found.shifted[0].reason


def test_the_band_is_wider_where_the_baseline_saw_few_rows(tmp_path: Path) -> None:
    now = piece(column_shift("age", 0.5), rows=300)
    assert compared(tmp_path, piece(AGE, rows=300), now).shifted[0].standing == "worse"
    assert compared(tmp_path, piece(AGE, rows=30), now).shifted[0].standing == "known"


def test_a_shift_that_is_gone_makes_the_baseline_outdated(tmp_path: Path) -> None:
    found = compare_with_baseline(
        audit_report(fragment("fold 3"), fragment("fold 4", "inconclusive"), verdict="ok"),
        written(tmp_path, audit_report(piece(AGE), MODEL_ONLY, replace(piece(AGE), name="fold 9"))),
    )
    finding = found.findings[-1]
    assert (finding.code, finding.severity, finding.fragments) == ("baseline-outdated", "note", ("fold 3",))
    assert "2 of 3 pieces" in finding.message
    assert "fold 3, fold 9" in finding.message
    assert "--write-baseline" in finding.advice
    assert found.summary == audit_report().summary


def test_another_cut_is_refused(tmp_path: Path) -> None:
    known = written(tmp_path, audit_report(piece(AGE)))
    other = audit_report(piece(AGE), settings={"cut": {"by": "hospital"}}, pieces="one piece for each of 4 values")
    with pytest.raises(SettingsError, match=r"cut \(5 stratified.* \(one piece for each value of hospital"):
        compare_with_baseline(other, known)


def test_more_periods_of_time_are_the_same_cut(tmp_path: Path) -> None:
    cut = {"time": "day", "every": "30d"}
    known = written(tmp_path, audit_report(piece(AGE), settings={"cut": cut}, pieces="12 pieces of 30d"))
    found = compare_with_baseline(audit_report(piece(AGE), settings={"cut": cut}, pieces="13 pieces of 30d"), known)
    assert found.failing == ()


def test_files_of_one_base_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    report = audit_report(piece(AGE))
    a, b, far = (
        replace(report, data=replace(report.data, source=source))
        for source in ("a/tumours.csv", "b/tumours.csv", str(tmp_path / "b" / "tumours.csv"))
    )
    known = written(tmp_path, a, replace(b, fragments=(piece(MASS),)))
    assert list(known.files) == ["a/tumours.csv", "b/tumours.csv"]
    assert [compare_with_baseline(each, known).shifted[0].standing for each in (a, b, far)] == ["known", "new", "new"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe", "no UTF-8 text"),
        (b"", "is empty"),
        (b"<<<<<<< HEAD", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is no JSON that picsc writes"),
        (b"[]", "is no picsc.baseline/1 file, it has no schema"),
        (b'{"schema": "picsc.audit/1"}', "its schema is 'picsc.audit/1'"),
        (b'{"schema": "picsc.baseline/1"}', "files is missing"),
        (b'{"schema": "picsc.baseline/1", "files": {}, "more": 1}', "more is not known"),
        (b'{"schema": "picsc.baseline/1", "files": {"a": {"cut": 1, "pieces": {}}}}', "files.a.cut is 1"),
        (NOT_FINITE.encode(), "files.a.pieces.b.moved.model is nan"),
    ],
)
def test_what_is_no_baseline_gets_one_sentence(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "baseline.json"
    for data in [] if content is None else [content]:
        path.write_bytes(data)
    with pytest.raises(SettingsError) as raised:
        read_baseline(path)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"baseline {path} ")
    assert str(raised.value).endswith("write a new one with --write-baseline")
    assert "\n" not in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SHAPED = st.fixed_dictionaries(
    {
        "schema": st.just("picsc.baseline/1"),
        "files": JSON
        | st.dictionaries(
            st.text(max_size=3), st.fixed_dictionaries({"cut": JSON, "pieces": JSON}), min_size=1, max_size=2
        ),
    }
).map(lambda value: json.dumps(value).encode())


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()) | SHAPED)
def test_any_bytes_are_a_baseline_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    message = ""
    try:
        found = read_baseline(path)
    except SettingsError as error:
        found, message = Baseline("", {}), str(error)
    assert isinstance(found, Baseline)
    assert "\n" not in message


def test_rows_in_another_order_are_known_and_write_the_same_bytes(tmp_path: Path) -> None:
    frame = hospitals(800, 0).drop(columns="sick")  # whether a model cares is near the level
    mixed = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    report, again = (picsc.audit(rows, no_target=True, by="hospital", draws=199) for rows in (frame, mixed))
    assert [each.name for each in report.shifted] == ["hospital=3"]
    assert baseline_text([report]) == baseline_text([again])
    assert compare_with_baseline(again, written(tmp_path, report)).failing == ()


def test_a_second_column_in_a_known_piece_is_new(tmp_path: Path) -> None:
    frame = hospitals(800, 0)
    known = written(tmp_path, audited(frame))
    frame.loc[frame.hospital == 3, "x4"] += 1.0
    found = compare_with_baseline(audited(frame), known)
    assert [each.standing for each in found.shifted] == ["new"]
    assert "not in the baseline: numeric x4" in found.shifted[0].reason


def test_a_column_that_moved_on_is_worse(tmp_path: Path) -> None:
    known = written(tmp_path, audited(hospitals(800, 0)))
    found = compare_with_baseline(audited(hospitals(800, 0, moved=1.6)), known)
    assert [each.standing for each in found.shifted] == ["worse"]


@pytest.mark.slow
def test_fresh_rows_of_the_same_law_are_known(tmp_path: Path) -> None:
    """Of 50 tables, at most as many fail as 5 % each would make with probability 1e-7.

    The shift is strong: the reference of the other three pieces would hold so much of a weak one that they, too, would
    be shifted.
    """
    known = written(tmp_path, audited(hospitals(800, 0, moved=1.5, drawn=True)))
    tables = (hospitals(800, seed, moved=1.5, drawn=True) for seed in range(1, 51))
    failing = sum(
        bool(compare_with_baseline(audited(table, seed), known).failing) for seed, table in enumerate(tables, start=1)
    )
    assert failing <= binom.ppf(1 - 1e-7, 50, 0.05)


def one_column(n: int) -> AuditReport:
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=n)})
    return picsc.audit(frame, no_target=True, batches=2, reference="rest", draws=399)


def test_the_band_of_one_column_is_about_kolmogorovs_and_shrinks_with_the_root_of_the_rows() -> None:
    """1.358 / sqrt(n_eff) for KS alone, n_eff = n / 4; the effect of a classifier may be somewhat larger."""
    few, many = (one_column(n).fragments[0].noise_data for n in (400, 6400))
    assert 0.12 < few < 0.20
    assert few / many == pytest.approx(4, rel=0.3)


@pytest.mark.slow
def test_chance_exceeds_the_band_as_often_as_the_level_says() -> None:
    """One piece of each of 150 tables without a shift, the upper bound is of the binomial tail at 1e-7."""
    beyond = {"data": 0, "model": 0}
    for seed in range(150):
        first = audited(hospitals(240, seed, moved=0.0, drawn=True), seed).fragments[0]
        beyond["data"] += first.effect_data > first.noise_data
        beyond["model"] += first.effect_model > first.noise_model
    assert all(count <= binom.ppf(1 - 1e-7, 150, 0.05) for count in beyond.values())


def test_a_drift_that_was_accepted_is_known_and_no_other_shift_of_the_last_piece_is(tmp_path: Path) -> None:
    drift = piece(statistic_data="trend")
    assert compared(tmp_path, drift, drift).fragments[0].standing == "known"
    jointly = piece(statistic_data="joint distribution")
    assert compared(tmp_path, drift, jointly).fragments[0].standing == "new"
