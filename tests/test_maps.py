"""The plan of the house: every file is on the map of its package, and no room is too full."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted({file.parent for top in ("picsc", "picsc_cli") for file in (ROOT / top).rglob("*.py")})
MOST_FILES = 25
IN_ROOT = 4
"""Modules of picsc itself."""
MANY_PARAMETERS, FEW_FUNCTIONS = 8, 15
"""Functions with so many parameters lack a noun; commands have them, since every option is one."""


def contents(package: Path) -> list[str]:
    """Modules and packages inside, but for `__init__`."""
    modules = [file.stem for file in package.glob("*.py") if file.stem != "__init__"]
    return sorted(modules + [folder.parent.name for folder in package.glob("*/__init__.py")])


@pytest.mark.parametrize("package", PACKAGES, ids=[str(package.relative_to(ROOT)) for package in PACKAGES])
def test_the_docstring_of_a_package_names_each_of_its_files_once(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert sorted(re.findall(r"^- `(\w+)`: \S", docstring, re.MULTILINE)) == contents(package)


@pytest.mark.parametrize("package", PACKAGES, ids=[str(package.relative_to(ROOT)) for package in PACKAGES])
def test_no_folder_is_too_full(package: Path) -> None:
    assert len(list(package.glob("*.py"))) <= MOST_FILES


def test_the_root_holds_packages() -> None:
    assert len([file for file in (ROOT / "picsc").glob("*.py") if file.stem != "__init__"]) <= IN_ROOT


def test_few_functions_have_many_parameters() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for package in PACKAGES for file in package.glob("*.py")]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    lists = [[*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs] for each in functions]
    counts = [sum(parameter.arg not in ("self", "cls") for parameter in parameters) for parameters in lists]
    assert sum(count >= MANY_PARAMETERS for count in counts) < FEW_FUNCTIONS
