from collections import UserDict, namedtuple
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from picsc.errors import DataError
from picsc.pytorch.batches import Keys, output_of, read_batch, repeatable

CPU = torch.device("cpu")
X, Y = torch.ones(4, 2), torch.arange(4)
Pair = namedtuple("Pair", ["x", "y"])  # noqa: PYI024 - as loaders give them


@pytest.mark.parametrize("batch", [(X, Y), [X, Y], Pair(X, Y)])
def test_the_last_entry_is_the_labels(batch: Any) -> None:
    found = read_batch(batch, Keys(), CPU)
    assert found.args[0] is X
    assert found.labels is Y
    assert (found.n, found.kwargs) == (4, {})


def test_dictionaries_and_nests_are_cut_by_rows_and_other_things_passed_whole() -> None:
    table = torch.ones(7)
    batch = UserDict({"x": {"left": X, "table": table}, "flag": True, "labels": Y})
    found = read_batch(batch, Keys(), CPU)
    args, kwargs = found.rows(torch.tensor([2, 0]))
    assert args == ()
    assert kwargs["x"]["left"].shape == (2, 2)
    assert kwargs["x"]["table"] is table
    assert kwargs["flag"] is True


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        ("words", "a batch is of type str"),
        ((X, [0, 1, 1, 0]), "labels of a batch are of type list"),
        ((torch.ones(0, 2), torch.ones(0)), "a batch has no rows"),
        (X, "inputs alone where labels are needed"),
    ],
)
def test_other_batches_are_refused(batch: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read_batch(batch, Keys(), CPU)


def test_outputs_are_found_in_what_models_return() -> None:
    for result in (X, {"logits": X}, SimpleNamespace(logits=X, loss=1), (X, Y)):
        assert output_of(result, Keys()) is X
    assert output_of({"scores": X}, Keys(logits="scores")) is X
    with pytest.raises(DataError, match="returns str, in which no outputs are found"):
        output_of("words", Keys())


def test_an_iterator_is_read_once_only() -> None:
    batches = [(X, Y)]
    assert repeatable(batches) is batches
    with pytest.raises(DataError, match="of type generator can be read once only"):
        repeatable(batch for batch in batches)
