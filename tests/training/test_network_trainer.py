"""One module after another on images and texts by row number."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

import picsc
from picsc.datasets.images import ImageSet, from_images
from picsc.equations.penalties import PENALTIES
from picsc.errors import SettingsError
from picsc.evaluation.metrics import scores_of_models
from picsc.fisher.diagonal import row_scores
from picsc.fisher.row_gradients import make_plan
from picsc.fisher.subset_sums import part_squares
from picsc.reports.cv import CvReport
from picsc.runtime.threads import one_thread
from picsc.settings import CvSettings, validated
from picsc.training.algorithm_1 import all_rows, penalised_gradient
from picsc.training.jobs import TargetRows, TrainingJob, TrainingRecipe
from picsc.training.network_inputs import inputs_of
from picsc.training.network_trainer import NetworkTrainer
from picsc.training.networks import bag_of_embeddings
from picsc.training.single import train_by_recipe
from picsc.training.single_inputs import Correction, LabelledRows
from tests.reference import objective
from tests.texts import bags

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    """One thread, as in the commands."""
    with one_thread():
        yield


def bright(n: int = 60) -> ImageSet:
    """Noise that is brighter on the left or on the right."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    pixels = rng.integers(0, 120, (n, 16, 16))
    pixels[labels == 0, :, :8] += 100
    pixels[labels == 1, :, 8:] += 100
    return from_images(pixels.astype(np.uint8), labels)


DATA = {"words": bags, "images": bright}
EVERY = pytest.mark.parametrize("kind", DATA)


def backend_of(kind: str, **recipe: object) -> NetworkTrainer:
    learning = TrainingRecipe(**{"epochs": 6, "lr": 0.01, "batch_size": 8, **recipe})
    return NetworkTrainer(inputs_of(DATA[kind]()), learning, "kl", CPU, "float32")


def job(**changes: object) -> TrainingJob:
    rows = np.random.default_rng(1).permutation(60)
    return TrainingJob(**{"train": rows[:40], "fragment": np.arange(40) % 2, "test": rows[40:], "seed": 3, **changes})


def outputs(backend: NetworkTrainer, *jobs: TrainingJob, strengths: tuple[float, ...] = (0.0,)) -> np.ndarray:
    grid = np.tile(strengths, (len(jobs), 1))
    return np.stack([learned.outputs for learned in backend.train_jobs(jobs, grid, np.zeros_like(grid))])


@EVERY
def test_what_can_be_learned_is_learned(kind: str) -> None:
    backend, one = backend_of(kind), job()
    scores = scores_of_models(outputs(backend, one)[0], backend.targets(one.test), "classes")
    assert scores.accuracy[0] > 0.85


@EVERY
def test_a_job_does_not_depend_on_the_other_jobs(kind: str) -> None:
    backend, other = backend_of(kind, epochs=2), job(seed=4, train=np.arange(20), fragment=np.arange(20) % 2)
    alone = outputs(backend, job(), strengths=(0.0, 0.1))
    together = outputs(backend, other, job(), strengths=(0.0, 0.1))
    np.testing.assert_array_equal(alone[0], together[1])
    assert not np.array_equal(alone[0, 0], alone[0, 1])


@EVERY
def test_a_sequence_of_one_fragment_is_a_job(kind: str) -> None:
    backend, one = backend_of(kind, epochs=2), job()
    trainer = backend.sequence_trainer([[one.train]], [one.seed], [one.train])
    off = torch.zeros(1, 1)
    fitted = trainer.fit(trainer.start(), 0, weight_decay=off, strength=off, anchor=None)
    np.testing.assert_array_equal(trainer.outputs(fitted.theta, 0, [one.test])[0], outputs(backend, one)[0])


def test_what_diverges_says_in_which_epoch() -> None:
    backend = backend_of("words", lr=1e30)
    learned = next(backend.train_jobs([job()], np.zeros((1, 1)), np.zeros((1, 1))))
    assert learned.diverged[0] > 0
    assert np.isnan(learned.outputs).all()


class Bag(nn.Module):
    """The dense twin of a bag of embeddings: shares of words times a matrix, which can be differentiated twice."""

    def __init__(self, of: nn.Sequential) -> None:
        super().__init__()
        self.table, self.last = nn.Parameter(of[0].weight.detach().clone()), of[1]

    def forward(self, x: Tensor) -> Tensor:
        counts = torch.stack([row.bincount(minlength=len(self.table)) for row in x]).to(self.table.dtype)
        counts[:, 0] = 0
        return self.last(counts / counts.sum(1, keepdim=True) @ self.table)


def a_bag(n: int) -> tuple[nn.Sequential, Tensor, Tensor]:
    texts = bags(n)
    model = bag_of_embeddings(len(texts.vocabulary), 2, 4, seed=0, dtype=torch.float64)
    return model, torch.from_numpy(texts.take(np.arange(n))), torch.from_numpy(texts.labels)


@pytest.mark.parametrize("name", PENALTIES)
def test_a_bag_is_penalised_by_layer_as_its_dense_twin_is(name: str) -> None:
    model, x, y = a_bag(24)
    fragment = torch.arange(24) % 3
    plan = make_plan(model, x[:2], "classes")
    assert plan.rest == ()  # no parameter is differentiated row by row, which would be slow
    order, shares = all_rows(fragment, 3)
    found = penalised_gradient(plan, x[order], y[order], shares, PENALTIES[name])
    twin = Bag(model)
    penalty = objective(twin, x, y, fragment, penalty=name, strength=1.0) - objective(twin, x, y, fragment)
    expected = torch.autograd.grad(penalty, list(twin.parameters()))
    torch.testing.assert_close(torch.cat([part.flatten() for part in found.penalty]),
                               torch.cat([part.flatten() for part in expected]), rtol=1e-9, atol=1e-11)  # fmt: skip


@pytest.mark.parametrize("chunk", [5, 100])
def test_squares_of_parts_are_sums_of_squared_scores(chunk: int) -> None:
    model, x, y = a_bag(24)
    parts = (torch.rand(4, 24, generator=torch.Generator().manual_seed(0)) < 0.5).double()
    expected = parts @ row_scores(model, x, y).square()
    torch.testing.assert_close(part_squares(model, x, y, parts, chunk=chunk), expected, rtol=1e-12, atol=1e-15)


@EVERY
def test_rows_without_weight_are_not_learned_from(kind: str) -> None:
    backend, one = backend_of(kind, epochs=2, batch_size=None), job()
    weight = np.repeat([2.0, 0.0], 20)
    other = one.train.copy()
    other[20:] = one.train[39:19:-1]
    together = [replace(one, weight=weight), replace(one, train=other, weight=weight), one]
    weighted, reordered, plain = outputs(backend, *together)
    np.testing.assert_allclose(weighted, reordered, rtol=1e-5, atol=1e-6)  # a vectorised kernel rounds by a row's place
    assert np.abs(weighted - plain).max() > 0.01


@EVERY
@pytest.mark.parametrize("on", ["losses", "features"])
def test_target_rows_change_the_weights(kind: str, on: str) -> None:
    backend, one = backend_of(kind, epochs=3), job()
    weighted, plain = outputs(backend, replace(one, target_rows=TargetRows(one.test[:10], on)), one)
    assert np.isfinite(weighted).all()
    assert not np.array_equal(weighted, plain)


def test_the_penalty_does_not_know_weights() -> None:
    weighted = job(weight=np.ones(40))
    with pytest.raises(SettingsError, match="leave out the weights, or set lambda to 0"):
        outputs(backend_of("words"), weighted, strengths=(0.1,))


def test_the_words_that_fill_a_text_up_are_never_learned() -> None:
    backend, one = backend_of("words", epochs=2), job()
    model = backend.model(one.seed)
    rows = LabelledRows(backend.reader(one.train)(one.train), backend.labels(one.train))
    correction = Correction(0.1, PENALTIES["kl"], torch.from_numpy(one.fragment))
    train_by_recipe(model, rows, backend.recipe, backend.precision, seed=0, correction=correction)
    assert isinstance(model[0], nn.EmbeddingBag)
    assert not model[0].weight[0].any()
    assert not torch.equal(parameters_to_vector(model.parameters()),
                           parameters_to_vector(backend.model(one.seed).parameters()))  # fmt: skip


def words_compared(**options: object) -> CvReport:
    train = {"epochs": 2, "lr": 0.03, "batch_size": 40}
    return picsc.cross_validate_dataset(bags(), validated(CvSettings, train=train, **options))


@pytest.mark.parametrize("cut", [{"folds": 2}, {"batches": 3}])
def test_words_are_cross_validated(cut: dict[str, int]) -> None:
    report = words_compared(cut=cut, penalty={"strength": 0.1})
    assert report.data.columns[0].kind == "up to 12 words"
    assert {each.method for each in report.methods} >= {"st-cv", "picsc", "weight-decay", "carried", "subsample"}
    assert all(each.failed == 0 for each in report.methods)
    assert all(each.mean > 0.5 for each in report.methods if each.mean is not None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cut": {"by": "shop"}}, "--by shop: texts have no columns to cut by"),
        ({"weights": "w"}, "--weights w: texts have no columns"),
        ({"read": {"drop": ("w1",)}}, "--drop: texts have no columns"),
    ],
)
def test_words_have_no_columns(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        words_compared(**options)


@EVERY
def test_tau_is_the_same_with_and_without_its_threshold(kind: str) -> None:
    """A given gamma needs no calibration, which costs a hundred times as much."""
    pieces = [np.arange(20), np.arange(20, 40)]
    trainer = backend_of(kind).sequence_trainer([pieces], [0], [np.arange(40)])
    (tau, gamma), (alone, none) = (trainer.shift(trainer.start(), 1, calibrated=how) for how in (True, False))
    torch.testing.assert_close(tau, alone, rtol=1e-4, atol=1e-8)
    assert float(gamma) > 0
    assert bool(none.isnan())
