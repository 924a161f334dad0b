"""What the diagonal empirical Fisher costs next to one plain forward and backward pass, and next to its peers.

    python benchmarks/fisher.py --backpack-python PATH [--threads 1] [--repeats 15] [--write docs/results/fisher.md]

Peers: one forward and backward pass of the summed loss (the unit); chunked torch.func vmap(grad); a loop over rows
(timed on a few rows and scaled up); and BackPACK's SumGradSquared, which runs in an environment of its own as a second
process that does one repeat whenever it is asked to. All methods take turns within every repeat. Everybody but picsc,
which uses its defaults, may choose the best of three batch sizes. Time is processor time summed over threads, because
other work on the machine disturbs it least; with one thread it is wall time on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

Timed = Callable[[], object]
BATCHES = (64, 256, 1024)
LOOP_ROWS = 64
TARGET = 1.5


def plain(model: nn.Module, x: Tensor, y: Tensor, batch: int) -> None:
    """Forward and backward of the summed loss."""
    model.zero_grad()
    for x_c, y_c in zip(x.split(batch), y.split(batch), strict=True):
        cross_entropy(model(x_c), y_c, reduction="sum").backward()


def vectorised(model: nn.Module, x: Tensor, y: Tensor, batch: int) -> Tensor:
    """Per-row gradients by torch.func, squared and averaged."""
    from torch.func import functional_call, grad, vmap

    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], x_i: Tensor, y_i: Tensor) -> Tensor:
        return cross_entropy(functional_call(model, parameters, (x_i[None],)), y_i[None])

    scores = vmap(grad(loss), in_dims=(None, 0, 0))
    total = torch.zeros(sum(parameter.numel() for parameter in parameters.values()), dtype=torch.float64)
    for x_c, y_c in zip(x.split(batch), y.split(batch), strict=True):
        squares = [score.square().sum(0).flatten() for score in scores(parameters, x_c, y_c).values()]
        total += torch.cat(squares)
    return total / len(x)


def loop(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """One forward and backward pass per row."""
    parameters = list(model.parameters())
    total = torch.zeros(sum(parameter.numel() for parameter in parameters), dtype=torch.float64)
    for x_i, y_i in zip(x.split(1), y.split(1), strict=True):
        scores = torch.autograd.grad(cross_entropy(model(x_i), y_i), parameters)
        total += torch.cat([score.flatten() for score in scores]).double().square()
    return total / len(x)


def backpack_sums(model: nn.Module, x: Tensor, y: Tensor, batch: int) -> Tensor:
    """BackPACK's sums of squared per-row gradients, averaged. Wants a model that was extended."""
    from backpack import backpack, extend
    from backpack.extensions import SumGradSquared

    loss = extend(nn.CrossEntropyLoss(reduction="sum"))
    total = torch.zeros(sum(parameter.numel() for parameter in model.parameters()), dtype=torch.float64)
    for x_c, y_c in zip(x.split(batch), y.split(batch), strict=True):
        with backpack(SumGradSquared()):
            loss(model(x_c), y_c).backward()
        total += torch.cat([parameter.sum_grad_squared.flatten() for parameter in model.parameters()])
    return total / len(x)


def seconds(run: Timed) -> float:
    """Processor seconds of one call, over all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def best_batch(run: Callable[[int], object], n: int) -> int:
    """The batch size at which `run` is fastest."""
    sizes = sorted({min(size, n) for size in (*BATCHES, n)}, reverse=True)[:3]
    turns = [[seconds(lambda size=size: run(size)) for size in sizes] for _ in range(9)]
    return min(zip(sizes, zip(*turns, strict=True), strict=True), key=lambda tried: statistics.median(tried[1]))[0]


def serve(folder: Path, threads: int) -> None:
    """The BackPACK process: reads a case's name, answers the time of one repeat."""
    from backpack import extend

    warnings.simplefilter("ignore")
    torch.set_num_threads(threads)
    cases: dict[str, Timed] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in cases:
            model, x, y = torch.load(folder / f"{name}.pt", weights_only=False)
            extend(model)
            batch = best_batch(lambda size, m=model, x=x, y=y: backpack_sums(m, x, y, size), len(x))
            cases[name] = lambda m=model, x=x, y=y, batch=batch: backpack_sums(m, x, y, batch)
            torch.save(cases[name](), folder / f"{name}.result.pt")
            print(f"{batch}", flush=True)
            continue
        print(f"{seconds(cases[name])!r}", flush=True)


class Peer:
    """BackPACK in its own environment."""

    def __init__(self, python: str, folder: Path, threads: int) -> None:
        """Start the process."""
        self.folder = folder
        command = [python, "-W", "ignore", __file__, "--serve", str(folder), "--threads", str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, name: str) -> float:
        """First call: chooses a batch size and returns it; later calls: seconds of one repeat."""
        assert self.process.stdin is not None  # noqa: S101 - both are pipes
        assert self.process.stdout is not None  # noqa: S101
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def cases() -> dict[str, tuple[nn.Module, Tensor, Tensor]]:
    """Models as they leave their initialisation, and rows of noise; costs do not depend on values."""
    from picsc.training.networks import lenet, mlp

    generator = torch.Generator().manual_seed(0)

    def rows(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    def labels(n: int, classes: int) -> Tensor:
        return torch.randint(classes, (n,), generator=generator)

    return {
        "mlp-28-4-2-n20000": (mlp(28, 2, seed=0), rows(20_000, 28), labels(20_000, 2)),
        "mlp-30-4-2-n569": (mlp(30, 2, seed=0), rows(569, 30), labels(569, 2)),
        "lenet-1x28x28-n1024": (lenet(1, 28, 10, seed=0), rows(1024, 1, 28, 28), labels(1024, 10)),
        "lenet-3x32x32-n1024": (lenet(3, 32, 10, seed=0), rows(1024, 3, 32, 32), labels(1024, 10)),
    }


def deviation(model: nn.Module, x: Tensor, y: Tensor, dtype: torch.dtype) -> float:
    """Largest difference to the loop over rows, relative to the largest entry, on LOOP_ROWS rows."""
    from picsc.fisher.diagonal import empirical_fisher

    model, x = model.to(dtype), x[:LOOP_ROWS].to(dtype)
    expected = loop(model, x, y[:LOOP_ROWS])
    model_deviation = (empirical_fisher(model, x, y[:LOOP_ROWS]) - expected).abs().max() / expected.max()
    model.float()
    return float(model_deviation)


def measure(name: str, model: nn.Module, x: Tensor, y: Tensor, peer: Peer | None, repeats: int) -> list[str]:
    """One line of the table per method."""
    from picsc.fisher.diagonal import empirical_fisher, row_scores

    n = len(x)
    sizes = {
        "plain forward + backward": best_batch(lambda size: plain(model, x, y, size), n),
        "torch.func, chunked": best_batch(lambda size: vectorised(model, x, y, size), n),
    }
    methods: dict[str, Callable[[], float]] = {
        "plain forward + backward": lambda: seconds(lambda: plain(model, x, y, sizes["plain forward + backward"])),
        "picsc empirical_fisher": lambda: seconds(lambda: empirical_fisher(model, x, y)),
        "torch.func, chunked": lambda: seconds(lambda: vectorised(model, x, y, sizes["torch.func, chunked"])),
        "loop over rows": lambda: seconds(lambda: loop(model, x[:LOOP_ROWS], y[:LOOP_ROWS])) * n / LOOP_ROWS,
    }
    if sum(parameter.numel() for parameter in model.parameters()) < 1000:
        methods["picsc row_scores (n, d)"] = lambda: seconds(lambda: row_scores(model, x, y))
    if peer is not None:
        torch.save((model, x, y), peer.folder / f"{name}.pt")
        sizes["BackPACK SumGradSquared"] = int(peer.ask(name))
        theirs = torch.load(peer.folder / f"{name}.result.pt")
        apart = float((theirs - empirical_fisher(model, x, y)).abs().max() / theirs.max())
        print(f"{name}: BackPACK and picsc differ by {apart:.1e} of the largest entry", file=sys.stderr)
        methods["BackPACK SumGradSquared"] = lambda: peer.ask(name)
    times: dict[str, list[float]] = {method: [] for method in methods}
    for _ in range(repeats):
        for method, run in methods.items():
            times[method].append(run())
    unit = times["plain forward + backward"]
    lines = []
    for method, taken in times.items():
        quarter = statistics.quantiles([t / u for t, u in zip(taken, unit, strict=True)], n=4)
        ratio = statistics.median(taken) / statistics.median(unit)
        lines.append(
            f"| {name} | {method} | {sizes.get(method, '')} | {statistics.median(taken) * 1e3:.2f} | {ratio:.2f} "
            f"| {quarter[0]:.2f} to {quarter[2]:.2f} |"
        )
    return lines


def verdict(lines: list[str]) -> list[str]:
    """Whether the two targets are met, case by case, from the table itself."""
    ratios = {(cell[1], cell[2]): float(cell[5]) for cell in ([c.strip() for c in line.split("|")] for line in lines)}
    said = []
    for name in dict.fromkeys(name for name, _ in ratios):
        ours, peer = ratios[name, "picsc empirical_fisher"], ratios.get((name, "BackPACK SumGradSquared"))
        text = f"- {name}: {ours:.2f} times plain ({'meets' if ours <= TARGET else 'misses'} {TARGET})"
        if peer is not None:
            text += f"; {ours / peer:.2f} times BackPACK ({'meets' if ours <= peer else 'misses'} 1)"
        said.append(text)
    return said


def report(threads: int, repeats: int, python: str | None) -> str:
    """The page."""
    torch.set_num_threads(threads)
    lines, exact = [], []
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(python, Path(folder), threads) if python else None
        for name, (model, x, y) in cases().items():
            single, double = (deviation(model, x, y, dtype) for dtype in (torch.float32, torch.float64))
            exact.append(f"- {name}: {single:.1e} in float32, {double:.1e} in float64")
            lines += measure(name, model, x, y, peer, repeats)
        if peer is not None:
            peer.process.kill()
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    if python:
        ask = "from importlib.metadata import version as v; print(v('backpack-for-pytorch'), 'on torch', v('torch'))"
        answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
        versions += f"; BackPACK {answer.stdout.strip()}"
    shown = "--backpack-python PATH " if python else ""
    conditions = (
        f"{versions}; {threads} thread(s) of a shared machine with {os.cpu_count()} {platform.machine()} cores "
        f"({torch.backends.cpu.get_cpu_capability()}); float32. Medians of {repeats} interleaved repeats, in processor "
        "time. The ratio is of medians; the range is the middle half of the ratios within a repeat. The loop is timed "
        f"on {LOOP_ROWS} rows and scaled to n. Batch: rows per pass, the best of three for everybody but picsc, which "
        "uses its defaults."
    )
    return "\n".join(
        [
            "# Cost of the diagonal empirical Fisher",
            "",
            f"`python benchmarks/fisher.py {shown}--threads {threads} --repeats {repeats}`",
            "",
            conditions,
            "",
            "| case | method | batch | ms | ratio to plain | middle half |",
            "|---|---|---:|---:|---:|---|",
            *lines,
            "",
            f"Targets: at most {TARGET} times plain, and not slower than BackPACK.",
            "",
            *verdict(lines),
            "",
            (
                "On few rows of a small model a fixed cost of about a millisecond decides: finding out which "
                "layers the rules cover, and hooks."
            ),
            "",
            f"Largest difference to the loop over rows, relative to the largest entry ({LOOP_ROWS} rows):",
            "",
            *exact,
            "",
        ]
    )


def main() -> None:
    """Parse, measure, print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--backpack-python", metavar="PATH", help="Python with torch and backpack-for-pytorch")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--write", type=Path, metavar="PATH")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve, options.threads)
        return
    page = report(options.threads, options.repeats, options.backpack_python)
    if options.write is not None:
        options.write.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
