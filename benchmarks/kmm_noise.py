"""What the noise of few target rows does to kernel mean matching, with and without a ridge around 1.

    python benchmarks/kmm_noise.py [--draws 5]

Training rows are standard normal in f columns, target rows are moved along the first, so that the true weights are
known. Means over draws of: effective sample size (the truth's beside it), correlation of log-weights with the truth
(weights below 0.001 count as that), and how far along the first column the weighted rows get (the target's mean is the
shift).
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

from picsc.weighting import diagnose
from picsc.weighting.kmm import kmm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    arguments = parser.parse_args()
    print("columns  rows  target  shift | ESS: true plain held | correlation: plain held | mean: plain held")
    for f in (1, 5, 20):
        for n, m in ((400, 30), (400, 100), (1500, 300)):
            for shift in (0.0, 0.5, 1.0):
                found = np.array([one(f, n, m, shift, seed) for seed in range(arguments.draws)])
                true, plain, held, corr, corr_held, mean, mean_held = found.mean(0)
                print(
                    f"{f:<8} {n:<5} {m:<7} {shift:<5} | {true:9.2f} {plain:5.2f} {held:4.2f} | {corr:18.2f} "
                    f"{corr_held:4.2f} | {mean:11.2f} {mean_held:4.2f}",
                    flush=True,
                )


def one(f: int, n: int, m: int, shift: float, seed: int) -> tuple[float, ...]:
    generator = torch.Generator().manual_seed(seed)
    x, z = torch.randn(n, f, generator=generator), torch.randn(m, f, generator=generator)
    z[:, 0] += shift
    truth = shift * x[:, 0].double()
    weights = [kmm(x, z, seed=seed), kmm(x, z, seed=seed, ridge=None)]
    agree = [agreement(w.clamp(min=1e-3).log(), truth) for w in weights]
    along = [float((w * x[:, 0]).mean()) for w in weights]
    return (diagnose(truth.exp()).share, *(diagnose(w).share for w in weights), *agree, *along)


def agreement(found: torch.Tensor, truth: torch.Tensor) -> float:
    """Their correlation; 0 where all weights are equal."""
    both = torch.stack([found, truth])
    return float(torch.corrcoef(both)[0, 1]) if bool((both.std(1) > 1e-9).all()) else 0.0


if __name__ == "__main__":
    main()
