"""The table that every verb works on: typed columns, one optional target, and the columns that cut it into pieces.

Letters: n rows. Values are stored once, column by column; a fragment is a set of row numbers, never a copy of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from picsc.datasets.columns.exact import Absent, Exact
from picsc.datasets.columns.raw import Raw
from picsc.reports.common import Finding, Reading

Kind = Literal["numeric", "categorical", "boolean", "datetime", "text", "identifier", "empty", "constant"]
POOLED = "(other)"
"""Name of the level that rare levels are pooled into."""


@dataclass(frozen=True, slots=True)
class Column:
    """One covariate that takes part."""

    name: str
    kind: Literal["numeric", "categorical", "boolean", "datetime", "text"]
    values: NDArray[np.float64] | NDArray[np.int32]
    """float64 (n,) for numeric, datetime (seconds since 1970) and text (length in characters), NaN where missing;
    int32 (n,) codes into `levels` for categorical and boolean, -1 where missing."""
    levels: tuple[str, ...] = ()
    """Names of the codes, in order of first appearance; rare ones pooled into `POOLED`, which comes last."""
    note: str = ""
    """A remark for the report on how the column was read; empty for none."""
    pooled: tuple[str, ...] = ()
    """Names of the rare levels that `POOLED` stands for, in order of first appearance."""
    exact: Exact | None = None
    """Exact values of numbers that float64 does not tell apart; None where `values` are exact."""
    absent: Absent | None = None
    """Words that stand where numbers should: missing values of their own kinds. None for none."""

    @property
    def ordered(self) -> NDArray[np.float64] | NDArray[np.int32]:
        """The values, or numbers that are ordered as the exact values are."""
        return self.values if self.exact is None else self.exact.ordered

    raw: Raw | None = field(default=None, repr=False, compare=False)
    """All levels of a column of which the rare ones are pooled; None for other columns."""
    indicator: bool | None = None
    """An indicator of missing values stands beside it in an encoding; None is where it has any. New rows of a trained
    model are encoded as its training rows were, whatever is missing among them."""

    @property
    def coded(self) -> bool:
        """True where `values` are codes into `levels`."""
        return self.kind in ("categorical", "boolean")

    @property
    def missing(self) -> NDArray[np.bool_]:
        """True for rows without a value, bool (n,)."""
        return self.values < 0 if self.coded else np.isnan(self.values)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A column that is left out, and why."""

    name: str
    kind: Kind
    missing: int
    """Number of rows without a value."""
    reason: str
    orders: bool = False
    """It is a column of times that orders the rows, and takes no part in tests of shift alone."""
    raw: Raw | None = field(default=None, repr=False, compare=False)
    """Its values; None for a column that the user drops, and for one without values."""


@dataclass(frozen=True, slots=True)
class Target:
    """The column that models predict."""

    name: str
    kind: Literal["classes", "numbers"]
    values: NDArray[np.int64] | NDArray[np.float64]
    """int64 (n,) class codes, -1 where missing; or float64 (n,), NaN where missing."""
    levels: tuple[str, ...]
    """Class names in order of first appearance, so that spelling never changes a number; () for numbers."""
    chosen: str
    """The way in which it was found: `--target`, `named 'class'`, `last column`."""
    exact: Exact | None = None
    """Exact values of numbers that float64 does not tell apart; None where `values` are exact."""
    absent: Absent | None = None
    """Words that stand where numbers should: missing labels of their own kinds. None for none."""

    @property
    def ordered(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """The values, or numbers that are ordered as the exact values are."""
        return self.values if self.exact is None else self.exact.ordered

    @property
    def missing(self) -> NDArray[np.bool_]:
        """True for rows without a label, bool (n,)."""
        return self.values < 0 if self.kind == "classes" else np.isnan(self.values)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table: covariates, an optional target, and the columns that cut it."""

    name: str
    source: str
    """A path, `standard input`, `scikit-learn`, `OpenML 1510`, or `memory`."""
    n: int
    """Number of rows."""
    columns: tuple[Column, ...]
    """The covariates, in file order."""
    left_out: tuple[LeftOut, ...]
    target: Target | None
    """None for a table without a target."""
    keys: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    """The raw values of the columns that cut the table (--by, --time, --group), which are no covariates: object (n,)
    with None where missing, or datetime64[ns]/float64 for a time column, NaT/NaN where missing."""
    times: dict[str, NDArray[np.generic]] = field(default_factory=dict)
    """datetime64[ns] or float64 (n,), NaT or NaN where missing: the values of columns of times that are no covariates,
    as they cut the table or order its rows."""
    findings: tuple[Finding, ...] = ()
    """Findings on how columns were read."""
    date_orders: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """By column of dates whose words leave the order of day and month open: its format, and whether anything proves
    it."""
    raws: dict[str, Raw] = field(default_factory=dict, repr=False, compare=False)
    """The raw columns that cannot be had from the typed ones, by name, for `picsc.datasets.together`; {} for a part of
    a table."""
    sha256: str = ""
    """SHA-256 of the bytes that were read, or of the values of a table from memory."""
    reading: Reading | None = None
    """The way in which the file was read; None for a table that does not come from a file."""

    kind: ClassVar[Literal["table"]] = "table"
    owners: ClassVar[None] = None
    """A table has no owners of its own: clients are the values of a column."""
    clients: ClassVar[tuple[str, ...]] = ()

    @property
    def width(self) -> int:
        """Number of covariates."""
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns as they were read: the target and the columns left out are counted."""
        return self.n, len(self.columns) + len(self.left_out) + (self.target is not None)

    @property
    def labels(self) -> NDArray[np.int64] | None:
        """Codes into `classes`, (n,), -1 where missing; None without a target of classes."""
        if self.target is None or self.target.kind != "classes":
            return None
        return self.target.values.astype(np.int64, copy=False)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes; () without a target of classes."""
        return () if self.target is None else self.target.levels

    @property
    def test(self) -> NDArray[np.int64]:
        """Row numbers of the official test part: none, since tables have no such part."""
        return np.empty(0, np.int64)

    def as_table(self) -> Dataset:
        """This table."""
        return self

    def with_labels(self, labels: NDArray[np.int64]) -> Dataset:
        """The same rows with other labels.

        Args:
            labels: codes into `classes`, (n,), -1 where missing; the table has a target of classes.
        """
        assert self.labels is not None and self.target is not None  # noqa: S101, PT018 - there is a target of classes
        return replace(self, target=replace(self.target, values=labels))
