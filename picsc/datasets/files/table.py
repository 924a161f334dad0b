"""What every reader of a file gives: a frame, and how it was read."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from picsc.reports.common import Reading


@dataclass(frozen=True, slots=True)
class FileTable:
    """One table out of one file."""

    frame: pd.DataFrame
    """n rows, with unique column names; words are strings without surrounding blanks."""
    sha256: str
    """Of the file's bytes, as `sha256sum` says it."""
    reading: Reading
    target: str | None = None
    """Column that the file itself declares to be the target."""
