import numpy as np
import pytest

from picsc.fragments.coincidences import SAMPLE, equal_pairs


def rounded(rows: int, columns: int, scale: float, seed: int = 0) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [np.round(random.normal(size=rows) * scale) for _ in range(columns)]


@pytest.mark.parametrize(("columns", "scale"), [(2, 10.0), (3, 3.0), (5, 1.0)])
def test_coincidences_of_independent_columns_are_all_explained(columns: int, scale: float) -> None:
    """About 3,000 equal pairs or more, so that chance moves the ratio by a few percent."""
    found = equal_pairs(rounded(4000, columns, scale))
    assert found.pairs > 2000
    assert 0.7 < found.explained / found.pairs < 1.4
    assert not found.copies


def test_dependent_columns_are_explained_by_those_that_are_not() -> None:
    a, b, c, d = rounded(3000, 4, 2.0)
    found = equal_pairs([a, a * 2, b, -b, c, d, a + b])
    assert found.pairs > 500
    assert not found.copies


@pytest.mark.parametrize("copied", [30, 1000])
def test_copies_are_not_explained(copied: int) -> None:
    columns = [np.append(values, values[:copied]) for values in rounded(1000, 4, 100.0)]
    found = equal_pairs(columns)
    assert found.copies
    assert found.pairs == copied
    assert found.share_explained < 0.05


def test_a_table_without_equal_rows_has_no_copies() -> None:
    found = equal_pairs([np.arange(50.0), np.zeros(50)])
    assert (found.pairs, found.copies, found.share_explained) == (0, False, 1.0)


def test_long_tables_are_sampled() -> None:
    values = np.arange(2.0 * SAMPLE)
    both = equal_pairs([np.append(values, values), np.append(-values, -values)])
    # each of the pairs is in a quarter x quarter of the sample
    assert 0.9 < both.pairs / (SAMPLE / 8) < 1.1
    assert both.copies
