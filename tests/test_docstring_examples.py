"""Every public name shows in its docstring how it is used, and what it shows is so."""

from __future__ import annotations

import doctest
import inspect
import sys

import pytest

import picsc


@pytest.mark.parametrize("name", [name for name in picsc.__all__ if not name.startswith("_")])
def test_an_example_stands_in_the_docstring_and_holds(name: str) -> None:
    public = getattr(picsc, name)
    documented = inspect.unwrap(public)
    module = sys.modules[documented.__module__]
    found = doctest.DocTestFinder(recurse=False).find(documented, name, module=module, globs={})
    examples = [each for each in found if each.examples]
    assert examples, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    shown: list[str] = []
    for each in examples:
        runner.run(each, out=shown.append)
    assert not runner.failures, "".join(shown)
