"""Places among edges are those of a search by halves, whatever the values are."""

from __future__ import annotations

import numpy as np
import pytest

from picsc.auditing.long_tables import places as module
from picsc.auditing.long_tables.places import places

N = 60_000


def _columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(N)
    return {
        "normal": normal,
        "long tail": rng.lognormal(0, 3, N),
        "two long tails": rng.standard_cauchy(N),
        "whole numbers": rng.integers(0, 5_000, N).astype(float),
        "far from zero": 1e9 + rng.random(N) * 1e-3,
        "hundreds of powers of ten": np.exp(rng.uniform(-300, 300, N)),
        "largest numbers": rng.uniform(-1, 1, N) * 1.7e308,
        "signed zeros": np.where(rng.random(N) < 0.3, rng.choice([0.0, -0.0], N), normal),
        "missing": np.where(rng.random(N) < 0.1, np.nan, normal),
        "most rows equal": np.where(rng.random(N) < 0.97, 0.0, normal),
    }


@pytest.mark.parametrize("name", list(_columns()))
@pytest.mark.parametrize("steps", [12, 256, 1_001])
def test_places_are_those_of_a_search_by_halves(name: str, steps: int) -> None:
    values = _columns()[name]
    edges = np.unique(np.nanquantile(values[::7], np.linspace(0, 1, steps), method="lower"))
    found = places(edges, values)
    assert found.dtype == np.int16
    assert np.array_equal(found, np.searchsorted(edges, values, side="left"))
    beyond = np.array([-np.inf, np.inf, np.nan, edges[0], edges[-1], -0.0, 0.0])
    assert np.array_equal(places(edges, np.tile(beyond, N)), np.tile(np.searchsorted(edges, beyond, side="left"), N))


def test_an_edge_of_minus_zero_is_not_below_zero() -> None:
    edges = np.append(-0.0, np.arange(1.0, 40.0))
    values = np.tile([0.0, -0.0, 0.5, 1.0], N)
    assert np.array_equal(places(edges, values), np.searchsorted(edges, values, side="left"))


def test_values_do_not_depend_on_how_many_are_taken_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    values = _columns()["long tail"]
    edges = np.unique(np.quantile(values, np.linspace(0, 1, 256)))
    whole = places(edges, values)
    monkeypatch.setattr(module, "AT_ONCE", 1_001)
    assert np.array_equal(places(edges, values), whole)
