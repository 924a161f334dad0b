"""Write the golden files anew: `python tests/golden/regenerate.py`, then read the difference before committing it."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from picsc_cli.output.registry import as_text  # noqa: E402
from picsc_cli.text.page import Page  # noqa: E402
from tests.factories.audit import audit_report, audit_reports  # noqa: E402
from tests.factories.compare import compare_report  # noqa: E402
from tests.factories.compare_recipes import compare_recipe_report  # noqa: E402
from tests.factories.cv import cv_report  # noqa: E402
from tests.factories.fed import fed_audit_report, fed_report  # noqa: E402
from tests.factories.fed_recipes import fed_recipe_report  # noqa: E402
from tests.factories.recipes import recipe_report  # noqa: E402

AUDIT = {"json": "json", "csv": "csv", "markdown": "md", "junit": "xml", "github": "github.txt"}

for name, report, formats in (
    ("audit", audit_report(), AUDIT),
    ("audits", audit_reports(), AUDIT),
    ("cv", cv_report(), {"json": "json", "csv": "csv", "markdown": "md"}),
    ("compare", compare_report(), {"json": "json", "csv": "csv", "markdown": "md"}),
    ("recipes", recipe_report(), {"json": "json", "csv": "csv", "markdown": "md"}),
    ("fed-recipes", fed_recipe_report(), {"json": "json", "csv": "csv", "markdown": "md"}),
    ("compare-recipes", compare_recipe_report(), {"json": "json", "csv": "csv", "markdown": "md"}),
    ("fed", fed_report(), {"json": "json", "csv": "csv", "markdown": "md", "svg": "svg"}),
    ("fed-audit", fed_audit_report(), {"json": "json", "csv": "csv", "markdown": "md"}),
):
    in_ascii = as_text(report, "table", Page(ascii_only=True)).encode("ascii", "replace")
    (HERE / f"{name}-table-ascii.txt").write_bytes(in_ascii)
    texts = {f"{name}-table.txt": as_text(report, "table", Page(), verbose=True)}
    texts |= {f"{name}.{suffix}": as_text(report, format_, Page()) for format_, suffix in formats.items()}
    for file, text in texts.items():
        (HERE / file).write_bytes(text.encode("utf-8"))
