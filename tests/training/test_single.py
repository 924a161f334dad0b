import pickle
from collections.abc import Callable, Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from torch import nn

from picsc.auditing.reference_model import fit_reference
from picsc.equations.likelihood import Likelihood
from picsc.equations.penalties import PENALTIES, Anchor, cramer_rao
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.fisher.diagonal import fragment_fishers
from picsc.fisher.row_gradients import make_plan
from picsc.runtime.threads import one_thread
from picsc.settings import PenaltyName
from picsc.training.algorithm_1 import Shares, all_rows, penalised_gradient
from picsc.training.minibatches import epoch_steps, held_out, minibatches, shared_minibatches
from picsc.training.networks import lenet, mlp
from picsc.training.objectives import flat, task_loss
from picsc.training.optimizers import AdamState, SgdState, adam_step, sgd_step
from picsc.training.predict import predict
from picsc.weighting.diw import Match, TargetData
from tests.flat_training import train


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


CHOSEN = {"likelihood": "classes", "steps": 25, "lr": 0.05, "batch_size": 16, "seed": 4}


def blobs(n: int = 60, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(n) % 3
    return torch.randn(n, 5, generator=generator, dtype=dtype) + y[:, None], y


def vector(model: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_adam_step_is_torchs_adam(weight_decay: float) -> None:
    x, y = blobs()
    ours, theirs = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    optimiser = torch.optim.Adam(theirs.parameters(), lr=0.05, weight_decay=weight_decay)
    parameters = list(ours.parameters())
    state = AdamState([torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters])
    for _ in range(20):
        gradients = torch.autograd.grad(task_loss(ours, x, y, "classes"), parameters)
        adam_step(parameters, gradients, state, lr=0.05, weight_decay=weight_decay)
        optimiser.zero_grad()
        task_loss(theirs, x, y, "classes").backward()
        optimiser.step()
    torch.testing.assert_close(vector(ours), vector(theirs), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("momentum", "weight_decay"), [(0.0, 0.0), (0.9, 0.1)])
def test_sgd_step_is_torchs_sgd(momentum: float, weight_decay: float) -> None:
    x, y = blobs()
    ours, theirs = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    optimiser = torch.optim.SGD(theirs.parameters(), lr=0.05, momentum=momentum, weight_decay=weight_decay)
    parameters = list(ours.parameters())
    state = SgdState([torch.zeros_like(p) for p in parameters])
    for _ in range(20):
        gradients = torch.autograd.grad(task_loss(ours, x, y, "classes"), parameters)
        sgd_step(parameters, gradients, state, lr=0.05, momentum=momentum, weight_decay=weight_decay)
        optimiser.zero_grad()
        task_loss(theirs, x, y, "classes").backward()
        optimiser.step()
    torch.testing.assert_close(vector(ours), vector(theirs), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_vector_or_many_parameters_train_to_the_same_bits(dtype: torch.dtype) -> None:
    x, y = blobs(dtype=dtype)
    model, twin = (mlp(5, 3, seed=1, dtype=dtype) for _ in range(2))
    log = train(model, x, y, **CHOSEN, weight_decay=0.01)
    parameters = list(twin.parameters())
    state = AdamState([torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters])
    losses = []
    for rows in minibatches(60, 16, 25, seed=4):
        loss = task_loss(twin, x[rows], y[rows], "classes")
        adam_step(parameters, torch.autograd.grad(loss, parameters), state, lr=0.05, weight_decay=0.01)
        losses.append(loss.item())
    assert log.loss == tuple(losses)
    assert torch.equal(vector(model), vector(twin))


def test_training_on_all_rows_is_the_plain_loop() -> None:
    x, y = blobs()
    model, twin = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    log = train(model, x, y, likelihood="classes", steps=10, lr=0.05, batch_size=60, seed=0)
    optimiser = torch.optim.Adam(twin.parameters(), lr=0.05)
    losses = []
    for _ in range(10):
        loss = nn.functional.cross_entropy(twin(x), y)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    torch.testing.assert_close(torch.tensor(log.loss), torch.tensor(losses), rtol=1e-12, atol=0)
    torch.testing.assert_close(vector(model), vector(twin), rtol=1e-12, atol=1e-14)


def test_same_seed_same_bytes_other_seed_other_bytes() -> None:
    x, y = blobs(dtype=torch.float32)
    first, again, other = (mlp(5, 3, seed=1) for _ in range(3))
    logs = [train(model, x, y, **{**CHOSEN, "seed": seed}) for model, seed in ((first, 4), (again, 4), (other, 5))]
    assert logs[0] == logs[1]
    assert torch.equal(vector(first), vector(again))
    assert not torch.equal(vector(first), vector(other))


def test_training_leaves_the_global_generator_alone() -> None:
    x, y = blobs()
    before = torch.get_rng_state()
    train(mlp(5, 3, seed=1, dtype=torch.float64), x, y, **CHOSEN)
    fit_reference(x, y, likelihood="classes", outputs=3, seed=0)
    assert torch.equal(torch.get_rng_state(), before)


def test_an_epoch_visits_every_row_at_most_once_and_all_but_the_remainder() -> None:
    drawn = list(minibatches(50, 8, 14, seed=0))
    assert [len(rows) for rows in drawn] == [8] * 14
    epochs = [torch.cat(drawn[:6]), torch.cat(drawn[6:12])]
    assert [len(epoch.unique()) for epoch in epochs] == [48, 48]
    assert not torch.equal(epochs[0], epochs[1])


def test_all_rows_are_one_batch_when_they_fit() -> None:
    assert list(minibatches(8, 8, 3, seed=0)) == [None, None, None]


def test_every_row_is_as_likely_in_every_place() -> None:
    """4,000 draws of 2 of 5 rows: each row's count is binomial(4000, 0.4); five sigma are left by 3e-6 of all seeds."""
    counts = torch.cat([next(iter(minibatches(5, 2, 1, seed=seed))) for seed in range(4000)]).bincount()
    assert counts.sub(1600).abs().max() < 5 * (4000 * 0.4 * 0.6) ** 0.5


def test_p43_a_row_that_is_left_over_never_stands_alone() -> None:
    """Batch normalisation cannot use a single row."""
    x, y = blobs(129, dtype=torch.float32)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3))
    log = train(model, x, y, likelihood="classes", steps=7, lr=0.01, batch_size=64, seed=0, patience=5)
    assert len(log.loss) == 7
    assert [len(rows) for rows in minibatches(129, 64, 5, seed=0)] == [64] * 5


def test_every_fragment_has_the_same_share_of_every_minibatch() -> None:
    fragment = torch.tensor([1, 0, 2] * 10 + [0] * 7 + [2])  # 17, 10 and 11 rows
    drawn = torch.stack(list(shared_minibatches(fragment, 3, 12, 8, seed=0)))
    assert torch.equal(fragment[drawn], torch.repeat_interleave(torch.arange(3), 4).expand(8, 12))
    rounds = drawn[:, :4].reshape(2, 16)  # 17 rows give four full shares; the fifth is of a fresh permutation
    assert [len(one.unique()) for one in rounds] == [16, 16]
    assert not torch.equal(*rounds)


def test_a_fragment_smaller_than_its_share_repeats_its_rows_evenly() -> None:
    fragment = torch.tensor([0, 0, 0] + [1] * 20)
    first = next(iter(shared_minibatches(fragment, 2, 14, 1, seed=0)))[:7]
    assert sorted(first.bincount().tolist()) == [2, 2, 3]


def test_more_fragments_than_rows_in_a_minibatch_still_give_one_row_each() -> None:
    drawn = next(iter(shared_minibatches(torch.arange(10) % 5, 5, 3, 1, seed=0)))
    assert (drawn % 5).tolist() == [0, 1, 2, 3, 4]


def test_shares_drawn_in_several_blocks_go_on_where_they_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    fragment = torch.arange(40) % 2
    monkeypatch.setattr("picsc.training.minibatches.DRAWN_AT_ONCE", 24)
    drawn = torch.stack(list(shared_minibatches(fragment, 2, 8, 5, seed=0)))
    assert drawn.shape == (5, 8)
    assert len(drawn[:, :4].unique()) == 20


def test_a_tenth_is_held_out_whoever_asks_and_no_fragment_is_emptied() -> None:
    kept, out = held_out(50, None, seed=3)
    assert (len(out), len(torch.cat([kept, out]).unique())) == (5, 50)
    fragment = torch.zeros(50, dtype=torch.int64)
    fragment[out[0]] = 1  # that fragment's only row
    kept, again = held_out(50, fragment, seed=3)
    assert torch.equal(again, out[1:])
    assert out[0] in kept


@given(st.lists(st.integers(1, 12), min_size=2, max_size=12), st.integers(1, 4), st.integers(0, 50))
def test_whole_groups_are_held_out_and_no_fragment_is_lost(sizes: list[int], fragments: int, seed: int) -> None:
    group = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    fragment = (torch.arange(len(group)) % fragments).sort().values
    kept, out = held_out(len(group), fragment, seed=seed, groups=group)
    assert sorted([*kept.tolist(), *out.tolist()]) == list(range(len(group)))
    assert not set(group[kept].tolist()) & set(group[out].tolist())
    assert set(fragment[kept].tolist()) == set(fragment.tolist())
    alone, apart = held_out(len(group), None, seed=seed, groups=group)
    assert len(alone)
    assert len(apart)
    assert len(apart) <= max(len(group) // 10, min(sizes))


def test_the_breast_cancer_reference_fits() -> None:
    table, labels = load_breast_cancer(return_X_y=True)
    x = torch.tensor((table - table.mean(0)) / table.std(0), dtype=torch.float32)
    y = torch.tensor(labels)
    right = [
        (fit_reference(x, y, likelihood="classes", outputs=2, seed=seed)(x).argmax(1) == y).float().mean()
        for seed in range(3)
    ]
    assert min(right) > 0.97


def test_the_reference_of_numbers_explains_them() -> None:
    x = blobs(400)[0]
    x = (x - x.mean(0)) / x.std(0)
    y = (x[:, 0] - x[:, 1]) / (x[:, 0] - x[:, 1]).std()
    model = fit_reference(x, y, likelihood="numbers", outputs=1, seed=0)
    assert task_loss(model, x, y, "numbers").item() < 0.01  # half the unexplained variance; 0.5 is none explained


def test_frozen_parameters_stay() -> None:
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    model[0].requires_grad_(False)
    before = vector(model[0])
    after = vector(model[2])
    train(model, x, y, **CHOSEN)
    assert torch.equal(vector(model[0]), before)
    assert not torch.equal(vector(model[2]), after)


def test_a_loss_that_leaves_the_finite_numbers_names_epoch_step_and_learning_rate() -> None:
    x, y = blobs(dtype=torch.float32)
    with pytest.raises(NumericsError, match=r"epoch 1 \(step 2 of 25\) with learning rate 1e\+30: lower") as caught:
        train(mlp(5, 3, seed=1), x, y, **{**CHOSEN, "lr": 1e30})
    assert caught.value.epoch == 1
    assert pickle.loads(pickle.dumps(caught.value)).epoch == 1  # noqa: S301 - it comes back from worker processes


def test_a_penalised_run_that_diverges_names_lambda_and_the_later_epoch() -> None:
    x, y = blobs(dtype=torch.float32)
    held = Anchor(torch.zeros(39), torch.full((39,), 1e-6))  # a stiff one would hold the parameters
    how = CHOSEN | {"lr": 1.0, "optimizer": "sgd", "weight_decay": 3.0}
    with pytest.raises(
        NumericsError, match=r"epoch \d+ \(step \d+ of 25\) with lambda 0\.3 and learning rate 1"
    ) as caught:
        train(mlp(5, 3, seed=1), x, y, **how, anchor=held, strength=0.3)
    assert caught.value.epoch is not None
    assert caught.value.epoch > 1


def test_parameters_broken_by_the_last_step_are_found() -> None:
    class Root(nn.Module):
        """Finite at 0, where its slope is not."""

        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.zeros(5))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * self.w.sqrt()).sum(1)

    x, y = blobs()
    with pytest.raises(NumericsError, match=r"epoch 1 \(the last of 1 steps\) with learning rate 0\.05"):
        train(Root(), x, y, **{**CHOSEN, "steps": 1, "likelihood": "numbers"})


def test_rows_that_do_not_match_are_refused() -> None:
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    with pytest.raises(DataError, match="60 rows of x and 59 of y"):
        train(model, x, y[1:], **CHOSEN)
    with pytest.raises(DataError, match="0 rows of x"):
        train(model, x[:0], y[:0], **CHOSEN)
    with pytest.raises(DataError, match=r"labels run from 0 to 2: a model with 2 outputs"):
        fit_reference(x, y, likelihood="classes", outputs=2, seed=0)


def fragments_of(n: int, sizes: list[int]) -> torch.Tensor:
    """Fragments of these sizes, their rows mixed."""
    order = torch.randperm(n, generator=torch.Generator().manual_seed(1))
    return torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))[order]


class Several(nn.Module):
    """Convolutions with every option, a shared layer at several positions, a frozen layer, one without rule."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.odd = nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2)
        self.each = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.last = nn.Linear(36, 3).requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.odd(torch.tanh(self.first(x)))).mean(3).transpose(1, 2)
        return self.last(self.norm(torch.tanh(self.each(self.each(h)))).flatten(1))


def several() -> tuple[nn.Module, torch.Tensor]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Several().double(), torch.randn(12, 2, 11, 9, dtype=torch.float64)


def small_lenet() -> tuple[nn.Module, torch.Tensor]:
    x = torch.randn(12, 1, 16, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return lenet(1, 16, 3, seed=0, dtype=torch.float64), x


def small_mlp() -> tuple[nn.Module, torch.Tensor]:
    return mlp(5, 3, seed=1, dtype=torch.float64), blobs(12)[0]


@pytest.mark.parametrize("kind", ["kl", "frobenius", "trace"])
@pytest.mark.parametrize("sizes", [[4, 4, 4], [1, 6, 5]])
@pytest.mark.parametrize("case", [several, small_lenet, small_mlp])
def test_the_penalty_without_a_graph_has_the_gradient_through_the_graph(
    case: Callable[[], tuple[nn.Module, torch.Tensor]], sizes: list[int], kind: PenaltyName
) -> None:
    model, x = case()
    y, fragment, penalty = torch.arange(12) % 3, fragments_of(12, sizes), PENALTIES[kind]
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    order, shares = all_rows(fragment, 3)
    plan = make_plan(model, x, "classes")
    found = penalised_gradient(plan, x[order], y[order], shares, penalty)
    value = penalty.value(fragment_fishers(model, x, y, fragment, 3, create_graph=True))
    loss = task_loss(model, x, y, "classes")
    slope = flat(torch.autograd.grad(value, parameters, materialize_grads=True))
    torch.testing.assert_close(found.value, value.detach(), rtol=1e-10, atol=0)
    torch.testing.assert_close(flat(found.penalty), slope, rtol=1e-10, atol=1e-10 * float(slope.abs().max()))
    torch.testing.assert_close(found.loss, loss.detach(), rtol=1e-12, atol=0)
    torch.testing.assert_close(flat(found.task), flat(torch.autograd.grad(loss, parameters)), rtol=1e-10, atol=1e-14)


def test_strength_nothing_is_plain_training_bit_for_bit() -> None:
    x, y = blobs(dtype=torch.float32)
    plain, same = (mlp(5, 3, seed=1) for _ in range(2))
    held = Anchor(torch.ones(39), torch.ones(39))
    logs = [
        train(plain, x, y, **CHOSEN),
        train(
            same, x, y, **CHOSEN, anchor=held, penalty=PENALTIES["kl"], fragment=torch.arange(60) // 20, strength=0.0
        ),
    ]
    assert logs[0] == logs[1]
    assert torch.equal(vector(plain), vector(same))


@pytest.mark.parametrize("batch_size", [60, 16])
def test_algorithm_1_is_the_loop_over_its_printed_loss(batch_size: int) -> None:
    x, y = blobs()
    fragment = fragments_of(60, [15, 20, 25])
    model, twin = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    how = CHOSEN | {"batch_size": batch_size}
    log = train(model, x, y, **how, penalty=PENALTIES["kl"], fragment=fragment, fragments=3, strength=0.1)
    optimiser = torch.optim.Adam(twin.parameters(), lr=0.05)
    drawn = {60: [torch.arange(60)] * 25, 16: list(shared_minibatches(fragment, 3, 16, 25, seed=4))}[batch_size]
    values = []
    for rows in drawn:
        fishers = fragment_fishers(twin, x[rows], y[rows], fragment[rows], 3, create_graph=True)
        value = 0.1 * PENALTIES["kl"].value(fishers)
        values.append(value.item())
        optimiser.zero_grad()
        # of 60 rows a step of 16 has five of each fragment, which count as 15, 20 and 25 do
        of_row = nn.functional.cross_entropy(twin(x[rows]), y[rows], reduction="none")
        counts = torch.tensor([15, 20, 25]) / 20 if len(rows) < 60 else torch.ones(3)
        ((of_row * counts[fragment[rows]]).mean() + value).backward()
        optimiser.step()
    torch.testing.assert_close(torch.tensor(log.penalty), torch.tensor(values), rtol=1e-9, atol=0)
    torch.testing.assert_close(vector(model), vector(twin), rtol=1e-8, atol=1e-10)
    assert 0 < log.penalty_share < 1


@pytest.mark.parametrize("case", [several, small_lenet, small_mlp])
def test_the_task_s_loss_is_the_mean_over_rows_whatever_their_fragment_s_share_of_a_step(
    case: Callable[[], tuple[nn.Module, torch.Tensor]],
) -> None:
    """Fragments of 10, 20 and 90 rows have four rows each of a step: loss and gradient are those of weighted rows, and
    the penalty is that of the same rows without weights."""
    model, x = case()
    y, penalty = torch.arange(12) % 3, PENALTIES["kl"]
    times = torch.tensor([[10.0], [20.0], [90.0]]) / 40
    plan = make_plan(model, x, "classes")
    alike = penalised_gradient(plan, x, y, Shares(3, 4), penalty)
    found = penalised_gradient(plan, x, y, Shares(3, 4, times=times), penalty)
    of_row = nn.functional.cross_entropy(model(x), y, reduction="none")
    loss = (of_row * times.repeat_interleave(4)).mean()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    torch.testing.assert_close(found.loss, loss.detach(), rtol=1e-12, atol=0)
    torch.testing.assert_close(flat(found.task), flat(torch.autograd.grad(loss, parameters)), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(found.value, alike.value, rtol=1e-10, atol=0)
    torch.testing.assert_close(flat(found.penalty), flat(alike.penalty), rtol=1e-8, atol=1e-10)


def test_an_anchor_pulls_as_equation_16_says() -> None:
    x, y = blobs()
    model, twin = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    model[0].requires_grad_(False)
    generator = torch.Generator().manual_seed(0)
    held = Anchor(*(torch.rand(39, generator=generator, dtype=torch.float64) for _ in range(2)))
    how = CHOSEN | {"batch_size": 60, "optimizer": "sgd", "momentum": 0.5}
    log = train(model, x, y, **how, anchor=held, strength=0.7)
    optimiser = torch.optim.SGD(twin[2].parameters(), lr=0.05, momentum=0.5)
    free = Anchor(*(part[-15:] for part in held))
    values = []
    for step in range(25):
        values.append(0.7 * cramer_rao(vector(twin[2]), free).item())
        optimiser.zero_grad()
        task_loss(twin, x, y, "classes").backward()
        optimiser.step()
        # the minimum of the anchor's term plus the squared distance from there over twice the step's length
        h = 2 * 0.7 * free.fisher * 0.05 * sum(0.5**i for i in range(step + 1))
        nn.utils.vector_to_parameters((vector(twin[2]) + h * free.mean) / (1 + h), twin[2].parameters())
    torch.testing.assert_close(torch.tensor(log.penalty), torch.tensor(values), rtol=1e-10, atol=0)
    torch.testing.assert_close(vector(model), vector(twin), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_no_lambda_of_an_anchor_diverges(optimizer: str) -> None:
    x, y = blobs()
    for strength in (1e2, 1e4, 1e6):
        model = mlp(5, 3, seed=1, dtype=torch.float64)
        held = Anchor(vector(model), torch.ones(39, dtype=torch.float64))
        train(model, x, y, **CHOSEN | {"optimizer": optimizer, "lr": 0.3}, anchor=held, strength=strength)
        assert float((vector(model) - held.mean).abs().max()) < 10 / strength


def test_the_penalty_s_share_of_the_gradient() -> None:
    """At the start of a run of one step: norms of both gradients, by hand."""
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    task = flat(torch.autograd.grad(task_loss(model, x, y, "classes"), list(model.parameters()))).norm()
    held = Anchor(torch.zeros(39).double(), torch.ones(39).double())
    pull = (2 * 0.3 * vector(model)).norm()
    log = train(model, x, y, **CHOSEN | {"steps": 1, "batch_size": 60}, anchor=held, strength=0.3)
    assert log.penalty_share == pytest.approx(float(pull / (task + pull)), rel=1e-12)


def test_early_stopping_keeps_the_best_epoch() -> None:
    """Labels are noise, so that the rows held out get worse as soon as the others are learned by heart."""
    x, _ = blobs(80)
    y = torch.randint(3, (80,), generator=torch.Generator().manual_seed(5))
    model, twin = (mlp(5, 3, 30, seed=1, dtype=torch.float64) for _ in range(2))
    how = CHOSEN | {"steps": 400, "patience": 5}
    log = train(model, x, y, **how)
    best = min(log.held_out)
    assert len(log.held_out) == log.held_out.index(best) + 6
    assert len(log.loss) == len(log.held_out) * epoch_steps(72, 16) < 400
    kept, out = held_out(80, None, seed=4)
    assert task_loss(model, x[out], y[out], "classes").item() == pytest.approx(best, rel=1e-12)
    train(twin, x[kept], y[kept], **CHOSEN | {"steps": (log.held_out.index(best) + 1) * epoch_steps(72, 16)})
    assert torch.equal(vector(model), vector(twin))


def test_early_stopping_looks_at_the_same_rows_for_every_method() -> None:
    x, y = blobs(dtype=torch.float32)
    how = CHOSEN | {"steps": 3, "patience": 9, "lr": 1e-12}
    plain = train(mlp(5, 3, seed=1), x, y, **how)
    other = train(mlp(5, 3, seed=1), x, y, **how, penalty=PENALTIES["kl"], fragment=torch.arange(60) % 3, strength=0.1)
    assert plain.held_out == pytest.approx(other.held_out, abs=1e-6)


@pytest.mark.parametrize("likelihood", ["classes", "numbers"])
def test_predictions_do_not_depend_on_the_chunk_or_the_mode(likelihood: Likelihood) -> None:
    x = blobs()[0]
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, {"classes": 3, "numbers": 1}[likelihood]))
    model.double()
    predicted = predict(model, x, likelihood=likelihood, chunk=7)
    torch.testing.assert_close(predicted, predict(model, x, likelihood=likelihood), rtol=1e-12, atol=1e-14)
    assert [module.training for module in model.modules()] == [True] * 4
    assert model[1].num_batches_tracked == 0
    assert not predicted.requires_grad
    model.eval()
    expected = {"classes": model(x).log_softmax(1), "numbers": model(x).squeeze(-1)}[likelihood]
    torch.testing.assert_close(predicted, expected.detach(), rtol=1e-12, atol=1e-14)


def test_bfloat16_trains_close_to_single_precision_and_not_the_same() -> None:
    x, y = blobs(dtype=torch.float32)
    logs = [train(mlp(5, 3, seed=1), x, y, **CHOSEN, precision=name).loss for name in ("float32", "bfloat16")]
    assert logs[0] != logs[1]
    assert logs[0] == pytest.approx(logs[1], abs=0.05)


def test_fragments_that_cannot_be_compared_are_refused() -> None:
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    how = CHOSEN | {"penalty": PENALTIES["kl"], "strength": 0.1}
    with pytest.raises(DataError, match="needs the fragment of each row"):
        train(model, x, y, **how)
    with pytest.raises(DataError, match="at least 2 of them: got 1"):
        train(model, x, y, **how, fragment=torch.zeros(60, dtype=torch.int64))
    with pytest.raises(DataError, match="fragment 2 of 3 has no rows"):
        train(model, x, y, **how, fragment=torch.arange(60) % 2, fragments=3)
    with pytest.raises(DataError, match="the model has 39 parameters"):
        train(model, x, y, **CHOSEN, anchor=Anchor(torch.ones(3), torch.ones(3)), strength=0.1)
    with pytest.raises(DataError, match="cannot train on 1 row, need at least 2"):
        train(model, x[:1], y[:1], **CHOSEN, patience=1)


def test_a_layer_that_mixes_rows_cannot_be_penalised() -> None:
    x, y = blobs(dtype=torch.float32)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    with pytest.raises(NumericsError, match=r"layer '1' \(BatchNorm1d\) mixes rows"):
        train(model, x, y, **CHOSEN, penalty=PENALTIES["kl"], fragment=torch.arange(60) % 2, strength=0.1)


def test_whole_weights_are_repeated_rows() -> None:
    x, y = blobs()
    times = torch.randint(0, 4, (60,), generator=torch.Generator().manual_seed(2))
    rows = torch.repeat_interleave(torch.arange(60), times)
    weighted, repeated, plain = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(3))
    how = CHOSEN | {"batch_size": 200}
    logs = [
        train(weighted, x, y, **how, weight=times.double()),
        train(repeated, x[rows], y[rows], **how),
        train(plain, x, y, **how),
    ]
    torch.testing.assert_close(vector(weighted), vector(repeated), rtol=1e-9, atol=1e-9)
    assert logs[0].loss == pytest.approx(logs[1].loss, rel=1e-9)
    assert (vector(weighted) - vector(plain)).abs().max() > 0.01


def test_weights_that_are_all_alike_are_plain_training() -> None:
    x, y = blobs()
    weighted, plain = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    train(weighted, x, y, **CHOSEN, weight=torch.full((60,), 0.3))
    train(plain, x, y, **CHOSEN)
    torch.testing.assert_close(vector(weighted), vector(plain), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("patience", [None, 3])
def test_rows_of_weight_0_change_nothing_nor_does_a_minibatch_of_them(patience: int | None) -> None:
    x, y = blobs()
    weight = torch.cat([torch.rand(20, generator=torch.Generator().manual_seed(0)), torch.zeros(40)])
    turned = torch.cat([y[:20], (y[20:] + 1) % 3])
    models = [mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(3)]
    how = CHOSEN | {"batch_size": 2, "patience": patience, "weight": weight}
    logs = [train(model, x, labels, **how) for model, labels in zip(models, (y, turned, (y + 1) % 3), strict=True)]
    assert torch.equal(vector(models[0]), vector(models[1]))
    assert logs[0] == logs[1]
    assert 0.0 in logs[0].loss
    assert not torch.equal(vector(models[0]), vector(models[2]))


def test_rows_held_out_count_by_their_weights() -> None:
    x, y = blobs()
    weight = torch.arange(60).double()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    log = train(model, x, y, **CHOSEN | {"steps": 3}, patience=5, weight=weight)
    out = held_out(60, None, seed=4)[1]
    losses = -predict(model, x[out])[torch.arange(len(out)), y[out]]
    assert log.held_out == pytest.approx([float((weight[out] * losses).sum() / weight[out].sum())], rel=1e-12)
    weight[out] = 0
    log = train(model, x, y, **CHOSEN | {"steps": 3, "lr": 1e-9}, patience=5, weight=weight)
    assert log.held_out == pytest.approx([float(losses.mean())], rel=1e-6)


def test_weights_that_cannot_be_used_are_refused() -> None:
    x, y = blobs()
    model = mlp(5, 3, seed=1, dtype=torch.float64)
    with pytest.raises(DataError, match=r"cannot weight 60 rows by weights of shape \(59,\): need one per row"):
        train(model, x, y, **CHOSEN, weight=torch.ones(59))
    with pytest.raises(DataError, match="the weights of 60 training rows run from 0 to 0"):
        train(model, x, y, **CHOSEN, weight=torch.zeros(60))
    with pytest.raises(DataError, match="run from -1 to -1: need finite ones, none negative"):
        train(model, x, y, **CHOSEN, weight=-torch.ones(60))
    fragments = {"penalty": PENALTIES["kl"], "fragment": torch.arange(60) % 2, "strength": 0.1}
    with pytest.raises(SettingsError, match="cannot weight rows as well"):
        train(model, x, y, **CHOSEN, **fragments, weight=torch.ones(60))
    with pytest.raises(SettingsError, match="cannot weight rows as well"):
        train(model, x, y, **CHOSEN, **fragments, target_rows=TargetData(x, y, "losses"))
    with pytest.raises(DataError, match="0 rows of the target and 0 labels"):
        train(model, x, y, **CHOSEN, target_rows=TargetData(x[:0], y[:0], "losses"))
    with pytest.raises(SettingsError, match="the model is a Several: match losses"):
        train(
            *several(),
            torch.arange(12) % 3,
            **CHOSEN,
            target_rows=TargetData(several()[1], torch.arange(12), "features"),
        )


MATCHES = pytest.mark.parametrize("on", ["losses", "features"])


@MATCHES
@pytest.mark.parametrize("batch_size", [60, 16])
def test_the_first_epoch_is_plain_and_the_next_is_guided(on: Match, batch_size: int) -> None:
    x, y = blobs()
    same = []
    for epochs in (1, 2):
        plain, weighted = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
        how = CHOSEN | {"steps": epochs * epoch_steps(60, batch_size), "batch_size": batch_size}
        train(plain, x, y, **how)
        train(weighted, x, y, **how, target_rows=TargetData(x[y == 0], y[y == 0], on))
        same.append(torch.equal(vector(plain), vector(weighted)))
    assert same == [True, False]


@MATCHES
def test_a_target_of_the_same_rows_weighs_them_alike(on: Match) -> None:
    """All rows in every step, and 256 at most: the same rows on either side."""
    x, y = blobs()
    plain, weighted = (mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2))
    how = CHOSEN | {"batch_size": 60}
    train(plain, x, y, **how)
    train(weighted, x, y, **how, target_rows=TargetData(x.flip(0), y.flip(0), on))
    torch.testing.assert_close(vector(weighted), vector(plain), rtol=1e-6, atol=1e-6)


@MATCHES
@pytest.mark.parametrize("batch_size", [300, 16])
def test_guided_training_gives_the_same_bytes_for_a_seed(on: Match, batch_size: int) -> None:
    """300 rows in one step are matched in two blocks."""
    x, y = blobs(300, dtype=torch.float32)
    models = [mlp(5, 3, seed=1) for _ in range(3)]
    for model, seed in zip(models, (4, 4, 5), strict=True):
        how = CHOSEN | {"batch_size": batch_size, "seed": seed}
        train(model, x, y, **how, target_rows=TargetData(x[:90] + 0.5, y[:90], on), weight=torch.arange(300.0))
    assert torch.equal(vector(models[0]), vector(models[1]))
    assert not torch.equal(vector(models[0]), vector(models[2]))


def test_features_are_matched_without_their_labels() -> None:
    x, y = blobs()
    same = []
    for on in ("features", "losses"):
        models = [mlp(5, 3, seed=1, dtype=torch.float64) for _ in range(2)]
        for model, labels in zip(models, (y, (y + 1) % 3), strict=True):
            train(model, x, y, **CHOSEN, target_rows=TargetData(x + 1, labels, on))
        same.append(torch.equal(vector(models[0]), vector(models[1])))
    assert same == [True, False]


def squares(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of 16 x 16 pixels, noise with a bright square in one of two corners, and which."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randn(n, 1, 16, 16, generator=generator), torch.randint(2, (n,), generator=generator)
    x[y == 0, :, 2:8, 2:8] += 3
    x[y == 1, :, 8:14, 8:14] += 3
    return x, y


def test_with_40_percent_of_labels_flipped_clean_images_of_the_target_help() -> None:
    """Four in five labels 0 say 1, so that plain training says 1 of all images; the target made 8 of 8 seeds right."""
    x, clean = squares(256, 0)
    flipped = torch.rand(256, generator=torch.Generator().manual_seed(1)) < 0.8
    y = torch.where(flipped, 1, clean)
    tested, truth = squares(300, 3)
    right = []
    for target in (None, TargetData(*squares(64, 2), "losses")):
        model = lenet(1, 16, 2, seed=0)
        how = {"likelihood": "classes", "steps": 60, "lr": 0.01, "batch_size": 32, "seed": 0}
        train(model, x, y, **how, target_rows=target)
        right.append((predict(model, tested).argmax(1) == truth).float().mean().item())
    assert right[0] < 0.7
    assert right[1] > 0.9


def test_rows_are_held_out_beside_a_target() -> None:
    x, y = squares(256, 0)
    model = lenet(1, 16, 2, seed=0)
    how = {"likelihood": "classes", "steps": 60, "lr": 0.01, "batch_size": 32, "seed": 0, "patience": 10**6}
    train(model, x, y, **how, target_rows=TargetData(*squares(64, 2), "losses"))
    tested, truth = squares(300, 3)
    assert (predict(model, tested).argmax(1) == truth).float().mean() > 0.9
