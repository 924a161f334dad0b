"""The design of an audit: labels, contrast and null of each reference, and the design of some of the pieces."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from picsc.auditing.design import Design, Piece, build_design, compared_rows
from picsc.auditing.exchangeability import Contrast, PermutationScheme
from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import SettingsError
from picsc.fragments import Cut, Fragment
from picsc.settings import AuditSettings, CutSettings, ReadSettings

N = 9


def table(n: int = N, name: str = "table") -> Dataset:
    return from_frame(pd.DataFrame({"x": np.arange(n) / 2}), ReadSettings(no_target=True), name=name)


def three_batches(**changes: object) -> Cut:
    """Rows 0 and 1, 2 to 4, and 6 to 8; row 5 lies in a gap between two batches."""
    rows = np.arange(N)
    fragments = tuple(Fragment("batch", f"batch {i}", part) for i, part in enumerate((rows[:2], rows[2:5], rows[6:])))
    of = {"strata": None, "units": None, **changes}
    return Cut(fragments, "by hand", True, True, unassigned=rows[5:6], settings=CutSettings(batches=3), **of)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reference", "contrast", "untested"),
    [
        (None, Contrast(3, (1, 2), (0, 1)), "first piece: nothing before it"),
        ("previous", Contrast(3, (1, 2), (0, 1)), "first piece: nothing before it"),
        ("first", Contrast(3, (1, 2), (0, 0)), "the reference"),
        ("rest", Contrast(3, (0, 1, 2), "rest"), ""),
    ],
)
def test_a_reference_says_which_pieces_are_tested(reference: str | None, contrast: Contrast, untested: str) -> None:
    design = build_design(table(), three_batches(), AuditSettings(reference=reference), None)
    assert design.contrast == contrast
    assert design.pieces[0].why_untested == untested
    positions = [contrast.pieces.index(i) if i in contrast.pieces else None for i in range(3)]
    assert [piece.position for piece in design.pieces] == positions
    assert [piece.first_row for piece in design.pieces] == [1, 3, 7]


def test_rows_in_no_piece_take_no_part_and_those_of_a_file_have_the_last_label() -> None:
    other = table(4, "other")
    design = build_design(table(), three_batches(), AuditSettings(), other)
    assert design.labels.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert design.contrast == Contrast(4, (0, 1, 2), (3, 3, 3))
    assert design.reference == "file other"
    rows = compared_rows(table(), three_batches(), other)
    [x] = rows.columns
    np.testing.assert_array_equal(x.values, [0, 0.5, 1, 1.5, 2, 3, 3.5, 4, 0, 0.5, 1, 1.5])


def test_strata_are_kept_among_pieces_and_not_against_a_file() -> None:
    strata = np.arange(N) % 2
    alone = build_design(table(), three_batches(strata=strata), AuditSettings(), None)
    assert alone.scheme.strata is not None
    assert alone.scheme.strata.tolist() == [0, 1, 0, 1, 0, 0, 1, 0]
    assert alone.unit == "rows within classes"
    assert build_design(table(), three_batches(strata=strata), AuditSettings(), table(4)).scheme.strata is None


def test_some_pieces_are_compared_with_one_another_only() -> None:
    """The last label, of rows that are in no tested piece, is left out like the pieces that are not kept."""
    design = Design(
        labels=np.array([0, 1, 2, 3, 0, 1, 2]),
        contrast=Contrast(4, (0, 1, 2), "rest"),
        scheme=PermutationScheme(strata=np.arange(7)),
        pieces=tuple(Piece(name, 2, i) for i, name in enumerate("abc")),
    )
    rows, fewer = design.among((0, 2))
    assert rows.tolist() == [0, 2, 4, 6]
    assert fewer.labels.tolist() == [0, 1, 0, 1]
    assert fewer.contrast == Contrast(2, (0, 1), "rest")
    assert fewer.scheme.strata is not None
    assert fewer.scheme.strata.tolist() == [0, 2, 4, 6]
    assert [(piece.name, piece.position) for piece in fewer.pieces] == [("a", 0), ("c", 1)]


def test_an_unknown_reference_is_refused() -> None:
    with pytest.raises(SettingsError, match="--reference next: must be one of"):
        build_design(table(), three_batches(), AuditSettings(reference="next"), None)


def of_groups(held: tuple[int, ...], contrast: Contrast) -> Design:
    """Pieces that hold so many groups of three rows each."""
    labels = np.repeat(np.arange(len(held)), held)
    units = np.arange(len(labels))
    scheme = PermutationScheme(units=np.repeat(units, 3))
    return Design(np.repeat(labels, 3), contrast, scheme, unit="groups of site")


def test_too_few_groups_are_known_before_the_test() -> None:
    """Of 15 ways to choose 2 of 6 groups, 3 are pieces of the same cut: p is at least 0.2."""
    found = of_groups((2, 2, 2), Contrast(3, (0, 1, 2), "rest")).too_few_units(0.05)
    assert set(found) == {0, 1, 2}
    assert found[1] == "only 6 groups of site, 2 of them here: whatever their rows say, p cannot be below 0.2"
    assert of_groups((2, 2, 2), Contrast(3, (0, 1, 2), "rest")).too_few_units(0.25) == {}


def test_a_piece_of_few_groups_among_many_can_be_tested_while_another_cannot() -> None:
    """One of 30 groups alone has p at least 1/30; 3 and 26 of them are 4060 and more ways."""
    design = of_groups((1, 3, 26), Contrast(3, (0, 1, 2), "rest"))
    assert set(design.too_few_units(0.05)) == set()
    assert set(design.too_few_units(0.01)) == {0}


def test_the_groups_of_a_reference_count_where_it_is_one_piece() -> None:
    assert set(of_groups((2, 2), Contrast(2, (1,), (0,))).too_few_units(0.05)) == {0}
    assert of_groups((4, 4), Contrast(2, (1,), (0,))).too_few_units(0.05) == {}


def test_where_rows_move_alone_nothing_is_lacking() -> None:
    assert Design(np.repeat([0, 1], 3), Contrast(2, (0, 1), "rest"), PermutationScheme()).too_few_units(0.001) == {}
