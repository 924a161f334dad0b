"""Means and paired tests over data sets, against closed forms and sums written out."""

from __future__ import annotations

import pytest

from picsc.recipes.across_datasets import across_datasets
from tests.factories.recipes import recipe_row


def test_means_and_differences_take_only_rows_that_count() -> None:
    rows = [
        recipe_row("a", 5, 0.02),
        recipe_row("b", 5, 0.04),
        recipe_row("c", 5, 0.5, counted=False),
        recipe_row("d", 10, 0.5),
    ]
    block = across_datasets(rows, 5)
    assert (block.pieces, block.sets) == (5, 2)
    assert [(score.method, score.accuracy) for score in block.scores[:2]] == [
        ("st-cv", pytest.approx(0.8)),
        ("picsc", pytest.approx(0.83)),
    ]
    assert (block.printed, block.difference) == (pytest.approx(0.835), pytest.approx(-0.005))
    assert [test.against for test in block.tests] == ["st-cv", "weight-decay", "carried", "average", "subsample"]
    assert (block.tests[0].accuracy, block.tests[0].log_loss) == (pytest.approx(0.03), pytest.approx(-0.03))
    assert (block.tests[1].accuracy, block.tests[1].sets) == (pytest.approx(0.015), 2)


def test_the_papers_mean_needs_a_number_for_every_set() -> None:
    block = across_datasets([recipe_row("a", 5, 0.02), recipe_row("b", 5, 0.04, printed=None, difference=None)], 5)
    assert (block.printed, block.difference) == (None, None)


def test_without_a_row_that_counts_there_is_no_mean() -> None:
    assert across_datasets([recipe_row("a", 5, 0.02, counted=False)], 5) is None
