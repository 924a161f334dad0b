"""Rows as CSV text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Text that UTF-8 can hold, with the line ends of RFC 4180; None is an empty field, truth `true` or `false`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([_field(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")


def _field(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
