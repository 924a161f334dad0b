"""The page on findings has a section for every verdict, standing and code that the source can give, and no others."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from picsc.datasets.table import Kind
from picsc.reports.audit import Standing
from picsc.reports.common import Verdict

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### (.+)\n\n((?:.+\n)+)", re.M)
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PACKAGES = ("picsc", "picsc_cli")
BUILT = {
    "f'{kind}-left-out'": {f"{kind}-left-out" for kind in get_args(Kind)},
    "f'{what}s-without-label'": {"pieces-without-label", "clients-without-label"},
}
"""The codes that are put together from a variable, by their expression in the source."""


class UnreadableCodeError(Exception):
    """An expression for a code that this test cannot turn into codes."""


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of the names that a module binds at its top level, alone or several at once."""
    bound: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound[node.targets[0].id] = node.value
    return bound


SCHEMA = constants(ast.parse((ROOT / "picsc/reports/audit.py").read_text(encoding="utf-8")))["SCHEMA_CODES"]


def unpacked(tree: ast.Module) -> dict[str, ast.expr]:
    """The names that a module unpacks from SCHEMA_CODES, with the constant that each stands for."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Name):
            assert isinstance(SCHEMA, ast.Tuple)
            assert node.value.id == "SCHEMA_CODES"
            names = [name.id for name in node.targets[0].elts if isinstance(name, ast.Name)]
            found |= dict(zip(names, SCHEMA.elts, strict=True))
    return found


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Calls of a function by its name, or of a method of that name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
            yield node


def argument(call: ast.Call, position: int, keyword: str) -> ast.expr:
    """An argument that may be given by position or by keyword."""
    by_name = [each.value for each in call.keywords if each.arg == keyword]
    return by_name[0] if by_name else call.args[position]


def codes_of(expression: ast.expr, tree: ast.Module, inside: ast.AST | None) -> set[str]:
    """The codes that an expression can have: a constant, a choice of two, a name of the module, or a parameter.

    A parameter of a helper function stands for what the calls of the helper in its module pass to it.
    """
    match expression:
        case ast.Constant(value=str(code)):
            return {code}
        case ast.IfExp(body=yes, orelse=no):
            return codes_of(yes, tree, inside) | codes_of(no, tree, inside)
        case ast.JoinedStr() if ast.unparse(expression) in BUILT:
            return BUILT[ast.unparse(expression)]
        case ast.Name(id=name):
            known = constants(tree) | unpacked(tree)
            if name in known:
                return codes_of(known[name], tree, None)
            if isinstance(inside, ast.FunctionDef) and name in (names := [each.arg for each in inside.args.args]):
                passed = [argument(call, names.index(name), name) for call in calls(tree, inside.name)]
                return set().union(*(codes_of(each, tree, None) for each in passed))
    raise UnreadableCodeError(ast.unparse(expression))


def codes_in(tree: ast.Module) -> Iterator[str]:
    """The codes of all findings that a module makes."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for call in calls(tree, "Finding"):
        inside = next((function for function in functions if call in ast.walk(function)), None)
        yield from codes_of(argument(call, 0, "code"), tree, inside)


@cache
def codes_of_the_source() -> frozenset[str]:
    """The codes of all findings."""
    texts = [path.read_text(encoding="utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return frozenset(code for text in texts if "Finding(" in text for code in codes_in(ast.parse(text)))


def headings() -> list[str]:
    """Headings of the sections, in the order of the page."""
    return [heading for heading, _ in SECTION.findall(PAGE)]


def test_the_page_has_all_verdicts_standings_and_codes_and_no_others() -> None:
    expected = {*get_args(Verdict), *get_args(Standing), *codes_of_the_source()}
    assert set(headings()) == expected
    assert len(headings()) == len(expected)


def test_codes_are_what_a_link_can_name() -> None:
    codes = codes_of_the_source()
    assert len(codes) > 65
    assert {"duplicate-rows", "column-lost", "column-not-compared", "identifier-left-out", "unassigned-rows"} <= codes
    assert all(CODE.fullmatch(code) for code in codes)


@pytest.mark.parametrize("heading", headings())
def test_sections_are_a_few_sentences(heading: str) -> None:
    text = dict(SECTION.findall(PAGE))[heading]
    assert 2 <= len(re.findall(r"[.;:] |\.\n", text)) <= 9


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("Finding('a-b', 'note', 'x')", {"a-b"}),
        ("Finding(code='a' if x else 'b', severity='note', message='x')", {"a", "b"}),
        ("A = 'a'\nFinding(A, 'note', 'x')", {"a"}),
        ("def f(code, y):\n    Finding(code, y, 'x')\nf('a', 1)\nf(y=2, code='b')", {"a", "b"}),
        ("_1, _2, _3, _4 = SCHEMA_CODES\nFinding(_4, 'note', 'x')", {"levels-new"}),
    ],
)
def test_codes_are_found_however_they_are_given(source: str, codes: set[str]) -> None:
    assert set(codes_in(ast.parse(source))) == codes


@pytest.mark.parametrize("source", ["Finding(f'{x}-new', 'note', 'x')", "Finding(make(), 'note', 'x')"])
def test_a_code_that_cannot_be_read_is_no_silent_gap(source: str) -> None:
    with pytest.raises(UnreadableCodeError):
        set(codes_in(ast.parse(source)))
