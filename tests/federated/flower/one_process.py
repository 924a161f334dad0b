"""Flower's Grid with the nodes in this process, for tests of messages; only where Flower is installed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from flwr.app import Context, Error, Message, RecordDict

from picsc.federated.flower.client_app import app


@dataclass
class OneProcess:
    """Flower's Grid, whose nodes are in this process."""

    nodes: dict[int, dict[str, str]]
    """Configuration of each node."""
    dies: dict[int, int] = field(default_factory=dict)
    """Number of the message to train after which a node is gone, by node."""
    spare: dict[int, dict[str, str]] = field(default_factory=dict)
    """Nodes that come when one is gone."""
    trained: dict[int, int] = field(default_factory=dict)
    replies: dict[str, Message] = field(default_factory=dict)

    def get_node_ids(self) -> list[int]:
        return list(self.nodes)

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        numbers = []
        for message in messages:
            number = f"m{len(self.replies)}"
            message.metadata.__dict__["_message_id"] = number
            self.replies[number] = self._reply(message)  # type: ignore[assignment]
            numbers.append(number)
        return numbers

    def _reply(self, message: Message) -> Message | None:
        node = message.metadata.dst_node_id
        if message.metadata.message_type == "query.train":
            self.trained[node] = self.trained.get(node, 0) + 1
        if node in self.dies and self.trained.get(node, 0) >= self.dies[node]:
            self.nodes |= self.spare
            return None
        context = Context(1, node, dict(self.nodes[node]), RecordDict(), {})
        try:
            return app(message, context)
        except Exception as error:  # noqa: BLE001 - as Flower does
            return Message(Error(2, f"{type(error)}: {error}"), reply_to=message)

    def pull_messages(self, numbers: Iterable[str]) -> list[Message]:
        found = [self.replies.get(number) for number in numbers]
        for number in numbers:
            self.replies[number] = None  # type: ignore[assignment] # it is handed over once
        return [each for each in found if each is not None]


def configured(folder: Path, files: list[Path]) -> dict[int, dict[str, str]]:
    named = enumerate(reversed(files))
    return {7 + i: {"data": str(path), "folder": str(folder / f"kept-{path.stem}")} for i, path in named}
