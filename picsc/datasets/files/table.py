"""The result of every reader of files: a frame, its digest, and how the file was read."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from picsc.reports.common import Choice, Reading
from picsc.settings import ReadSettings


@dataclass(frozen=True, slots=True)
class FileTable:
    """The table in a file."""

    frame: pd.DataFrame
    """n rows, with unique column names; words are strings without surrounding blanks."""
    sha256: str
    """SHA-256 of the file's bytes, as `sha256sum` prints it."""
    reading: Reading
    """The format and the choices made in reading it."""
    target: str | None = None
    """Column that the file itself declares as the target; None if it declares none."""
    aside: str | None = None
    """Column that only cuts the table, as of the files that its rows come from; None if there is none."""


def header_choice(settings: ReadSettings) -> Choice:
    """The header as a choice that was made in reading a file: by the user, or by default."""
    given = "header" in settings.model_fields_set
    return Choice("header", "yes" if settings.header else "no", "told" if given else "the default")
