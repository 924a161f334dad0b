"""ARFF, KEEL, libsvm, JSON lines and xlsx: what is in a file comes back, and what cannot be read is one sentence."""

from __future__ import annotations

import datetime as dt
import io
import json
import string
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arff
import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from picsc import audit
from picsc.datasets.columns.missing_words import NA
from picsc.datasets.files.formats import BY_SUFFIX
from picsc.datasets.files.libsvm import libsvm_choices
from picsc.datasets.files.read import read_frame
from picsc.datasets.load import load
from picsc.datasets.open import open_source
from picsc.datasets.table import Dataset
from picsc.errors import DataError, PicscError
from picsc.settings import ReadSettings
from tests.tables_in_files import PLAIN, read, refused

ANY = settings(max_examples=40)


def values(frame: pd.DataFrame, column: str) -> list[object]:
    """A column with None where missing."""
    return [None if pd.isna(value) else value for value in frame[column]]


def chosen(path: Path, options: ReadSettings = PLAIN) -> dict[str, tuple[str, str]]:
    return {choice.name: (choice.value, choice.how) for choice in read_frame(path, options).reading.choices}


class TestArff:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.arff"

    def test_dense(self, path: Path) -> None:
        frame = read(
            path,
            "% a remark\n@Relation two words\n\n@attribute\ta\tNumeric\n@ATTRIBUTE 'b c' { x, 'y, z' ,\"d{}\"}\n"
            "@attribute e{p,q}\n@attribute s string\n@DATA\n% another\n"
            "1, x,p,'it\\'s, ok'\n?,'y, z',?,?\n-1e3 ,\"d{}\",q,\"?\"\n",
        )
        assert values(frame, "a") == [1.0, None, -1000.0]
        assert values(frame, "b c") == ["x", "y, z", "d{}"]
        assert values(frame, "e") == ["p", None, "q"]
        assert values(frame, "s") == ["it's, ok", None, "?"]
        assert list(frame["b c"].dtype.categories) == ["x", "y, z", "d{}"]

    def test_escaped_quotes_in_levels(self, path: Path) -> None:  # P31
        frame = read(
            path,
            "@relation r\n@attribute c {'\\'B1\\'','\\'B2\\''}\n"
            "@attribute d {\"\\\"q\\\"\",'a\\\\b','\\u0041','x\\ny'}\n"
            "@data\n'\\'B2\\'',\"\\\"q\\\"\"\n'\\'B1\\'','a\\\\b'\n?,A\n?,'x\\ny'\n",
        )
        assert list(frame["c"].dtype.categories) == ["'B1'", "'B2'"]
        assert values(frame, "c") == ["'B2'", "'B1'", None, None]
        assert values(frame, "d") == ['"q"', "a\\b", "A", "x\ny"]

    def test_sparse_rows_leave_out_zero_and_the_first_level(self, path: Path) -> None:  # P31
        frame = read(
            path,
            "@relation r\n@attribute n numeric\n@attribute m numeric\n@attribute c {z,y}\n@attribute b {'a','b'}\n"
            "@data\n{0 2.5,3 'b'}\n{}\n{ 1 ? , 2 y }\n",
        )
        assert values(frame, "n") == [2.5, 0.0, 0.0]
        assert values(frame, "m") == [0.0, 0.0, None]
        assert values(frame, "c") == ["z", "z", "y"]
        assert values(frame, "b") == ["b", "a", "a"]

    @pytest.mark.parametrize(
        ("declared", "text", "meant"),
        [
            ('"yyyy-MM-dd HH:mm"', "'2020-01-02 03:04'", "2020-01-02 03:04"),
            ("", "2020-01-02T03:04:05", "2020-01-02 03:04:05"),
            ("'dd.MM.yy'", "2.1.20", "2020-01-02"),
            ("\"MMM d, yyyy 'at' hh:mm a\"", "'Jan 2, 2020 at 03:04 PM'", "2020-01-02 15:04"),
        ],
    )
    def test_dates(self, path: Path, declared: str, text: str, meant: str) -> None:
        frame = read(path, f"@relation r\n@attribute d DATE {declared}\n@attribute n real\n@data\n{text},1\n?,2\n")
        assert values(frame, "d") == [pd.Timestamp(meant), None]

    def test_a_table_too_large_for_memory(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("picsc.datasets.files.arff._MOST_VALUES", 5)
        content = "@relation r\n@attribute a real\n@attribute b real\n@data\n" + "{}\n" * 3
        assert "line 7: 3 rows of 2 attributes are more than 5 values" in refused(path, content)

    def test_rows_parted_by_blanks(self, path: Path) -> None:
        frame = read(path, "@relation r\n@attribute a real\n@attribute b {x,'y z'}\n@data\n1\tx\n2  'y z'\n")
        assert frame.to_numpy().tolist() == [[1.0, "x"], [2.0, "y z"]]

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("1,x,{5}", "line 5: '{5}' is the weight of a row"),
            ("{0 1}, {5}", "line 5: the row ends with its weight"),
            ("1", "line 5: 1 value where 2 attributes"),
            ("1,x,2", "line 5: 3 values where 2 attributes"),
            ("1,y", "line 5: 'y' is none of the 1 levels declared for 'b'"),
            ("one,x", "line 5: 'one' is no number"),
            ("1_0,x", "line 5: '1_0' is no number"),
            ("1,'x", "line 5: a quotation mark is left open"),
            ("1,'x'y", "line 5: a quotation mark is left open"),
            ("{0 1", "line 5: the brace of a sparse row is left open"),
            ("{7 1}", "line 5: index 7 of the sparse row is not below 2"),
            ("{1 x,0 1}", "line 5: index 0 of the sparse row comes after"),
            ("{x 1}", "line 5: 'x 1' is no INDEX VALUE"),
        ],
    )
    def test_bad_rows(self, path: Path, line: str, said: str) -> None:
        assert said in refused(path, f"@relation r\n@attribute a numeric\n@attribute b {{x}}\n@data\n{line}\n1,x\n")

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("@attribute t relational", "line 2: 't' is relational"),
            ("@attribute t complex", "line 2: 't' is of kind 'complex'"),
            ("@attribute t", "line 2: '@attribute t' declares no attribute"),
            ("@attribute t {a,'b}", "line 2: the levels of 't' have an open"),
            ("@attribute t {}", "line 2: 't' has no levels"),
            ("@attribute t date 'QQ'", "line 2: 'QQ' in the date format"),
            ("@attribute t date 'yyyy-yyyy'", "line 2: the date format of 't' has 'yyyy' twice"),
            ("a,b,c", "line 2: 'a,b,c' is neither @relation"),
        ],
    )
    def test_bad_headers(self, path: Path, line: str, said: str) -> None:
        assert said in refused(path, f"@relation r\n{line}\n@attribute a real\n@data\n1\n")

    def test_repeated_names(self, path: Path) -> None:  # P33
        content = "@relation r\n@attribute a real\n@attribute 'a ' real\n@data\n1,2\n"
        assert "repeated column name 'a'" in refused(path, content)
        assert list(read(path, content, ReadSettings(rename_duplicates=True)).columns) == ["a", "a.1"]

    def test_bad_dates_name_their_line(self, path: Path) -> None:
        message = refused(path, "@relation r\n@attribute d date 'yyyy'\n@data\n2020\n20x\n")
        assert "line 5: '20x' is no date as 'd' declares them" in message

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", "is empty"),
            ("@relation r\n@attribute a real\n1\n", "line 3: '1' is neither @relation"),
            ("@relation r\n@attribute a real\n", "has no line @data"),
            ("@relation r\n@attribute a real\n@data\n", "has no rows"),
            ("@relation r\n@data\n", "has no attributes"),
        ],
    )
    def test_no_data(self, path: Path, content: str, said: str) -> None:
        assert said in refused(path, content)

    # no braces or question marks, which liac-arff writes without quotation marks
    word = st.text(string.ascii_letters + " ,;'\"%\\\tné", min_size=1, max_size=6).filter(lambda word: word.strip())

    @ANY
    @given(data=st.data(), rows=st.integers(1, 8))
    def test_reads_what_liac_arff_writes(self, path: Path, data: st.DataObject, rows: int) -> None:
        levels = data.draw(st.lists(self.word, min_size=1, max_size=4, unique_by=str.strip), label="levels")
        drawn = {
            "n": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            "s": st.one_of(st.none(), self.word),
            "c": st.one_of(st.none(), st.sampled_from(levels)),
        }
        columns = [data.draw(st.lists(each, min_size=rows, max_size=rows)) for each in drawn.values()]
        attributes = [("n", "REAL"), ("s", "STRING"), ("c", levels)]
        written = arff.dumps({"relation": "r", "attributes": attributes, "data": list(zip(*columns, strict=True))})
        frame = read(path, written)
        assert [values(frame, name) for name in "nsc"] == [
            [word.strip() if isinstance(word, str) and arff.encode_string(word) == word else word for word in column]
            for column in columns
        ]


class TestKeel:
    HEADER = (
        "@RELATION  r\n@Attribute a real [0.0, 1.5]\n@attribute b integer[1,9]\n@attribute c{p, q}\n"
        "@attribute d {1,2}\n@inputs a, b, d\n@Outputs  c\n@data\n"
    )

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.dat"

    def test_columns_and_declared_target(self, path: Path) -> None:
        frame = read(path, self.HEADER + "0.5, 3, p, 1\n<null>,?,q,2\n1.5,9, p,1\n0,1,q,2\n")
        assert values(frame, "a") == [0.5, None, 1.5, 0.0]
        assert values(frame, "b") == [3.0, None, 9.0, 1.0]
        assert values(frame, "c") == ["p", "q", "p", "q"]
        target = load(path, PLAIN).target
        assert target is not None
        assert (target.name, target.chosen) == ("c", "declared by the file")

    def test_a_target_that_is_told_wins(self, path: Path) -> None:
        path.write_text(self.HEADER + "0.5,3,p,1\n1,2,q,2\n1.5,9,p,1\n0,1,q,2\n")
        target = load(path, ReadSettings(target="d")).target
        assert target is not None
        assert (target.name, target.chosen) == ("d", "--target")

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (HEADER + "1,2,p\n", "line 9: 3 fields where 4 attributes"),
            (HEADER + "1,2,r,1\n", "line 9: 'r' is none of the 2 levels declared for 'c'"),
            (HEADER + "x,2,p,1\n", "line 9: 'x' is no number"),
            (HEADER.replace("Outputs  c", "output z"), "has no rows"),
            (HEADER.replace("Outputs  c", "output z") + "1,2,p,1\n", "output 'z', which is none of its attributes"),
            ("@relation r\n@attribute a text\n@data\n", "line 2: '@attribute a text' declares no attribute"),
            ("@relation r\n@attribute a real\n", "no line @data"),
        ],
    )
    def test_refusals(self, path: Path, content: str, said: str) -> None:
        assert said in refused(path, content)


class TestLibsvm:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.libsvm"

    def test_columns_labels_and_choices(self, path: Path) -> None:
        frame = read(path, "# remark\n1 1:0.5 3:2e1 # x\n-1 2:-1\n\n1\n-1 3:1\n")
        assert list(frame.columns) == ["label", "f1", "f2", "f3"]
        assert frame.to_numpy().tolist() == [[1, 0.5, 0, 20], [-1, 0, -1, 0], [1, 0, 0, 0], [-1, 0, 0, 1]]
        assert chosen(path) == {"zero-based": ("no", "index 0 does not occur"), "features": ("3", "the largest index")}
        target = load(path, PLAIN).target
        assert target is not None
        assert (target.name, target.levels, target.chosen) == ("label", ("1", "-1"), "declared by the file")

    def test_counted_from_0(self, path: Path) -> None:  # P32
        frame = read(path, "1 0:0.5 2:2\n-1 1:1\n")
        assert list(frame.columns) == ["label", "f0", "f1", "f2"]
        assert chosen(path)["zero-based"] == ("yes", "index 0 occurs")

    def test_told(self, path: Path) -> None:
        frame = read(path, "1 1:5\n", ReadSettings(zero_based="yes", features=4))
        assert frame.to_numpy().tolist() == [[1, 0, 5, 0, 0]]
        assert chosen(path, ReadSettings(zero_based="yes", features=4)) == {
            "zero-based": ("yes", "told"),
            "features": ("4", "told"),
        }

    def test_queries_are_a_column(self, path: Path) -> None:
        frame = read(path, "1 qid:3 1:1\n0 qid:4 2:1\n")
        assert frame.columns.tolist() == ["label", "qid", "f1", "f2"]
        assert frame["qid"].tolist() == ["3", "4"]

    @pytest.mark.parametrize(
        ("content", "options", "said"),
        [
            ("1 1:1\n1,2 1:1\n", {}, "line 2 has several labels"),
            ("1 1:1\n1:1\n", {}, "line 2 has no label"),
            ("a 1:1\n", {}, "line 1: the label 'a' is no number"),
            ("1 1:1\n1 x:1\n", {}, "line 2: 'x:1' is no INDEX:VALUE"),
            ("1 1:one\n", {}, "line 1: '1:one' is no INDEX:VALUE"),
            ("1 2:1 1:1\n", {}, "line 1: index 1 comes after 2"),
            ("1 99999999999:1\n", {}, "line 1: index 99999999999 is not below 2^31"),
            ("1 qid:1 1:1\n1 1:1\n", {}, "line 2: there is no qid"),
            ("1 0:1\n", {"zero_based": "no"}, "line 1: index 0 occurs, but --zero-based no"),
            ("1 7:1\n", {"features": 6}, "line 1: index 7 occurs, but --features 6"),
            ("1 1000000:1\n" * 300, {}, "300 rows of 1000000 features are 2.2 GiB"),
            ("1 300000000:1\n", {}, "300000000 features are more than the 1000000 columns"),
            ("1\n-1\n", {}, "no features"),
            ("# no rows\n", {}, "no rows"),
            ("", {}, "is empty"),
        ],
    )
    def test_refusals(self, path: Path, content: str, options: dict[str, object], said: str) -> None:
        assert said in refused(path, content, ReadSettings(**options))

    def test_one_width_and_base_for_all_files_of_a_call(self, tmp_path: Path) -> None:  # P32
        first, second, third = (tmp_path / f"{name}.svm" for name in "abc")
        first.write_text("".join(f"{i % 2} {i + 1}:1\n" for i in range(20)))
        second.write_text("".join(f"{i % 2} {i + 1}:1\n" for i in range(19)))
        third.write_text("1 0:1\n0 5:1\n")
        together = libsvm_choices([first, second, tmp_path / "other.csv"], PLAIN)
        assert read_frame(first, together).frame.columns.equals(read_frame(second, together).frame.columns)
        assert chosen(second, together) == {
            "zero-based": ("no", "over 2 files: index 0 does not occur"),
            "features": ("20", "over 2 files: the largest index"),
        }
        with_zero = libsvm_choices([first, second, third], PLAIN)
        widths = {read_frame(path, with_zero).frame.shape[1] for path in (first, second, third)}
        assert widths == {22}
        assert chosen(first, with_zero)["zero-based"] == ("yes", "over 3 files: index 0 occurs")

    def test_an_audit_reads_data_and_reference_alike(self, tmp_path: Path) -> None:  # P32
        rng = np.random.default_rng(0)
        old, new = tmp_path / "old.libsvm", tmp_path / "new.libsvm"
        for path, width in ((old, 4), (new, 3)):
            rows = [" ".join(f"{j + 1}:{x:.3f}" for j, x in enumerate(rng.normal(size=width))) for _ in range(60)]
            path.write_text("".join(f"{i % 2} {row}\n" for i, row in enumerate(rows)))
        report = audit(new, batches=2, reference=str(old), draws=99)
        assert [column.name for column in report.data.columns if column.used] == ["f1", "f2", "f3", "f4"]
        moved = {column.name for column in report.fragments[0].columns if column.moved(0.05)}
        assert moved == {"f4"}  # 0 in every row of the one, since it has no such feature

    def test_one_file_decides_for_itself(self, path: Path) -> None:
        path.write_text("1 1:1\n")
        assert libsvm_choices([path, "other.csv"], PLAIN) == PLAIN

    def test_standard_input_beside_another_file_needs_the_choices_told(self, path: Path) -> None:
        path.write_text("1 1:1\n")
        options = ReadSettings(format="libsvm")
        with pytest.raises(DataError, match="--features N"):
            libsvm_choices([path, "-"], options)
        told = ReadSettings(format="libsvm", zero_based="no", features=3)
        assert libsvm_choices([path, "-"], told) == told

    def test_a_file_that_cannot_be_read_has_no_say(self, tmp_path: Path) -> None:
        good, bad = tmp_path / "good.svm", tmp_path / "bad.svm"
        good.write_text("1 3:1\n")
        bad.write_text("no\n")
        assert libsvm_choices([good, bad, tmp_path / "missing.svm"], PLAIN).features == 3

    @ANY
    @given(
        matrix=st.lists(st.lists(st.sampled_from([0.0, 1.0, -2.5, 1e-3]), min_size=3, max_size=3), min_size=1),
        zero=st.booleans(),
    )
    def test_reads_what_scikit_learn_writes(self, path: Path, matrix: list[list[float]], zero: bool) -> None:
        labels = [i % 3 for i in range(len(matrix))]
        file = io.BytesIO()
        dump_svmlight_file(np.asarray(matrix), labels, file, zero_based=zero)
        frame = read(path, file.getvalue(), ReadSettings(zero_based="yes" if zero else "no", features=3))
        assert frame.to_numpy().tolist() == [[label, *row] for label, row in zip(labels, matrix, strict=True)]


class TestJsonLines:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.jsonl"

    def test_types_are_those_of_whole_columns(self, path: Path) -> None:
        frame = read(
            path,
            '{"i": 1, "f": 1, "b": true, "m": 1, "w": "2020-01-02"}\n\n'
            '{"f": 2.5, "i": 2, "b": null, "m": "1", "w": "x"}\n{"i": 3, "f": NaN, "b": false, "m": 1.5, "late": 7}\n',
        )
        assert frame["i"].dtype == np.int64
        assert values(frame, "f") == [1.0, 2.5, None]
        assert values(frame, "b") == [True, None, False]
        assert values(frame, "m") == ["1", "1", "1.5"]
        assert values(frame, "w") == ["2020-01-02", "x", None]
        assert values(frame, "late") == [None, None, 7]

    def test_one_type_over_many_records(self, path: Path) -> None:  # P30
        one, other = '{"x": 1}\n' * 10_000, '{"x": "1"}\n' * 10_000
        assert read(path, one + other + one)["x"].value_counts().to_dict() == {"1": 30_000}

    def test_large_whole_numbers_are_exact(self, path: Path) -> None:
        frame = read(
            path,
            '{"a": 9007199254740993, "b": 12345678901234567890123, "c": 9007199254740993}\n'
            '{"a": 1, "b": 1, "c": 0.5}\n',
        )
        assert frame["a"].tolist() == [2**53 + 1, 1]
        assert frame["b"].tolist() == ["12345678901234567890123", "1"]
        assert frame["c"].tolist() == ["9007199254740993", "0.5"]

    def test_a_list_of_records(self, tmp_path: Path) -> None:
        assert read(tmp_path / "t.json", ' [{"a": 1},\n {"a": 2}]')["a"].tolist() == [1, 2]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ('{"a": 1}\n{"a": [1]}\n', "line 2: 'a' holds a list"),
            ('{"a": {"b": 1}}\n', "line 1: 'a' holds an object"),
            (
                '{"a": 1}\n\n{"a": 1,}\n',
                "line 3 is no JSON: expecting property name enclosed in double quotes at character 9",
            ),
            ('{"a": 1, "a": 2}\n', "line 1: the key 'a' occurs twice"),
            ("1\n", "line 1 holds a number where a record"),
            ('"a"\n', "line 1 holds a word where a record"),
            ("null\n", "line 1 holds null where a record"),
            ('[{"a": 1}, 2]', "record 2 holds a number where a record"),
            ("[[1, 2]]", "record 1 holds a list where a record"),
            ("[" * 100_000, "nested too deeply"),
            ("{}\n{}\n", "2 records and 0 columns"),
            ("", "is empty"),
            ("\n", "0 records"),
            ('[{"a": 1},\n{"a": 2]', "is no JSON: expecting ',' delimiter at line 2, character 8"),
            ('{"a": ' + "1" * 5000 + "}", "line 1 has a number of more than 4300 digits"),
            ('{"a": 1, " a": 2}\n', "repeated column name 'a'"),
            ('{"users": ["f1"], "num_samples": [2], "user_data": {}}', "'users' holds a list"),
        ],
    )
    def test_refusals(self, path: Path, content: str, said: str) -> None:
        assert said in refused(path, content)

    def test_nested_values_may_be_left_out(self, path: Path) -> None:
        assert read(path, '{"a": 1, "b": [1]}\n', ReadSettings(drop=("b",)))["a"].tolist() == [1]

    def test_half_a_character_is_replaced(self, path: Path) -> None:
        frame = read(path, '{"\\ud800": "\\udfff"}\n')
        assert frame.to_dict("list") == {"?": ["?"]}

    word = st.text(max_size=5).filter(lambda word: word.strip() not in NA)
    scalar = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), word)

    @ANY
    @given(st.lists(st.dictionaries(st.sampled_from(["a", "b"]), scalar, min_size=1), min_size=1, max_size=8))
    def test_round_trip(self, path: Path, records: list[dict[str, object]]) -> None:
        frame = read(path, "".join(json.dumps(record) + "\n" for record in records))
        for name in frame.columns:
            column = [record.get(name) for record in records]
            held = {type(value) for value in column if value is not None}
            same = [value if len(held) == 1 else str(value) for value in values(frame, name)]
            assert len(same) == len(records)
            assert [value is None for value in values(frame, name)] == [value is None for value in column]

    def test_missing_words_among_numbers(self, path: Path) -> None:
        """The first block holds both, the second words only, and the third numbers only."""
        held = [1, "NA", 2.5] + ["null"] * 5000 + [4] * 5000
        frame = read(
            path, "".join(json.dumps({"n": value, "w": str(value), "b": value}) + "\n" for value in held) + '{"b": "x"}'
        )
        assert frame["n"].isna().sum() == 5002
        assert frame["n"].sum() == 20_003.5
        assert frame["w"].tolist()[:4] == ["1", "NA", "2.5", "null"]
        assert frame["b"].tolist()[:4] == ["1", "NA", "2.5", "null"]


def test_json_lines_of_files_put_together(tmp_path: Path) -> None:
    assert read(tmp_path / "a.jsonl", '\ufeff{"a": 1}\n\ufeff{"a": 2}\n')["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ('[{"a": 1.5, "y": "p"}, {"a": 2, "y": "q"}, {"a": 3, "y": "p"}, {"a": 4, "y": "q"}]', {}),
        ('{"a": 1.5, "y": "p"}\n{"a": 2, "y": "q"}\n{"a": 3, "y": "p"}\n{"a": 4, "y": "q"}\n', {}),
        ('{"users": 1, "y": "p"}\n{"users": 2, "y": "q"}\n{"users": 3, "y": "p"}\n{"users": 5}', {"format": "jsonl"}),
    ],
)
def test_json_that_is_not_leafs_is_a_table(tmp_path: Path, content: str, options: dict[str, Any]) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    found = open_source(str(path), named=False, settings=ReadSettings(**options))
    assert isinstance(found, Dataset)
    assert found.n == 4


class TestXlsx:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.xlsx"

    def book(self, path: Path, rows: list[list[object]], change: Callable[[openpyxl.Workbook], object] = id) -> Path:
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = "one"
        for row in rows:
            sheet.append(row)
        change(book)
        book.save(path)
        return path

    def test_types(self, path: Path) -> None:
        day = dt.datetime(2024, 1, 2)
        rows = [["n", "w", "d", None, "b"], [1, " a ", day, None, True], [None] * 5, [2.5, "?", None, None, False]]
        frame = read_frame(self.book(path, rows), PLAIN).frame
        assert list(frame.columns) == ["n", "w", "d", "b"]
        assert values(frame, "n") == [1.0, 2.5]
        assert values(frame, "w") == ["a", None]
        assert values(frame, "d") == [pd.Timestamp(day), None]
        assert values(frame, "b") == [True, False]
        assert chosen(path) == {"sheet": ("one", "the only one"), "header": ("yes", "the default")}

    def test_sheets(self, path: Path) -> None:
        def second(book: openpyxl.Workbook) -> None:
            sheet = book.create_sheet("two")
            sheet.append(["z"])
            sheet.append([5])

        self.book(path, [["a"], [1]], second)
        assert read_frame(path, PLAIN).frame["a"].tolist() == [1]
        assert chosen(path)["sheet"] == ("one", "the first of 2")
        assert read_frame(path, ReadSettings(sheet="two")).frame["z"].tolist() == [5]
        with pytest.raises(DataError, match="--sheet 'three' is none of its sheets: 'one', 'two'"):
            read_frame(path, ReadSettings(sheet="three"))

    def test_no_header(self, path: Path) -> None:
        frame = read_frame(self.book(path, [[1, "a"], [2, "b"]]), ReadSettings(header=False)).frame
        assert frame.to_dict("list") == {"c1": [1, 2], "c2": ["a", "b"]}

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([["a", "a"], [1, 2]], "repeated column name 'a'"),
            ([[None, None], ["a", "b"], [1, 2]], "begins with an empty row"),
            ([], "is empty"),
            ([["a", "b"]], "no rows"),
            ([["a", "b"], [1, "=A2+1"]], "the formula in B2 has no stored value"),
        ],
    )
    def test_refusals(self, path: Path, rows: list[list[object]], said: str) -> None:
        with pytest.raises(DataError, match=said):
            read_frame(self.book(path, rows), PLAIN)

    def test_merged_cells(self, path: Path) -> None:
        self.book(path, [["a", None], [1, 2]], lambda book: book.active.merge_cells("A1:B1"))
        with pytest.raises(DataError, match="cells A1:B1 are merged"):
            read_frame(path, PLAIN)

    def test_formulas_of_another_sheet_do_not_matter(self, path: Path) -> None:
        rows: list[list[object]] = [["a", "b"], [1, None], [2, 3]]
        self.book(path, rows, lambda book: book.create_sheet("two").append(["=1+1"]))
        assert values(read_frame(path, PLAIN).frame, "b") == [None, 3]

    @pytest.mark.parametrize("content", [b"PK no", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 an old workbook"])
    def test_no_workbook(self, path: Path, content: bytes) -> None:
        assert "is no workbook that can be read" in refused(path, content)

    def test_without_openpyxl(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.book(path, [["a"], [1]])
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(DataError, match=r"pip install 'picsc\[xlsx\]'"):
            read_frame(path, PLAIN)


class TestAnyBytes:
    alphabet = "@attribute relation data {}'\"\\,?%\n\t 01.5e-ab:#[]nulltrue\x00é"

    @settings(max_examples=250)
    @given(
        suffix=st.sampled_from(sorted(set(BY_SUFFIX) - {".csv", ".txt", ".data", ".tsv", ".tab"})),
        content=st.one_of(
            st.binary(max_size=60),
            st.text(alphabet, max_size=60).map(str.encode),
            st.text(alphabet, max_size=40).map(lambda text: f"@relation r\n@attribute a real\n@data\n{text}".encode()),
            st.text(alphabet, max_size=40).map(lambda text: f'{{"a": 1, "{text}": 2}}'.encode()),
        ),
    )
    def test_any_bytes_are_a_table_or_one_sentence(self, tmp_path: Path, suffix: str, content: bytes) -> None:
        path = tmp_path / f"t{suffix}"
        path.write_bytes(content)
        frame, said = pd.DataFrame({"one": [1]}), str(path)
        try:
            frame = read_frame(path, PLAIN).frame
        except PicscError as error:
            said = str(error)
        assert str(path) in said
        assert "\n" not in said
        assert min(frame.shape) > 0
        assert frame.columns.is_unique
