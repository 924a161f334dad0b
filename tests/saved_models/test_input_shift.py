"""New rows against counts of training rows: validity without a shift, and what is found with one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from picsc.datasets.memory import from_memory
from picsc.datasets.new_rows import known_columns, new_rows
from picsc.reports.predict import ColumnShift
from picsc.saved_models.input_shift import input_shift
from picsc.saved_models.training_rows import BINS, summarised, summary_of_text, summary_text
from picsc.settings import ReadSettings

READ = ReadSettings(no_target=True)


def compared(training: pd.DataFrame, new: pd.DataFrame, seed: int = 0) -> dict[str, ColumnShift]:
    table = from_memory(training, None, READ)
    counts = summary_of_text(summary_text(summarised(table)), "here")
    assert counts == summarised(table)
    return {
        each.name: each
        for each in input_shift(counts, new_rows(new, known_columns(table, READ), where="new")[0], seed=seed)
    }


def drawn(generator: np.random.Generator, n: int) -> pd.DataFrame:
    levels = np.array([f"level {min(each, 200)}" for each in generator.zipf(1.6, n)], object)
    levels[generator.random(n) < 0.1] = None
    return pd.DataFrame(
        {
            "normal": generator.normal(size=n),
            "heavy": generator.standard_cauchy(n),
            "zeros": np.where(generator.random(n) < 0.4, 0.0, generator.exponential(size=n)),
            "few": generator.integers(0, 6, n).astype(float) + 1,
            "words": levels,
        }
    )


@pytest.mark.parametrize(("n", "m"), [(150, 60), (200, 800)])
def test_level_without_a_shift(n: int, m: int) -> None:
    """Of 5 columns in 80 pairs, each p is at most 0.05 in 4 pairs; 13 or more happen once in 10,000 such tests."""
    generator = np.random.default_rng(5)
    found = [compared(drawn(generator, n), drawn(generator, m), seed) for seed in range(80)]
    for name in found[0]:
        assert sum((each[name].p or 1.0) <= 0.05 for each in found) <= 12, name
    assert sum(any(each.verdict == "shift" for each in columns.values()) for columns in found) <= 12


def shifted(change: Any) -> dict[str, ColumnShift]:
    generator = np.random.default_rng(1)
    return compared(drawn(generator, 400), change(drawn(generator, 300)))


def test_a_number_that_has_moved() -> None:
    found = shifted(lambda x: x.assign(normal=x["normal"] + 0.8))
    assert {name for name, each in found.items() if each.verdict == "shift"} == {"normal"}
    assert found["normal"].moved == pytest.approx(0.8, abs=0.15)
    assert found["normal"].distance == pytest.approx(0.31, abs=0.08)
    assert found["normal"].p == pytest.approx(1 / 2000)


def test_values_that_are_missing_now_and_levels_that_are_new() -> None:
    def change(x: pd.DataFrame) -> pd.DataFrame:
        here = np.arange(len(x)) % 4 == 0
        return x.assign(few=x["few"].where(~here), words=x["words"].where(~here, "mauve"))

    found = shifted(change)
    assert {name for name, each in found.items() if each.verdict == "shift"} == {"few", "words"}
    assert found["few"].missing_now - found["few"].missing_before == pytest.approx(0.25, abs=0.01)
    assert found["words"].words.startswith("'mauve': 0.0 % in training, 2")
    assert found["words"].distance == pytest.approx(0.27, abs=0.05)


def test_few_rows_are_inconclusive_and_none_at_all_are_told() -> None:
    generator = np.random.default_rng(2)
    found = compared(drawn(generator, 300), drawn(generator, 8))
    assert {each.verdict for each in found.values()} == {"inconclusive"}
    gone = compared(drawn(generator, 300), drawn(generator, 50).assign(normal=np.nan))
    assert (gone["normal"].rows, gone["normal"].distance, gone["normal"].moved) == (0, None, None)
    assert gone["normal"].verdict == "shift"  # all values are missing, where none was


def test_counts_do_not_grow_with_the_rows() -> None:
    generator = np.random.default_rng(3)
    small, large = (summarised(from_memory(drawn(generator, n), None, READ)) for n in (500, 20_000))
    for one, other in zip(small.columns, large.columns, strict=True):
        assert len(one.edges) <= BINS
        assert len(other.edges) <= BINS
        assert sum(other.counts) == other.present
    assert len(summary_text(large)) < 4 * len(summary_text(small))
