"""Write sentences.txt anew: `python tests/bad_inputs/regenerate.py`, then read every changed sentence as a user would.

With names of groups (`text formats`), the sentences of the others stay as they are.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.bad_inputs.calls import SENTENCES, called, cases, sentences  # noqa: E402

groups = sys.argv[1:]
said: dict[str, str] = {}
for case in cases():
    if groups and case.name.partition(":")[0] not in groups:
        continue
    with tempfile.TemporaryDirectory() as folder:
        outcome = called(case, Path(folder).resolve())
    said[case.name] = outcome.stderr.strip()
    left = {name: content for name, content in outcome.left.items() if content is not None}
    if outcome.exit_code != 2 or outcome.stdout or left != case.files:
        sys.stderr.write(f"{case.name}: exit {outcome.exit_code}, standard output {outcome.stdout[:200]!r}\n")
kept = sentences() if groups else {}
known = kept | said
paragraphs = [f"{case.name}\n{known[case.name]}\n" for case in cases() if case.name in known]
SENTENCES.write_text("\n".join(paragraphs), encoding="utf-8")
