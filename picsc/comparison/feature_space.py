"""Feature space of the weightings: the covariates of two sets of rows as points of one space.

Letters: n source rows, m target rows, p pixels, q dimensions. Everything is read in chunks, and nothing is fitted on
target rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from picsc.datasets.encoding import LARGEST, fit
from picsc.datasets.images import ImageSet
from picsc.datasets.rows import Rows
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.training.jobs import Trainer
from picsc.training.network_inputs import ImageInputs, Read, TextInputs
from picsc.training.network_sequence_trainer import ROWS_PER_PASS
from picsc.training.network_trainer import NetworkTrainer
from picsc.training.own.estimator_trainer import EstimatorTrainer
from picsc.training.own.module_trainer import ModuleTrainer
from picsc.training.single import train_by_recipe
from picsc.training.single_inputs import LabelledRows
from picsc.training.table_trainer import TableTrainer
from picsc.weighting.standardised import standardised

Space = Literal["raw", "layer"]
RANDOM_FEATURES = 256
"""Dimensions of the features of pixels and of words, q."""
BANDWIDTH_ROWS = 512
"""Source rows whose median distance is the bandwidth of the kernel on images."""
CHUNK_FLOATS = 1 << 24
"""Pixels, codes or covariates in one chunk."""


def covariates(
    trainer: Trainer, space: Space, source: Rows, target: Rows, *, seed: int, chunk: int | None = None
) -> tuple[Tensor, Tensor]:
    """The covariates of two sets of rows, standardised by the source rows.

    Reading: columns that do not vary over the source rows are left out, since no weight of those rows can balance
        them; values beyond 8 standard deviations are clipped, as everywhere.

    Args:
        trainer: trainer of tables, images or texts.
        space: `raw` is a table's encoded columns, random Fourier features of pixels, or a random projection of the
            shares of words; `layer` is the input of the last layer of a plain model that is trained on the source rows.
        source: rows that get weights, n of them.
        target: rows that the weighted source rows shall resemble, m of them; their labels are not used.
        seed: of the random features, or of the plain model as in a training job.
        chunk: rows read at once; None bounds memory. The result does not depend on it, up to rounding.

    Returns:
        float32 (n, q) and (m, q), on the trainer's device, without a graph.

    Raises:
        SettingsError: tables have no layer.
        DataError: there are no rows, or nothing varies over the source rows.
        NumericsError: the plain model diverged.
    """
    if not len(source) or not len(target):
        raise DataError(
            f"cannot weight {len(source)} source rows by {len(target)} target rows: need at least one of each"
        )
    read, at_once = SPACES[space](trainer, source, seed)
    step = chunk or at_once
    with torch.no_grad():
        ours, theirs = (torch.cat([read(part) for part in _parts(rows, step)]) for rows in (source, target))
        return standardised(ours, theirs, step, most=LARGEST)


def raw_reader(trainer: Trainer, source: Rows, seed: int) -> tuple[Read, int]:
    """A function that reads the covariates themselves, and the number of rows that it reads at once.

    Args:
        trainer: trainer of tables, images or texts.
        source: rows that encodings and bandwidths are fitted on.
        seed: of random features.
    """
    table = table_of(trainer)
    if table is not None:
        return _columns(table, source)
    assert isinstance(trainer, NetworkTrainer)  # noqa: S101 - there are two trainers
    if isinstance(trainer.inputs, ImageInputs):
        return _pixel_waves(trainer.inputs.images, source, seed, trainer.device)
    assert isinstance(trainer.inputs, TextInputs)  # noqa: S101 - there are two inputs
    return _projected_words(trainer.inputs.texts, seed, trainer.device)


def layer_reader(trainer: Trainer, source: Rows, seed: int) -> tuple[Read, int]:
    """A function that reads the last hidden units of a plain model, and the number of rows that it reads at once.

    Args:
        trainer: trainer of images or texts.
        source: training rows of the model, as in a job of plain training.
        seed: of that job.

    Raises:
        SettingsError: the trainer is a table's.
        NumericsError: the model diverged.
    """
    table = table_of(trainer)
    if table is not None:
        raise SettingsError(
            f"{table.dataset.name}: --space layer is for images and texts; weightings of a table use its "
            "columns themselves, so use --space raw"
        )
    assert isinstance(trainer, NetworkTrainer)  # noqa: S101 - there are two trainers
    read, model = trainer.reader(source), trainer.model(seed)
    with torch.enable_grad():
        rows = LabelledRows(read(source), trainer.labels(source))
        epoch, _ = train_by_recipe(model, rows, trainer.recipe, trainer.precision, seed=seed)
    if epoch:
        raise NumericsError(
            f"the model whose layer weightings use diverged at epoch {epoch} with learning rate {trainer.lr:g}: "
            "lower the learning rate, or use --space raw",
            epoch,
        )
    hidden = model[:-1].eval()

    def units(rows: Rows) -> Tensor:
        return torch.cat([hidden(read(part)) for part in _parts(rows, ROWS_PER_PASS)])

    return units, ROWS_PER_PASS


SPACES: dict[Space, Callable[[Trainer, Rows, int], tuple[Read, int]]] = {"raw": raw_reader, "layer": layer_reader}
"""Readers by the name of the space: from a trainer, source rows and a seed to a function that reads rows."""


def table_of(trainer: Trainer) -> TableTrainer | None:
    """The trainer of a table behind one; None for images and texts.

    Args:
        trainer: of any kind of data and of models.
    """
    if isinstance(trainer, EstimatorTrainer | ModuleTrainer):
        return trainer.table
    return trainer if isinstance(trainer, TableTrainer) else None


def _columns(trainer: TableTrainer, source: Rows) -> tuple[Read, int]:
    """Encoded columns."""
    encoder = fit(trainer.dataset, source)

    def read(rows: Rows) -> Tensor:
        return torch.from_numpy(encoder.transform(trainer.dataset, rows).matrix).to(trainer.device)

    return read, _rows_at_once(len(encoder.names))


def _pixel_waves(images: ImageSet, source: Rows, seed: int, device: torch.device) -> tuple[Read, int]:
    """Random Fourier features: cosines of random directions, with the inner products of a Gaussian kernel.

    The kernel's bandwidth is the median distance between source images, so that the scale of the pixels has no effect.
    """
    generator = torch.Generator().manual_seed(seed)
    p = images.pixels[0].size
    some = source[torch.randperm(len(source), generator=generator)[:BANDWIDTH_ROWS].sort().values.numpy()]
    bandwidth = _median_distance(_flat_pixels(images, some))
    directions = torch.randn(p, RANDOM_FEATURES, generator=generator).div_(bandwidth).to(device)
    phases = (torch.rand(RANDOM_FEATURES, generator=generator) * (2 * math.pi)).to(device)

    def read(rows: Rows) -> Tensor:
        # phases last: a product that begins with them rounds every term to their size, in an order of the processor's
        return torch.mm(_flat_pixels(images, rows).to(device), directions).add_(phases).cos_()

    return read, _rows_at_once(p)


def _projected_words(texts: TokenSet, seed: int, device: torch.device) -> tuple[Read, int]:
    """Shares of a text's words times a Gaussian matrix, which preserves distances on average."""
    generator = torch.Generator().manual_seed(seed)
    size = len(texts.vocabulary) + 1
    table = torch.randn(size, RANDOM_FEATURES, generator=generator).div_(math.sqrt(RANDOM_FEATURES)).to(device)

    def read(rows: Rows) -> Tensor:
        codes = torch.from_numpy(texts.take(rows)).to(device)
        return embedding_bag(codes, table, mode="mean", padding_idx=0)

    return read, _rows_at_once(texts.width + RANDOM_FEATURES)


def _flat_pixels(images: ImageSet, rows: Rows) -> Tensor:
    """Pixels in 0 to 1, (n, p), on the CPU."""
    return torch.from_numpy(images.pixels[rows]).flatten(1).float().div_(255)


def _median_distance(x: Tensor) -> float:
    """Between different points; where all are the same the number of dimensions, which keeps arguments of waves small.

    Rows that are the same have products that differ in their last digits, which must be far below
    `picsc.weighting.standardised.NOISE`.
    """
    distances = torch.pdist(x)
    apart = distances[distances > 0]
    return float(apart.median()) if len(apart) else float(x.shape[1])


def _parts(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _rows_at_once(width: int) -> int:
    return max(1, CHUNK_FLOATS // max(1, width))
