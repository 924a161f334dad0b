"""What weightings of rows look at: the covariates of two sets of rows as points of one space.

Letters: n source rows, m target rows, p pixels, q dimensions. Everything is read in chunks, and nothing is fitted on
target rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from picsc.datasets.encoding import LARGEST, fit
from picsc.datasets.images import ImageSet
from picsc.datasets.rows import Rows
from picsc.datasets.texts import TokenSet
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.runtime.devices import as_sums, placed
from picsc.training.jobs import Trainer
from picsc.training.network_inputs import ImageInputs, Read, TextInputs
from picsc.training.network_trainer import ROWS_PER_PASS, NetworkTrainer
from picsc.training.table_trainer import TableTrainer

Space = Literal["raw", "layer"]
RANDOM_FEATURES = 256
"""Dimensions that pixels and words are brought to, q."""
BANDWIDTH_ROWS = 512
"""Source rows whose distances tell how far apart images are."""
NOISE = 1e-5
"""Share of the largest value by which a column must vary: of equal rows, products may differ in their last digits."""
CHUNK_FLOATS = 1 << 24
"""Pixels, codes or covariates of one chunk."""


def covariates(
    backend: Trainer, space: Space, source: Rows, target: Rows, *, seed: int, chunk: int | None = None
) -> tuple[Tensor, Tensor]:
    """The covariates of two sets of rows, standardised by the source rows.

    Reading: columns that do not vary over the source rows are left out, since no weight of those rows can balance
        them; values beyond 8 standard deviations are clipped, as everywhere.

    Args:
        backend: of tables, images or texts.
        space: `raw` is a table's encoded columns, random Fourier features of pixels, or a random projection of the
            shares of words; `layer` is what enters the last layer of a plain model that learned from the source rows.
        source: rows to be weighed, n of them.
        target: rows to look like, m of them; their labels are not looked at.
        seed: of the random features, or of the plain model as in a lesson.
        chunk: rows read at once; None bounds memory. The result does not depend on it, up to rounding.

    Returns:
        float32 (n, q) and (m, q), on the backend's device, without a graph.

    Raises:
        SettingsError: tables have no layer.
        DataError: there are no rows, or nothing varies over the source rows.
        NumericsError: the plain model diverged.
    """
    if not len(source) or not len(target):
        raise DataError(
            f"cannot weigh {len(source)} source rows by {len(target)} target rows: need at least one of each"
        )
    read, at_once = SPACES[space](backend, source, seed)
    step = chunk or at_once
    with torch.no_grad():
        ours, theirs = (torch.cat([read(part) for part in _parts(rows, step)]) for rows in (source, target))
        return _standardised(ours, theirs, step)


def raw_reader(backend: Trainer, source: Rows, seed: int) -> tuple[Read, int]:
    """How the covariates themselves are read, and how many rows at once.

    Args:
        backend: of tables, images or texts.
        source: rows that whatever has to be fitted is fitted on.
        seed: of random features.
    """
    if isinstance(backend, TableTrainer):
        return _columns(backend, source)
    assert isinstance(backend, NetworkTrainer)  # noqa: S101 - there are two backends
    if isinstance(backend.inputs, ImageInputs):
        return _pixel_waves(backend.inputs.images, source, seed, backend.device)
    assert isinstance(backend.inputs, TextInputs)  # noqa: S101 - there are two inputs
    return _projected_words(backend.inputs.texts, seed, backend.device)


def layer_reader(backend: Trainer, source: Rows, seed: int) -> tuple[Read, int]:
    """How the hidden units of a plain model that learned from the source rows are read, and how many rows at once.

    Args:
        backend: of images or texts.
        source: rows that are learned from, as in a lesson of plain training.
        seed: of that lesson.

    Raises:
        SettingsError: the backend is a table's.
        NumericsError: the model diverged.
    """
    if isinstance(backend, TableTrainer):
        raise SettingsError(
            f"{backend.dataset.name}: --space layer is for images and texts; the columns of a table are looked at "
            "themselves, so use --space raw"
        )
    assert isinstance(backend, NetworkTrainer)  # noqa: S101 - there are two backends
    read, model = backend.reader(source), backend.model(seed)
    with torch.enable_grad():
        epoch, _ = backend.train(model, read(source), backend.labels(source), seed=seed)
    if epoch:
        raise NumericsError(
            f"the model whose layer weightings look at diverged at epoch {epoch} with learning rate {backend.lr:g}: "
            "lower the learning rate, or use --space raw",
            epoch,
        )
    hidden = model[:-1].eval()

    def units(rows: Rows) -> Tensor:
        return torch.cat([hidden(read(part)) for part in _parts(rows, ROWS_PER_PASS)])

    return units, ROWS_PER_PASS


SPACES: dict[Space, Callable[[Trainer, Rows, int], tuple[Read, int]]] = {"raw": raw_reader, "layer": layer_reader}
"""From a backend, source rows and a seed to how rows become points."""


def _columns(backend: TableTrainer, source: Rows) -> tuple[Read, int]:
    """Encoded columns."""
    encoder = fit(backend.dataset, source)

    def read(rows: Rows) -> Tensor:
        return torch.from_numpy(encoder.transform(backend.dataset, rows).matrix).to(backend.device)

    return read, _rows_at_once(len(encoder.names))


def _pixel_waves(images: ImageSet, source: Rows, seed: int, device: torch.device) -> tuple[Read, int]:
    """Cosines of random directions, whose inner products are those of a Gaussian kernel (random Fourier features).

    The kernel's bandwidth is the median distance between source images, so that the scale of pixels does not matter.
    """
    generator = torch.Generator().manual_seed(seed)
    p = images.pixels[0].size
    some = source[torch.randperm(len(source), generator=generator)[:BANDWIDTH_ROWS].sort().values.numpy()]
    bandwidth = _median_distance(_flat_pixels(images, some))
    directions = torch.randn(p, RANDOM_FEATURES, generator=generator).div_(bandwidth).to(device)
    phases = (torch.rand(RANDOM_FEATURES, generator=generator) * (2 * math.pi)).to(device)

    def read(rows: Rows) -> Tensor:
        return torch.addmm(phases, _flat_pixels(images, rows).to(device), directions).cos_()

    return read, _rows_at_once(p)


def _projected_words(texts: TokenSet, seed: int, device: torch.device) -> tuple[Read, int]:
    """Shares of a text's words times a Gaussian matrix, under which distances stay what they are."""
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
    """Between different points, or 1 where all are the same."""
    distances = torch.pdist(x)
    apart = distances[distances > 0]
    return float(apart.median()) if len(apart) else 1.0


def _standardised(source: Tensor, target: Tensor, step: int) -> tuple[Tensor, Tensor]:
    """Columns that vary over the source rows, by their mean and deviation there; changes both in place."""
    varies = source.amax(0) - source.amin(0) > NOISE * source.abs().max()
    if not bool(varies.any()):
        raise DataError(
            f"nothing that weightings could look at varies over the {len(source)} source rows; train on other rows"
        )
    source, target = source[:, varies], target[:, varies]
    mean = _mean(torch.split(source, step), len(source), source.device)
    squares = ((part - mean).square_() for part in torch.split(source, step))
    deviation = _mean(squares, len(source), source.device).sqrt_().clamp_(min=torch.finfo(source.dtype).tiny)
    for x in (source, target):
        x.sub_(mean).div_(deviation).clamp_(-LARGEST, LARGEST)
    return source, target


def _mean(parts: Iterable[Tensor], n: int, device: torch.device) -> Tensor:
    """Over n rows, summed up in float64 and rounded once."""
    sums = [as_sums(part).sum(0) for part in parts]
    return placed(torch.stack(sums).sum(0) / n, device)


def _parts(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _rows_at_once(width: int) -> int:
    return max(1, CHUNK_FLOATS // max(1, width))
