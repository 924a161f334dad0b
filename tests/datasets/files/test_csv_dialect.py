"""How delimited text is written: what is found, what is told, and what is left alone."""

from __future__ import annotations

import csv as csv_module
import math
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from picsc.datasets.files.read import read_frame
from picsc.datasets.files.table import FileTable
from picsc.settings import ReadSettings
from tests.tables_in_files import PLAIN, as_read, is_word, refused, table

CHARACTERS = {",": ",", ";": ";", "tab": "\t", "|": "|", "space": " "}


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def columns(path: Path, content: str, options: ReadSettings = PLAIN) -> dict[object, list[object]]:
    frame = table(path, content, options).frame
    return {name: frame[name].tolist() for name in frame.columns}


def choice(found: FileTable, name: str) -> tuple[str, str]:
    return next((choice.value, choice.how) for choice in found.reading.choices if choice.name == name)


class TestReading:
    def test_defaults(self, csv: Path) -> None:
        reading = table(csv, "a,b\n1,2\n").reading
        assert (reading.format, reading.compression) == ("csv", "")
        assert [(choice.name, choice.value, choice.how) for choice in reading.choices] == [
            ("encoding", "utf-8", "the default"),
            ("delimiter", ",", "the first 2 lines agree"),
            ("quote", "double", "the default"),
            ("decimal", "point", "the default"),
            ("header", "yes", "the default"),
        ]

    def test_told(self, csv: Path) -> None:
        told = ReadSettings(
            header=False, encoding="latin-1", delimiter="tab", quote="none", decimal="comma", format="csv"
        )
        choices = table(csv, "a\t1,5\n", told).reading.choices
        assert [(choice.name, choice.value, choice.how) for choice in choices] == [
            ("encoding", "latin-1", "told"),
            ("delimiter", "tab", "told"),
            ("quote", "none", "told"),
            ("decimal", "comma", "told"),
            ("header", "no", "told"),
        ]

    def test_tsv(self, tmp_path: Path) -> None:
        found = table(tmp_path / "t.tsv", "a\tb\n1\t2\n")
        assert found.reading.format == "tsv"
        assert choice(found, "delimiter") == ("tab", "of the format")

    def test_told_delimiter_wins_over_the_format(self, tmp_path: Path) -> None:
        assert columns(tmp_path / "t.tsv", "a;b\n1;2\n", ReadSettings(delimiter=";")) == {"a": [1], "b": [2]}


class TestDelimiter:
    def test_one_column(self, csv: Path) -> None:  # P29 (b)
        found = table(csv, "x\nhello\nworld\n")
        assert list(found.frame.columns) == ["x"]
        assert choice(found, "delimiter") == (",", "the default")

    @pytest.mark.parametrize("text", ["x\nhello; world\nno, none\nagain\n", "x\na b\nc d\n", "x\na:b\nc:d\n"])
    def test_one_column_of_sentences(self, csv: Path, text: str) -> None:
        assert list(table(csv, text, ReadSettings(delimiter="|")).frame.columns) == ["x"]
        assert list(table(csv, text.replace(",", ".")).frame.columns) == ["x"]

    def test_one_ragged_line_names_itself(self, csv: Path) -> None:
        message = refused(csv, "a;b\n1;2\n3;4;5\n")
        assert "line 3: 3 fields where the first line has 2 (delimiter ';')" in message

    @pytest.mark.parametrize("line", ["1,5;2,5\n3,5;4,5\n", "1,5\t2,5\n3,5\t4,5\n", "1,5|2,5\n3,5|4,5\n"])
    def test_decimal_commas_part_no_fields(self, csv: Path, line: str) -> None:
        assert columns(csv, line, ReadSettings(header=False)) == {"c1": [1.5, 3.5], "c2": [2.5, 4.5]}

    def test_semicolons_inside_of_words_part_no_fields(self, csv: Path) -> None:
        assert columns(csv, "a;b,1\nc;d,2\n", ReadSettings(header=False)) == {"c1": ["a;b", "c;d"], "c2": [1, 2]}

    def test_runs_of_blanks_if_told(self, csv: Path) -> None:
        content = 'a  b\tc\n\n 1 2   3 \n4 "x  y" 6\t\n'
        found = columns(csv, content, ReadSettings(delimiter="space"))
        assert found == {"a": [1, 4], "b": ["2", "x  y"], "c": [3, 6]}

    def test_blanks_are_not_guessed(self, csv: Path) -> None:
        assert columns(csv, "a b\n1 2\n") == {"a b": ["1 2"]}

    @pytest.mark.parametrize("header", [True, False])
    def test_a_delimiter_at_the_end_of_every_line(self, csv: Path, header: bool) -> None:
        found = table(csv, "a;1;\nb;2;\n", ReadSettings(header=header))
        assert found.frame.shape[1] == 2
        assert choice(found, "columns") == ("2", "every line ends with a delimiter")

    def test_a_last_column_with_a_name_stays(self, csv: Path) -> None:
        assert list(columns(csv, "a,b,c\n1,2,\n")) == ["a", "b", "c"]

    def test_a_last_column_with_values_stays(self, csv: Path) -> None:
        assert list(columns(csv, "a,b,\n1,2,\n3,4,5\n")) == ["a", "b", "c3"]


class TestLines:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_ends(self, csv: Path, end: str) -> None:
        assert columns(csv, end.join(["a;b", "1;2", "3;4", ""])) == {"a": [1, 3], "b": [2, 4]}
        assert columns(csv, end.join(["a;b", "1;2", "3;4"])) == {"a": [1, 3], "b": [2, 4]}

    def test_blank_ones(self, csv: Path) -> None:
        assert columns(csv, "\n \na,b\n\n1,2\n  \t\n3,4\n\n\x1a") == {"a": [1, 3], "b": [2, 4]}

    def test_fields_of_any_length(self, csv: Path) -> None:
        word = "x" * 200_000
        assert columns(csv, f"a;{word}\n{word};1\n") == {"a": [word], word: [1]}

    def test_a_quotation_mark_left_open_in_the_first_line(self, csv: Path) -> None:
        message = refused(csv, '"a,b\n' + "1,2\n" * 200)
        assert "line 1: a quotation mark is opened and not closed within 100 lines" in message
        assert "--quote none" in message

    def test_a_quotation_mark_left_open_later(self, csv: Path) -> None:
        message = refused(csv, 'a,b\n1,2\n"3,4\n5,6\n')
        assert "lines 3 to 4: 1 field where the first line has 2" in message
        assert "is a quotation mark left open?" in message

    def test_a_quoted_last_field_of_many_lines_is_whole(self, csv: Path) -> None:
        assert columns(csv, 'a,b\n1,"x\ny"\n')["b"] == ["x\ny"]
        assert columns(csv, "a,b\n1,'it''s\ny'\n", ReadSettings(quote="single"))["b"] == ["it's\ny"]


class TestQuote:
    def test_single_around_delimiters(self, csv: Path) -> None:
        found = table(csv, "n,v\n'a, b',1\nc,2\n")
        assert found.frame["n"].tolist() == ["a, b", "c"]
        assert choice(found, "quote") == ("single", "around fields")

    def test_single_throughout_a_column(self, csv: Path) -> None:
        assert columns(csv, "n,v\n'ab',1\n?,2\n'c',3\n")["n"][::2] == ["ab", "c"]

    @pytest.mark.parametrize(
        "content",
        [
            "n,v\nit's,1\n'tis,2\n",  # apostrophes
            "n,v\n'ab',1\nc,2\n",  # once is no habit
            "n,v\n'a',1\n'b',\"2\"\n",  # the double one is there
            "n,v\n'twas,x\ndogs',2\n",
        ],
    )
    def test_single_ones_that_may_be_text(self, csv: Path, content: str) -> None:
        found = table(csv, content)
        assert choice(found, "quote") == ("double", "the default")
        assert "'" in "".join(found.frame["n"])

    def test_none_if_told(self, csv: Path) -> None:
        found = columns(csv, 'a,b\n1,"2\n3,"4"\n', ReadSettings(quote="none"))
        assert found == {"a": [1, 3], "b": ['"2', '"4"']}

    def test_double_if_told(self, csv: Path) -> None:
        assert columns(csv, "n\n'a'\n'b'\n", ReadSettings(quote="double"))["n"] == ["'a'", "'b'"]


class TestDecimal:
    def test_for_all_numbers_of_the_file(self, csv: Path) -> None:
        content = "a;b;c;d\n1,5;1;x,y;-2,5e-3\n2,25;2,5;z;1e-3\n3,1;;u;NA\n"
        found = table(csv, content)
        assert choice(found, "decimal") == ("comma", "numbers of the first 4 lines")
        assert found.frame["a"].tolist() == [1.5, 2.25, 3.1]
        assert found.frame["b"].tolist()[:2] == [1.0, 2.5]
        assert found.frame["c"].tolist() == ["x,y", "z", "u"]
        assert found.frame["d"].tolist()[:2] == [-0.0025, 0.001]
        assert math.isnan(found.frame["d"][2])

    @pytest.mark.parametrize(
        "content",
        [
            "a;b\n1,500;2\n1,200;3\n",  # thousands
            "a;b\n1,5;2.5\n1,2;3\n",  # numbers with a point
            "a;b\n1,5;x\n1,2,3;y\n",  # lists
            "a;b\n1,5;x\n2;y\n3;x\n",  # mostly whole numbers
            "a;b\n1,5;x\nu;y\n",  # words between
            'a,b\n"1,5",x\n"2,5",y\n',  # the comma is the delimiter
        ],
    )
    def test_what_may_be_no_decimal_comma(self, csv: Path, content: str) -> None:
        found = table(csv, content)
        assert choice(found, "decimal") == ("point", "the default")
        assert "," in found.frame["a"][0]

    def test_thousands_do_not_begin_with_zero(self, csv: Path) -> None:
        assert columns(csv, "a;b\n0,125;2\n0,250;3\n")["a"] == [0.125, 0.25]

    def test_told_with_the_comma_as_the_delimiter(self, csv: Path) -> None:
        found = columns(csv, 'a,b\n"1,5",x\n"2,5",y\n', ReadSettings(decimal="comma"))
        assert found["a"] == [1.5, 2.5]

    def test_told_point(self, csv: Path) -> None:
        assert columns(csv, "a;b\n1,5;2,5\n", ReadSettings(decimal="point"))["a"] == ["1,5"]

    @pytest.mark.parametrize("number", ["1.234,5", "1.234", "1,2,3"])
    def test_points_between_thousands_make_words(self, csv: Path, number: str) -> None:
        found = columns(csv, f"a;b\n1,5;2,5\n{number};3\n", ReadSettings(decimal="comma"))
        assert found == {"a": ["1,5", number], "b": [2.5, 3.0]}

    def test_leading_zeros_stay_words(self, csv: Path) -> None:
        assert columns(csv, "a;b\n007;2,5\n010;3,5\n") == {"a": ["007", "010"], "b": [2.5, 3.5]}


class TestRemarks:
    def test_lines_that_do_not_fit(self, csv: Path) -> None:
        found = table(csv, "# where it is from\n#\n\n# what it's for, \"mostly\na,b,c\n1,2,3\n")
        assert list(found.frame.columns) == ["a", "b", "c"]
        assert choice(found, "remarks") == ("3 lines", "before the table, with #")

    def test_without_a_header_line(self, csv: Path) -> None:
        assert columns(csv, "# from\n1;2\n3;4\n", ReadSettings(header=False)) == {"c1": [1, 3], "c2": [2, 4]}

    @pytest.mark.parametrize("header", ["#,a", "#id,x", "# hi, there"])
    def test_a_header_line_that_begins_so(self, csv: Path, header: str) -> None:
        assert list(columns(csv, f"{header}\n1,2\n3,4\n").values()) == [[1, 3], [2, 4]]

    def test_a_header_line_that_begins_so_behind_remarks(self, csv: Path) -> None:
        assert columns(csv, "# from\n#\n#id,x\n1,2\n") == {"#id": [1], "x": [2]}

    def test_not_where_the_table_has_one_column(self, csv: Path) -> None:
        assert columns(csv, "# names\nx\ny\n") == {"# names": ["x", "y"]}

    def test_a_table_of_such_lines(self, csv: Path) -> None:
        content = "".join(f"#{i},x\n" for i in range(3000))
        assert len(table(csv, content, ReadSettings(header=False)).frame) == 3000

    def test_line_numbers_count_them(self, csv: Path) -> None:
        assert "line 5: 1 field where" in refused(csv, "# from\na,b\n1,2\n3,4\n5\n")


class TestProperties:
    word = st.text(string.ascii_letters + "'\" ,;|é-\n\t#", min_size=1, max_size=8).filter(is_word)
    number = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53))

    @settings(max_examples=80)
    @given(
        rows=st.lists(st.tuples(number, word), min_size=1, max_size=12),
        delimiter=st.sampled_from([",", ";", "tab", "|"]),
        quote=st.sampled_from(["double", "single"]),
        encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"]),
        decimal=st.sampled_from(["point", "comma"]),
        end=st.sampled_from(["\n", "\r\n", "\r"]),
    )
    def test_what_is_written_is_read(
        self,
        csv: Path,
        rows: list[tuple[float | None, str]],
        delimiter: str,
        quote: str,
        encoding: str,
        decimal: str,
        end: str,
    ) -> None:
        mark = {"point": ".", "comma": ","}[decimal]
        written = [("" if number is None else repr(number).replace(".", mark), word, "end") for number, word in rows]
        with csv.open("w", encoding=encoding, newline="") as file:
            writer = csv_module.writer(
                file, delimiter=CHARACTERS[delimiter], quotechar={"double": '"', "single": "'"}[quote],
                lineterminator=end, quoting={"\r": csv_module.QUOTE_ALL}.get(end, csv_module.QUOTE_MINIMAL),
            )  # fmt: skip
            writer.writerows([("n", "w", "z"), *written])
        told = ReadSettings.model_validate(
            {"delimiter": delimiter, "quote": quote, "encoding": encoding, "decimal": decimal}
        )
        frame = read_frame(csv, told).frame
        expected = [math.nan if number is None else float(number) for number, _ in rows]
        assert [float("nan" if value is None else value) for value in frame["n"]] == pytest.approx(
            expected, rel=0, abs=0, nan_ok=True
        )
        words = as_read([word.strip() for _, word in rows])
        assert [value if isinstance(value, str) else None for value in frame["w"]] == words
        assert set(frame["z"]) == {"end"}
