"""The answers of one real client for which it needs a model: summaries, training, scores. Nothing here knows Flower.

Letters: a models of one method, d parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from picsc.federated.algorithms.by_name import algorithm
from picsc.federated.clients.local_round import LocalTask, local_round, summary_seed
from picsc.federated.clients.mlps import ClientMlps
from picsc.federated.flower.answers import Answer, Arrays, Node
from picsc.federated.flower.asked import Asked, AskedTask
from picsc.federated.flower.memory import remember, remembered
from picsc.federated.flower.node_clients import clients_of
from picsc.federated.flower.node_rows import read_rows
from picsc.federated.flower.summary_arrays import arrays_of, tensor
from picsc.runtime.threads import one_thread

ALONE = np.zeros(1, np.int64)
"""The number of the client where it is the only one."""


def model_answer(node: Node, verb: str, asked: Asked, arrays: Mapping[str, NDArray[Any]]) -> Answer:
    """What a client answers to a message that brings models.

    Args:
        node: the client.
        verb: summaries, train or evaluate.
        asked: the message.
        arrays: that came with it.
    """
    assert asked.encoding is not None  # noqa: S101 - the server sends it with these verbs
    numbers = None if node.numbers is None else np.load(node.numbers, allow_pickle=False)
    client = clients_of(read_rows(node.source, asked.settings, node.fewest), asked.encoding, asked, numbers)
    with one_thread(), torch.no_grad():
        if verb == "train":
            return Answer(arrays=_trained(node, client, asked, arrays))
        if verb == "summaries":
            return Answer(arrays=_summaries(client, asked, arrays, asked.summaries))
        return Answer(arrays=_scores(client, asked, arrays) | _summaries(client, asked, arrays, asked.summaries))


def _summaries(client: ClientMlps, asked: Asked, arrays: Mapping[str, NDArray[Any]], of: Iterable[int]) -> Arrays:
    found: Arrays = {}
    for i in of:
        seed = summary_seed(asked.seed, asked.round, asked.client)
        for j, summary in enumerate(client.summaries(0, tensor(arrays[f"{i}.theta"]), seed=seed)):
            if summary is not None:
                found |= {f"{i}.{j}.{name}": each for name, each in arrays_of(summary).items()}
    return found


def _trained(node: Node, client: ClientMlps, asked: Asked, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    tasks = [_task(asked, task, _part(arrays, i)) for i, task in enumerate(asked.tasks)]
    if any(task.memory for task in tasks):
        kept = remembered(node.folder, asked.run, asked.last)
        for i, task in enumerate(tasks):
            task.memory.update(_part(kept, i))
    found: Arrays = {}
    after: dict[str, Tensor] = {}
    for i, result in enumerate(local_round(client, ALONE, tasks, seed=asked.seed, round_number=asked.round)):
        found |= {f"{i}.sent.{name}": each.numpy() for name, each in result.sent.items()}
        found[f"{i}.broken"] = result.broken
        after |= {f"{i}.{name}": each for name, each in result.kept.items()}
    if after:
        remember(node.folder, asked.run, asked.round, after, asked.last)
    return found


def _task(asked: Asked, task: AskedTask, state: Mapping[str, NDArray[Any]]) -> LocalTask:
    """A task with what the client remembers before its first round."""
    method = algorithm(task.method, asked.settings, task.constant)
    tensors = {name: tensor(each) for name, each in state.items()}
    flagged = None if task.flagged is None else torch.tensor([task.flagged])
    return LocalTask(method, tensors, flagged, task.rates, dict(method.initial_state(tensors["theta"], 1)[1]))


def _scores(client: ClientMlps, asked: Asked, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    found: Arrays = {"test": np.array([float(len(client.test.rows)), 0.0, 0.0])}
    if client.likelihood == "numbers":
        y = client.y[client.test.rows].double() * client.unit
        varies = float(y.min()) < float(y.max())  # exactly: rounding leaves a constant some variance above 0
        found["test"][1:] = float(y.mean()), float(y.var(correction=0)) if varies else 0.0
    for i in range(len(asked.tasks)):
        scores = client.evaluate(tensor(arrays[f"{i}.theta"]))
        found[f"{i}.scores"] = torch.stack([scores.accuracy[:, 0], scores.log_loss[:, 0]]).numpy()
    return found


def _part(held: Mapping[str, Any], i: int) -> dict[str, Any]:
    return {name.removeprefix(f"{i}."): each for name, each in held.items() if name.startswith(f"{i}.")}
