import pytest
import torch

from picsc.errors import DataError
from picsc.models import lenet, mlp


def size(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def test_lenet_has_the_published_sizes() -> None:
    assert size(lenet(3, 32, 10, seed=0)) == 62_006
    assert size(lenet(1, 28, 10, seed=0)) == 44_426


def test_mlp_has_four_hidden_units_unless_told_otherwise() -> None:
    assert size(mlp(30, 2, seed=0)) == 4 * 31 + 2 * 5
    assert size(mlp(30, 2, 7, seed=0)) == 7 * 31 + 2 * 8


@pytest.mark.parametrize(("side", "channels"), [(16, 1), (17, 2), (28, 1), (32, 3)])
def test_lenet_maps_images_to_logits(side: int, channels: int) -> None:
    assert lenet(channels, side, 7, seed=0)(torch.zeros(2, channels, side, side)).shape == (2, 7)


def test_images_too_small_for_lenet_are_refused() -> None:
    with pytest.raises(DataError, match=r"15 x 15 pixels .* at least 16"):
        lenet(1, 15, 10, seed=0)


@pytest.mark.parametrize("make", [lambda seed: mlp(5, 3, seed=seed), lambda seed: lenet(1, 16, 3, seed=seed)])
def test_a_seed_fixes_every_weight(make) -> None:
    first, again, other = make(1).state_dict(), make(1).state_dict(), make(2).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)


def test_the_global_generator_is_neither_read_nor_moved() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = mlp(5, 3, seed=1).state_dict()
    lenet(1, 16, 3, seed=1)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    again = mlp(5, 3, seed=1).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_weights_fill_the_range_of_their_fan_in() -> None:
    weight = mlp(100, 2, 400, seed=0)[0].weight.detach()
    # 40,000 uniform draws: all of them inside 99 % of the range has probability 0.99^40000 < 1e-174
    assert 0.099 < float(weight.abs().max()) <= 0.1
    assert abs(float(weight.mean())) < 0.002  # seven standard errors


def test_precision_is_as_asked_for_and_the_draws_are_the_same() -> None:
    double, single = mlp(4, 2, seed=3, dtype=torch.float64), mlp(4, 2, seed=3)
    assert double[0].weight.dtype == torch.float64
    assert torch.equal(double[0].weight.float(), single[0].weight)
