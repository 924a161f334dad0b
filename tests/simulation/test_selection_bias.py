"""Selection by one covariate: its probability is what it says, and so the density ratio is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from picsc.datasets.load import from_frame
from picsc.datasets.table import Dataset
from picsc.errors import DataError, SettingsError
from picsc.settings import ReadSettings
from picsc.simulation.selection_bias import selection


def values_of(data: Dataset) -> np.ndarray:
    return np.asarray(data.columns[0].values)


def table(n: int = 2000, **columns: object) -> Dataset:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.exponential(size=n), "b": rng.normal(size=n), "kind": rng.choice(["u", "v"], n)})
    return from_frame(frame.assign(target=np.arange(n) % 2, **columns), ReadSettings(target="target"))


def test_probability_falls_with_the_rank_whatever_the_distribution() -> None:
    data = table()
    found = selection(data, "a", 2.0)
    order = np.argsort(data.columns[0].values)
    assert (np.diff(found.probability[order]) <= 0).all()
    assert found.probability[order[1000]] == pytest.approx(0.5, abs=0.01)
    assert found.probability[order[1682]] == pytest.approx(expit(-2), abs=0.01)  # rank 84.1 % is one deviation


def test_weights_undo_the_selection() -> None:
    data = table()
    found = selection(data, "a", 1.5)
    values = values_of(data)
    everything = np.arange(2000)
    errors = []
    for seed in range(40):
        kept = found.selected(everything, seed=seed)
        weights = found.ratio(kept)
        assert weights.mean() == pytest.approx(1)
        errors.append(np.average(values[kept], weights=weights) - values.mean())
        assert values[kept].mean() < values.mean() - 0.2
    # 40 means around 0 with a known spread: beyond 5 standard errors once in 2 million seeds
    assert abs(np.mean(errors)) < 5 * np.std(errors) / np.sqrt(40)


def test_each_row_is_selected_with_its_probability() -> None:
    found = selection(table(200), "b", 1.0)
    counts = sum(np.isin(np.arange(200), found.selected(np.arange(200), seed=seed)) for seed in range(300))
    # sum over rows of (count - 300 p) is within 6 standard deviations
    variance = (300 * found.probability * (1 - found.probability)).sum()
    assert abs(counts.sum() - 300 * found.probability.sum()) < 6 * np.sqrt(variance)
    assert np.corrcoef(counts, found.probability)[0, 1] > 0.9


def test_auto_is_the_first_principal_component_whatever_the_sign_of_eigenvectors() -> None:
    rng = np.random.default_rng(2)
    common = rng.normal(size=500)
    data = table(500, c=common + 0.1 * rng.normal(size=500), d=common + 0.1 * rng.normal(size=500))
    found = selection(data, "auto", 1.0)
    assert np.corrcoef(found.probability, common)[0, 1] < -0.9
    assert "first principal component" in found.words


@pytest.mark.parametrize(
    ("column", "error", "said"),
    [
        ("kind", SettingsError, "is categorical; give a numeric column"),
        ("nothing", SettingsError, "no such column; numeric ones are a, b"),
    ],
)
def test_columns_that_cannot_select_are_named(column: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        selection(table(), column, 1.0)


def test_a_selection_that_leaves_nothing_is_refused() -> None:
    found = selection(table(20), "a", 10.0)
    with pytest.raises(DataError, match=r"lower --bias-strength"):
        found.selected(np.argsort(-values_of(table(20)))[:2].astype(np.int64), seed=0)
