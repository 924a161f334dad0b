import pytest
import torch
from torch import nn

import picsc
from tests.pytorch.cases import CASES, N, case, penalty_by_row

FRAGMENTS = torch.tensor([5, 7, 5, 5, 2, 7, 2, 5, 7])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("reading", ["kl", "frobenius"])
def test_value_and_gradient_are_those_of_the_loop_over_rows(name: str, reading: str) -> None:
    model, batch = case(name)
    state = {key: value.clone() for key, value in model.state_dict().items()}
    value = picsc.fisher_penalty(model, batch, FRAGMENTS, reading=reading)  # type: ignore[arg-type]
    (3 * value).backward()
    found = [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
    assert all(module.training for module in model.modules())
    assert all(torch.equal(each, state[key]) for key, each in model.state_dict().items())
    by_row = penalty_by_row(model, batch, FRAGMENTS, reading)
    expected = torch.autograd.grad(3 * by_row, list(model.parameters()), materialize_grads=True)
    torch.testing.assert_close(value.detach(), by_row.detach(), rtol=1e-6, atol=1e-12)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-10)


def test_it_adds_to_a_loss_of_the_model_in_training_mode() -> None:
    model, (x, y) = case("resnet")
    task = nn.functional.cross_entropy(model(x), y)  # moves the running statistics, which the penalty then uses
    parameters = list(model.parameters())
    alone = torch.autograd.grad(picsc.fisher_penalty(model, (x, y), FRAGMENTS), parameters)
    plain = torch.autograd.grad(task, parameters, retain_graph=True)
    (task + 0.1 * picsc.fisher_penalty(model, (x, y), FRAGMENTS)).backward()
    for parameter, one, other in zip(parameters, plain, alone, strict=True):
        torch.testing.assert_close(parameter.grad, one + 0.1 * other)


def test_autocast_outside_changes_nothing() -> None:
    model, batch = case("transformer block")
    model.float()
    plain = picsc.fisher_penalty(model, batch, FRAGMENTS)
    with torch.autocast("cpu", torch.bfloat16):
        again = picsc.fisher_penalty(model, batch, FRAGMENTS)
    assert plain.item() == again.item()


def test_frozen_parameters_do_not_count() -> None:
    model, batch = case("transformer block")
    model.words.requires_grad_(False)
    value = picsc.fisher_penalty(model, batch, FRAGMENTS)
    value.backward()
    assert model.words.weight.grad is None
    torch.testing.assert_close(value.detach(), penalty_by_row(model, batch, FRAGMENTS, "kl").detach())


def test_fragments_that_cannot_be_compared() -> None:
    model, batch = case("lstm")
    with pytest.raises(picsc.DataError, match="all 9 rows of the batch are of fragment 4"):
        picsc.fisher_penalty(model, batch, torch.full((N,), 4))
    with pytest.raises(picsc.DataError, match=r"need one whole number per row, shape \(9,\)"):
        picsc.fisher_penalty(model, batch, [0, 1])
    with pytest.raises(picsc.SettingsError, match="reading='gap'"):
        picsc.fisher_penalty(model, batch, FRAGMENTS, reading="gap")  # type: ignore[arg-type]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", CASES)
def test_a_cuda_device_gives_the_same_under_autocast_with_a_scaler(name: str) -> None:
    model, batch = case(name)
    expected = picsc.fisher_penalty(model, batch, FRAGMENTS)
    model.cuda()
    with torch.autocast("cuda"):
        found = picsc.fisher_penalty(model, batch, FRAGMENTS)
    torch.testing.assert_close(found.detach().cpu(), expected.detach(), rtol=1e-6, atol=1e-10)
    torch.amp.GradScaler("cuda").scale(found).backward()
