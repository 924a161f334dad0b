import numpy as np
import pytest

from picsc.datasets.table import POOLED, Column, Dataset
from picsc.fragments import cut
from picsc.fragments.repeated_ids import repeated_ids
from picsc.reports.common import Finding
from picsc.settings import CutSettings

ROWS = 120


def found(column: Column, **settings: object) -> list[Finding]:
    keys = {"site": np.array([f"s{i}" for i in np.arange(ROWS) % 3], dtype=object)}
    dataset = Dataset("made", "memory", ROWS, (column,), (), None, keys)
    asked = CutSettings(**(settings or {"folds": 4}))  # type: ignore[arg-type]
    return repeated_ids(dataset, cut(dataset, asked, seed=0))


def people(name: str, values: int = 24) -> Column:
    return Column(name, "numeric", np.arange(ROWS, dtype=float) % values)


@pytest.mark.parametrize(
    "name", ["patient_id", "id", "subject", "Subject ID", "userId", "customers", "device-no", "subject#"]
)
def test_repeated_ids_are_proposed_as_groups(name: str) -> None:
    [finding] = found(people(name))
    assert (finding.code, finding.severity) == ("repeated-id", "note")
    assert finding.message.startswith(f"{name!r} (24 values, about 5 rows each) may say whom a row is about")
    assert finding.advice == f"if so, keep its rows together: --group {name}"


@pytest.mark.parametrize("name", ["age", "paid", "humid", "valid", "identity_score", "number", "sensor_reading"])
def test_other_names_are_no_ids(name: str) -> None:
    assert found(people(name)) == []


def test_levels_count_with_those_that_are_pooled() -> None:
    levels = tuple(f"p{i}" for i in range(4))
    codes = (np.arange(ROWS) % 5).astype(np.int32)
    [finding] = found(Column("patient", "categorical", codes, (*levels, POOLED), pooled=("p8", "p9")))
    assert "(6 values, about 20 rows each)" in finding.message


@pytest.mark.parametrize("values", [3, 100])
def test_few_values_and_nearly_unique_ones_are_no_groups(values: int) -> None:
    assert found(people("patient_id", values)) == []


def test_fractions_are_no_ids() -> None:
    assert found(Column("user", "numeric", np.arange(ROWS) % 24 / 7)) == []


@pytest.mark.parametrize("settings", [{"folds": 3, "splitter": "group", "group": "site"}, {"by": "site"}])
def test_groups_and_pieces_by_a_column_are_an_answer(settings: dict[str, object]) -> None:
    assert found(people("patient_id"), **settings) == []
