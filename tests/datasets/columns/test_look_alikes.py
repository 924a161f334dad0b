import numpy as np
import pytest

from picsc.datasets.columns.look_alikes import look_alikes
from picsc.datasets.table import Column, Dataset, Target


def table(*levels: str, classes: tuple[str, ...] = ("a", "b")) -> Dataset:
    codes = np.arange(20) % len(levels)
    column = Column("city", "categorical", codes.astype(np.int32), levels)
    target = Target("y", "classes", np.arange(20) % len(classes), classes, "--target")
    return Dataset("made", "memory", 20, (column,), (), target)


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("caf\u00e9", "cafe\u0301", r"'caf\xe9' and 'cafe\u0301'"),
        ("New York", "New\u00a0York", r"'New York' and 'New\xa0York'"),
        ("Rome", "Rome\u200b", r"'Rome' and 'Rome\u200b'"),
    ],
)
def test_spellings_of_one_word_are_named(one: str, other: str, shown: str) -> None:
    [finding] = look_alikes(table(one, "x", other))
    assert finding.severity == "warning"
    assert finding.message == f"levels that look the same and are not in 1 column: 'city' ({shown})"


def test_classes_are_looked_at_as_well() -> None:
    [finding] = look_alikes(table("a", classes=("\u00fc", "u\u0308")))
    assert "'y'" in finding.message


def test_different_words_are_no_finding() -> None:
    assert look_alikes(table("caf\u00e9", "cafe", "Caf\u00e9", "\u0130", "i")) == []
