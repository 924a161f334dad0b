"""Messages of Flower: text as a ConfigRecord, tensors as an ArrayRecord, in numpy's format without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict
from numpy.typing import NDArray

TEXT, ARRAYS, ERROR = "text", "arrays", "error"
"""Names of the records of a message."""
HELD = "held"
"""Name of the one value of a record of text."""


def packed(text: str, arrays: Mapping[str, NDArray[Any]]) -> RecordDict:
    """The content of a message.

    Args:
        text: JSON.
        arrays: by name; may be empty.
    """
    content = RecordDict({TEXT: ConfigRecord({HELD: text})})
    if arrays:
        content[ARRAYS] = ArrayRecord({name: Array(each) for name, each in arrays.items()})
    return content


def unpacked(content: RecordDict) -> tuple[str, dict[str, NDArray[Any]]]:
    """The inverse of `packed`."""
    held = content.array_records.get(ARRAYS, {})
    return str(content.config_records[TEXT][HELD]), {name: each.numpy() for name, each in held.items()}


def refusal(sentence: str) -> RecordDict:
    """The content of an answer that says why there is none."""
    return RecordDict({ERROR: ConfigRecord({HELD: sentence})})


def refused(message: Message) -> str:
    """The reason why a client did not answer; empty if it did."""
    found = message.content.config_records.get(ERROR)
    return "" if found is None else str(found[HELD])
