"""The extra `flower` goes with the project's own ranges: everything installed beside Flower is in all of them."""

from __future__ import annotations

import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("text", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["flower"]])
def test_what_picsc_needs_is_installed_beside_flower(text: str) -> None:
    wanted = Requirement(text)
    assert wanted.specifier.contains(version(wanted.name), prereleases=True)


def test_what_flower_needs_is_installed_beside_picsc() -> None:
    wanted = [Requirement(text) for text in requires("flwr") or ()]
    needed = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    assert {"typer", "rich"} <= {each.name for each in needed}
    assert [str(each) for each in needed if not each.specifier.contains(version(each.name), prereleases=True)] == []
