"""One round of FedAvg in Flower's simulation; the other process of `benchmarks/federation.py`, which starts it.

    PATH/python benchmarks/federation_flower.py ROUND.npz THETA.npy

Imports nothing of picsc, and writes the averaged model to THETA.npy and its timings as JSON to THETA.json. Flower's
settings, so that its time is that of its best reasonable use:

- one actor per core, each client one core, one torch thread in each actor: the training of small models in processes
  that do not share threads is what suits this machine;
- the clock starts when all actors live, have imported torch and read the data, and have taken training steps; starting
  them is in the time of the whole process only;
- images are read once per actor, not per client, and minibatches are cut by row numbers, without a DataLoader;
- convolutions see channels-last memory, which is faster here; SGD is torch's own with its default implementation;
- the model travels as one array, and is not evaluated here, but by the process that started this one;
- telemetry, ray's usage statistics and its dashboard are off.

Flower 1.42 recommends the command `flwr run`, which starts a server process and then runs the engine that
`run_simulation` runs without one.
"""

from __future__ import annotations

import os

os.environ["FLWR_TELEMETRY_ENABLED"] = os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read when they are imported
os.environ["FLWR_LOG_LEVEL"] = "ERROR"

import json
import sys
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MessageType, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

CORES = len(os.sched_getaffinity(0))


class Shared(NamedTuple):
    """Data that an actor reads once."""

    pixels: np.ndarray
    labels: Tensor
    clients: np.ndarray
    """Row numbers of each client, (clients, rows)."""
    scale: tuple[float, float]
    """Mean and standard deviation of the pixels."""
    recipe: dict[str, float]


@cache
def shared(path: str) -> Shared:
    torch.set_num_threads(1)
    with np.load(path) as stored:
        recipe = {name: stored[name].item() for name in ("epochs", "batch_size", "lr", "momentum", "seed")}
        labels = torch.from_numpy(stored["labels"])
        return Shared(stored["pixels"], labels, stored["clients"], tuple(stored["scale"].tolist()), recipe)


def lenet() -> nn.Sequential:
    """The layers of `picsc.training.networks.lenet` for one channel of 28 x 28 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(6, 16, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def trained(theta: np.ndarray, data: Shared, client: int) -> tuple[np.ndarray, int]:
    """A client's model after its epochs, and its rows."""
    rows = data.clients[client]
    mean, deviation = data.scale
    x = torch.from_numpy(data.pixels[rows]).float().sub_(mean).div_(deviation)
    x, y = x.to(memory_format=torch.channels_last), data.labels[rows]
    model = lenet()
    vector_to_parameters(torch.from_numpy(theta), model.parameters())
    model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=data.recipe["lr"], momentum=data.recipe["momentum"])
    loss = nn.CrossEntropyLoss()
    generator = torch.Generator().manual_seed(int(data.recipe["seed"]) + client)
    size = int(data.recipe["batch_size"])
    for _ in range(int(data.recipe["epochs"])):
        order = torch.randperm(len(rows), generator=generator)
        for batch in order.split(size):
            optimizer.zero_grad()
            loss(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return parameters_to_vector(p.contiguous() for p in model.parameters()).detach().numpy(), len(rows)


client_app = ClientApp()


@client_app.train()
@client_app.query()  # the same work before the clock starts
def train(message: Message, context: Context) -> Message:
    wall, processor = time.perf_counter(), time.process_time()
    data = shared(str(message.content["config"]["path"]))
    theta = message.content["arrays"]["theta"].numpy().copy()
    theta, n = trained(theta, data, int(context.node_config["partition-id"]))
    spent = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    content = RecordDict(
        {
            "arrays": ArrayRecord({"theta": Array(theta)}),
            "metrics": MetricRecord({"num-examples": n, "pid": os.getpid(), **spent}),
        }
    )
    return Message(content, reply_to=message)


def warmed_up(grid: Grid, arrays: ArrayRecord, config: ConfigRecord) -> set[int]:
    """Let every actor do a client's work; returns their process numbers."""
    content = RecordDict({"arrays": arrays, "config": config})
    warm: set[int] = set()
    while not list(grid.get_node_ids()):  # they come after ray has started
        time.sleep(0.01)
    for _ in range(10):
        if len(warm) >= CORES:
            break
        nodes = list(grid.get_node_ids())[: 2 * CORES]
        asked = [Message(content, message_type=MessageType.QUERY, dst_node_id=node) for node in nodes]
        warm |= {int(reply.content["metrics"]["pid"]) for reply in grid.send_and_receive(asked)}
    return warm


def main(path: str, target: Path) -> None:
    with np.load(path) as stored:
        theta, clients = stored["theta"], len(stored["clients"])
    timings: dict[str, float] = {}
    versions = {name: version(name) for name in ("flwr", "ray", "torch", "numpy")}
    server_app = ServerApp()

    @server_app.main()
    def serve(grid: Grid, _context: Context) -> None:
        arrays, config = ArrayRecord({"theta": Array(theta)}), ConfigRecord({"path": path})
        timings["actors"] = len(warmed_up(grid, arrays, config))
        # The strategy finds nothing to evaluate, so that its start is one round of training and the mean.
        strategy = FedAvg(fraction_evaluate=0.0, min_train_nodes=clients, min_available_nodes=clients)
        start, processor = time.perf_counter(), time.process_time()
        result = strategy.start(grid, arrays, num_rounds=1, train_config=config)
        timings["seconds"], timings["server_processor"] = time.perf_counter() - start, time.process_time() - processor
        spent = result.train_metrics_clientapp[1]  # means over clients
        timings["training"], timings["training_processor"] = clients * spent["wall"], clients * spent["processor"]
        # Most of the server's is a thread that asks every client's mailbox for messages, ten times a second. Ray's own
        # processes are left out.
        timings["processor"] = timings["server_processor"] + timings["training_processor"]
        np.save(target, result.arrays["theta"].numpy().astype(np.float32))

    run_simulation(
        server_app,
        client_app,
        num_supernodes=clients,
        backend_name="ray",
        backend_config={
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
            "init_args": {"num_cpus": CORES, "include_dashboard": False, "_temp_dir": str(target.parent / "ray")},
        },
    )
    target.with_suffix(".json").write_text(json.dumps({**timings, "versions": versions}), encoding="utf-8")


if __name__ == "__main__":
    # Actors import the objects of a module by name, but receive those of a script as a new copy with every message.
    import federation_flower

    federation_flower.main(sys.argv[1], Path(sys.argv[2]))
