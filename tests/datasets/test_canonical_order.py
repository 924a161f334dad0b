from dataclasses import replace

import numpy as np
import pytest

from picsc.datasets.canonical_order import canonical, renumbered
from picsc.datasets.table import POOLED, Column, Dataset, Target


def table(rows: int = 40, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    columns = (
        Column("a", "numeric", np.where(rng.random(rows) < 0.2, np.nan, rng.integers(3, size=rows) / 2)),
        Column("b", "categorical", rng.integers(-1, 4, size=rows).astype(np.int32), ("u", "v", "w", POOLED)),
        Column("c", "boolean", np.arange(rows, dtype=np.int32) % 2, ("yes", "no")),
    )
    target = Target("y", "classes", rng.integers(3, size=rows), ("k", "l", "m"), "--target")
    return Dataset("made", "memory", rows, columns, (), target)


def permuted(dataset: Dataset, order: np.ndarray) -> Dataset:
    assert dataset.target is not None
    return replace(
        dataset,
        columns=tuple(replace(column, values=column.values[order]) for column in dataset.columns),
        target=replace(dataset.target, values=dataset.target.values[order]),
    )


def respelt(dataset: Dataset) -> Dataset:
    """The same rows, with the levels of two columns in another order and under other names."""
    a, b, c = dataset.columns
    moved = np.array([2, 0, 1, 3, -1])
    b = replace(b, values=moved[b.values].astype(np.int32), levels=("x", "a", "z", POOLED))
    c = replace(c, values=(1 - c.values).astype(np.int32), levels=("1", "0"))
    return replace(dataset, columns=(a, b, c))


def same(one: Dataset, two: Dataset) -> None:
    assert one.target is not None
    assert two.target is not None
    for left, right in zip(one.columns, two.columns, strict=True):
        np.testing.assert_array_equal(left.values, right.values)
    np.testing.assert_array_equal(one.target.values, two.target.values)


@pytest.mark.parametrize("seed", range(5))
def test_rows_in_any_order_are_one_table_with_the_same_labels_and_units(seed: int) -> None:
    dataset = table(seed=seed)
    rng = np.random.default_rng(seed)
    units = rng.integers(8, size=dataset.n)
    labels = units % 3
    shuffled = rng.permutation(dataset.n)
    names = rng.permutation(8)
    one, order = canonical(dataset, labels, units)
    two, again = canonical(permuted(dataset, shuffled), labels[shuffled], names[units[shuffled]])
    same(one, two)
    assert one.columns[1].levels == two.columns[1].levels
    np.testing.assert_array_equal(labels[order], labels[shuffled][again])
    np.testing.assert_array_equal(renumbered(units[order]), renumbered(names[units[shuffled]][again]))
    assert sorted(order.tolist()) == list(range(dataset.n))


@pytest.mark.parametrize("seed", range(5))
def test_spelling_changes_nothing(seed: int) -> None:
    dataset = table(seed=seed)
    labels = np.zeros(dataset.n, np.int64)
    one, two = canonical(dataset, labels, None)[0], canonical(respelt(dataset), labels, None)[0]
    same(one, two)
    assert two.columns[1].levels[-1] == POOLED


def test_values_move_together_with_their_levels() -> None:
    dataset = table()
    settled, order = canonical(dataset, np.zeros(dataset.n, np.int64), None)
    for before, after in zip(dataset.columns[1:], settled.columns[1:], strict=True):
        spelt = [None if code < 0 else before.levels[code] for code in before.values[order]]
        assert spelt == [None if code < 0 else after.levels[code] for code in after.values]
    np.testing.assert_array_equal(settled.columns[0].values, dataset.columns[0].values[order])


def test_last_bits_do_not_move_a_row() -> None:
    x = np.random.default_rng(0).normal(size=500)
    noisy = x.astype(np.float32).astype(np.float64)
    labels = np.zeros(500, np.int64)
    orders = [
        canonical(Dataset("made", "memory", 500, (Column("x", "numeric", values),), (), None), labels, None)[1]
        for values in (x, noisy)
    ]
    np.testing.assert_array_equal(*orders)


def test_ids_are_numbered_by_appearance() -> None:
    np.testing.assert_array_equal(renumbered(np.array([7, 3, 7, 9, 3])), [0, 1, 0, 2, 1])
