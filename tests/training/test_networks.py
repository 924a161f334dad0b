import pytest
import torch

from picsc.errors import DataError
from picsc.fisher.diagonal import empirical_fisher, fragment_fishers
from picsc.fisher.row_gradients import make_plan
from picsc.training.networks import bag_of_embeddings, character_lstm, lenet, mlp
from tests.reference import fisher_by_row


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


def texts(n: int, length: int, vocabulary: int) -> torch.Tensor:
    """Codes whose later half is often 0, the first never."""
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(1, vocabulary + 1, (n, length), generator=generator)
    ends = torch.randint(length // 2, length + 1, (n, 1), generator=generator)
    return torch.where(torch.arange(length) < ends, codes, 0)


def test_text_models_have_the_sizes_they_promise() -> None:
    assert size(bag_of_embeddings(5000, 2, seed=0)) == 32 * 5001 + 2 * 33
    leaf = 80 * 8 + 4 * 256 * (8 + 256 + 1) + 4 * 256 * (256 + 256 + 1) + 80 * 257
    assert size(character_lstm(80, 80, seed=0)) == leaf + 8 == 817_880


def test_text_models_map_codes_to_logits() -> None:
    assert bag_of_embeddings(9, 3, seed=0)(texts(4, 6, 9)).shape == (4, 3)
    assert character_lstm(9, 5, 7, seed=0)(texts(4, 6, 9)).shape == (4, 5)


@pytest.mark.parametrize(
    "make", [lambda seed: bag_of_embeddings(9, 3, seed=seed), lambda seed: character_lstm(9, 3, 4, seed=seed)]
)
def test_a_seed_fixes_every_weight_of_text_models_and_code_0_is_nothing(make) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, again, other = make(1).state_dict(), make(1).state_dict(), make(2).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)
    assert first["0.weight"][0].abs().sum() == 0
    assert 0 < first["0.weight"].abs().max() <= 1 / first["0.weight"].shape[1] ** 0.5


def test_a_bag_does_not_see_order_or_filling() -> None:
    model = bag_of_embeddings(9, 3, seed=0, dtype=torch.float64)
    one, other = torch.tensor([[3, 5, 5, 0, 0]]), torch.tensor([[5, 3, 5]])
    torch.testing.assert_close(model(one), model(other), rtol=1e-12, atol=1e-14)
    vectors = model[0].weight
    mean = (vectors[3] + 2 * vectors[5]) / 3
    torch.testing.assert_close(model(one)[0], model[1](mean), rtol=1e-12, atol=1e-14)


def test_the_bags_fisher_is_that_of_its_rows() -> None:
    model = bag_of_embeddings(9, 3, 4, seed=0, dtype=torch.float64)
    x, y = texts(50, 8, 9), torch.arange(50) % 3
    x[7] = 0  # a text of unknown words only
    found = empirical_fisher(model, x, y)
    torch.testing.assert_close(found, fisher_by_row(model, x, y), rtol=1e-10, atol=1e-16)
    assert found[:4].tolist() == [0] * 4  # code 0 never learns
    assert make_plan(model, x, "classes").rest == ()


def test_the_character_models_fisher_is_that_of_its_rows() -> None:
    model = character_lstm(9, 5, 6, seed=0, dtype=torch.float64)
    x, y = texts(10, 6, 9), torch.arange(10) % 5
    expected = fisher_by_row(model, x, y)
    torch.testing.assert_close(empirical_fisher(model, x, y), expected, rtol=1e-10, atol=1e-18)
    torch.testing.assert_close(empirical_fisher(model, x, y, chunk=3), expected, rtol=1e-10, atol=1e-18)
    pieces = fragment_fishers(model, x, y, torch.arange(10) % 2, 2)
    torch.testing.assert_close(pieces.mean(0), expected, rtol=1e-10, atol=1e-18)
    assert make_plan(model, x, "classes").rest == ()  # no parameter goes the slow way


def test_the_character_models_fisher_can_be_differentiated() -> None:
    model = character_lstm(5, 3, 2, seed=0, dtype=torch.float64)
    x, y = texts(6, 4, 5), torch.arange(6) % 3
    weight = model[2].recurrent.weight
    gradient = torch.autograd.grad(empirical_fisher(model, x, y, create_graph=True).sum(), weight)[0][1, 1]
    ends = []
    for step in (1e-5, -1e-5):
        moved = character_lstm(5, 3, 2, seed=0, dtype=torch.float64)
        with torch.no_grad():
            moved[2].recurrent.weight[1, 1] += step
        ends.append(fisher_by_row(moved, x, y).sum())
    torch.testing.assert_close(gradient, (ends[0] - ends[1]) / 2e-5, rtol=1e-6, atol=1e-10)


def test_watched_steps_give_the_numbers_of_the_fused_kernel() -> None:
    layer = character_lstm(9, 5, 6, seed=0, dtype=torch.float64)[1]
    x = torch.randn(4, 7, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    seen: list[torch.Tensor] = []
    fused = layer(x)
    handle = layer.recurrent.register_forward_hook(lambda _layer, _inputs, output: seen.append(output))
    steps = layer(x)
    handle.remove()
    assert len(seen) == 7
    torch.testing.assert_close(steps, fused, rtol=1e-12, atol=1e-14)
    assert layer(x).equal(fused)
    own = torch.nn.LSTM(8, 6, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        own.weight_ih_l0.copy_(layer.inputs.weight)
        own.weight_hh_l0.copy_(layer.recurrent.weight)
        own.bias_ih_l0.copy_(layer.inputs.bias)
        own.bias_hh_l0.zero_()
    torch.testing.assert_close(own(x)[0], fused, rtol=1e-12, atol=1e-14)
