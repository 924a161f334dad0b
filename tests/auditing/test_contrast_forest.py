import numpy as np
import pytest

from picsc.auditing import contrast_forest
from picsc.auditing.contrast_forest import _leaves, _weighted


@pytest.mark.parametrize("trees", [50, 5])  # with more leaves than rows, and with fewer
def test_features_of_many_rows_are_the_leading_directions_of_their_leaves(
    trees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"EXACT_ROWS": 100, "FEATURES": 40, "TREES": trees}.items():
        monkeypatch.setattr(contrast_forest, name, value)
    x = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
    x[:, 1] += x[:, 0]
    found = contrast_forest.contrast_forest(x, np.arange(4), seed=0, jobs=1)
    assert found is not None
    leaves = _weighted(_leaves(found.forest, x), found.leaf_position, found.scale)
    assert (leaves.shape[1] > len(x)) == (trees == 50)
    exact = np.linalg.svd(leaves.toarray(), compute_uv=False)[:40] ** 2
    features = found.features(x).astype(np.float64)
    products = features.T @ features
    squares = np.sort(np.diag(products))[::-1]
    assert squares[:10] == pytest.approx(exact[:10], rel=0.1)
    assert squares.sum() == pytest.approx(exact.sum(), rel=0.1)
    apart = np.abs(products - np.diag(np.diag(products))).max()
    assert apart < 0.02 * squares[0]  # each direction has a variance of its own, by which its differences are weighed
