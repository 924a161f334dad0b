import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from picsc.datasets.row_hashes import row_hashes


@settings(max_examples=60, deadline=None)
@given(
    a=npst.arrays(np.float64, 12, elements=st.sampled_from([0.0, -0.0, 1.0, np.nan, -np.nan, np.inf, 5e-324])),
    b=npst.arrays(np.int32, 12, elements=st.integers(-1, 1)),
)
def test_hashes_agree_exactly_where_rows_do(a: np.ndarray, b: np.ndarray) -> None:
    rows = [("missing" if x != x else x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    hashes = row_hashes([a, b], 12)
    assert [[x == y for y in hashes] for x in hashes] == [[x == y for y in rows] for x in rows]


def test_hashes_do_not_depend_on_chunks_and_do_depend_on_the_column() -> None:
    x = np.random.default_rng(0).normal(size=200_000)
    hashes = row_hashes([x], len(x))
    np.testing.assert_array_equal(hashes[-5:], row_hashes([x[-5:]], 5))
    assert len(np.unique(hashes)) == len(np.unique(x))
    grid = np.indices((256, 256)).reshape(2, -1)
    assert len(np.unique(row_hashes(list(grid), 256 * 256))) == 256 * 256
    one, two = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    assert row_hashes([one, two], 2)[0] != row_hashes([two, one], 2)[0]
