"""The paper's formulas are functions of tensors: they know neither data sets nor settings."""

import ast
from pathlib import Path

import picsc

ALLOWED = ("picsc.equations", "picsc.errors")


def test_equations_import_nothing_of_picsc_but_errors() -> None:
    files = sorted((Path(picsc.__file__).parent / "equations").glob("*.py"))
    assert len(files) > 5
    for file in files:
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        assert [name for name in names if name.startswith("picsc") and not name.startswith(ALLOWED)] == []
