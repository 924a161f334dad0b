"""Figures of recipes: what a table varies decides which, and every number and interval of it is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from picsc.notebooks.experiments import plot_recipes
from picsc.reports.common import Difference, Interval
from picsc.reports.cv import Lifelong
from picsc.reports.recipes import OverSets, PairedDifference, RecipeReport, RecipeRow, Score
from tests.factories.compare_recipes import compare_recipe_report
from tests.factories.fed_recipes import fed_recipe_report
from tests.factories.recipes import recipe_report, recipe_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

pytest.importorskip("matplotlib")


def of(*rows: RecipeRow, over: tuple[OverSets, ...] = (), **changes: object) -> RecipeReport:
    [table] = recipe_report().tables
    return replace(recipe_report(), tables=(replace(table, rows=rows, over_sets=over, **changes),))


def dots(axes: Axes) -> dict[str, list[tuple[float, float, float, float]]]:
    """Position, value and ends of the interval of every dot, by the label of its line."""
    found = {}
    for container in axes.containers:
        bars: Any = container
        line, _, (ends,) = bars.lines
        segments = ends.get_segments()
        found[str(bars.get_label())] = [
            (x, y, low[1], high[1])
            for x, y, (low, high) in zip(line.get_xdata(), line.get_ydata(), segments, strict=True)
        ]
    return found


def mean(pieces: int, strength: float, gain: float) -> OverSets:
    test = PairedDifference("st-cv", 3, gain, Interval(gain - 0.02, gain + 0.01), 0.1, 0.0, None, None)
    return OverSets(pieces, 3, (), None, None, (test,), strength=strength)


def test_lambda_is_drawn_as_the_mean_difference_over_data_sets() -> None:
    rows = [
        recipe_row(name, pieces, 0.0, strength=strength, cut=f"{pieces} folds")
        for pieces in (5, 10)
        for strength in (0.0, 0.1)
        for name in ("a", "b", "c")
    ]
    over = (mean(5, 0.0, 0.0), mean(5, 0.1, 0.03), mean(10, 0.0, -0.01), mean(10, 0.1, 0.02))
    [axes] = plot_recipes(of(*rows, over=over)).axes
    found = dots(axes)
    assert list(found) == ["5 folds", "10 folds"]
    assert [each[1:] for each in found["5 folds"]] == [
        pytest.approx((0.0, -2.0, 1.0)),
        pytest.approx((3.0, 1.0, 4.0)),
    ]
    assert [round(x) for x, *_ in found["10 folds"]] == [0, 1]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "0.1"]
    assert "mean over 3 data sets; bars: 95 % intervals" in axes.get_title()
    assert axes.get_ylabel() == "PIcsC minus standard training,\npercentage points of accuracy"


def test_lambda_on_one_data_set_is_its_own_difference() -> None:
    rows = [
        recipe_row(
            "a",
            5,
            0.0,
            strength=strength,
            differences=(Difference("st-cv", strength / 10, Interval(-0.01, 0.2), 0.5, None, None),),
        )
        for strength in (0.1, 1.0)
    ]
    [axes] = plot_recipes(of(*rows, over=(mean(5, 0.1, 0.9), mean(5, 1.0, 0.9)))).axes
    [found] = dots(axes).values()
    assert [each[1:] for each in found] == [pytest.approx((1.0, -1.0, 20.0)), pytest.approx((10.0, -1.0, 20.0))]
    assert axes.get_title().splitlines()[1] == "a; bars: 95 % intervals"


def scored(data: str, pieces: int, standard: float, ours: float, whole: float | None = None) -> RecipeRow:
    scores = (
        Score("st-cv", standard, 0.5, Interval(standard - 0.01, standard + 0.02), whole),
        Score("picsc", ours, 0.5, Interval(ours - 0.03, ours + 0.04)),
    )
    return recipe_row(data, pieces, 0.0, scores=scores, cut=f"{pieces} batches")


def test_noise_is_drawn_by_deviation_with_the_set_itself_at_0() -> None:
    rows = [
        scored("cifar10-noise-100", 10, 0.2, 0.3),
        scored("cifar10", 10, 0.6, 0.7),
        scored("cifar10-noise-25", 10, 0.4, 0.5),
        scored("mnist-noise-25", 10, 0.9, 0.8),
    ]
    axes = plot_recipes(of(*rows)).axes
    assert [each.get_title().splitlines()[0] for each in axes] == ["cifar10", "mnist"]
    found = dots(axes[0])
    assert [each[1:] for each in found["PIcsC"]] == [
        pytest.approx((70, 67, 74)),
        pytest.approx((50, 47, 54)),
        pytest.approx((30, 27, 34)),
    ]
    assert [each[1] for each in found["standard training (st-cv)"]] == pytest.approx([60, 40, 20])
    assert [label.get_text() for label in axes[0].get_xticklabels()] == ["0", "25", "100"]
    assert "255ths of the range of a pixel" in axes[0].get_xlabel()


def test_the_number_of_pieces_is_drawn_as_what_is_lost_against_the_whole_set() -> None:
    rows = [scored(name, pieces, 0.9 - pieces / 100, 0.9, 0.95) for pieces in (20, 2) for name in ("a", "b")]
    axes = plot_recipes(of(*rows)).axes
    assert [each.get_title().splitlines()[0] for each in axes] == ["a", "b"]
    found = dots(axes[0])
    assert [each[1:] for each in found["standard training (st-cv)"]] == [
        pytest.approx((7, 5, 8)),
        pytest.approx((25, 23, 26)),
    ]
    assert [label.get_text() for label in axes[0].get_xticklabels()] == ["2", "20"]
    assert axes[0].get_xlabel() == "number of batches"


def test_models_along_pieces_are_maps_in_the_same_colours() -> None:
    scores = [
        Score(method, 0.8, 0.5, lifelong=Lifelong(0.5, 0.6, forgotten, 0.4, ((0.9, 0.2), (0.5, 0.8))))
        for method, forgotten in (("picsc", 0.1), ("carried", 0.4))
    ]
    row = recipe_row("digits", 2, 0.0, scores=tuple(scores), names=("batch 2", "batch 1"))
    figure = plot_recipes(of(row))
    maps = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in maps] == [
        "digits: picsc\n10.0 points forgotten",
        "digits: carried\n40.0 points forgotten",
    ]
    assert [text.get_text() for text in maps[0].texts] == ["90", "20", "50", "80"]
    assert [label.get_text() for label in maps[0].get_yticklabels()] == ["batch 2", "batch 1"]
    assert maps[0].images[0].get_clim() == maps[1].images[0].get_clim() == (20, 90)


def test_without_intervals_the_title_says_so() -> None:
    rows = [replace(row, scores=tuple(replace(s, interval=None) for s in row.scores))
            for row in (scored("a", 2, 0.8, 0.9, 0.95), scored("a", 4, 0.7, 0.9, 0.95))]  # fmt: skip
    [axes] = plot_recipes(of(*rows)).axes
    assert "no intervals" in axes.get_title()


@pytest.mark.parametrize("report", [fed_recipe_report, compare_recipe_report])
def test_other_recipes_are_drawn_by_data_set(report: Any) -> None:
    axes = plot_recipes(report()).axes[0]
    assert axes.get_xlabel().startswith("picsc minus ")
    assert len(axes.get_yticklabels()) > 0


def test_audits_are_drawn_as_shifted_pieces_of_all() -> None:
    rows = [recipe_row("a", 5, 0.0, scores=(), verdict="shift", shifted=2)]
    [axes] = plot_recipes(of(*rows, verb="audit")).axes
    assert [patch.get_width() for patch in axes.patches] == [5, 2]


def test_a_recipe_without_a_number_says_so() -> None:
    figure = plot_recipes(of(replace(recipe_row("a", 5, 0.0), rows=None, scores=())))
    assert [text.get_text() for text in figure.texts] == ["no data set of this report has a number"]
