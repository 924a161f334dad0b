"""Algorithm 2 on the simplest models there are, whose numbers are known in closed form, and its trigger on tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import binom
from torch import Tensor

from picsc.datasets.load import from_arrays
from picsc.equations.divergence import PRIOR_PRECISION
from picsc.equations.penalties import Anchor
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.training.algorithm_2 import Algorithm2Settings, FragmentStep, State, initial_state, learn_fragment
from picsc.training.jobs import Fitted, TrainingRecipe
from picsc.training.table_sequence_trainer import TableSequenceTrainer
from picsc.training.table_trainer import TableTrainer

D = 3


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


class Means:
    """Normal rows of variance 1 in D dimensions; the model is their mean, which training finds exactly."""

    def __init__(self, means: NDArray[np.float64] | None = None, n: int = 5) -> None:
        self.means, self.n = means, n

    def rows(self, t: int) -> Tensor:
        drawn = torch.randn(self.n, D, dtype=torch.float64, generator=torch.Generator().manual_seed(t))
        return drawn if self.means is None else drawn + torch.from_numpy(self.means[t])

    def sizes(self, t: int) -> Tensor:
        return torch.tensor([len(self.rows(t))])

    def start(self) -> Tensor:
        return torch.zeros(1, 1, D, dtype=torch.float64)

    def fit(self, theta: Tensor, t: int, *, weight_decay: Tensor, strength: Tensor, anchor: Anchor | None) -> Fitted:
        """The minimum of mean |x - theta|^2 / 2 + strength (theta - mu)' I (theta - mu)."""
        stiff = torch.zeros_like(theta) if anchor is None else 2 * strength[..., None] * anchor.fisher
        held = theta if anchor is None else anchor.mean
        found = (self.rows(t).mean(0) + stiff * held) / (1 + stiff)
        none = torch.zeros(1, 1)
        return Fitted(found, none.long(), none)

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        return (self.rows(t) - theta).square().mean(-2, keepdim=True)

    def shift(self, theta: Tensor, t: int, *, calibrated: bool = True) -> tuple[Tensor, Tensor]:
        tau = (self.rows(t).mean(0) - self.rows(t - 1).mean(0)).norm().reshape(1, 1)
        return tau, torch.full_like(tau, 2.0 if calibrated else torch.nan)

    def rebased(self, theta: Tensor, t: int) -> Tensor:
        return theta

    def rebased_precision(self, fisher: Tensor, t: int) -> Tensor:
        return fisher

    def outputs(self, theta: Tensor, t: int, rows: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        raise NotImplementedError


STEADY = Algorithm2Settings(torch.full((1, 1), 0.1, dtype=torch.float64), torch.zeros(1, 1), merge=True)
JUMP = np.array([0.0, 0.0, 5.0, 5.0, 5.0])[:, None] * np.ones(D)
"""Shifted once, at the third fragment."""


def learned(trainer: Means, settings: Algorithm2Settings, length: int) -> list[tuple[State, FragmentStep]]:
    state, found = initial_state(trainer), []
    for t in range(length):
        state, step = learn_fragment(state, trainer, t, settings)
        found.append((state, step))
    return found


class Turning(Means):
    """Fragments that are made without a random draw."""

    def rows(self, t: int) -> Tensor:
        return torch.arange(2.0 * D, dtype=torch.float64).reshape(2, D) + 3 * (t % 5)


def test_state_is_the_same_few_numbers_per_parameter_after_two_thousand_fragments() -> None:
    trainer, sizes, flags = Turning(), set(), 0
    state = initial_state(trainer)
    for t in range(2_000):
        state, step = learn_fragment(state, trainer, t, STEADY)
        sizes.add(sum(array.nbytes for array in state.arrays().values()))
        flags += int(step.flagged)
    assert flags == 1_999
    assert sizes == {7 * D * 8}
    assert all(part.untyped_storage().nbytes() == D * 8 for part in (state.theta, state.fisher, state.merged))
    assert state.merged.isfinite().all()


def test_state_survives_the_way_through_a_file() -> None:
    state, _ = learned(Means(JUMP), STEADY, 3)[-1]
    back = State.of(state.arrays(), "cpu")
    assert all(torch.equal(*pair) for pair in zip(vars_of(state), vars_of(back), strict=True))


def vars_of(state: State) -> list[Tensor]:
    return [torch.from_numpy(array) for array in state.arrays().values()]


def test_only_the_shifted_fragment_is_flagged_held_and_smoothed_in() -> None:
    """Eq. 16 holds with I_global of the step before, at theta_{t-1}; Eq. 15 then takes I_t at theta_t."""
    trainer = Means(JUMP)
    steps = learned(trainer, STEADY, 5)
    assert [bool(step.flagged) for _, step in steps] == [False, False, True, False, False]
    assert [step.compared for _, step in steps] == [False, True, True, True, True]
    before, after = steps[1][0], steps[2][0]
    prior = torch.full_like(before.fisher, PRIOR_PRECISION)
    assert torch.equal(before.fisher, prior)
    stiff = 2 * 0.1 * prior
    torch.testing.assert_close(after.theta, (trainer.rows(2).mean(0) + stiff * before.theta) / (1 + stiff))
    torch.testing.assert_close(after.fisher, 0.9 * prior + 0.1 * trainer.fisher(after.theta, 2))
    assert torch.equal(steps[4][0].fisher, after.fisher)
    torch.testing.assert_close(steps[4][0].theta[0, 0], trainer.rows(4).mean(0))


def test_a_second_shift_is_held_by_what_the_first_one_left() -> None:
    trainer = Means(np.array([0.0, 5.0, 0.0])[:, None] * np.ones(D))
    (_, _), (first, _), (second, step) = learned(trainer, STEADY, 3)
    assert bool(step.flagged)
    stiff = 2 * 0.1 * first.fisher
    torch.testing.assert_close(second.theta, (trainer.rows(2).mean(0) + stiff * first.theta) / (1 + stiff))


@pytest.mark.parametrize(("gamma", "flags"), [(0.0, [False, True, True]), (1e9, [False] * 3)])
def test_a_given_gamma_decides(gamma: float, flags: list[bool]) -> None:
    steps = learned(Means(JUMP), replace(STEADY, gamma=gamma), 3)
    assert [bool(step.flagged) for _, step in steps] == flags
    assert float(steps[1][1].gamma) == gamma


def test_quiet_fragments_are_skipped_as_printed_or_trained_on() -> None:
    trainer = Means(JUMP)
    train, skip = (learned(trainer, replace(STEADY, when_quiet=how), 4) for how in ("train", "skip"))
    assert torch.equal(skip[1][0].theta, skip[0][0].theta)
    assert torch.equal(skip[3][0].theta, skip[2][0].theta)
    assert not torch.equal(skip[2][0].theta, skip[1][0].theta)
    assert not torch.equal(train[3][0].theta, train[2][0].theta)
    torch.testing.assert_close(train[1][0].theta[0, 0], trainer.rows(1).mean(0))


class Broken(Means):
    """Its second fragment cannot be learned."""

    def fit(self, theta: Tensor, t: int, **terms: object) -> Fitted:
        fitted = super().fit(theta, t, **terms)
        return replace(fitted, diverged=torch.full((1, 1), int(t == 1)))


def test_training_that_was_thrown_away_cannot_fail() -> None:
    train, skip = (learned(Broken(JUMP), replace(STEADY, when_quiet=how), 2)[1][1] for how in ("train", "skip"))
    assert (int(train.diverged), int(skip.diverged)) == (1, 0)


def test_without_a_penalty_nothing_is_looked_at_and_nothing_is_skipped() -> None:
    settings = Algorithm2Settings(torch.zeros(1, 1), torch.zeros(1, 1), when_quiet="skip")
    steps = learned(Means(JUMP), settings, 3)
    assert [step.compared for _, step in steps] == [False] * 3
    torch.testing.assert_close(steps[2][0].theta[0, 0], Means(JUMP).rows(2).mean(0))


def test_running_means() -> None:
    """m_t = (S m_{t-1} + (I_t + delta) theta_t) / (S + I_t + delta), with S decayed by alpha."""
    trainer = Means(JUMP)
    steps = learned(trainer, STEADY, 4)
    thetas = [state.theta for state, _ in steps]
    torch.testing.assert_close(steps[0][0].merged, thetas[0])
    torch.testing.assert_close(steps[3][0].mean, torch.stack(thetas).mean(0))
    mass, merged = 0.0, 0.0
    for t, theta in enumerate(thetas):
        weight = trainer.fisher(theta, t) + PRIOR_PRECISION
        merged = (mass * merged + weight * theta) / (mass + weight)
        mass = 0.9 * (mass + weight)
    torch.testing.assert_close(steps[3][0].merged, merged)


class KnownFisher(Means):
    """The Fisher information of a mean of unit variance, which is 1, in fragments of different sizes."""

    def rows(self, t: int) -> Tensor:
        return super().rows(t)[: 2 + t % 3]

    def fisher(self, theta: Tensor, t: int) -> Tensor:
        return torch.ones_like(theta)


POSTERIOR = Algorithm2Settings(
    torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, 1), alpha=1.0, gamma=0.0, posterior=True
)


@pytest.mark.parametrize("metric", ["fisher", "isotropic"])
def test_at_the_weight_of_the_rows_seen_a_sequence_ends_where_all_rows_together_do(
    metric: Literal["fisher", "isotropic"],
) -> None:
    """The Gaussian posterior of all rows before is the prior of the next ones; of a mean it is exact."""
    trainer = KnownFisher(JUMP)
    steps = learned(trainer, replace(POSTERIOR, metric=metric), 5)
    assert [bool(step.flagged) for _, step in steps] == [False, True, True, True, True]
    for t, (state, _) in enumerate(steps):
        together = torch.cat([trainer.rows(s) for s in range(t + 1)])
        expected = together.sum(0) / (len(together) + (PRIOR_PRECISION if t else 0))
        first = trainer.rows(0).mean(0) * PRIOR_PRECISION / (len(together) + PRIOR_PRECISION) if t else 0
        torch.testing.assert_close(state.theta[0, 0], expected + first)
        torch.testing.assert_close(state.fisher[0, 0], torch.full((D,), len(together) + PRIOR_PRECISION).double())


def test_what_was_seen_long_ago_counts_less_and_a_multiplier_counts_it_more() -> None:
    trainer = KnownFisher(JUMP)
    faded = learned(trainer, replace(POSTERIOR, alpha=0.5), 3)[-1][0]
    seen = 0.125 * PRIOR_PRECISION + 0.25 * 2 + 0.5 * 3 + 4
    torch.testing.assert_close(faded.fisher[0, 0], torch.full((D,), seen).double())
    ends = [
        learned(trainer, replace(POSTERIOR, strength=POSTERIOR.strength * multiplier), 3)[-1][0].theta
        for multiplier in (1.0, 10.0, 1e6)
    ]
    moved = [float((end[0, 0] - trainer.rows(0).mean(0)).abs().max()) for end in ends]
    assert moved[0] > 2 * moved[1] > 1e3 * moved[2]


def test_an_isotropic_anchor_has_the_trace_of_the_fisher_information_and_no_direction() -> None:
    seen: list[Anchor | None] = []

    class Watched(Means):
        def fit(self, theta: Tensor, t: int, **terms: object) -> Fitted:
            seen.append(terms["anchor"])  # type: ignore[arg-type]
            return super().fit(theta, t, **terms)  # type: ignore[arg-type]

    ours, control = (learned(Watched(JUMP), replace(POSTERIOR, metric=metric), 2) for metric in ("fisher", "isotropic"))
    assert torch.equal(ours[0][0].fisher, control[0][0].fisher)
    one, other = seen[1], seen[3]
    assert one is not None
    assert other is not None
    assert torch.equal(one.fisher, ours[0][0].fisher)
    assert float(one.fisher.std()) > 0.1
    torch.testing.assert_close(other.fisher, torch.full_like(one.fisher, float(one.fisher.mean())))


@pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
def test_the_running_mean_that_is_chosen_weighs_models_by_their_age(kept: float) -> None:
    steps = learned(Means(JUMP), replace(STEADY, keep=torch.full((1, 1), kept, dtype=torch.float64)), 4)
    thetas = torch.stack([state.theta[0, 0] for state, _ in steps])
    weights = torch.tensor([kept**3, kept**2, kept, 1.0], dtype=torch.float64)
    torch.testing.assert_close(steps[-1][0].running[0, 0], (weights @ thetas) / weights.sum())


ROWS = 24
SEQUENCES = 300


def tables(shifted: bool) -> TableSequenceTrainer:
    """Many sequences of three fragments; identically distributed but for the last one, if it is shifted."""
    rng = np.random.default_rng(0)
    n = SEQUENCES * 3 * ROWS
    fragment = np.arange(n) // ROWS
    x = rng.normal(size=(n, 6)) + 2 * shifted * (fragment % 3 == 2)[:, None]
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    dataset = from_arrays(x, y, ReadSettings())
    backend = TableTrainer(dataset, TrainingRecipe(60, 0.1), "kl", None, torch.device("cpu"))
    pieces = np.arange(n).reshape(SEQUENCES, 3, ROWS)
    return backend.sequence_trainer(
        [list(piece) for piece in pieces], range(0, 10 * SEQUENCES, 10), [p[0] for p in pieces]
    )


def fired(trainer: TableSequenceTrainer) -> int:
    """Number of times that the last of three fragments is flagged."""
    one = torch.ones(SEQUENCES, 1)
    settings, state = Algorithm2Settings(0.1 * one, 0 * one), initial_state(trainer)
    for t in range(3):
        state, step = learn_fragment(state, trainer, t, settings)
    return int(step.flagged.sum())


def test_trigger_fires_at_its_level_on_identically_distributed_fragments() -> None:
    """Sequences share no row and no draw: fires are binomial with p = 0.05; fails once in 500,000 seeds.

    At theta_{t-1}, which has learned one of the two fragments by heart, it would fire far more often.
    """
    low, high = binom.ppf([1e-6, 1 - 1e-6], SEQUENCES, 0.05)
    assert low <= fired(tables(shifted=False)) <= high


def test_trigger_fires_on_a_shifted_fragment() -> None:
    assert fired(tables(shifted=True)) > 0.9 * SEQUENCES
