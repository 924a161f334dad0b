"""New rows under the columns that a model knows: forms, gaps, levels and dates as the training rows had them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.encoding import encoded_names, fit
from picsc.datasets.load import from_frame
from picsc.datasets.new_rows import known_columns, new_rows
from picsc.datasets.table import POOLED, Dataset
from picsc.errors import DataError
from picsc.reports.common import Finding
from picsc.settings import ReadSettings


def read(training: dict[str, Any], new: dict[str, Any], **settings: Any) -> tuple[Dataset, Dataset, list[Finding]]:
    given = ReadSettings(no_target=True, **settings)
    table = from_frame(pd.DataFrame(training), given)
    found, findings = new_rows(pd.DataFrame(new), known_columns(table, given), where="new")
    assert encoded_names(found) == encoded_names(table)
    return table, found, findings


def test_training_rows_themselves_are_encoded_alike() -> None:
    generator = np.random.default_rng(0)
    training = {
        "size": np.where(generator.random(60) < 0.2, np.nan, generator.normal(size=60)),
        "colour": np.where(generator.random(60) < 0.2, None, generator.choice(["red", "green"], 60)),
        "flag": generator.integers(0, 2, 60),
        "when": [f"{day:02d}/{month:02d}/2024" for day, month in zip(generator.integers(1, 29, 60), [3, 4] * 30)],  # noqa: B905
        "price": [f"{value:.2f} EUR" for value in generator.normal(20, 3, 60)],
    }
    table, found, findings = read(training, training)
    encoder = fit(table)
    assert (encoder.transform(found).matrix == encoder.transform(table).matrix).all()
    assert not findings
    one = {name: values[3:4] for name, values in training.items()}  # the same row alone
    _, alone, _ = read(training, one)
    assert (encoder.transform(alone).matrix == encoder.transform(table).matrix[3]).all()


def test_levels_of_which_the_rare_ones_are_pooled() -> None:
    training = {"colour": ["red"] * 20 + ["green"] * 20 + ["ochre", "mauve"], "x": np.arange(42.0) % 7}
    table, found, findings = read(training, {"x": [1.0, 2.0, 3.0], "colour": ["ochre", "new", None]})
    [column, _] = found.columns
    assert column.levels == ("red", "green", POOLED)
    assert column.ordered.tolist() == [2, 2, -1]
    assert not findings
    assert column.indicator is False
    assert table.columns[0].name == "colour"


def test_truth_values_in_other_words_and_numbers_in_words() -> None:
    training = {"flag": [0, 1] * 10, "x": np.arange(20.0) % 7}
    _, found, _ = read(training, {"flag": ["true", "False", None], "x": ["1.5", "NA", ""]})
    flag, x = found.columns
    assert [flag.levels[code] if code >= 0 else None for code in flag.ordered] == ["1", "0", None]
    assert x.ordered.tolist() == pytest.approx([1.5, np.nan, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ({"x": [1.0]}, "new: no column 'd', which the model has learned from; the columns here are 'x'"),
        (
            {"x": ["1", "b"], "d": [None, None]},
            "column 'x' holds 'b' in data row 2, where the model knows numbers only",
        ),
        ({"x": [1.0], "d": ["maybe"]}, "column 'd' holds 'maybe' in data row 1, where the model knows dates only"),
        ({"x": pd.to_datetime(["2024-01-02"]), "d": ["2024-01-01"]}, "column 'x' holds '2024-01-02' in data row 1"),
    ],
)
def test_values_of_another_kind_are_refused(new: dict[str, Any], sentence: str) -> None:
    days = np.random.default_rng(0).permutation(28) + 1
    training = {"x": np.arange(28.0) % 9, "d": [f"2024-05-{day:02d}" for day in days]}
    with pytest.raises(DataError) as caught:
        read(training, new)
    assert sentence in str(caught.value)


def test_an_order_of_day_and_month_that_the_training_rows_prove() -> None:
    days = np.random.default_rng(0).permutation(28) + 1
    training = {"x": np.arange(28.0) % 9, "d": [f"{day:02d}/05/2024" for day in days]}  # 28/05: the day comes first
    _, found, _ = read(training, {"x": [1.0], "d": ["03/04/2024"]})
    seconds = int(found.columns[1].ordered[0])
    assert np.datetime64(seconds, "s") == np.datetime64("2024-04-03")
