"""Covariate KL of many ways to part rows at once, against the divergences one way at a time."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from picsc.datasets.encoding import Covariates, encode, of_numbers, of_table
from picsc.datasets.load import from_frame
from picsc.equations.covariate_kl import part_kl
from picsc.equations.divergence import categorical_kl, gaussian_kl, smoothed_variance
from picsc.equations.trigger import random_halves
from picsc.settings import ReadSettings

N = 40


def parts(n_first: int = 15, draws: int = 6) -> Tensor:
    return random_halves(n_first, N, seed=3, draws=draws).double()


def numeric_kl(z: Tensor, first: Tensor) -> Tensor:
    """One column and one way to part it."""
    inside, outside = z[first > 0], z[first == 0]
    pooled = z.var(correction=0)
    variances = [
        smoothed_variance(part.var(correction=0), torch.tensor(float(min(len(inside), len(outside)))), pooled)
        for part in (inside, outside)
    ]
    return gaussian_kl(inside.mean(), variances[0], outside.mean(), variances[1])


def counts_kl(codes: Tensor, first: Tensor, levels: int) -> Tensor:
    """One column of codes, -1 where missing, and one way to part it."""
    counts = [codes[(first == part) & (codes >= 0)].bincount(minlength=levels).double() for part in (1, 0)]
    return categorical_kl(counts[0], counts[1])


def test_numbers_are_gaussians_column_by_column() -> None:
    x = torch.randn(N, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 5, 0.2])
    ways = parts()
    expected = torch.stack([sum(numeric_kl(x[:, j], first) for j in range(3)) for first in ways])
    torch.testing.assert_close(part_kl(x, ways, of_numbers(3)), expected, rtol=1e-10, atol=1e-12)


def test_levels_and_missing_values_are_counted() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)),
            "colour": rng.choice(np.array(["red", "green", "blue", None], dtype=object), N),
            "b": rng.normal(size=N),
            "target": np.arange(N) % 2,
        }
    )
    dataset = from_frame(frame, ReadSettings())
    assert [column.kind for column in dataset.columns] == ["numeric", "categorical", "numeric"]
    covariates = of_table(dataset)
    assert covariates == Covariates((0, 6), (1, 5), ((2, 5),))
    x = torch.from_numpy(encode(dataset).matrix).double()
    codes = torch.from_numpy(dataset.columns[1].values.astype(np.int64))  # noqa: PD011 - no frame
    ways = parts()
    expected = torch.stack(
        [
            numeric_kl(x[:, 0], first)
            + numeric_kl(x[:, 6], first)
            + counts_kl(codes, first, 3)
            + counts_kl((x[:, 1] == 0).long(), first, 2)
            + counts_kl((x[:, 5] == 0).long(), first, 2)
            for first in ways
        ]
    )
    torch.testing.assert_close(part_kl(x, ways, covariates), expected, rtol=1e-10, atol=1e-12)


def test_constant_columns_add_nothing_whatever_the_sizes() -> None:
    x = torch.randn(N, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    constant = torch.tensor([0.0, 7.3], dtype=torch.float64).expand(N, 2)
    ways = parts(n_first=3)
    with_them = part_kl(torch.cat([x, constant], 1), ways, of_numbers(4))
    torch.testing.assert_close(with_them, part_kl(x, ways, of_numbers(2)))


def test_equal_parts_have_none_and_direction_matters() -> None:
    half = torch.randn(N // 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x = torch.cat([half, half])
    first = torch.zeros(1, N, dtype=torch.float64)
    first[0, : N // 2] = 1
    assert part_kl(x, first, of_numbers(2)).item() == pytest.approx(0, abs=1e-12)
    x[: N // 2] *= 3
    there, back = (part_kl(x, way, of_numbers(2)).item() for way in (first, 1 - first))
    assert there > 2 * back > 0


def test_single_precision_is_enough() -> None:
    x = torch.randn(N, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ways = parts()
    torch.testing.assert_close(
        part_kl(x.float(), ways.float(), of_numbers(3)).double(), part_kl(x, ways, of_numbers(3)), rtol=1e-4, atol=1e-5
    )
