"""The page of any report: whole, or as a part of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from picsc.reports.pages import render
from picsc.reports.pages.audit import audit_content, audits_contents
from picsc.reports.pages.compare import compare_content
from picsc.reports.pages.cv import cv_content
from picsc.reports.pages.fed import fed_audit_content, fed_content
from picsc.reports.pages.recipes import recipes_contents

if TYPE_CHECKING:
    from collections.abc import Callable

    from picsc.reports.pages.blocks import Content

_CONTENTS: dict[str, Callable[[Any], list[Content]]] = {
    "picsc.audit": lambda report: [audit_content(report)],
    "picsc.audits": audits_contents,
    "picsc.cv": lambda report: [cv_content(report)],
    "picsc.compare": lambda report: [compare_content(report)],
    "picsc.fed": lambda report: [fed_content(report)],
    "picsc.fed-audit": lambda report: [fed_audit_content(report)],
    "picsc.recipes": recipes_contents,
}
"""By the name in the report's `schema`."""


def page_html(report: Any) -> str:
    """The report as one file of HTML."""
    return render.page(_contents(report))


def body_html(report: Any) -> str:
    """The report as a part of another page, with its style sheet."""
    return render.body(_contents(report))


def _contents(report: Any) -> list[Content]:
    return _CONTENTS[report.schema.partition("/")[0]](report)
