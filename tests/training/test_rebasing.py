"""Models that keep their function when the encoding grows with the pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from picsc.datasets.images import ImageSet
from picsc.datasets.load import from_frame
from picsc.settings import ReadSettings
from picsc.training.jobs import TrainingRecipe
from picsc.training.network_inputs import ImageInputs
from picsc.training.network_sequence_trainer import NetworkSequenceTrainer
from picsc.training.network_trainer import NetworkTrainer
from picsc.training.rebasing import ScaleChange
from picsc.training.table_sequence_trainer import TableSequenceTrainer
from picsc.training.table_trainer import TableTrainer

CPU = torch.device("cpu")
OFF = torch.zeros(2, 1)


def table(task: str) -> TableSequenceTrainer:
    """Two sequences of three pieces: a column that moves, one constant at first, missing values, words."""
    rng = np.random.default_rng(0)
    n = 120
    later = np.arange(n) // 40
    frame = pd.DataFrame(
        {
            "moves": 3 + rng.normal(size=n) * (1 + later) + later,
            "late": np.where(later > 0, rng.normal(size=n), 0.7),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) + later),
            "word": rng.choice(["x", "y"], n),
        }
    )
    signal = frame["moves"] - frame["late"] + frame["gaps"].fillna(2)
    frame["target"] = 10 * signal * (1 + later) if task == "regression" else (signal > signal.median()).astype(int)
    data = from_frame(frame, ReadSettings(target="target", task=task))
    pieces = [np.arange(40 * t, 40 * t + 40) for t in range(3)]
    return TableTrainer(data, TrainingRecipe(60, 0.05), "kl", None, CPU).sequence_trainer([pieces, pieces], [0, 1])


def trained(trainer: TableSequenceTrainer | NetworkSequenceTrainer, t: int) -> Tensor:
    """Models after their pieces up to t."""
    theta = trainer.start()
    for s in range(t + 1):
        theta = trainer.rebased(theta, s) if s else theta
        theta = trainer.fit(theta, s, weight_decay=OFF, strength=OFF, anchor=None).theta
    return theta


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("t", [1, 2])
def test_a_table_model_keeps_its_function(task: str, t: int) -> None:
    trainer = table(task)
    seen = np.arange(40 * t)
    theta = trained(trainer, t - 1)
    before = trainer.outputs(theta, t - 1, [seen, seen])
    after = trainer.outputs(trainer.rebased(theta, t), t, [seen, seen])
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new, old, atol=2e-5, rtol=1e-5)
    moved = trainer.outputs(theta, t, [seen, seen])
    assert np.abs(moved[0] - before[0]).max() > 0.05


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_precision_is_that_of_the_same_distance_in_the_new_parameters(task: str) -> None:
    """The diagonal of the quadratic form, found by moving one parameter of the new encoding at a time."""
    trainer = table(task)
    theta = trainer.start().double()
    fisher = torch.rand(theta.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = trainer.rebased_precision(fisher, 1)
    # the map is affine: from its values at the unit vectors follows that of the new parameters back to the old ones
    d = theta.shape[-1]
    zero = trainer.rebased(torch.zeros_like(theta), 1)
    units = torch.eye(d, dtype=torch.float64)
    forward = torch.stack([trainer.rebased(unit.expand_as(theta), 1) - zero for unit in units], -1)
    back = torch.linalg.inv(forward)
    form = torch.diagonal(back.mT @ torch.diag_embed(fisher) @ back, dim1=-2, dim2=-1)
    changes = trainer._change(theta, 1).outputs
    unit = torch.tensor([change.factor for change in changes], dtype=torch.float64)[:, None, None]
    torch.testing.assert_close(found, form / unit**4)


def test_an_encoding_that_stays_changes_no_bit() -> None:
    trainer = table("classification")
    fixed = replace(trainer, scalings=tuple((first,) * 3 for first, *_ in trainer.scalings))
    theta = trainer.start()
    assert fixed.rebased(theta, 1) is theta
    assert fixed.rebased_precision(theta, 1) is theta


def test_a_deviation_that_grows_beyond_the_clip_does_not_blow_weights_up() -> None:
    assert ScaleChange.between((0.0, 1.0), (0.0, 4.0)) == ScaleChange(4.0, 0.0)
    assert ScaleChange.between((0.0, 1e-6), (1.0, 1.0)) == ScaleChange(8.0, 8.0)
    assert ScaleChange.between((0.0, 0.0), (1.0, 2.0)) == ScaleChange(1.0, 0.5)
    assert ScaleChange.between((np.nan, 0.0), (1.0, 2.0)) == ScaleChange()


def test_a_network_on_images_keeps_its_function_and_its_precision() -> None:
    rng = np.random.default_rng(0)
    pixels = np.concatenate([rng.integers(0, 60, (30, 2, 16, 16)), rng.integers(40, 256, (30, 2, 16, 16))])
    labels = np.arange(60) % 2
    images = ImageSet("x", "memory", pixels.astype(np.uint8), labels, ("a", "b"), np.empty(0, np.int64), "0")
    trainer = NetworkTrainer(ImageInputs(images), TrainingRecipe(2, 0.001, 16), "kl", CPU, "float32")
    pieces = [np.arange(30), np.arange(30, 60)]
    along = trainer.sequence_trainer([pieces, pieces], [0, 1])
    theta = trained(along, 0)
    before, after = along.outputs(theta, 0, pieces), along.outputs(along.rebased(theta, 1), 1, pieces)
    np.testing.assert_allclose(after, before, atol=1e-4)
    assert np.abs(np.subtract(along.outputs(theta, 1, pieces), before)).max() > 0.01
    ones = torch.ones_like(theta)
    change = ScaleChange.between(*along.scales[0])
    expected = (1 + change.shift**2) / change.factor**2
    precision = along.rebased_precision(ones, 1)
    assert precision[0, 0, 0] == pytest.approx(expected)
    assert bool((precision[..., 6 * 2 * 25 :] == 1).all())
