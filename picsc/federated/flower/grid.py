"""The way of messages through Flower's SuperLink to the clients and back; clients that are gone are waited for."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from flwr.app import Message
from flwr.serverapp import Grid

from picsc.datasets.natural_order import natural_order
from picsc.errors import DataError
from picsc.federated.flower.answers import Answer
from picsc.federated.flower.remote import Request
from picsc.federated.flower.wire import packed, refused, unpacked
from picsc.phrases import counted, listed

POLL = 0.3
"""Seconds between two looks for answers."""
NEW_NODES = 2.0
"""Seconds between two looks for nodes that take the place of others, while answers are missing."""


@dataclass(slots=True)
class Nodes:
    """The clients of a federation and their nodes of Flower; see `picsc.federated.flower.remote.Exchange`."""

    grid: Grid
    patience: float
    """Seconds that a client is waited for."""
    may_fail: int
    """Number of clients that may fail to answer."""
    names: list[str] = field(default_factory=list)
    """Of the clients."""
    node_of: dict[str, int] = field(default_factory=dict)
    """Node of Flower by the name of the client."""
    seen: dict[int, str] = field(default_factory=dict)
    """Name of the client by node, of all nodes that have said it."""

    def gather(self, wanted: int) -> None:
        """Wait for so many clients, and put them in natural order of their names.

        Args:
            wanted: number of clients, at least 2.

        Raises:
            DataError: they do not come, or two have the same name.
        """
        end = time.monotonic() + self.patience
        while len(self.node_of) < wanted and time.monotonic() < end:
            for node, name in self._new_nodes().items():
                if name in self.node_of:
                    raise DataError(
                        f"two SuperNodes call themselves {name}: give each a name of its own, by "
                        f"""--node-config 'name="..."'"""
                    )
                self.node_of[name] = node
            time.sleep(POLL)
        if len(self.node_of) < wanted:
            here = listed(sorted(self.node_of, key=natural_order)) or "none"
            raise DataError(
                f"{counted(len(self.node_of), 'client')} of {wanted} came within {self.patience:g} s ({here}): start "
                "the others, or ask for fewer by --run-config 'clients=N'"
            )
        self.names = sorted(self.node_of, key=natural_order)

    def ask(self, verb: str, requests: Mapping[int, Request]) -> dict[int, Answer]:
        """Ask clients, and wait for their answers; see `picsc.federated.flower.remote.Exchange`."""
        sent = self._push({client: self.node_of[self.names[client]] for client in requests}, verb, requests)
        found: dict[int, Answer] = {}
        last, looked = time.monotonic(), time.monotonic()
        while len(found) < len(requests):
            for message in self.grid.pull_messages(list(sent)):
                client = sent.pop(message.metadata.reply_to_message_id, None)
                if client is not None and client not in found and not message.has_error():
                    found[client], last = self._read(client, message), time.monotonic()
                elif client is not None and message.has_error():
                    self._refuse_crash(client, message)
            now = time.monotonic()
            missing = [client for client in requests if client not in found]
            if missing and now - looked > NEW_NODES:
                looked = now
                back = self._replaced(missing)
                sent |= self._push(back, verb, requests)
                last = now if back else last
            if missing and now - last > self.patience:
                self._give_up(verb, missing)
                break
            time.sleep(POLL)
        return found

    def _push(self, nodes: Mapping[int, int], verb: str, requests: Mapping[int, Request]) -> dict[str, int]:
        """Send messages; the client by the number of the message."""
        clients = list(nodes)
        messages = []
        for client in clients:
            request = requests[client]
            content = packed(request.asked.model_dump_json(), request.arrays)
            messages.append(Message(content, dst_node_id=nodes[client], message_type=f"query.{verb}"))
        numbers = self.grid.push_messages(messages) if messages else []
        return dict(zip(numbers, clients, strict=True))

    def _read(self, client: int, message: Message) -> Answer:
        sentence = refused(message)
        if sentence:
            raise DataError(f"client {self.names[client]}: {sentence}")
        return Answer(*unpacked(message.content))

    def _refuse_crash(self, client: int, message: Message) -> None:
        """Stop where the client's code failed; a node that is gone may come back."""
        if message.error.code in (1, 2, 8):  # the app raised, could not be loaded, or crashed
            raise DataError(f"client {self.names[client]} failed: {message.error.reason}")

    def _replaced(self, missing: Collection[int]) -> dict[int, int]:
        """Nodes that have come in the place of those that do not answer."""
        found = {}
        for node, name in self._new_nodes().items():
            if name in self.names and self.names.index(name) in missing:
                self.node_of[name] = node
                found[self.names.index(name)] = node
        return found

    def _new_nodes(self) -> dict[int, str]:
        """Names of the nodes that have not said theirs yet."""
        fresh = [node for node in self.grid.get_node_ids() if node not in self.seen]
        if not fresh:
            return {}
        messages = [Message(packed("", {}), dst_node_id=node, message_type="query.name") for node in fresh]
        pending = dict(zip(self.grid.push_messages(messages), fresh, strict=True))
        found: dict[int, str] = {}
        end = time.monotonic() + self.patience
        while pending and time.monotonic() < end:
            for message in self.grid.pull_messages(list(pending)):
                node = pending.pop(message.metadata.reply_to_message_id)
                if message.has_error():
                    self.seen[node] = ""
                    continue
                sentence = refused(message)
                if sentence:
                    raise DataError(f"SuperNode {node}: {sentence}")
                found[node] = self.seen[node] = unpacked(message.content)[0]
            time.sleep(POLL)
        return found

    def _give_up(self, verb: str, missing: Collection[int]) -> None:
        lost = [self.names[client] for client in missing]
        if len(lost) <= self.may_fail and verb in ("summaries", "train", "evaluate"):
            return
        raise DataError(
            f"{'client' if len(lost) == 1 else 'clients'} {listed(lost)} did not answer for "
            f"{self.patience:g} s: start the SuperNode again, and go on with --run-config 'resume=true'"
        )
