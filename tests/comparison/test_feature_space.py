"""Features of the weightings: standardised by the source rows, and the same for every size of chunk."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import torch

from picsc.comparison.feature_space import covariates, raw_reader
from picsc.datasets.encoding import LARGEST
from picsc.datasets.images import ImageSet, from_images
from picsc.datasets.load import from_frame
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.training.jobs import Trainer, TrainingJob, TrainingRecipe
from picsc.training.network_inputs import inputs_of
from picsc.training.network_trainer import NetworkTrainer
from picsc.training.table_trainer import TableTrainer
from picsc.weighting.standardised import NOISE
from tests.mps_like import MPS, MpsLike
from tests.texts import bags

CPU = torch.device("cpu")
SOURCE, TARGET = np.arange(60), np.arange(60, 90)
RECIPE = TrainingRecipe(2, 0.01, 16)


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    """As the verbs do it."""
    with one_thread():
        yield


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(5, 3, 90), "colour": rng.choice(["red", "blue"], 90)})
    frame["late"] = np.where(np.arange(90) < 60, 1.0, np.arange(90))  # one value in the source
    frame.loc[[3, 70], "size"] = np.nan
    frame.loc[80, "size"] = 1e6
    return frame.assign(y=rng.choice(["a", "b"], 90))


def gray(n: int = 90) -> ImageSet:
    rng = np.random.default_rng(0)
    return from_images(rng.integers(0, 256, (n, 16, 16)).astype(np.uint8), np.arange(n) % 2)


def of_table(frame: pd.DataFrame | None = None, device: torch.device = CPU) -> TableTrainer:
    dataset = from_frame(table() if frame is None else frame, ReadSettings(target="y"))
    return TableTrainer(dataset, RECIPE, "kl", None, device)


def of_images(images: ImageSet | None = None, recipe: TrainingRecipe = RECIPE) -> NetworkTrainer:
    return NetworkTrainer(inputs_of(images or gray()), recipe, "kl", CPU, "float32")


def of_words() -> NetworkTrainer:
    return NetworkTrainer(inputs_of(bags(90)), RECIPE, "kl", CPU, "float32")


SPACES = {
    "columns": (of_table, "raw"),
    "pixels": (of_images, "raw"),
    "hidden units of images": (of_images, "layer"),
    "words": (of_words, "raw"),
    "mean embedding": (of_words, "layer"),
}


@pytest.fixture(params=SPACES)
def space(request: pytest.FixtureRequest) -> tuple[Trainer, str]:
    make, name = SPACES[request.param]
    return make(), name


def test_the_source_has_mean_0_and_deviation_1(space: tuple[Trainer, str]) -> None:
    x, z = covariates(*space, SOURCE, TARGET, seed=0)
    assert (x.dtype, z.dtype) == (torch.float32, torch.float32)
    assert (len(x), len(z), x.shape[1]) == (60, 30, z.shape[1])
    torch.testing.assert_close(x.mean(0), torch.zeros(x.shape[1]), rtol=0, atol=1e-5)
    torch.testing.assert_close(x.std(0, correction=0), torch.ones(x.shape[1]), rtol=1e-5, atol=0)
    assert float(z.abs().max()) <= LARGEST
    assert not x.requires_grad


@pytest.mark.parametrize("chunk", [1, 7])
def test_the_rows_read_at_once_do_not_matter(space: tuple[Trainer, str], chunk: int) -> None:
    whole = covariates(*space, SOURCE, TARGET, seed=0)
    for ours, theirs in zip(covariates(*space, SOURCE, TARGET, seed=0, chunk=chunk), whole, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_seed_gives_the_same_bytes(space: tuple[Trainer, str]) -> None:
    first, second = (covariates(*space, SOURCE, TARGET, seed=3) for _ in range(2))
    assert all(torch.equal(*pair) for pair in zip(first, second, strict=True))


def test_target_rows_change_nothing_but_themselves(space: tuple[Trainer, str]) -> None:
    x, z = covariates(*space, SOURCE, TARGET, seed=0)
    again, fewer = covariates(*space, SOURCE, TARGET[:5], seed=0)
    assert torch.equal(x, again)
    torch.testing.assert_close(fewer, z[:5], rtol=1e-4, atol=1e-4)


def test_a_source_is_where_it_is_when_it_is_the_target(space: tuple[Trainer, str]) -> None:
    x, z = covariates(*space, SOURCE, SOURCE, seed=0)
    assert torch.equal(x, z)


def test_columns_are_encoded_and_constant_ones_left_out() -> None:
    x, z = covariates(of_table(), "raw", SOURCE, TARGET, seed=0)
    assert x.shape[1] == 4  # size, size missing, red, blue
    assert float(z[:, 0].max()) == LARGEST  # row 80
    size = table()["size"].to_numpy()[SOURCE]
    there = ~np.isnan(size)
    expected = np.where(there, (size - size[there].mean()) / size[there].std(), 0)
    expected = (expected - expected.mean()) / expected.std()
    np.testing.assert_allclose(x[:, 0].numpy(), expected, rtol=1e-4, atol=1e-5)


def test_waves_of_pixels_are_near_where_images_are_near() -> None:
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (40, 16, 16))
    moved = np.clip(pixels + rng.integers(-2, 3, pixels.shape), 0, 255)
    images = from_images(np.concatenate([pixels, moved]).astype(np.uint8), np.arange(80) % 2)
    x, z = covariates(of_images(images), "raw", np.arange(40), np.arange(40, 80), seed=0)
    assert x.shape[1] == 256
    assert torch.cdist(z, x).argmin(1).tolist() == list(range(40))


def test_the_contrast_of_images_does_not_matter() -> None:
    dim = np.random.default_rng(1).integers(0, 26, (90, 16, 16)).astype(np.uint8)
    few, many = (covariates(of_images(from_images(pixels, np.arange(90) % 2)), "raw", SOURCE, TARGET, seed=0)
                 for pixels in (dim, dim * np.uint8(10)))  # fmt: skip
    torch.testing.assert_close(few, many, rtol=1e-3, atol=1e-3)


def test_projected_words_keep_the_distances_of_shares() -> None:
    texts = bags(90)
    x, z = covariates(of_words(), "raw", SOURCE, TARGET, seed=0)
    shares = np.stack([np.bincount(row, minlength=len(texts.vocabulary) + 1) for row in texts.take(np.arange(90))])
    shares = shares[:, 1:] / shares[:, 1:].sum(1, keepdims=True)
    exact = torch.pdist(torch.from_numpy(shares))
    found = torch.pdist(torch.cat([x, z]).double())
    assert float(torch.corrcoef(torch.stack([exact, found]))[0, 1]) > 0.9


def test_a_layer_is_that_of_plain_training() -> None:
    trainer = of_words()
    x, _ = covariates(trainer, "layer", SOURCE, TARGET, seed=3)
    one = TrainingJob(SOURCE, np.arange(60) % 2, SOURCE, 3)
    log_p = next(trainer.train_jobs([one], np.zeros((1, 1)), np.zeros((1, 1)))).outputs[0]
    logit = torch.from_numpy(log_p[:, 1] - log_p[:, 0]).double()
    design = torch.cat([x.double(), torch.ones(60, 1, dtype=torch.float64)], 1)
    fitted = design @ torch.linalg.lstsq(design, logit[:, None]).solution
    torch.testing.assert_close(fitted.flatten(), logit, rtol=1e-3, atol=1e-4)  # the last layer is linear in it


def test_a_model_that_diverges_has_no_layer() -> None:
    with pytest.raises(NumericsError, match=r"diverged at epoch 1 with learning rate 1e\+30.*--space raw"):
        covariates(of_images(recipe=TrainingRecipe(2, 1e30, 16)), "layer", SOURCE, TARGET, seed=0)


def test_tables_have_no_layer() -> None:
    with pytest.raises(SettingsError, match="--space layer is for images and texts"):
        covariates(of_table(), "layer", SOURCE, TARGET, seed=0)


def test_rows_that_cannot_be_weighted_are_refused() -> None:
    with pytest.raises(DataError, match="60 source rows by 0 target rows"):
        covariates(of_table(), "raw", SOURCE, TARGET[:0], seed=0)
    with pytest.raises(DataError, match="varies over the 1 source rows"):
        covariates(of_table(), "raw", SOURCE[:1], TARGET, seed=0)


@pytest.mark.parametrize("chunk", [None, 59])  # one row alone is multiplied by instructions that round otherwise
def test_images_that_are_all_the_same_cannot_be_weighed(chunk: int | None) -> None:
    """On every kind of processor: the rows differ by less than a tenth of what counts as varying."""
    same = from_images(np.full((90, 64, 64), 255, np.uint8), np.arange(90) % 2)
    wave, _ = raw_reader(of_images(same), SOURCE, 0)
    rows = torch.cat([wave(part) for part in np.split(SOURCE, [chunk or 60])])
    assert float((rows.amax(0) - rows.amin(0)).max()) < NOISE / 10
    with pytest.raises(DataError, match="varies over the 60 source rows"):
        covariates(of_images(same), "raw", SOURCE, TARGET, seed=0, chunk=chunk)


def test_a_device_without_float64_gives_the_numbers_of_the_cpu() -> None:
    x, z = covariates(of_table(), "raw", SOURCE, TARGET, seed=0)
    with MpsLike():
        ours, theirs = (part.cpu() for part in covariates(of_table(device=MPS), "raw", SOURCE, TARGET, seed=0))
    torch.testing.assert_close(ours, x, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(theirs, z, rtol=1e-6, atol=1e-6)
