"""The answers of one real client to the messages of the server. Nothing here knows Flower, nor loads torch at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from picsc.federated.flower.asked import Asked
from picsc.federated.flower.node_rows import read_rows, scales_of
from picsc.federated.flower.schema import said_of

Arrays = dict[str, NDArray[Any]]
VERBS = ("describe", "scales", "summaries", "train", "evaluate")
"""What a client can be asked for."""


@dataclass(frozen=True, slots=True)
class Node:
    """One real client, as its owner configured it."""

    name: str
    source: Path
    """Its file."""
    folder: Path
    """Where it keeps what it remembers."""
    fewest: int
    """Fewest rows that it takes part with, whatever the server asks for."""
    numbers: Path | None = None
    """File with the number of each row among the rows of all clients, .npy; None counts on from the client before."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client sends."""

    text: str = "{}"
    """JSON."""
    arrays: Mapping[str, NDArray[Any]] | None = None


def answer(node: Node, verb: str, asked: Asked, arrays: Mapping[str, NDArray[Any]]) -> Answer:
    """What a client answers to one message.

    Args:
        node: the client.
        verb: one of `VERBS`.
        asked: the message.
        arrays: that came with it.

    Raises:
        PicscError: the message cannot be answered.
    """
    bound = max(node.fewest, asked.settings.min_client_rows)
    asked = asked.model_copy(update={"settings": asked.settings.model_copy(update={"min_client_rows": bound})})
    if verb == "describe":
        rows = read_rows(node.source, asked.settings, node.fewest)
        return Answer(said_of(rows.table, [str(name) for name in rows.file.frame.columns]).model_dump_json())
    if verb == "scales":
        assert asked.agreed is not None  # noqa: S101 - the server sends it with this verb
        rows = read_rows(node.source, asked.settings, node.fewest)
        return Answer(scales_of(rows, asked.agreed, asked).model_dump_json())
    from picsc.federated.flower.model_answers import model_answer  # loads torch

    return model_answer(node, verb, asked, arrays)
