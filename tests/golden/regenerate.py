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

PIPELINES = {"junit": "xml", "github": "github.txt", "sarif": "sarif", "codequality": "codequality.json"}
FORMATS = {"json": "json", "csv": "csv", "markdown": "md", "html": "html", **PIPELINES}

for name, report, formats in (
    ("audit", audit_report(), FORMATS),
    ("audits", audit_reports(), FORMATS),
    ("cv", cv_report(), FORMATS),
    ("compare", compare_report(), FORMATS),
    ("recipes", recipe_report(), FORMATS),
    ("fed-recipes", fed_recipe_report(), FORMATS),
    ("compare-recipes", compare_recipe_report(), FORMATS),
    ("fed", fed_report(), {**FORMATS, "svg": "svg"}),
    ("fed-audit", fed_audit_report(), FORMATS),
):
    in_ascii = as_text(report, "table", Page(ascii_only=True)).encode("ascii", "replace")
    (HERE / f"{name}-table-ascii.txt").write_bytes(in_ascii)
    texts = {f"{name}-table.txt": as_text(report, "table", Page(), verbose=True)}
    texts |= {f"{name}.{suffix}": as_text(report, format_, Page()) for format_, suffix in formats.items()}
    for file, text in texts.items():
        (HERE / file).write_bytes(text.encode("utf-8"))
