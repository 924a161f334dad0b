"""Delimited text: what is in a file comes back, and what cannot be read is one sentence."""

from __future__ import annotations

import hashlib
import math
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from picsc.datasets.files.read import read_frame
from picsc.datasets.load import load
from picsc.errors import DataError, PicscError, SettingsError
from picsc.reports.common import Choice
from picsc.settings import ReadSettings
from tests.tables_in_files import PLAIN, as_read, is_word, read, refused


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
        assert read_frame(csv, PLAIN).sha256 == hashlib.sha256(b"a,b\n1,2\n").hexdigest()

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

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters_are_found_beside_quoted_ones(self, csv: Path, delimiter: str) -> None:
        lines = [["name", "value"], ['"one, two; three | four\tfive"', "1"], ['"x, y; z | w\tv"', "2"]]
        frame = read(csv, "\n".join(delimiter.join(line) for line in lines) + "\n")
        assert list(frame.columns) == ["name", "value"]
        assert frame["value"].tolist() == [1, 2]

    def test_tsv_keeps_its_tab(self, tmp_path: Path) -> None:
        assert list(read(tmp_path / "t.tsv", "a;b\tc;d\n1\t2\n").columns) == ["a;b", "c;d"]

    def test_one_type_for_a_whole_column(self, csv: Path) -> None:  # P30
        one, other = "1,some more filling\n" * 100_000, "X,some more filling\n" * 100_000
        frame = read(csv, f"x,fill\n{one}{other}{one}")
        assert frame["x"].value_counts().to_dict() == {"1": 200_000, "X": 100_000}

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

    @pytest.mark.parametrize("spelling", ["", "?", " ? ", "  ", '""'])
    def test_empty_cells_are_missing(self, csv: Path, spelling: str) -> None:
        frame = read(csv, f"n,w\n1,a\n{spelling},{spelling}\n3,b\n")
        assert frame["n"].isna().tolist() == [False, True, False]
        assert frame["w"].isna().tolist() == [False, True, False]
        assert frame["n"].sum() == 4

    @pytest.mark.parametrize("spelling", ["NA", "NaN", "null", "None", "#N/A", '"NA"', " n/a "])
    def test_missing_words_are_missing_among_numbers_only(self, csv: Path, spelling: str) -> None:
        frame = read(csv, f"n,w\n1,a\n{spelling},{spelling}\n3,b\n")
        assert frame["n"].isna().tolist() == [False, True, False]
        assert frame["n"].sum() == 4
        assert frame["w"].tolist() == ["a", spelling.strip(' "'), "b"]

    def test_missing_words_before_the_first_word_of_a_long_column(self, csv: Path) -> None:
        """The blocks before it were read as numbers without a value, and come back as words."""
        frame = read(csv, "w,n\n" + "NA,1\n" * 1_200_000 + "x,2\n")
        assert frame["w"].value_counts().to_dict() == {"NA": 1_200_000, "x": 1}

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

    def test_a_column_without_a_name_takes_no_name_that_is_there(self, csv: Path) -> None:
        assert list(read(csv, "c2,,c2_,b\n1,2,3,4\n").columns) == ["c2", "c2__", "c2_", "b"]

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

    @pytest.mark.parametrize(("row", "fields"), [("1", "1 field"), ("1,2,3", "3 fields"), ("1,2,", "3 fields")])
    def test_ragged_rows(self, csv: Path, row: str, fields: str) -> None:
        message = refused(csv, f'a,b\n1,"2\n3"\n\n4,5\n{row}\n6,7\n')
        assert f"line 6: {fields} where the first line has 2" in message

    def test_ragged_row_far_down(self, csv: Path) -> None:
        assert "line 600002: 1 field where" in refused(csv, "a,b\n" + "1,2\n" * 600_000 + "3\n")

    def test_quotation_mark_left_open(self, csv: Path) -> None:
        assert "line 3: a quotation mark is opened and never closed" in refused(csv, 'a,b\n0,1\n1,"2\n3,4\n5,6\n')

    def test_missing_file(self, csv: Path) -> None:
        with pytest.raises(DataError, match="no such file"):
            read_frame(csv, PLAIN)

    def test_directory(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder.csv"
        folder.mkdir()
        with pytest.raises(DataError, match="is a directory"):
            read_frame(folder, PLAIN)


class TestEncoding:
    def test_cp1252_is_what_is_not_utf_8(self, csv: Path) -> None:  # P29 (d)
        csv.write_bytes("größe;€\n1,5;2,5\n".encode("cp1252"))
        table = read_frame(csv, PLAIN)
        assert list(table.frame.columns) == ["größe", "€"]
        assert table.frame.to_numpy().tolist() == [[1.5, 2.5]]
        assert table.reading.choices[0] == Choice("encoding", "cp1252", "not UTF-8")
        assert table.sha256 == hashlib.sha256(csv.read_bytes()).hexdigest()

    def test_a_late_byte_that_is_not_utf_8(self, csv: Path) -> None:
        frame = read(csv, b"a\n" + b"x\n" * 3_000_000 + b"\xe9\n")
        assert frame["a"].iloc[-1] == "é"
        assert len(frame) == 3_000_001

    def test_bytes_that_cp1252_lacks(self, csv: Path) -> None:
        message = refused(csv, b"a\n\xe9\n\x81\n")
        assert "byte 0x81 at position 4 is neither UTF-8 nor cp1252" in message
        assert "--encoding" in message

    @pytest.mark.parametrize(
        ("content", "byte", "position"),
        [
            (b"a\nb\n\xc3", "0xC3", 4),
            (b"a\n" + b"x" * (2**22 - 3) + b"\xc3(\n", "0xC3", 2**22 - 1),
            (b"a\n" + "ü\n".encode() * 2_000_000 + b"\xff\n", "0xFF", 6_000_002),
        ],
    )
    def test_position_of_a_byte_that_is_not_utf_8(self, csv: Path, content: bytes, byte: str, position: int) -> None:
        message = refused(csv, content, ReadSettings(encoding="utf-8"))
        assert f"byte {byte} at position {position} is not UTF-8" in message

    @pytest.mark.parametrize(
        ("encoding", "content", "position"),
        [
            ("ascii", b"ab\n\xe9\n", 3),
            ("shift_jis", "a\nあ\n".encode("shift_jis") + b"\x81\x20", 5),
            ("utf-16-le", "ab".encode("utf-16-le") * (2**20) + b"\x00\xdc\n\0", 2**22),
        ],
    )
    def test_position_of_a_byte_that_is_not_what_was_told(
        self, csv: Path, encoding: str, content: bytes, position: int
    ) -> None:
        message = refused(csv, content, ReadSettings(encoding=encoding))
        assert f"at position {position} is not {encoding}" in message
        assert "--encoding" in message

    @pytest.mark.parametrize(
        ("encoding", "content", "position"),
        [
            ("shift_jis", "a\nあ\n".encode("shift_jis") + b"\x81", 5),
            ("utf-16-le", "a\nb\n".encode("utf-16-le") + b"\x00\xd8", 8),
        ],
    )
    def test_end_within_a_character(self, csv: Path, encoding: str, content: bytes, position: int) -> None:
        message = refused(csv, content, ReadSettings(encoding=encoding))
        assert f"ends within a character of {encoding}, which begins at position {position}" in message

    def test_a_mark_that_the_bytes_belie(self, csv: Path) -> None:
        message = refused(csv, b"\xef\xbb\xbfa\n\xe9\n")
        assert "byte 0xE9 at position 5 is not UTF-8, although the file begins with its byte order mark" in message

    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp437", "mac_roman", "utf-16-le", "utf-16-be", "utf-7"])
    def test_told(self, csv: Path, encoding: str) -> None:
        csv.write_bytes("é,b\nü,1\n".encode(encoding))
        table = read_frame(csv, ReadSettings(encoding=encoding))
        assert list(table.frame.columns) == ["é", "b"]
        assert table.frame["é"].tolist() == ["ü"]
        assert table.reading.choices[0] == Choice("encoding", encoding, "told")

    @pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    def test_marks_are_no_text_whatever_is_told(self, csv: Path, encoding: str | None) -> None:
        written = encoding or "utf-8"
        content = "\ufeffa,b\n1,2\n".encode(written)
        assert list(read(csv, content, ReadSettings(encoding=encoding)).columns) == ["a", "b"]

    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
    def test_mark_of_utf_8_before_other_text(self, csv: Path, encoding: str) -> None:
        frame = read(csv, b"\xef\xbb\xbfa,b\n1,2\n", ReadSettings(encoding=encoding))
        assert list(frame.columns) == ["a", "b"]

    @pytest.mark.parametrize("start", ['"\ufeffa",b', '\ufeff"\ufeffa",b', "\ufeff\ufeffa,b"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_marks_that_another_program_took_for_text(self, csv: Path, start: str, encoding: str) -> None:
        assert list(read(csv, f"{start}\n1,2\n".encode(encoding)).columns) == ["a", "b"]
        assert read(csv, f"{start}\n".encode(encoding), ReadSettings(header=False))["c1"].tolist() == ["a"]

    def test_utf_16_without_a_mark(self, csv: Path) -> None:
        message = refused(csv, "a,b\n1,2\n".encode("utf-16-le"))
        assert "byte at position 1 is zero" in message
        assert "--encoding utf-16-le" in message

    def test_utf_16_told_without_its_order(self, csv: Path) -> None:
        message = refused(csv, "a,b\n1,2\n".encode("utf-16-le"), ReadSettings(encoding="utf-16"))
        assert "no byte order mark, which utf-16 needs; give --encoding utf-16-le" in message

    def test_the_wrong_of_two_widths(self, csv: Path) -> None:
        message = refused(csv, "a,b\n1,2\n".encode("utf-16-le"), ReadSettings(encoding="latin-1"))
        assert "characters that are zero, so this is no latin-1 text" in message

    def test_letters_across_two_blocks(self, csv: Path) -> None:
        word = "\N{GRINNING FACE}" * 2**20  # four bytes each, behind a header of ten
        frame = read(csv, f"\ufeffabc\n{word}\n".encode("utf-16-le"))
        assert frame["abc"].tolist() == [word]

    def test_half_a_character_is_replaced(self, csv: Path) -> None:
        assert read(csv, b"a,b\nx+2AA-,1\n", ReadSettings(encoding="utf-7"))["a"].tolist() == ["x?"]

    @pytest.mark.parametrize("encoding", ["no-such", "base64", "rot13", "zlib", "hex", "idna", "undefined", "", "a\0b"])
    def test_no_encoding_of_text(self, csv: Path, encoding: str) -> None:
        csv.write_bytes(b"a\n1\n")
        with pytest.raises(SettingsError, match="is no encoding of text files"):
            read_frame(csv, ReadSettings(encoding=encoding))


class TestPandas:
    def test_words_mean_the_same_with_either_type_of_strings(self, csv: Path) -> None:  # P35
        """The suite runs with pandas 2 and 3; both must give these numbers."""
        csv.write_text("w,n,t\n" + "a,1.5,x\n,2,y\nb,,x\na,4,y\n" * 10)
        dataset = load(csv, PLAIN)
        words, numbers = dataset.columns
        assert (words.kind, words.levels) == ("categorical", ("a", "b"))
        assert words.missing.tolist() == [False, True, False, False] * 10
        assert (numbers.kind, numbers.levels) == ("numeric", ())
        assert dataset.target is not None
        assert dataset.target.levels == ("x", "y")


class TestProperties:
    """Any table of numbers and words comes back; any bytes give a table or one sentence."""

    word = st.text(string.ascii_letters + ' ,;|"\n\té-', min_size=1, max_size=8).filter(is_word)
    number = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53))

    @settings(max_examples=80)
    @given(data=st.data(), rows=st.integers(1, 12), delimiter=st.sampled_from([",", ";", "\t", "|"]))
    def test_round_trip(self, csv: Path, data: st.DataObject, rows: int, delimiter: str) -> None:
        numbers = data.draw(st.lists(self.number, min_size=rows, max_size=rows), label="numbers")
        words = data.draw(st.lists(self.word, min_size=rows, max_size=rows), label="words")
        frame = pd.DataFrame({"n": pd.array(numbers, dtype=object), "w": words, "z": ["end"] * rows})
        frame.to_csv(csv, index=False, sep=delimiter)
        again = read_frame(csv, PLAIN).frame
        expected = [math.nan if value is None else float(value) for value in numbers]
        np.testing.assert_array_equal(again["n"].to_numpy(dtype=np.float64, na_value=np.nan), expected)
        stripped = as_read([word.strip() for word in words])
        assert [None if pd.isna(value) else value for value in again["w"]] == stripped
        assert again["z"].tolist() == ["end"] * rows

    @settings(max_examples=300)
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
            frame = read_frame(csv, PLAIN).frame
        except PicscError:
            return
        assert len(frame) > 0
        assert frame.columns.is_unique
