"""The report of `picsc data show` on one file as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from picsc.phrases import counted
from picsc.reports.common import DataInfo, brief, strict


@dataclass(frozen=True, slots=True)
class ClassRows:
    """One class of the target."""

    name: str
    """Name of the class."""
    rows: int
    """Number of rows of the class."""


@dataclass(frozen=True, slots=True)
class DataReport:
    """One file as it was read and understood."""

    data: DataInfo
    """The table; its columns are in the order of the file."""
    classes: tuple[ClassRows, ...]
    """The classes in order of first appearance; empty for a target of numbers, and without a target."""
    unlabelled: int | None
    """Number of rows without a label; None without a target."""
    duplicated: int
    """Number of rows that have an equal row: the same in every column that is used, and in the target."""
    no_target: str
    """Why the target that was chosen cannot be one; empty where it can, and where none was wanted."""

    schema = "picsc.data/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (self.data.name, counted(self.data.rows, "row")),
            [f"{column.name}: {column.kind}" for column in self.data.columns],
        )

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`."""
        return strict({"schema": self.schema, **asdict(self)})
