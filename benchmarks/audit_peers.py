"""Other tests for shift, on the same rows as the audit: for `benchmarks/audit_validity.py power`.

All of them see the encoded columns and the label. They compare the changed piece with the other ones, and correct for
all pieces by Bonferroni, so that their family-wise error rate is the audit's; what they would say of the others spares
time and changes no p-value.

- KS-Bonferroni: two-sample KS of every encoded column and of every class, Bonferroni over these
- MMDAgg: Gaussian and Laplace kernels of five bandwidths each on standardised columns, the smallest of their p-values
  calibrated by the same permutations (Schrab et al., 2023)
- energy: energy distance on standardised columns, by permutation (Szekely and Rizzo, 2004)
- C2ST-forest, C2ST-boosting: a random forest of 100 trees, or gradient boosting, learns one half of the rows, and ranks
  those of the other half: Mann-Whitney's p (Lopez-Paz and Oquab, 2017)
- BBSDs-KS: KS of the out-of-bag class probabilities of a random forest, Bonferroni over classes (Lipton et al., 2018)
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from scipy.stats import ks_2samp, mannwhitneyu
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from torch import Tensor

from picsc.datasets.encoding import encode
from picsc.datasets.table import Dataset

DRAWS = 999
BANDWIDTHS = 5


def peers(dataset: Dataset, mine: np.ndarray, pieces: int, seed: int) -> dict[str, float]:
    """Each method's p-value for the rows that are `mine`, corrected for all pieces."""
    rng = np.random.default_rng([seed, 7])
    x = encode(dataset).matrix.astype(np.float64)
    y = dataset.target.values
    joint = np.column_stack([x, np.eye(len(dataset.target.levels))[y]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        box = RandomForestClassifier(100, min_samples_leaf=3, oob_score=True, random_state=seed).fit(x, y)
        soft = np.nan_to_num(box.oob_decision_function_)
        half = rng.permutation(len(x)) % 2 == 0
        distances = _distances(joint)
        drawn = torch.from_numpy(np.stack([mine, *(rng.permutation(mine) for _ in range(DRAWS))], 1)).float()
        found = {
            "KS-Bonferroni": ks(joint, mine),
            "MMDAgg": mmd_aggregated(distances, drawn),
            "energy": float(_reached(permuted(-distances[1], drawn)[None])[0, 0]),
            "C2ST-forest": c2st(RandomForestClassifier(100, min_samples_leaf=3, random_state=seed), joint, mine, half),
            "C2ST-boosting": c2st(HistGradientBoostingClassifier(random_state=seed), joint, mine, half),
            "BBSDs-KS": ks(soft, mine),
        }
    return {name: min(1.0, p * pieces) for name, p in found.items()}


def ks(columns: np.ndarray, mine: np.ndarray) -> float:
    return min(ks_2samp(column[mine], column[~mine]).pvalue for column in columns.T) * columns.shape[1]


def c2st(learner, x: np.ndarray, mine: np.ndarray, half: np.ndarray) -> float:
    if not (mine[half].any() and mine[~half].any()):
        return 1.0
    looks = learner.fit(x[half], mine[half]).predict_proba(x[~half])[:, 1]
    return mannwhitneyu(looks[mine[~half]], looks[~mine[~half]], alternative="greater").pvalue


def _distances(x: np.ndarray) -> tuple[Tensor, Tensor]:
    """L1 and Euclidean distances of standardised columns, (n, n) each."""
    z = torch.from_numpy(x).float()
    z = (z - z.mean(0)) / z.std(0).clamp(min=1e-6)
    return torch.cdist(z, z, p=1), torch.cdist(z, z, compute_mode="donot_use_mm_for_euclid_dist")


def permuted(kernel: Tensor, drawn: Tensor) -> Tensor:
    """MMD squared up to a constant for each assignment of rows, (B + 1,): a quadratic form of the centred kernel."""
    kernel = kernel - kernel.mean(0) - kernel.mean(1, keepdim=True) + kernel.mean()
    return (drawn * (kernel @ drawn)).sum(0)


def _reached(statistic: Tensor) -> Tensor:
    """p-value of every draw among all of them, by row, (rows, B + 1)."""
    order = statistic.sort(1).values
    lower = torch.searchsorted(order, statistic - 1e-6 * statistic.abs())
    return 1 - lower / statistic.shape[1]


def mmd_aggregated(distances: tuple[Tensor, Tensor], drawn: Tensor) -> float:
    """p of the smallest p-value of all kernels and bandwidths, which is calibrated by the draws that it is taken from.

    Bandwidths go in equal ratios from half the 5 % quantile of the distances to twice their 95 % quantile.
    """
    statistics = []
    for distance, power in zip(distances, (1, 2), strict=True):  # Laplace, Gauss
        away = distance[distance > 0]
        low, high = (float(np.quantile(away.numpy(), q)) for q in (0.05, 0.95))
        kernels = (torch.exp(-((distance / h) ** power)) for h in np.geomspace(low / 2, high * 2, BANDWIDTHS))
        statistics += [permuted(kernel, drawn) for kernel in kernels]
    smallest = _reached(torch.stack(statistics)).amin(0)
    return float((smallest <= smallest[0] * (1 + 1e-6)).float().mean())
