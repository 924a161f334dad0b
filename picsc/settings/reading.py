"""The settings of reading one table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import Annotated

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import DATE_NUMBERS, Decimal, Delimiter, FileFormat, Quote, Task, ZeroBased
from picsc.settings.option import Option


class ReadSettings(Settings):
    """Reading of one table, and the meaning of its columns."""

    target: Annotated[str | None, Option("Column to predict (default by name, else the last).", "COL", "Data")] = None
    """Column to predict; None looks for target, label, class or y, then takes the last column."""
    no_target: Annotated[
        bool, Option("No target: ask only whether the data moved.", panel="Data", after="read.sheet")
    ] = False
    """The table has no target, so that only the data question is asked."""
    task: Annotated[Task, Option("classification, regression or auto (default {default}).", "TASK", "Data")] = "auto"
    """Kind of the target, classes or numbers; auto decides from its values."""
    categorical: Annotated[tuple[str, ...], Option("Columns to treat as categories.", "COL,..", "Data")] = ()
    """Columns to treat as categorical, whatever their values look like."""
    numeric: Annotated[tuple[str, ...], Option("Columns to treat as numbers.", "COL,..", "Data")] = ()
    """Columns to treat as numeric; what does not parse as a number is an error."""
    drop: Annotated[tuple[str, ...], Option("Columns to leave out.", "COL,..", "Data")] = ()
    """Columns to leave out."""
    keep: Annotated[
        tuple[str, ...], Option("Columns to test though they count or order rows.", "COL,..", "Data", after="read.drop")
    ] = ()
    """Columns that take part although they count, name or order the rows: row counters, identifiers, dates that rise
    with the rows. Words that are nearly all different take part by their length."""
    date_format: Annotated[
        tuple[str, ...], Option("Format of dates, such as %d/%m/%Y.", "FORMAT,..", "Data", after="read.decimal")
    ] = ()
    """Formats of dates: COL=FORMAT for one column, FORMAT for every column of words that it fits and for numbers in a
    column that is named as a time. FORMAT is one of datetime.strptime, such as %d/%m/%Y, or for numbers yyyymmdd,
    yyyymm, yyyymmddHHMM, yyyymmddHHMMSS, epoch (seconds since 1970), epoch-ms, epoch-us, epoch-ns, excel or
    excel-1904."""
    day_first: Annotated[bool, Option("In doubt 03/04/2020 is 3 April.", panel="Data", after="read.date_format")] = (
        False
    )
    """The day comes before the month in dates such as 03/04/2020 where nothing in the column proves an order."""
    rename_duplicates: Annotated[
        bool, Option("Rename repeated column names: a, a.1, ...", panel="Data", after="read.header")
    ] = False
    """Rename repeated column names (a, a.1, ...) instead of refusing them."""
    header: Annotated[
        bool,
        Option(
            "The first line holds names (default), or is data.",
            panel="Data",
            flag="--no-header",
            turns=False,
            opposite="--header",
        ),
    ] = True
    """The first line holds column names; if not, columns are named c1, c2, ..."""
    format: Annotated[FileFormat | None, Option("Format of the file (default by suffix).", "NAME", "Data")] = None
    """Format of the file; None goes by its suffix. Standard input without a format is csv."""
    encoding: Annotated[str | None, Option("Encoding of text (default utf-8, or as marked).", "NAME", "Data")] = None
    """Encoding of text; None is UTF-8, what a byte order mark says, or else cp1252 with a warning."""
    delimiter: Annotated[Delimiter | None, Option("One of , ; | tab space (default: found).", "CHAR", "Data")] = None
    """Delimiter between fields; None takes the one of , ; tab | by which the first lines agree, else the comma."""
    quote: Annotated[Quote | None, Option("double, single or none (default: found).", "NAME", "Data")] = None
    """Quotation mark around fields; None is double unless the first lines show single ones."""
    decimal: Annotated[Decimal | None, Option("point or comma (default: found).", "NAME", "Data")] = None
    """Decimal mark; None is the point unless numbers are written with a comma throughout."""
    zero_based: Annotated[ZeroBased, Option("libsvm: yes, no or auto (default {default}).", "YES", "Data")] = "auto"
    """Index of the first feature of a libsvm file, 0 (yes) or 1 (no); auto says yes where a feature 0 occurs."""
    features: Annotated[
        Annotated[int, Field(ge=1, le=10_000_000)] | None, Option("libsvm: number of features.", "N", "Data")
    ] = None
    """Number of features of a libsvm file; None is the largest that occurs in the files of one call."""
    missing_words: Annotated[
        tuple[str, ...] | None,
        Option("Words for missing values (default: NA, None, ...).", "WORD,..", "Data"),
    ] = None
    """Words that are missing values in every column, exactly these besides empty cells; empty takes every word for a
    value. None takes NA, N/A, n/a, None, NULL, null, NaN, nan and their like for missing where all other values of the
    column are numbers or dates, and for words elsewhere; and ? in delimited text and xlsx for an empty cell."""
    sheet: Annotated[str | None, Option("xlsx: sheet to read (default the first).", "NAME", "Data")] = None
    """Sheet of an xlsx file; None is the first one."""
    max_unpacked: Annotated[
        Annotated[float, Field(gt=0, allow_inf_nan=False)] | None,
        Option("Most GiB unpacked or downloaded (default 16).", "GIB", "Data"),
    ] = None
    """Most GiB that a compressed file, an archive or a download may have, since a small file can unpack to more than a
    disk holds. None is 16, and 1 for xlsx, which needs fifty times as much memory."""

    min_table_rows: Annotated[
        Annotated[int, Field(ge=0)],
        Option("Fewest rows; audit skips shorter files.", "N", "Data", after="read.max_unpacked"),
    ] = 0
    """Fewest rows of a table. The command `picsc audit` skips shorter files with a line, so that look-up tables do not
    stop a pipeline; everything else refuses them."""

    @property
    def date_formats(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a column's name, empty for every column, and a format."""
        pairs = (each.rpartition("=") for each in self.date_format)
        return tuple((column.strip(), form.strip()) for column, _, form in pairs)

    def about(self, names: Collection[str]) -> ReadSettings:
        """The settings without columns to drop, to keep, or to give a kind or a format, that are none of these."""
        there = {
            field: tuple(name for name in getattr(self, field) if name in names)
            for field in ("drop", "keep", "categorical", "numeric")
        }
        formats = tuple(
            written
            for written, (column, _) in zip(self.date_format, self.date_formats, strict=True)
            if not column or column in names
        )
        return self.model_copy(update={**there, "date_format": formats})

    @field_validator("delimiter", mode="before")
    @classmethod
    def _spelled_out(cls, value: object) -> object:
        """A tab and a space may be given as themselves."""
        return {"\t": "tab", r"\t": "tab", " ": "space"}.get(value, value) if isinstance(value, str) else value

    @model_serializer(mode="wrap")
    def _without_later_settings(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """The keys of a report's settings do not change within its version, unless a newer setting is given."""
        written: dict[str, object] = write(self)
        for name in ("missing_words", "max_unpacked"):
            if getattr(self, name) is None:
                written.pop(name, None)
        for name in ("keep", "date_format", "day_first", "min_table_rows"):
            if not getattr(self, name):
                written.pop(name, None)
        return written

    @model_validator(mode="after")
    def _consistent(self) -> ReadSettings:
        if self.no_target and self.target is not None:
            raise ValueError(f"--no-target contradicts --target {self.target}")
        both = sorted(set(self.categorical) & set(self.numeric))
        if both:
            raise ValueError(f"columns both categorical and numeric: {', '.join(both)}")
        both = sorted(set(self.keep) & set(self.drop))
        if both:
            raise ValueError(f"--keep and --drop name the same columns: {', '.join(both)}")
        for column, form in self.date_formats:
            if column in (*self.categorical, *self.numeric):
                raise ValueError(f"--date-format names {column!r}, and so does --categorical or --numeric; choose one")
            wrong = _unreadable(form)
            if wrong:
                raise ValueError(f"--date-format {form}: {wrong}")
        twice = [column for column, count in Counter(column for column, _ in self.date_formats).items() if count > 1]
        if any(twice):
            raise ValueError(f"--date-format gives {', '.join(filter(None, twice))} two formats; give it one")
        return self


def _unreadable(form: str) -> str:
    """The fault of a format of dates; empty for none."""
    if form in DATE_NUMBERS:
        return ""
    if "%" not in form:
        return f"must be a format of datetime.strptime, such as %d/%m/%Y, or one of {', '.join(DATE_NUMBERS)}"
    unknown = [each for each in re.findall(r"%.?", form) if each not in _DIRECTIVES]
    return f"{unknown[0]!r} is no directive of datetime.strptime" if unknown else ""


_DIRECTIVES = {f"%{letter}" for letter in "aAwdbBmyYHIpMSfzZjUWcxXGuV%"}
