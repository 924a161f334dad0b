import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

import picsc
from picsc.equations import penalties
from picsc.equations.penalties import cramer_rao, smooth


def model_and_fisher(seed: int = 0) -> tuple[nn.Module, dict[str, Tensor]]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    return model, {name: torch.rand_like(parameter) for name, parameter in model.named_parameters()}


def flat(by_name: dict[str, Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in by_name.values()])


def test_the_term_is_equation_16_and_moving_is_equation_15() -> None:
    model, fisher = model_and_fisher()
    anchor = picsc.Anchor(model, strength=0.3, alpha=0.8)
    assert anchor.penalty().item() == 0
    anchor.move(fisher)
    expected = smooth(torch.full_like(flat(fisher), 0.01), flat(fisher), 0.8)
    torch.testing.assert_close(flat(anchor.fisher), expected)
    mean = parameters_to_vector(model.parameters()).detach()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    theta = parameters_to_vector(model.parameters())
    value = 0.3 * cramer_rao(theta, penalties.Anchor(mean, expected))
    torch.testing.assert_close(anchor.penalty(), value)
    found, wanted = (torch.autograd.grad(each, list(model.parameters())) for each in (anchor.penalty(), value))
    torch.testing.assert_close(list(found), list(wanted))
    anchor.move()
    torch.testing.assert_close(flat(anchor.fisher), expected)  # a quiet fragment moves the mean alone
    assert anchor.penalty().item() == 0


def test_the_exact_pull_never_overshoots() -> None:
    model, fisher = model_and_fisher()
    anchor = picsc.Anchor(model, strength=1e6, alpha=0.0)
    anchor.move(fisher)
    held = flat(anchor.mean)
    with torch.no_grad():
        model[0].weight += 1
    anchor.pull(0.1)
    theta = parameters_to_vector(model.parameters()).detach()
    assert float((theta - held).abs().max()) < 1e-2
    gentle = picsc.Anchor(model, strength=1e-6, alpha=0.0)
    gentle.move(fisher)
    with torch.no_grad():
        model[0].weight += 1
    before = model[0].weight.clone()
    [slope] = torch.autograd.grad(gentle.penalty(), [model[0].weight])
    gentle.pull(0.1)  # to first order the step along the gradient
    torch.testing.assert_close(before - model[0].weight, 0.1 * slope, rtol=1e-5, atol=1e-13)


def test_a_checkpoint_restores_it_and_other_parameters_are_refused() -> None:
    model, fisher = model_and_fisher()
    anchor = picsc.Anchor(model)
    anchor.move(fisher)
    other = picsc.Anchor(model_and_fisher(1)[0])
    other.load_state_dict(anchor.state_dict())
    assert torch.equal(flat(other.fisher), flat(anchor.fisher))
    model[0].weight.requires_grad_(False)
    anchor.penalty()  # fewer parameters to hold are no problem
    frozen = picsc.Anchor(model)
    model[0].weight.requires_grad_(True)
    with pytest.raises(picsc.DataError, match=r"the anchor has no entry for '0\.weight', which the model now trains"):
        frozen.penalty()
    with pytest.raises(picsc.DataError, match=r"Fisher information of parameter '0\.bias' has shape \(1,\)"):
        anchor.move({**fisher, "0.bias": torch.ones(1)})
    with pytest.raises(picsc.SettingsError, match="strength=-1"):
        picsc.Anchor(model, strength=-1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_it_follows_its_model_to_a_cuda_device() -> None:
    model, fisher = model_and_fisher()
    anchor = picsc.Anchor(model)
    anchor.move(fisher)
    model.cuda()
    with torch.autocast("cuda"):
        anchor.penalty().backward()
    anchor.pull(0.1)
    anchor.move({name: each.cuda() for name, each in fisher.items()})
    assert anchor.penalty().item() == 0
