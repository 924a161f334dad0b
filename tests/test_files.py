"""Reading files: what is in them comes back, and what cannot be read is one sentence."""

from __future__ import annotations

import hashlib
import json
import math
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from picsc.datasets.delimited_columns import NA
from picsc.datasets.files import KNOWN, read_frame
from picsc.errors import DataError, PicscError
from picsc.settings import ReadSettings

PLAIN = ReadSettings()


def read(path: Path, content: bytes | str, options: ReadSettings = PLAIN) -> pd.DataFrame:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_frame(path, options)[0]


def refused(path: Path, content: bytes | str, options: ReadSettings = PLAIN) -> str:
    with pytest.raises(DataError) as caught:
        read(path, content, options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


class TestCsv:
    def test_types(self, csv: Path) -> None:
        frame = read(csv, "i,f,w,m\n1,1.5,a,1\n-2,1e3,b,\n30000000000,.5,a,3\n")
        assert frame["i"].dtype == np.int64
        assert frame["i"].tolist() == [1, -2, 30000000000]
        assert frame["f"].tolist() == [1.5, 1000.0, 0.5]
        assert frame["w"].tolist() == ["a", "b", "a"]
        assert frame["m"].dtype == np.float64
        assert math.isnan(frame["m"][1])

    def test_digest_is_of_the_bytes(self, csv: Path) -> None:
        csv.write_bytes(b"a,b\n1,2\n")
        assert read_frame(csv, PLAIN)[1] == hashlib.sha256(b"a,b\n1,2\n").hexdigest()

    def test_byte_order_mark_is_no_part_of_a_name(self, csv: Path) -> None:  # P29 (a)
        frame = read(csv, b"\xef\xbb\xbfa;b\n1;2\n")
        assert list(frame.columns) == ["a", "b"]
        assert frame.to_numpy().tolist() == [[1, 2]]

    def test_one_column_without_any_delimiter(self, csv: Path) -> None:  # P29 (b)
        assert read(csv, "x\nhello\nworld\n")["x"].tolist() == ["hello", "world"]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
    def test_utf_16_with_a_mark(self, csv: Path, encoding: str) -> None:  # P29 (c)
        text = "é\tb\n1\tä\n" if encoding == "utf-16" else "\ufeffé\tb\n1\tä\n"
        frame = read(csv, text.encode(encoding))
        assert list(frame.columns) == ["é", "b"]
        assert frame["b"].tolist() == ["ä"]

    def test_latin_1_is_not_guessed(self, csv: Path) -> None:  # P29 (d)
        message = refused(csv, "größe;b\n1,5;2,5\n".encode("latin-1"))
        assert "byte 0xF6 at position 2 is not UTF-8" in message
        assert "re-encode" in message

    def test_position_of_a_bad_byte_beyond_the_first_chunk(self, csv: Path) -> None:
        content = b"a\n" + "ü\n".encode() * 2_000_000 + b"\xff\n"
        assert f"position {len(content) - 2} " in refused(csv, content)

    def test_position_of_a_bad_letter_across_two_chunks(self, csv: Path) -> None:
        assert "0xC3 at position 4194303 " in refused(csv, b"a\n" + b"x" * (2**22 - 3) + b"\xc3(\n")

    def test_utf_8_cut_off_in_a_letter(self, csv: Path) -> None:
        assert "position 4 is not UTF-8" in refused(csv, b"a\nb\n\xc3")

    def test_utf_16_without_a_mark(self, csv: Path) -> None:
        assert "UTF-16" in refused(csv, "a,b\n1,2\n".encode("utf-16-le"))

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters_are_found_beside_quoted_ones(self, csv: Path, delimiter: str) -> None:
        lines = [["name", "value"], ['"one, two; three | four\tfive"', "1"], ['"x, y; z | w\tv"', "2"]]
        frame = read(csv, "\n".join(delimiter.join(line) for line in lines) + "\n")
        assert list(frame.columns) == ["name", "value"]
        assert frame["value"].tolist() == [1, 2]

    def test_decimal_commas_do_not_make_the_comma_a_delimiter(self, csv: Path) -> None:
        assert read(csv, "a;b\n1,5;2,5\n3,5;4,5\n")["a"].tolist() == ["1,5", "3,5"]

    def test_tsv_keeps_its_tab(self, tmp_path: Path) -> None:
        assert list(read(tmp_path / "t.tsv", "a;b\tc;d\n1\t2\n").columns) == ["a;b", "c;d"]

    def test_one_type_for_a_whole_column(self, csv: Path) -> None:  # P30
        one, other = "1,some filling\n" * 400_000, "X,some filling\n" * 400_000
        frame = read(csv, f"x,fill\n{one}{other}{one}")
        assert frame["x"].value_counts().to_dict() == {"1": 800_000, "X": 400_000}

    def test_words_after_many_numbers(self, csv: Path) -> None:
        """The blocks before the first word were numbers and must come back as they were written."""
        frame = read(csv, "a,b\n" + "1.50,2\n" * 800_000 + "x,3\n")
        assert frame["a"].value_counts().to_dict() == {"1.50": 800_000, "x": 1}
        assert frame["b"].sum() == 1_600_003

    def test_fractions_after_many_whole_numbers(self, csv: Path) -> None:
        frame = read(csv, "a\n" + "1000000\n" * 600_000 + "0.5\n\n")
        assert frame["a"].dtype == np.float64
        assert frame["a"].sum() == 600_000_000_000.5

    def test_codes_keep_their_leading_zeros(self, csv: Path) -> None:
        frame = read(csv, "code,zip,real,plain,hex,mixed\n00123, 01,0.5,0,0x1F,01.5\n12345,NA,10.5,10,0x2A,007\n")
        assert frame["code"].tolist() == ["00123", "12345"]
        assert frame["zip"][0] == "01"
        assert frame["real"].tolist() == [0.5, 10.5]
        assert frame["plain"].tolist() == [0, 10]
        assert frame["hex"].tolist() == ["0x1F", "0x2A"]
        assert frame["mixed"].tolist() == ["01.5", "007"]

    def test_padded_fractions_are_numbers(self, csv: Path) -> None:
        assert read(csv, "x\n01.50\n12.30\n")["x"].tolist() == [1.5, 12.3]

    def test_leading_zeros_only_in_the_last_row(self, csv: Path) -> None:
        frame = read(csv, "code\n" + "12345\n" * 800_000 + "00001\n")
        assert frame["code"].value_counts().to_dict() == {"12345": 800_000, "00001": 1}

    @pytest.mark.parametrize("spelling", ["", "?", "NA", "NaN", "null", "None", "#N/A", " ? ", '"NA"', "  "])
    def test_missing_spellings(self, csv: Path, spelling: str) -> None:
        frame = read(csv, f"n,w\n1,a\n{spelling},{spelling}\n3,b\n")
        assert frame["n"].isna().tolist() == [False, True, False]
        assert frame["w"].isna().tolist() == [False, True, False]
        assert frame["n"].sum() == 4

    def test_blanks_around_values_and_names(self, csv: Path) -> None:
        frame = read(csv, " n , w\n 1, a \n 2 ,b\n+3,a\n")
        assert frame["n"].tolist() == [1, 2, 3]
        assert frame["w"].tolist() == ["a", "b", "a"]

    def test_dates_and_booleans_stay_as_they_are_written(self, csv: Path) -> None:
        frame = read(csv, "d,t,b\n2024-01-02,12:30,true\n2024-01-03,12:31,False\n")
        assert frame.iloc[0].tolist() == ["2024-01-02", "12:30", "true"]

    def test_quoted_line_breaks(self, csv: Path) -> None:
        frame = read(csv, 'a,b\r\n1,"x\r\ny"\r\n2,z\r\n')
        assert frame["b"].tolist() == ["x\r\ny", "z"]

    def test_header_with_a_line_break_and_blank_lines_before_it(self, csv: Path) -> None:
        frame = read(csv, '\n\n"a\nb",c\n1,2\n')
        assert list(frame.columns) == ["a\nb", "c"]
        assert frame.to_numpy().tolist() == [[1, 2]]

    def test_a_row_longer_than_a_block(self, csv: Path) -> None:
        frame = read(csv, "a,b\n" + "x" * 9_000_000 + ",1\ny,2\n")
        assert frame["b"].tolist() == [1, 2]
        assert len(frame["a"][0]) == 9_000_000

    def test_no_header(self, csv: Path) -> None:
        frame = read(csv, "1,a\n2,b\n", ReadSettings(header=False))
        assert list(frame.columns) == ["c1", "c2"]
        assert frame["c1"].tolist() == [1, 2]

    def test_column_without_a_name(self, csv: Path) -> None:
        assert list(read(csv, ",b\n1,2\n").columns) == ["c1", "b"]

    def test_repeated_names(self, csv: Path) -> None:  # P33
        assert "repeated column name 'a'" in refused(csv, "a,a,b\n1,2,3\n")

    def test_renamed_repeats(self, csv: Path) -> None:
        frame = read(csv, "a,a,a.1,a\n1,2,3,4\n", ReadSettings(rename_duplicates=True))
        assert list(frame.columns) == ["a", "a.2", "a.1", "a.3"]
        assert frame.to_numpy().tolist() == [[1, 2, 3, 4]]

    @pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
    def test_empty(self, csv: Path, content: str) -> None:
        assert refused(csv, content).endswith("is empty")

    @pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\n\n"])
    def test_header_only(self, csv: Path, content: str) -> None:
        assert "header line but no rows" in refused(csv, content)

    @pytest.mark.parametrize(("row", "fields"), [("1", 1), ("1,2,3", 3), ("1,2,", 3)])
    def test_ragged_rows(self, csv: Path, row: str, fields: int) -> None:
        message = refused(csv, f'a,b\n1,"2\n3"\n\n4,5\n{row}\n6,7\n')
        assert f"line 6: {fields} fields where the first line has 2" in message

    def test_ragged_row_far_down(self, csv: Path) -> None:
        assert "line 600002: 1 fields" in refused(csv, "a,b\n" + "1,2\n" * 600_000 + "3\n")

    def test_quotation_mark_left_open(self, csv: Path) -> None:
        assert "never closed" in refused(csv, 'a,b\n1,"2\n3,4\n5,6\n')

    def test_missing_file(self, csv: Path) -> None:
        with pytest.raises(DataError, match="no such file"):
            read_frame(csv, PLAIN)

    def test_directory(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder.csv"
        folder.mkdir()
        with pytest.raises(DataError, match="is a directory"):
            read_frame(folder, PLAIN)

    @pytest.mark.parametrize("name", ["table.xlsx", "table.csv.gz", "table"])
    def test_unknown_suffix_names_the_known_ones(self, tmp_path: Path, name: str) -> None:
        message = refused(tmp_path / name, "a\n1\n")
        assert all(suffix in message for suffix in KNOWN)


class TestProperties:
    """Any table of numbers and words comes back; any bytes give a table or one sentence."""

    word = st.text(string.ascii_letters + ' ,;|"\n\té-', min_size=1, max_size=8)
    number = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53))

    @settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data(), rows=st.integers(1, 12), delimiter=st.sampled_from([",", ";", "\t", "|"]))
    def test_round_trip(self, csv: Path, data: st.DataObject, rows: int, delimiter: str) -> None:
        numbers = data.draw(st.lists(self.number, min_size=rows, max_size=rows), label="numbers")
        words = data.draw(st.lists(self.word, min_size=rows, max_size=rows), label="words")
        frame = pd.DataFrame({"n": pd.array(numbers, dtype=object), "w": words, "z": ["end"] * rows})
        frame.to_csv(csv, index=False, sep=delimiter)
        again = read_frame(csv, PLAIN)[0]
        expected = [math.nan if value is None else float(value) for value in numbers]
        np.testing.assert_array_equal(again["n"].to_numpy(dtype=np.float64, na_value=np.nan), expected)
        stripped = [None if word.strip() in NA else word.strip() for word in words]
        assert [None if pd.isna(value) else value for value in again["w"]] == stripped
        assert again["z"].tolist() == ["end"] * rows

    @settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(content=st.one_of(st.binary(max_size=60), st.text('a1,;"\n\r \t|0.é', max_size=60).map(str.encode)))
    @example(b'a,b\n"')
    @example(b"\xff\xfe")
    @example(b"\xff\xfea")
    @example(b"\xff\xfe\x00\xd8")
    @example(b'"\n"')
    @example(b"a\r\r\n1")
    def test_any_bytes_are_a_table_or_one_sentence(self, csv: Path, content: bytes) -> None:
        csv.write_bytes(content)
        try:
            frame = read_frame(csv, PLAIN)[0]
        except PicscError:
            return
        assert len(frame) > 0
        assert frame.columns.is_unique


class TestParquet:
    def test_round_trip(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        frame = pd.DataFrame(
            {
                "i": [1, 2, 3],
                "f": [0.5, None, 2.5],
                "w": ["a", None, "00123"],
                "c": pd.Categorical(["x", "y", "x"]),
                "d": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
            },
            index=[7, 9, 11],
        )
        frame.to_parquet(path)
        again, sha256 = read_frame(path, PLAIN)
        assert list(again.columns) == ["i", "f", "w", "c", "d"]
        assert again["i"].tolist() == [1, 2, 3]
        assert again["w"].tolist()[2] == "00123"
        assert isinstance(again["c"].dtype, pd.CategoricalDtype)
        assert pd.api.types.is_datetime64_any_dtype(again["d"])
        assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()

    def test_no_parquet(self, tmp_path: Path) -> None:
        assert "no parquet file" in refused(tmp_path / "t.pq", b"PAR1 no")

    def test_no_rows(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        pd.DataFrame({"a": np.zeros(0)}).to_parquet(path)
        with pytest.raises(DataError, match="no rows"):
            read_frame(path, PLAIN)


class TestNpz:
    @pytest.mark.parametrize(("x", "y"), [("X", "y"), ("x", "y"), ("data", "target"), ("X", "target")])
    def test_names(self, tmp_path: Path, x: str, y: str) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, **{x: np.arange(6.0).reshape(3, 2), y: np.array(["a", "b", "a"])})
        frame = read_frame(path, PLAIN)[0]
        assert list(frame.columns) == ["x1", "x2", "target"]
        assert frame["target"].tolist() == ["a", "b", "a"]

    def test_one_array_is_a_table_without_labels(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, np.ones((3, 2)))
        assert list(read_frame(path, PLAIN)[0].columns) == ["x1", "x2"]

    def test_objects_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, X=np.array([[{}]], dtype=object))
        with pytest.raises(DataError, match="Python objects"):
            read_frame(path, PLAIN)

    def test_lengths_differ(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, X=np.ones((3, 2)), y=np.ones(4))
        with pytest.raises(DataError, match="X has 3 rows but y has 4"):
            read_frame(path, PLAIN)

    def test_dimensions(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, X=np.ones((3, 2, 2)))
        with pytest.raises(DataError, match="X has 3 dimensions"):
            read_frame(path, PLAIN)

    def test_other_names(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        np.savez(path, a=np.ones((3, 2)), b=np.ones(3))
        with pytest.raises(DataError, match="arrays in it: a, b"):
            read_frame(path, PLAIN)

    @pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken", json.dumps([1]).encode()])
    def test_no_archive(self, tmp_path: Path, content: bytes) -> None:
        assert "cannot be read" in refused(tmp_path / "t.npz", content)

    def test_bare_array(self, tmp_path: Path) -> None:
        path = tmp_path / "t.npz"
        with path.open("wb") as file:
            np.save(file, np.ones((3, 2)))
        with pytest.raises(DataError, match="one bare array"):
            read_frame(path, PLAIN)
