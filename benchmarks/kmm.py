"""Kernel mean matching against general solvers of quadratic programmes.

    python benchmarks/kmm.py [--rows 2000] [--columns 5 30] [--shift 0.5] [--repeats 3] [--threads 1]

The peers are no dependencies of picsc: make an environment for them, and there pip install picsc clarabel cvxopt.

Everybody solves min 1/2 b'Kb - k'b, 0 <= b <= 1000, |mean b - 1| <= (sqrt n - 1) / sqrt n, on the same normal rows of
which two columns are shifted, at their own default tolerances; all take turns within every repeat. picsc's time is that
of `picsc.weighting.kmm` in float32, with the search for the median distance and the kernels. The peers get K and k for
nothing, constraints as sparse matrices and, as picsc, the threads asked for (clarabel's factorisation uses one).
The gap is how far an objective lies above clarabel's, as a share of it, in float64, for weights as the solver leaves
them; picsc's solver gets K and k in float32.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BOUND = 1000.0


def by_clarabel(gram: Floats, towards: Floats) -> Floats:
    import clarabel
    import scipy.sparse as sp

    n = len(towards)
    ones, eye = sp.csc_matrix(np.ones((1, n))), sp.identity(n, format="csc")
    constraints = sp.vstack([ones, -ones, eye, -eye], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(2 * n + 2)]
    upper = sp.csc_matrix(np.triu(gram))
    solution = clarabel.DefaultSolver(upper, -towards, constraints, limits(n), cones, settings).solve()
    return np.array(solution.x)


def by_cvxopt(gram: Floats, towards: Floats) -> Floats:
    import cvxopt

    n = len(towards)
    cvxopt.solvers.options["show_progress"] = False
    eye = cvxopt.spmatrix(1.0, range(n), range(n))
    ones = cvxopt.matrix(1.0, (1, n))
    constraints = cvxopt.sparse([ones, -ones, eye, -eye])
    solution = cvxopt.solvers.qp(cvxopt.matrix(gram), cvxopt.matrix(-towards), constraints, cvxopt.matrix(limits(n)))
    return np.array(solution["x"]).ravel()


def limits(n: int) -> Floats:
    """Right-hand sides: most, least, upper bounds, zeros."""
    width = n - n**0.5
    return np.concatenate([[n + width, width - n], np.full(n, BOUND), np.zeros(n)])


def timed(solver: Callable[[], object]) -> tuple[float, object]:
    before = time.perf_counter()
    result = solver()
    return time.perf_counter() - before, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, nargs="+", default=[5, 30])
    parser.add_argument("--shift", type=float, default=0.5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = str(arguments.threads)

    import torch

    from picsc.weighting.kernels import centred, gaussian, median_distance
    from picsc.weighting.kmm import kmm, solve

    torch.set_num_threads(arguments.threads)
    print(
        f"{platform.processor() or platform.machine()}, torch {torch.__version__}, {arguments.threads} thread(s), "
        f"{arguments.repeats} repeats, shift {arguments.shift:g} in two columns"
    )
    print("rows  columns  solver     seconds (all)              picsc takes   gap to clarabel   rows that count")
    for f in arguments.columns:
        n, generator = arguments.rows, torch.Generator().manual_seed(f)
        x, z = torch.randn(n, f, generator=generator), torch.randn(n, f, generator=generator)
        z[:, :2] += arguments.shift
        wide = [part.double() for part in centred(x, z)]
        sigma = median_distance(*centred(x, z), seed=0)
        gram, towards = gaussian(wide[0], wide[0], sigma), gaussian(wide[0], wide[1], sigma).sum(1)
        K, k = gram.numpy(), towards.numpy()
        seconds: dict[str, list[float]] = {"picsc": [], "clarabel": [], "cvxopt": []}
        weights: dict[str, Floats] = {}
        for _ in range(arguments.repeats):
            seconds["picsc"].append(timed(lambda x=x, z=z: kmm(x, z, seed=0))[0])
            for name, solver in (("clarabel", by_clarabel), ("cvxopt", by_cvxopt)):
                took, found = timed(lambda solver=solver, K=K, k=k: solver(K, k))
                seconds[name].append(took)
                weights[name] = np.asarray(found)
        weights["picsc"] = solve(gram.float(), towards.float()).double().numpy()
        objectives = {name: float(b @ K @ b / 2 - k @ b) for name, b in weights.items()}
        ours = statistics.median(seconds["picsc"])
        for name, took in seconds.items():
            b = weights[name]
            gap = (objectives[name] - objectives["clarabel"]) / abs(objectives["clarabel"])
            every = " ".join(f"{one:.2f}" for one in took)
            ratio = ours / statistics.median(took)
            ess = b.sum() ** 2 / (b**2).sum() / n
            print(f"{n:<5} {f:<8} {name:<10} {every:<26} {ratio:<13.3f} {gap:<17.1e} {ess:.1%}", flush=True)


if __name__ == "__main__":
    main()
