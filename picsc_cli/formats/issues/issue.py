"""One issue of a report, and the place in a file that it is about."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from picsc.phrases import printable

if TYPE_CHECKING:
    from picsc.reports.common import DataInfo, Finding, Reading

Level = Literal["error", "warning", "notice", "none"]
LEVELS: tuple[Level, ...] = ("error", "warning", "notice", "none")
"""From worst to best. error: the command exits with 1 or 2 for it; none: all is well, which only JUnit shows."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that a pipeline shows."""

    level: Level
    """Its weight; `error` exactly if the command fails for it."""
    rule: str
    """Its kind in kebab-case, for machines: `shift`, `no-result`, `gate`, or the code of a finding."""
    subject: str
    """The piece, method, client or data set that it is about; empty for all of the data."""
    title: str
    """A few words."""
    message: str
    """A sentence."""
    file: str = ""
    """Path of the file, relative where it can be; empty for data that came from no file."""
    line: int = 1
    """Line of the file, from 1."""
    source: str = ""
    """Name of the data, where `file` is empty as well."""

    @property
    def sentence(self) -> str:
        """What it is about and its message, for formats without a place of their own for the subject."""
        return printable(f"{self.subject}: {self.message}" if self.subject else self.message)


def of_finding(finding: Finding, message: str, data: DataInfo, *, fails: bool) -> Issue:
    """The issue of a finding.

    Args:
        finding: on the data.
        message: its sentence and advice.
        data: the table.
        fails: True if the command fails for it.
    """
    level: Level = "error" if fails else "notice" if finding.severity == "note" else "warning"
    return Issue(level, finding.code, "", f"picsc: {finding.code}", message, file_of(data), source=data.name)


def file_of(data: DataInfo) -> str:
    """The file of the data, see `relative`; empty for data that came from no file."""
    return relative(data.source) if data.reading is not None else ""


def relative(source: str) -> str:
    """The file as pipelines want it, relative to the repository, or else to the working directory if it is inside."""
    if source == "standard input":
        return ""
    path = Path(source).absolute()
    for folder in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
        if folder and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return Path(source).as_posix()


def line_of(first_row: int | None, reading: Reading | None) -> int:
    """Line of a text file that a data row stands in, 1 the first; 1 for files that have no lines of data."""
    if first_row is None or reading is None or reading.format not in ("csv", "tsv", "jsonl", "libsvm"):
        return 1
    choices = {choice.name: choice.value for choice in reading.choices}
    header = int(reading.format in ("csv", "tsv") and choices.get("header") != "no")
    remarks = choices.get("remarks", "0").partition(" ")[0]
    return max(1, first_row + header + (int(remarks) if remarks.isdecimal() else 0))


def fingerprints(found: list[Issue]) -> list[str]:
    """A mark for each issue that stays the same from run to run: of its rule, subject and file, and of its number.

    Two issues of one rule, subject and file are told apart by their order.
    """
    seen: dict[str, int] = {}
    marks = []
    for issue in found:
        key = "\n".join((issue.rule, issue.subject, issue.file or issue.source))
        seen[key] = seen.get(key, 0) + 1
        text = f"{key}\n{seen[key]}"
        marks.append(hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest())
    return marks
