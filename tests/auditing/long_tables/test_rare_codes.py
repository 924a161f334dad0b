import numpy as np

from picsc.auditing.ks_and_g_tests import code_levels, code_numbers
from picsc.auditing.long_tables.rare_codes import rare_rows


def test_rows_of_rare_levels_are_found_the_rarest_first_and_once() -> None:
    """In 1,000 rows, 100 a draw and 2 labels, a code is rare up to 200 rows."""
    one, two = np.zeros(1000, np.int64), np.zeros(1000, np.int64)
    one[10:15], one[20:320] = 1, 2
    two[12:14] = 1
    found = rare_rows([code_levels("one", one, 3), code_levels("two", two, 2)], labels=2, rows=100)
    assert found.tolist() == [12, 13, 10, 11, 14]


def test_numbers_are_rare_where_all_values_but_one_are_few() -> None:
    event, spread = np.zeros(1000), np.arange(1000.0)
    event[[3, 5]] = [1.0, -1.0]
    missing = spread.copy()
    missing[7] = np.nan
    assert sorted(rare_rows([code_numbers("event", event)], labels=2, rows=100)) == [3, 5]
    assert rare_rows([code_numbers("spread", spread)], labels=2, rows=100).tolist() == []
    assert rare_rows([code_numbers("missing", missing)], labels=2, rows=100).tolist() == [7]


def test_nothing_is_rare_where_the_draws_permute_all_rows() -> None:
    assert rare_rows([code_levels("one", np.eye(1, 1000, 3, dtype=np.int64)[0], 2)], labels=2, rows=1000).tolist() == []
