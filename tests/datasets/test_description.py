"""Findings on what a reader had to guess."""

from pathlib import Path

import numpy as np
import pytest

from picsc.datasets.description import header_doubted
from picsc.datasets.load import load
from picsc.settings import ReadSettings

ROWS = "\n4.9,3.0,x\n4.7,3.2,x\n6.2,2.9,y\n5.9,3.0,y\n6.0,2.2,x\n" * 4


@pytest.mark.parametrize(
    ("first", "doubted"),
    [
        ("5.1,3.5,x", True),
        ("5.1,3.5,target", False),  # the target's name is none of its classes
        ("length,3.5,x", False),
        ("a,b,c", False),
    ],
)
def test_names_that_look_like_a_row_are_doubted(first: str, doubted: bool, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text(first + ROWS, encoding="utf-8")
    found = header_doubted(load(file, ReadSettings()))
    assert [each.code for each in found] == ["header-doubted"] * doubted
    assert header_doubted(load(file, ReadSettings(header=True))) == []  # the user said so
    if doubted:
        assert header_doubted(load(file, ReadSettings(header=False))) == []


@pytest.mark.parametrize("names", [[2019, 2020, 2021], [2019, 2020], [400.2, 401.5, 403.1, 404.8, 406.9, 408]])
def test_years_and_wavelengths_are_names(names: list[float], tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    values = np.random.default_rng(0).normal(size=(9, len(names)))
    lines = [names, *values.round(3).tolist()]
    file.write_text("\n".join(",".join(map(str, line)) for line in lines), encoding="utf-8")
    assert header_doubted(load(file, ReadSettings(no_target=True))) == []
