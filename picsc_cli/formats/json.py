"""Reports as strict JSON: no NaN, no Infinity, one versioned layout (`schema`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from picsc_cli.console.safe import json_document

if TYPE_CHECKING:
    from picsc.reports import Report


def report_json(report: Report, *, ascii_only: bool = False) -> str:
    r"""The report as JSON text that ends in a newline.

    Args:
        report: the result of a verb.
        ascii_only: escape every character beyond ASCII, for streams that are not UTF-8; the values stay the same.

    Returns:
        Text that UTF-8 can hold and a terminal can show: what is not printable in names, such as a lone surrogate or
        an escape sequence, is escaped (`\udcff`, `\u001b`), so that the values stay the same.

    Raises:
        ValueError: the report holds a number that JSON cannot hold.
    """
    text = json.dumps(report.as_dict(), allow_nan=False, indent=2, ensure_ascii=ascii_only)
    return json_document(text) + "\n"
