"""False alarms and power of the audit from summaries alone.

    python benchmarks/federated_audit.py [--repeats 200]

Nine clients of 20 to 2000 rows; theta is an MLP of 8 hidden units, as drawn or trained on all rows. `normal`: ten
normal columns. `mixed`: normal and log-normal columns, missing values, and levels down to 1 % of the rows. Labels
depend on two columns and an interaction. Level: share of clients that the trigger (tau > gamma) flags though nothing is
shifted; the last columns are the share of audits in which any client's adjusted p is at most 0.05. Power: half a
standard deviation in one column, or all labels flipped, of one client of the given size; half as many repeats. At the
default a share has a standard error of 0.04 near 0.05, and the run takes two minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from picsc.datasets.encoding import Covariates, of_numbers
from picsc.federated.cell_sizes import FEWEST_IN_CELL
from picsc.federated.client_summary import described, summarise
from picsc.federated.small_cells import label_counts
from picsc.federated.summary_tests import ClientVerdict, run_client_tests
from picsc.fisher.diagonal import row_scores
from picsc.runtime.threads import one_thread
from picsc.training.networks import mlp

SIZES = [20, 20, 50, 50, 100, 200, 500, 1000, 2000]
MIXED = Covariates((0, 1, 2, 3, 4), (5,), ((6, 11), (11, 13)))
Change = Callable[[Tensor, Tensor], None]


def columns(kind: str, n: int, generator: torch.Generator) -> Tensor:
    if kind == "normal":
        return torch.randn(n, 10, generator=generator)
    z = torch.randn(n, 5, generator=generator)
    skewed = ((z[:, 3:].exp() - 1.65) / 2.16).clamp(-8, 8)
    gone = (torch.rand(n, 1, generator=generator) < 0.05).float()
    rare = torch.multinomial(torch.tensor([0.6, 0.25, 0.1, 0.04, 0.01]), n, True, generator=generator)
    even = torch.multinomial(torch.tensor([0.5, 0.5]), n, True, generator=generator)
    return torch.cat([z[:, :3], skewed, gone, one_hot(rare, 5).float(), one_hot(even, 2).float()], 1)


def audit(kind: str, steps: int, seed: int, changed: slice, change: Change) -> tuple[ClientVerdict, ...]:
    generator = torch.Generator().manual_seed(seed)
    x = columns(kind, sum(SIZES), generator)
    logit = 2 * x[:, 0] + x[:, 1] - x[:, 2] * x[:, 0]
    y = (torch.rand(len(x), generator=generator) < logit.sigmoid()).long()
    change(x[changed], y[changed])
    model = mlp(x.shape[1], 2, 8, seed=seed)
    adam = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(steps):
        adam.zero_grad()
        cross_entropy(model(x), y).backward()
        adam.step()
    covariates = of_numbers(10) if kind == "normal" else MIXED
    summaries = [
        summarise(
            described(
                x_k,
                covariates,
                seed=seed * len(SIZES) + k,
                label_counts=label_counts(y_k, 2, FEWEST_IN_CELL),
                fewest=FEWEST_IN_CELL,
            ),
            [row_scores(model, x_k, y_k).square()],
        )
        for k, (x_k, y_k) in enumerate(zip(x.split(SIZES), y.split(SIZES), strict=True))
    ]
    return run_client_tests(summaries, covariates)


def mean_moves(x: Tensor, _: Tensor) -> None:
    x[:, 0] += 0.5


def labels_flip(_: Tensor, y: Tensor) -> None:
    y.copy_(1 - y)


TESTS: dict[str, Callable[[ClientVerdict], bool]] = {
    "trigger": lambda client: client.fires,
    "tau": lambda client: client.p_adjusted <= 0.05,
    "gap": lambda client: client.p_gap <= 0.05,
    "KL": lambda client: client.p_kl <= 0.05,
    "labels": lambda client: client.label_p_adjusted <= 0.05,
}


def level(kind: str, steps: int, repeats: int) -> None:
    found = [audit(kind, steps, seed, slice(0), mean_moves) for seed in range(repeats)]
    flagged = torch.tensor([[client.fires for client in each] for each in found]).double().mean(0)
    any_one = [sum(any(map(test, each)) for each in found) / repeats for test in list(TESTS.values())[1:]]
    print(f"{kind:7} {steps:5}" + "".join(f"{share:7.3f}" for share in [*flagged, *any_one]), flush=True)


def power(change: Change, kind: str, k: int, repeats: int) -> None:
    changed = slice(sum(SIZES[:k]), sum(SIZES[: k + 1]))
    found = [audit(kind, 100, seed, changed, change)[k] for seed in range(repeats)]
    shares = [sum(map(test, found)) / repeats for test in TESTS.values()]
    print(f"{change.__name__:15} {kind:7}{SIZES[k]:5}" + "".join(f"{share:9.2f}" for share in shares), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=40)
    repeats, began = parser.parse_args().repeats, time.perf_counter()
    with one_thread():
        print("level   steps" + "".join(f"{n:7}" for n in SIZES) + "".join(f"{n:>7}" for n in list(TESTS)[1:]))
        for kind, steps in (("normal", 0), ("normal", 100), ("mixed", 0), ("mixed", 100)):
            level(kind, steps, repeats)
        print("\npower                   rows" + "".join(f"{name:>9}" for name in TESTS))
        for change in (mean_moves, labels_flip):
            for kind in ("normal", "mixed"):
                for k in (2, 5, 7):
                    power(change, kind, k, max(1, repeats // 2))
    print(f"\n{repeats} repeats, {time.perf_counter() - began:.0f} s")
