"""Pieces that disappear because none of their rows has a label."""

import numpy as np
import pytest

from picsc.datasets.table import Dataset, Target
from picsc.fragments.unlabelled import pieces_without_label


def data(labels: list[int]) -> Dataset:
    target = Target("y", "classes", np.array(labels), ("u", "v"), "--target")
    site = np.array(["a", "a", "b", "b", None, "c"], dtype=object)
    return Dataset("t", "memory", 6, (), (), target, {"site": site})


@pytest.mark.parametrize(
    ("labels", "names"),
    [([0, -1, -1, -1, 1, 1], ("site=b",)), ([0, 1, 0, -1, -1, 1], ()), ([0, 0, -1, -1, 0, -1], ("site=b", "site=c"))],
)
def test_values_whose_rows_all_lack_a_label_are_named(labels: list[int], names: tuple[str, ...]) -> None:
    found = pieces_without_label(data(labels), "site", "client")
    assert tuple(name for each in found for name in each.fragments) == names
    if names:
        assert "site=b (2 rows)" in found[0].message
    assert pieces_without_label(data(labels), None) == []
