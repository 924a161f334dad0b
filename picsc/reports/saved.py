"""Saved reports: from the JSON that `--output json:FILE` writes back to the report, checked against its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from picsc.errors import DataError
from picsc.phrases import printable

if TYPE_CHECKING:
    from picsc.reports import Report

_LETTERS = 60
"""Letters of a foreign schema that a message shows."""


def load_report(path: str | Path) -> Report:
    """The report that a file holds.

    Args:
        path: a file that `--output json:FILE` wrote, or the JSON of `report.as_dict()`.

    Raises:
        DataError: the file cannot be read, or holds no report of this version; the message says what it holds.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8, so it is no report that picsc wrote as JSON") from None
    return parse_report(text, str(path))


def parse_report(text: str, name: str) -> Report:
    """The report that a text holds.

    Args:
        text: JSON.
        name: of its source, for messages.

    Raises:
        DataError: it is no JSON, or no report of this version.
    """
    try:
        values = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: is no JSON ({printable(str(error))}); give a file of --output json:FILE") from None
    found = values.get("schema") if isinstance(values, dict) else None
    if not isinstance(found, str):
        raise DataError(f"{name}: is JSON without a schema, so it is no report; give a file of --output json:FILE")
    kinds = _kinds()
    if found not in kinds:
        shown = printable(found[:_LETTERS])
        known = ", ".join(kinds)
        of_picsc = found.partition("/")[0] in {schema.partition("/")[0] for schema in kinds}
        advice = "run the command again with this version of picsc" if of_picsc else "give a report of picsc"
        raise DataError(f"{name}: its schema {shown} is none that this version reads ({known}); {advice}")
    return _report(values, kinds[found], name)


def _kinds() -> dict[str, type[Report]]:
    """The reports that can be shown, by schema."""
    from picsc import reports

    kinds = (
        reports.AuditReport,
        reports.AuditReports,
        reports.CvReport,
        reports.CompareReport,
        reports.FedReport,
        reports.FedAuditReport,
        reports.RecipeReport,
        reports.DataReport,
    )
    return {kind.schema: kind for kind in kinds}


def _report(values: object, kind: type[Report], name: str) -> Report:
    """The values as the report's class.

    Raises:
        DataError: a key is missing, or its value is of another type.
    """
    from pydantic import TypeAdapter, ValidationError  # loaded only where a report is read

    try:
        # strict, so that a word is no number; JSON has lists for tuples
        return TypeAdapter(kind).validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = printable(".".join(map(str, first["loc"]))) or "the report"
        what = "is missing" if first["type"] == "missing" else f"is not as expected ({printable(first['msg'])})"
        raise DataError(
            f"{name}: {where} {what}; it is from another version of picsc, or was changed: run the command again"
        ) from None


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
