"""Cost of a round of federated averaging in picsc, next to Flower's simulation of the same round.

    python benchmarks/federation.py --flower-python PATH [--clients 100] [--repeats 3] [--data-dir DIR] [--write PATH]

MNIST's 60,000 training images are dealt out at random to clients of equal size; each trains LeNet-5 for one epoch of
minibatches of 64 with SGD at learning rate 0.01 and momentum 0.9, and the server takes the mean. Both sides get
the same images, partition and first weights in one file, take turns as fresh processes within every repeat, and have
all cores. A repeat has its own partition, weights and minibatches; the weights have seen a few minibatches of the
training images, because ten steps from random ones leave LeNet at chance, where all accuracies are alike.

The time of the round is from the first weights to the mean, when all processes live, have read the data and are warm;
the time that they need until then is in that of the whole process. Flower's settings are described in
federation_flower.py, which runs in an environment of its own with flwr[simulation] and torch. The resulting models are
scored here, on MNIST's 10,000 test images. Processor time of the round is counted by either side itself: for Flower
that of its server and of the clients' training, without ray. Processor time and memory of the whole process are those
of all processes that a side starts, read from /proc twice a second; memory is the largest sum at any one time, and
pages that processes share are counted once. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from picsc.datasets.catalog.lookup import by_name
from picsc.datasets.images import ImageSet, pixel_scale
from picsc.federated.algorithms.fedavg import FedAvg
from picsc.federated.clients.evaluation import own_rows
from picsc.federated.clients.local_steps import LocalRecipe
from picsc.federated.clients.local_terms import LocalTerms
from picsc.federated.clients.networks import ClientModules
from picsc.federated.rounds import RoundSettings, run_round
from picsc.federated.run_state import Contender, initial_run
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.training.networks import lenet
from picsc.training.predict import predict
from picsc.training.single import train

RECIPE: dict[str, Any] = {"epochs": 1, "batch_size": 64, "lr": 0.01, "momentum": 0.9}
FIRST_STEPS, FIRST_LR = 60, 0.001
SIDES = ("picsc", "Flower")
TARGET = 3.0
TICK = os.sysconf("SC_CLK_TCK")


class Round(NamedTuple):
    """The model and the cost of one round."""

    theta: NDArray[np.float32]
    """Mean model after the round, (d,)."""
    seconds: float
    """Wall-clock seconds."""
    processor: float
    """Processor seconds of all processes that take part."""


class Run(NamedTuple):
    """One process of one side."""

    seconds: float
    """Seconds of the round."""
    processor: float
    """Processor seconds of the round."""
    whole: float
    """Seconds of the whole process."""
    whole_processor: float
    """Processor seconds of the whole process and all that it started."""
    memory: float
    """Largest memory of all its processes at any one time, MB."""
    accuracy: float
    """Accuracy of the mean model on the test images, in [0, 1]."""
    theta: NDArray[np.float32]
    """Mean model after the round, (d,)."""
    details: dict[str, Any]
    """Timings and versions that the side reports itself."""


class Start(NamedTuple):
    """The model that a repeat starts from."""

    theta: NDArray[np.float32]
    """Parameters, (d,)."""
    accuracy: float
    """Accuracy on the test images, in [0, 1]."""


class Watch(threading.Thread):
    """Reads processor time and memory of a process and its descendants, at a cost of about 1 % of the cores."""

    def __init__(self, root: int) -> None:
        """Watch the process with this number."""
        super().__init__(daemon=True)
        self.known, self.over = {root}, threading.Event()
        self.ticks: dict[int, int] = {}
        self.memory = 0.0

    def run(self) -> None:
        """Read until `over` is set."""
        while not self.over.wait(0.5):
            self.read()

    def read(self) -> None:
        """One reading; processes that end meanwhile are left out."""
        parents: dict[int, int] = {}
        ticks: dict[int, int] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                process, after_name = int(folder.name), (folder / "stat").read_text().rpartition(")")[2].split()
                parents[process], ticks[process] = int(after_name[1]), sum(map(int, after_name[11:13]))
        grown = True
        while grown:  # a descendant stays one when its parent has ended
            found = {process for process, parent in parents.items() if parent in self.known} - self.known
            self.known |= found
            grown = bool(found)
        alive = self.known & ticks.keys()
        self.ticks |= {process: ticks[process] for process in alive}
        self.memory = max(self.memory, sum(map(proportional, alive)))


def proportional(process: int) -> float:
    """Memory of a process with its share of shared pages, MB."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def dealt(images: ImageSet, clients: int, seed: int) -> NDArray[np.int64]:
    """Row numbers of each client, (clients, rows); the few training rows that are left over are not used."""
    training = np.setdiff1d(np.arange(images.n), images.test)
    size = len(training) // clients
    order = np.random.default_rng(seed).permutation(training)[: clients * size]
    return np.sort(order.reshape(clients, size), 1)


def write_round(path: Path, images: ImageSet, clients: int, seed: int) -> Start:
    """Write the file with everything that a side needs for one round."""
    rows = dealt(images, clients, seed)
    scale = np.array(pixel_scale(images.pixels[rows.ravel()]))
    model = lenet(1, 28, 10, seed=seed)
    some = rows.ravel()[:: max(1, rows.size // 6000)]
    x, y = standardised(images.pixels[some], scale), torch.from_numpy(images.labels[some])
    train(model, x, y, likelihood="classes", steps=FIRST_STEPS, lr=FIRST_LR, batch_size=64, seed=seed)
    theta = flat(model)
    np.savez(
        path, pixels=images.pixels, labels=images.labels, clients=rows, theta=theta, scale=scale, seed=seed, **RECIPE
    )
    return Start(theta, scored(theta, images, scale))


def standardised(pixels: NDArray[np.uint8], scale: NDArray[np.float64]) -> Tensor:
    mean, deviation = scale.tolist()
    return torch.from_numpy(pixels).float().sub_(mean).div_(deviation)


def flat(model: nn.Module) -> NDArray[np.float32]:
    theta: NDArray[np.float32] = parameters_to_vector(model.parameters()).detach().numpy()
    return theta


def unflat(theta: NDArray[np.float32]) -> nn.Module:
    model = lenet(1, 28, 10, seed=0)
    vector_to_parameters(torch.from_numpy(theta.copy()), model.parameters())  # which become views of it
    return model


def _picsc_round(path: Path) -> Round:
    """The round as `picsc fed` runs it: clients one model at a time, on as many threads as there are cores."""
    with np.load(path) as stored:
        inputs = {name: stored[name] for name in stored.files}
    images = standardised(inputs["pixels"], inputs["scale"]).to(memory_format=torch.channels_last)
    rows = tuple(np.sort(each) for each in inputs["clients"])
    clients = ClientModules(
        take=lambda chosen: images[torch.from_numpy(chosen)],
        y=torch.from_numpy(inputs["labels"]),
        classes=10,
        train=rows,
        test=own_rows([torch.from_numpy(each[:1]) for each in rows]),  # Flower does not score in the round either
        model=lambda seed: lenet(1, images.shape[-1], 10, seed=seed),
        recipe=LocalRecipe(int(inputs["epochs"]), int(inputs["batch_size"]), momentum=float(inputs["momentum"])),
        workers=len(os.sched_getaffinity(0)),
    )
    contender = Contender("fedavg", FedAvg(), clients, (float(inputs["lr"]),))
    run = initial_run(contender, 0)
    run.state["theta"] = torch.from_numpy(inputs["theta"])[None]
    round_settings = RoundSettings(
        rounds=1, seed=1_000_000 * (int(inputs["seed"]) + 1), participants=len(rows)
    )  # not Flower's order
    with one_thread():
        warm = torch.tensor(contender.rates)
        clients.fit(np.arange(2), run.state["theta"][None], LocalTerms(), warm, seed=0, round_number=0)  # as Flower's
        start, processor = time.perf_counter(), time.process_time()
        run_round([contender], [run], round_settings, 0)
        theta = run.state["theta"][0].numpy()
        return Round(theta, time.perf_counter() - start, time.process_time() - processor)


def scored(theta: NDArray[np.float32], images: ImageSet, scale: NDArray[np.float64]) -> float:
    """Accuracy on the test images."""
    x = standardised(images.pixels[images.test], scale)
    right = predict(unflat(theta), x, likelihood="classes").argmax(1).numpy() == images.labels[images.test]
    return float(right.mean())


def measured(side: str, command: list[str], path: Path, images: ImageSet) -> Run:
    """Start one side and wait for it."""
    target = path.with_name(f"{side}.npy")
    log = path.with_name(f"{side}.log")
    start = time.perf_counter()
    with log.open("wb") as file:
        process = subprocess.Popen([*command, str(path), str(target)], stdout=file, stderr=subprocess.STDOUT)
        watch = Watch(process.pid)
        watch.start()
        status = process.wait()
    whole = time.perf_counter() - start
    watch.over.set()
    watch.join()
    if status != 0 or not target.exists():
        raise SystemExit(f"{side} ended with status {status} and wrote no model:\n{log.read_text(errors='replace')}")
    details = json.loads(target.with_suffix(".json").read_text(encoding="utf-8"))
    theta = np.load(target)
    target.unlink()
    with np.load(path) as stored:
        accuracy = scored(theta, images, stored["scale"])
    processor = sum(watch.ticks.values()) / TICK
    return Run(details["seconds"], details["processor"], whole, processor, watch.memory, accuracy, theta, details)


def spread(values: list[float], digits: int) -> str:
    """Median and range."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def line(side: str, runs: list[Run]) -> str:
    """A row of the table."""
    cells = [
        side,
        spread([run.seconds for run in runs], 2),
        spread([run.processor for run in runs], 2),
        spread([run.whole for run in runs], 1),
        spread([run.whole_processor for run in runs], 1),
        spread([run.memory for run in runs], 0),
        spread([100 * run.accuracy for run in runs], 2),
    ]
    return f"| {' | '.join(cells)} |"


def ratios(pairs: list[tuple[Run, Run]]) -> list[str]:
    """Ratios of cost, and the verdict on the target; pairs are picsc and Flower of one repeat."""
    faster = [b.seconds / a.seconds for a, b in pairs]
    verdict = "met" if statistics.median(faster) >= TARGET else "MISSED"
    return [
        f"- Flower / picsc, seconds of the round: {spread(faster, 2)}, at least {TARGET:g} asked: {verdict}",
        f"- Flower / picsc, processor seconds of the round: {spread([b.processor / a.processor for a, b in pairs], 2)}",
        f"- Flower / picsc, seconds of the process: {spread([b.whole / a.whole for a, b in pairs], 2)}",
        f"- Flower / picsc, peak memory: {spread([b.memory / a.memory for a, b in pairs], 2)}",
    ]


def agreement(pairs: list[tuple[Run, Run]], starts: list[Start], tests: int) -> list[str]:
    """Differences between the two models, which should be due to the order of images alone."""
    apart = [100 * (a.accuracy - b.accuracy) for a, b in pairs]
    mean = statistics.mean(run.accuracy for pair in pairs for run in pair)
    # At worst, two models would be right independently of each other; these agree on most images.
    error = 100 * (2 * mean * (1 - mean) / tests / len(apart)) ** 0.5
    verdict = "agree" if abs(statistics.mean(apart)) <= 3 * error else "DIFFER BEYOND NOISE"
    way = [
        100 * float(np.linalg.norm(a.theta - b.theta) / np.linalg.norm(b.theta - start.theta))
        for (a, b), start in zip(pairs, starts, strict=True)
    ]
    return [
        (
            f"- Accuracy before the round: {spread([100 * start.accuracy for start in starts], 2)}. After it, picsc "
            f"minus Flower: {statistics.mean(apart):+.2f} points ({', '.join(f'{points:+.2f}' for points in apart)}), "
            f"standard error of the mean at most {error:.2f}: {verdict}"
        ),
        f"- The two models are {spread(way, 1)} % as far from each other as Flower's is from where the round started",
    ]


def where_flower(runs: list[Run]) -> str:
    """The parts of the time of Flower's round."""
    inside = statistics.median(run.details["training"] / run.details["actors"] / run.seconds for run in runs)
    busy = statistics.median(run.details["training_processor"] / run.details["training"] for run in runs)
    training = statistics.median(run.details["training_processor"] for run in runs)
    server = statistics.median(run.details["server_processor"] for run in runs)
    outside = statistics.median(run.whole - run.seconds for run in runs)
    return (
        f"- In Flower's round, {runs[0].details['actors']} actors are {100 * inside:.0f} % of the time inside a "
        f"client's training, where they have a core {100 * busy:.0f} % of the time. Training takes {training:.1f} "
        f"processor seconds in all, the server {server:.1f}. Outside the round, {outside:.1f} s go to starting and "
        "ending processes, imports, data and warming up"
    )


def report(images: ImageSet, clients: int, repeats: int, python: str) -> str:
    """The page."""
    here = Path(__file__)
    commands = {
        "picsc": [sys.executable, str(here), "--worker"],
        "Flower": [python, str(here.with_name("federation_flower.py"))],
    }
    runs: dict[str, list[Run]] = {side: [] for side in SIDES}
    starts: list[Start] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "round.npz"
        for seed in range(repeats):
            starts.append(write_round(path, images, clients, seed))
            for side in SIDES if seed % 2 == 0 else reversed(SIDES):
                last = measured(side, commands[side], path, images)
                runs[side].append(last)
                cost = f"{last.seconds:.2f} s, {last.processor:.2f} processor s, accuracy {100 * last.accuracy:.2f} %"
                print(f"repeat {seed + 1} of {repeats}, {side}: {cost}", file=sys.stderr)
    pairs = list(zip(runs["picsc"], runs["Flower"], strict=True))
    flower = ", ".join(f"{name} {number}" for name, number in runs["Flower"][0].details["versions"].items())
    return "\n".join(
        [
            "# Cost of a federated round",
            "",
            (
                f"MNIST, {clients} clients of {(images.n - len(images.test)) // clients} images, LeNet-5, one round of "
                f"FedAvg with one epoch of minibatches of {RECIPE['batch_size']}, SGD {RECIPE['lr']:g} with momentum "
                f"{RECIPE['momentum']:g}. picsc: Python {platform.python_version()}, torch {torch.__version__}, numpy "
                f"{np.__version__}; Flower: {flower}. All {len(os.sched_getaffinity(0))} cores of a shared "
                f"{platform.machine()} machine ({torch.backends.cpu.get_cpu_capability()}), float32. Medians and "
                f"ranges of {repeats} repeats in which both take turns; ratios within a repeat."
            ),
            "",
            "| | s of the round | processor s of it | s of the process | processor s of it | peak MB | accuracy % |",
            "|---|---:|---:|---:|---:|---:|---:|",
            *(line(side, runs[side]) for side in SIDES),
            "",
            *ratios(pairs),
            *agreement(pairs, starts, len(images.test)),
            where_flower(runs["Flower"]),
            "",
        ]
    )


def worker(path: Path, target: Path) -> None:
    """The picsc process."""
    done = _picsc_round(path)
    np.save(target, done.theta)
    details = {"seconds": done.seconds, "processor": done.processor}
    target.with_suffix(".json").write_text(json.dumps(details), encoding="utf-8")


def main() -> None:
    """Parse, measure, print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--flower-python", metavar="PATH", help="Python with flwr[simulation] and torch")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="has MNIST; without it, it is fetched")
    parser.add_argument("--write", type=Path, metavar="PATH")
    parser.add_argument("--worker", type=Path, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        worker(*options.worker)
        return
    if options.flower_python is None:
        parser.error("--flower-python PATH: name a Python that has flwr[simulation] and torch")
    images = by_name("mnist", ReadSettings(), data_dir=options.data_dir)
    if not isinstance(images, ImageSet):
        parser.error("--data-dir: mnist there is a table, not MNIST's images")
    page = report(images, options.clients, options.repeats, options.flower_python)
    if options.write is not None:
        options.write.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
