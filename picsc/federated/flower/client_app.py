"""The ClientApp: what runs on the machine of a client for every message, between Flower and the client's own rows.

A message has a process of its own, which loads no more than the answer needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from picsc.errors import DataError, PicscError
from picsc.federated.flower.wire import packed, refusal, unpacked

if TYPE_CHECKING:
    from picsc.federated.flower.answers import Node

LEAST_ROWS = 10
"""Fewest rows that a client takes part with, unless its owner says otherwise."""
app = ClientApp()


def name_of(context: Context) -> str:
    """The name of the client.

    Raises:
        DataError: the configuration of the SuperNode names no file.
    """
    held = context.node_config
    if not held.get("data"):
        raise DataError("""the SuperNode has no file: start it with --node-config 'data="FILE"'""")
    return str(held.get("name") or Path(str(held["data"])).name.split(".")[0])


def node_of(context: Context) -> Node:
    """The client, by the configuration that its owner started the SuperNode with.

    Raises:
        DataError: the configuration names no file.
    """
    from picsc.federated.flower.answers import Node
    from picsc.runtime.cache import cache_folder

    held, name = context.node_config, name_of(context)
    folder = Path(str(held.get("folder") or cache_folder() / "picsc" / "flower" / name)).expanduser()
    numbers = Path(str(held["row-numbers"])).expanduser() if held.get("row-numbers") else None
    least = int(held.get("min-client-rows", LEAST_ROWS))
    return Node(name, Path(str(held["data"])).expanduser(), folder, least, numbers)


def _name(message: Message, context: Context) -> Message:
    try:
        return Message(packed(name_of(context), {}), reply_to=message)
    except PicscError as error:
        return Message(refusal(str(error)), reply_to=message)


def _answer(message: Message, context: Context) -> Message:
    from picsc.federated.flower.answers import answer  # loads pandas
    from picsc.federated.flower.asked import Asked

    try:
        text, arrays = unpacked(message.content)
        verb = message.metadata.message_type.split(".")[1]
        found = answer(node_of(context), verb, Asked.model_validate_json(text), arrays)
        return Message(packed(found.text, found.arrays or {}), reply_to=message)
    except PicscError as error:
        return Message(refusal(str(error)), reply_to=message)


app.query("name")(_name)
for _verb in ("describe", "scales", "summaries", "train", "evaluate"):
    app.query(_verb)(_answer)
