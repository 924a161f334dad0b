"""Encodings that grow with the pieces of a sequence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.encoding import fit
from picsc.datasets.load import from_frame
from picsc.datasets.running_encoding import encoder_of, numeric_values, scales_after
from picsc.settings import ReadSettings


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_each_piece_is_encoded_by_its_rows_and_those_before(scale: float) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": scale * (5 + rng.normal(size=60)), "word": ["x", "y", "z"] * 20, "b": 1e9 + rng.normal(size=60)}
    )
    frame.loc[[3, 40], "b"] = np.nan
    table = from_frame(frame, ReadSettings(no_target=True))
    pieces = [np.arange(0, 25), np.arange(25, 30), np.arange(30, 60)]
    found = scales_after(numeric_values(table), pieces, [(2, pieces[2]), (0, pieces[0]), (1, pieces[1])])
    for scales, rows in zip(found, (np.arange(60), np.arange(25), np.arange(30)), strict=True):
        encoder, anew = encoder_of(table, scales), fit(table, rows)
        assert encoder.names == anew.names
        np.testing.assert_allclose(np.array(encoder.scales), np.array(anew.scales), rtol=1e-8)


def test_a_constant_is_exactly_constant_and_no_value_is_no_mean() -> None:
    frame = pd.DataFrame({"a": [0.1] * 10 + [0.2] * 10, "b": [np.nan] * 10 + [3.0, 4.0] * 5})
    table = from_frame(frame, ReadSettings(no_target=True))
    pieces = [np.arange(5), np.arange(5, 10), np.arange(10, 20)]
    first, second, third = scales_after(numeric_values(table), pieces, list(enumerate(pieces)))
    assert first[0] == second[0] == (0.1, 0.0)
    assert np.isnan(first[1][0])
    assert second[1][1] == 0
    assert third == [(pytest.approx(0.15), pytest.approx(0.05)), (pytest.approx(3.5), pytest.approx(0.5))]
