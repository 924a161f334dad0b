import doctest
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

import picsc
from picsc.pytorch import anchor, diagonal_fisher, fisher_penalty, posterior_mean, shift_trigger
from picsc.pytorch.batches import Keys
from picsc.pytorch.modes import row_by_row
from picsc.pytorch.row_model import RowModel
from tests.pytorch.cases import CASES, N, case, fishers_by_row
from tests.reference import expected_fisher_by_row


def flat(fisher: dict[str, Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in fisher.values()])


def cut(batch: Any, rows: slice) -> Any:
    if isinstance(batch, dict):
        return {name: value[rows] for name, value in batch.items()}
    return [value[rows] for value in batch]


@pytest.mark.parametrize("module", [diagonal_fisher, fisher_penalty, anchor, posterior_mean, shift_trigger])
def test_the_examples_of_the_public_names(module: Any) -> None:
    torch.manual_seed(0)
    done = doctest.testmod(module)
    assert (done.failed, done.attempted > 3) == (0, True)


@pytest.mark.parametrize("name", CASES)
def test_every_row_as_if_it_were_alone(name: str) -> None:
    model, batch = case(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    fisher = picsc.diagonal_fisher(model, [cut(batch, slice(0, 4)), cut(batch, slice(4, None))])
    assert all(module.training for module in model.modules())
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert {key: value.shape for key, value in fisher.items()} == {k: p.shape for k, p in model.named_parameters()}
    expected = fishers_by_row(model, batch, torch.zeros(N))[0]
    torch.testing.assert_close(flat(fisher), expected, rtol=1e-6, atol=1e-12)


def small() -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double(), torch.randn(8, 3, dtype=torch.float64)


def by_row(model: nn.Module, values: list[Tensor]) -> Tensor:
    rows = []
    for value in values:
        found = torch.autograd.grad(value, list(model.parameters()), retain_graph=True)
        rows.append(torch.cat([each.flatten() for each in found]))
    return torch.stack(rows).square().mean(0)


def test_yes_or_no_labels_and_numbers() -> None:
    model, x = small()
    y = torch.randint(2, (8, 2)).double()
    p = model(x).sigmoid()
    said = (y * p.log() + (1 - y) * (1 - p).log()).sum(1)
    torch.testing.assert_close(flat(picsc.diagonal_fisher(model, [(x, y)], "bernoulli")), by_row(model, list(said)))
    density = -0.5 * (y - model(x)).square().sum(1)
    torch.testing.assert_close(flat(picsc.diagonal_fisher(model, [(x, y)], "gaussian")), by_row(model, list(density)))
    own = picsc.diagonal_fisher(model, [(x, y)], lambda output, labels: -0.5 * (labels - output).square().sum(1))
    torch.testing.assert_close(flat(own), flat(picsc.diagonal_fisher(model, [(x, y)], "gaussian")))


def test_the_expected_fisher_is_the_mean_over_labels_that_the_model_draws() -> None:
    model, x = small()
    expected = expected_fisher_by_row(model, x, 2)
    torch.testing.assert_close(flat(picsc.diagonal_fisher(model, [x], kind="expected")), expected)
    p = model(x).sigmoid()
    total: Tensor | float = 0.0
    for first in (0.0, 1.0):
        for second in (0.0, 1.0):  # all four pairs of labels, each with its probability
            y = torch.tensor([first, second]).double()
            chance = (p * y + (1 - p) * (1 - y)).prod(1).detach()
            said = (y * model(x).sigmoid().log() + (1 - y) * (1 - model(x).sigmoid()).log()).sum(1)
            total = total + by_row(model, list(said * chance.sqrt()))
    torch.testing.assert_close(flat(picsc.diagonal_fisher(model, [[x]], "bernoulli", kind="expected")), total)
    slopes = by_row(model, list(model(x)[:, 0])) + by_row(model, list(model(x)[:, 1]))
    torch.testing.assert_close(flat(picsc.diagonal_fisher(model, [[x]], "gaussian", kind="expected")), slopes)


def test_labels_of_every_position_count_as_one_row() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 7)).double()
    tokens, labels = torch.randint(7, (5, 6)), torch.randint(7, (5, 6))
    labels[:, 4:] = -100
    said = [model(tokens)[i, :4].log_softmax(1)[range(4), labels[i, :4]].sum() for i in range(5)]
    torch.testing.assert_close(flat(picsc.diagonal_fisher(model, [(tokens, labels)])), by_row(model, said))


def test_frozen_parameters_are_left_out_and_change_nothing() -> None:
    model, batch = case("resnet")
    whole = picsc.diagonal_fisher(model, [batch])
    model.stem.requires_grad_(False)
    model.stages[0].bn1.weight.requires_grad_(False)
    part = picsc.diagonal_fisher(model, [batch])
    assert set(whole) - set(part) == {"stem.weight", "stages.0.bn1.weight"}
    for name, values in part.items():
        torch.testing.assert_close(values, whole[name])


def test_a_shared_parameter_counts_once_under_its_first_name() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)).double()
    model[2].weight = model[0].weight
    x, y = torch.randn(6, 3, dtype=torch.float64), torch.randint(3, (6,))
    fisher = picsc.diagonal_fisher(model, [(x, y)])
    assert list(fisher) == ["0.weight", "0.bias", "2.bias"]
    said = list(model(x).log_softmax(1)[range(6), y])
    torch.testing.assert_close(flat(fisher), by_row(model, said))


def test_autocast_and_inference_mode_outside_change_nothing() -> None:
    model, x = small()
    model, x = model.float(), x.float()
    loader = DataLoader(TensorDataset(x, torch.randint(2, (8,))), batch_size=3)
    plain = picsc.diagonal_fisher(model, loader)
    with torch.autocast("cpu", torch.bfloat16), torch.inference_mode():
        again = picsc.diagonal_fisher(model, loader)
    assert all(torch.equal(values, again[name]) for name, values in plain.items())
    assert {values.dtype for values in plain.values()} == {torch.float32}


class Noisy(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + torch.randn(len(x), 1)


class Centred(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - x.mean(0))


@pytest.mark.parametrize(
    ("model", "batch", "sentence"),
    [
        (nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False), nn.Linear(2, 2)), None, "layer '0' (BatchNorm1d)"),
        (Noisy(2, 2), None, "change from call to call"),
        (Centred(2, 2), None, "change with the other rows of its batch"),
        (nn.Linear(2, 2).requires_grad_(False), None, "no parameter that requires a gradient (2 frozen)"),
        (nn.LazyLinear(2), None, "parameter 'weight' is not initialised yet"),
        (nn.Linear(2, 2).half(), None, "parameter 'weight' is of type torch.float16"),
        (nn.Linear(2, 2), {"x": torch.ones(3, 2)}, "has no key 'labels' for its labels, but 'x'"),
        (nn.Linear(2, 2), (torch.ones(3, 2), torch.tensor([0, 1, 2])), "labels run from 0 to 2"),
        (nn.Linear(2, 2), (torch.ones(2, 2), torch.tensor([0, 1, 1])), "3 labels, but inputs of shape (2, 2)"),
        (nn.Linear(2, 2), torch.ones(3, 2), "a batch is inputs alone"),
        (nn.Linear(2, 2), (torch.full((3, 2), torch.inf), torch.tensor([0, 1, 1])), "parameter 'weight' is not finite"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(model: nn.Module, batch: Any, sentence: str) -> None:
    batch = (torch.randn(3, 2), torch.tensor([0, 1, 1])) if batch is None else batch
    with pytest.raises(picsc.PicscError) as error:
        picsc.diagonal_fisher(model, [batch])
    assert sentence in str(error.value)


def test_other_keys() -> None:
    model, batch = case("transformer block")
    expected = picsc.diagonal_fisher(model, [batch])
    batch["target"] = batch.pop("labels")
    found = picsc.diagonal_fisher(model, [batch], labels="target")
    assert all(torch.equal(values, found[name]) for name, values in expected.items())
    with pytest.raises(picsc.DataError, match="without the key 'scores', but with 'hidden', 'logits'"):
        picsc.diagonal_fisher(model, [batch], labels="target", logits="scores")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", CASES)
def test_a_cuda_device_gives_the_same(name: str) -> None:
    model, batch = case(name)
    on_cpu = picsc.diagonal_fisher(model, [batch])
    found = picsc.diagonal_fisher(model.cuda(), [batch])
    assert {values.device.type for values in found.values()} == {"cuda"}
    torch.testing.assert_close(flat(found).cpu(), flat(on_cpu), rtol=1e-6, atol=1e-10)


class Checkpointed(nn.Module):
    """Computes its first layers again in the backward pass."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.last = inner, nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(checkpoint(self.inner, x, use_reentrant=False))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch.compile's own imports
def test_wrapped_and_checkpointed_models() -> None:
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    model, x, y = Checkpointed(inner).double(), torch.randn(6, 3, dtype=torch.float64), torch.randint(2, (6,))
    plain = nn.Sequential(inner, model.last)
    expected = picsc.diagonal_fisher(plain, [(x, y)])
    for wrapped in (model, torch.compile(model), nn.DataParallel(model)):
        found = picsc.diagonal_fisher(wrapped, [(x, y)])
        assert list(found) == ["inner.0.weight", "inner.0.bias", "last.weight", "last.bias"]
        torch.testing.assert_close(flat(found), flat(expected))
    fragments = torch.arange(6) % 2
    for each in (model, plain):
        picsc.fisher_penalty(each, (x, y), fragments).backward()
        slope = inner[0].weight.grad
        inner.zero_grad()
        model.last.zero_grad()
        if each is model:
            kept = slope
    torch.testing.assert_close(kept, slope)


def test_frozen_parameters_cost_no_differentiation_row_by_row() -> None:
    model, batch = case("encoder layer")
    model.layer.self_attn.in_proj_weight.requires_grad_(False)
    own = RowModel(model, "categorical", Keys())
    with row_by_row(model):
        rest = own.plan(own.take(batch)).rest
    assert "model.layer.self_attn.in_proj_bias" in rest
    assert "model.layer.self_attn.in_proj_weight" not in rest


def test_numbers_in_half_precision_are_cast_nowhere_but_sums_are_exact() -> None:
    model, x = small()
    model, x, y = model.bfloat16(), x.bfloat16(), torch.randint(2, (8,))
    fisher = picsc.diagonal_fisher(model, [(x, y)])
    assert {values.dtype for values in fisher.values()} == {torch.float32}
    expected = picsc.diagonal_fisher(model.double(), [(x.double(), y)])
    torch.testing.assert_close(flat(fisher).double(), flat(expected), rtol=0.2, atol=1e-2)
