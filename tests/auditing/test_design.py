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
