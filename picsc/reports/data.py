"""What `picsc data show` says of one file: plain values, as in `picsc.reports.common`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from picsc.reports.common import DataInfo, strict


@dataclass(frozen=True, slots=True)
class ClassRows:
    """One class of the target."""

    name: str
    rows: int


@dataclass(frozen=True, slots=True)
class DataReport:
    """One file as it was read and understood."""

    data: DataInfo
    """The columns stand as in the file."""
    classes: tuple[ClassRows, ...]
    """In order of first appearance; () for a target of numbers, or none."""
    unlabelled: int | None
    """Rows without a label; None without a target."""
    duplicated: int
    """Rows that have an equal row: the same in every column that is used, and in the target."""
    no_target: str
    """Why the target that was chosen cannot be one; empty where it can, or where none was wanted."""

    schema = "picsc.data/1"

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`."""
        return strict({"schema": self.schema, **asdict(self)})
