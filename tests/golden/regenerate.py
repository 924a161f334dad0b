"""Write the golden files anew: `python tests/golden/regenerate.py`, then read the difference before committing it."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from factories import audit_report  # noqa: E402 - the tests are no package

from picsc_cli.formats.json import audit_json  # noqa: E402
from picsc_cli.page import Page  # noqa: E402
from picsc_cli.render import audit_table  # noqa: E402

REPORT = audit_report()
in_ascii = audit_table(REPORT, Page(ascii_only=True)).encode("ascii", "replace")
(HERE / "audit-table.txt").write_text(audit_table(REPORT, Page(), verbose=True), encoding="utf-8", newline="\n")
(HERE / "audit-table-ascii.txt").write_bytes(in_ascii)
(HERE / "audit.json").write_text(audit_json(REPORT), encoding="utf-8", newline="\n")
