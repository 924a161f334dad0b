"""How one table is read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from picsc.settings.base import Settings
from picsc.settings.choices import Decimal, Delimiter, FileFormat, Quote, Task, ZeroBased


class ReadSettings(Settings):
    """How one table is read and what its columns mean."""

    target: str | None = None
    """Column to predict; None looks for target, label, class or y, then takes the last column."""
    no_target: bool = False
    """The table has no target: only the data question is asked."""
    task: Task = "auto"
    """Whether the target holds classes or numbers; auto decides from its values."""
    categorical: tuple[str, ...] = ()
    """Columns to treat as categorical, whatever their values look like."""
    numeric: tuple[str, ...] = ()
    """Columns to treat as numeric; what does not parse as a number is an error."""
    drop: tuple[str, ...] = ()
    """Columns to leave out."""
    rename_duplicates: bool = False
    """Rename repeated column names (a, a.1, ...) instead of refusing them."""
    header: bool = True
    """The first line holds column names; if not, columns are named c1, c2, ..."""
    format: FileFormat | None = None
    """What the file holds; None goes by its suffix. Standard input without a format is csv."""
    encoding: str | None = None
    """Of text; None is UTF-8, what a byte order mark says, or else cp1252 with a warning."""
    delimiter: Delimiter | None = None
    """Between fields; None takes the one of , ; tab | by which the first lines agree, else the comma."""
    quote: Quote | None = None
    """Around fields; None is double unless the first lines show single ones."""
    decimal: Decimal | None = None
    """None is the point unless numbers are written with a comma throughout."""
    zero_based: ZeroBased = "auto"
    """Whether libsvm counts features from 0; auto says yes where a feature 0 occurs."""
    features: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Number of features of a libsvm file; None is the largest that occurs in the files of one call."""
    sheet: str | None = None
    """Of an xlsx file; None is the first one."""

    @model_validator(mode="after")
    def _consistent(self) -> ReadSettings:
        if self.no_target and self.target is not None:
            raise ValueError(f"--no-target contradicts --target {self.target}")
        both = sorted(set(self.categorical) & set(self.numeric))
        if both:
            raise ValueError(f"columns both categorical and numeric: {', '.join(both)}")
        return self
