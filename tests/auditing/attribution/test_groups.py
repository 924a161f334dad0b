import numpy as np

from picsc.auditing.attribution.groups import linked


def distances(places: list[float]) -> np.ndarray:
    at = np.array(places)
    return np.abs(at[:, None] - at)


def test_near_pieces_are_joined_and_far_ones_are_not() -> None:
    assert linked(distances([0, 10, 1, 11, 0.5]), below=5) == [(0, 2, 4), (1, 3)]
    assert linked(distances([0, 10, 20]), below=5) == [(0,), (1,), (2,)]
    assert linked(distances([0, 10, 20]), below=50) == [(0, 1, 2)]
