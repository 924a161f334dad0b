"""Columns of a table against those of its reference: each difference has its own finding, and none is an error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import picsc
from picsc.datasets.load import from_frame
from picsc.datasets.schema import Against, match_columns
from picsc.errors import DataError
from picsc.reports.audit import SCHEMA_CODES
from picsc.settings import ReadSettings

N = 120
RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.normal(size=N)
WORDS = np.where(np.arange(N) % 3 == 0, "p", "q")
TABLE = pd.DataFrame({"a": NUMBERS, "b": RANDOM.normal(size=N), "site": WORDS})


def matched(new: pd.DataFrame, old: pd.DataFrame) -> Against:
    read = ReadSettings(no_target=True)
    data, reference = from_frame(new, read, name="new"), from_frame(old, read, name="old")
    return match_columns(data, reference)


def told(against: Against) -> dict[str, tuple[str, str]]:
    return {finding.code: (finding.severity, finding.message) for finding in against.findings}


def test_equal_columns_have_no_finding_whatever_their_order() -> None:
    against = matched(TABLE, TABLE[["site", "b", "a"]])
    assert told(against) == {}
    assert [column.name for column in against.reference.columns] == ["a", "b", "site"]


def test_a_lost_and_a_new_column_are_named_and_not_compared() -> None:
    against = matched(TABLE.drop(columns="b").assign(extra=2 * NUMBERS), TABLE)
    assert told(against) == {
        "column-lost": ("warning", "1 column of file old missing here: 'b'"),
        "column-new": ("note", "1 column not in file old, and not compared: 'extra'"),
    }
    assert [column.name for column in against.data.columns] == ["a", "site"]
    assert [column.name for column in against.reference.columns] == ["a", "site"]
    assert [(column.name, column.reason) for column in against.data.left_out] == [("extra", "not in file old")]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (WORDS, "categorical"),
        (
            pd.Series(pd.to_datetime("2024-01-01")).repeat(N).to_numpy() + pd.to_timedelta(np.arange(N) % 7, unit="D"),
            "datetime",
        ),
        ([f"some words of {i} letters {'x' * (i % 9)}" for i in range(N)], "text"),
        (np.full(N, np.nan), "empty"),
    ],
)
def test_a_column_of_another_kind_is_named_and_not_compared(values: object, kind: str) -> None:
    """Also one whose values could be compared, such as dates with numbers, and one that came without values."""
    against = matched(TABLE.assign(b=values), TABLE)
    assert told(against) == {
        "column-kind-changed": ("warning", f"1 column of another kind: 'b' (numeric in file old, {kind} here)")
    }
    assert [column.name for column in against.data.columns] == ["a", "site"]


@pytest.mark.parametrize("values", [np.ones(N), np.arange(N)])
def test_a_column_of_one_value_or_a_count_of_rows_is_no_change_of_the_schema(values: object) -> None:
    for against in (matched(TABLE.assign(b=values), TABLE), matched(TABLE, TABLE.assign(b=values))):
        [finding] = against.findings
        assert (finding.code, finding.severity) == ("column-not-compared", "note")
        assert finding.code not in SCHEMA_CODES


def test_new_levels_are_named() -> None:
    [finding] = matched(TABLE.assign(site=np.where(WORDS == "p", "z", WORDS)), TABLE).findings
    assert finding.code == "levels-new"
    assert finding.message == "levels that file old does not have in 1 column: 'site' ('z')"
    assert matched(TABLE, TABLE.assign(site=np.where(np.arange(N) % 40 == 0, "z", WORDS))).findings == ()


def test_a_level_that_is_rare_in_the_reference_is_not_new() -> None:
    """Rare levels are pooled, but known by name; a rare one of the table is new where the reference pools none."""
    rare = np.where(np.arange(N) < 2, "z", WORDS)
    frequent = np.where(np.arange(N) % 4 == 0, "z", WORDS)
    rarer = np.where(np.arange(N) < 2, "v", WORDS)
    assert matched(TABLE.assign(site=frequent), TABLE.assign(site=rare)).findings == ()
    assert matched(TABLE.assign(site=rarer), TABLE.assign(site=rare)).findings == ()
    assert list(told(matched(TABLE.assign(site=rarer), TABLE))) == ["levels-new"]


def test_zeros_and_ones_beside_words_are_levels() -> None:
    assert list(told(matched(TABLE.assign(site=np.arange(N) % 2), TABLE))) == ["levels-new"]


def test_columns_that_are_dropped_or_cut_the_table_take_no_part() -> None:
    data = from_frame(TABLE, ReadSettings(no_target=True), keys=("site",))
    old = from_frame(TABLE.assign(extra=1.5 * NUMBERS), ReadSettings(no_target=True), name="old")
    assert match_columns(data, old, ("site", "extra")).findings == ()


def test_tables_without_a_common_column_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="new and reference old have no column in common that can be compared"):
        matched(TABLE[["a"]], TABLE[["b", "site"]])


def test_the_report_names_each_column_once() -> None:
    new = TABLE.assign(b=np.full(N, np.nan), extra=2 * NUMBERS)
    report = picsc.audit(new, reference=TABLE, no_target=True, draws=99)
    assert [finding.code for finding in report.schema_changes] == ["column-new", "column-kind-changed"]
    assert not [finding for finding in report.findings if finding.code.endswith("left-out")]
    assert {column.name: column.used for column in report.data.columns} == {
        "a": True,
        "site": True,
        "b": True,  # a column that is empty in one of the two is tested, too
        "extra": False,
    }


def test_new_classes_of_the_target_are_levels() -> None:
    old = TABLE.assign(y=WORDS)
    new = old.assign(y=np.where(np.arange(N) % 4 == 0, "third", WORDS))
    report = picsc.audit(new, reference=old, draws=99)
    [finding] = report.schema_changes
    assert (finding.code, "'y' ('third')" in finding.message) == ("levels-new", True)


@pytest.mark.parametrize(("strict", "failures"), [(False, 0), (True, 1)])
def test_a_strict_schema_fails_on_these_findings_and_says_so_first(strict: bool, failures: int) -> None:
    report = picsc.audit(
        TABLE.assign(extra=2 * NUMBERS), reference=TABLE, no_target=True, draws=99, strict_schema=strict
    )
    assert len(report.schema_changes) == 1
    assert len(report.schema_failures) == failures
    said = "the columns differ from those of file reference, which --strict-schema fails" in report.summary[0]
    assert said is strict
