import numpy as np
import pytest
import torch
from torch import nn

from picsc.equations.penalties import PENALTIES, Anchor
from picsc.errors import SettingsError
from picsc.fisher.diagonal import empirical_fisher, expected_fisher, fragment_fishers
from picsc.runtime import devices
from picsc.runtime.devices import forward_pass, pick_device, placed, precision
from picsc.runtime.threads import one_thread
from picsc.training.networks import lenet, mlp
from picsc.training.predict import predict
from tests.flat_training import train
from tests.mps_like import MPS, MpsLike, move


def there(monkeypatch: pytest.MonkeyPatch, *, cuda: bool, mps: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_auto_takes_the_fastest_that_is_there(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, expected: str
) -> None:
    there(monkeypatch, cuda=cuda, mps=mps)
    assert pick_device("auto").device.type == expected


def test_falling_back_is_said_and_what_was_asked_for_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, cuda=False, mps=False)
    assert pick_device("auto").note == "no cuda or mps device is there: training on the cpu"
    assert pick_device("cpu").note == ""


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    there(monkeypatch, cuda=False, mps=False)
    with pytest.raises(SettingsError, match=f"--device {name}: torch .* finds no {name} device here; use cpu, or auto"):
        pick_device(name)


def test_sums_are_in_float64_except_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, cuda=True, mps=True)
    assert (pick_device("cpu").sums, pick_device("cuda").sums) == (torch.float64, torch.float64)
    assert pick_device("mps").sums is torch.float32
    assert "float64 sums on the cpu" in pick_device("mps").note


def test_numbers_of_a_table_arrive_in_single_precision_and_codes_as_they_are() -> None:
    with MpsLike():
        x, y = placed(np.ones((3, 2)), MPS), placed(np.arange(3), MPS)
        assert x.device == y.device == MPS
    assert (x.dtype, y.dtype) == (torch.float32, torch.int64)


def test_the_simulated_device_refuses_what_mps_refuses() -> None:
    with MpsLike():
        x = torch.ones(3).to(MPS)
        with pytest.raises(TypeError, match="float64"):
            x.double()
        with pytest.raises(RuntimeError, match="same device"):
            x + torch.ones(3)
        assert x.cpu().double().dtype is torch.float64


def test_p44_a_device_without_float64_gives_the_numbers_of_the_cpu() -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(40, 3, generator=generator), torch.arange(40) % 2
    fragment = torch.arange(40) // 20
    model, twin = (mlp(3, 2, seed=0) for _ in range(2))
    measures = (
        lambda model, x, y, _: empirical_fisher(model, x, y, chunk=7),
        lambda model, x, _, __: expected_fisher(model, x),
        lambda model, x, y, fragment: fragment_fishers(model, x, y, fragment, 2),
    )
    with MpsLike(), one_thread():
        there = [measure(move(model), x.to(MPS), y.to(MPS), fragment.to(MPS)) for measure in measures]
    here = [measure(twin, x, y, fragment) for measure in measures]
    assert [one.dtype for one in there] == [torch.float64] * 3
    for one, other in zip(there, here, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("batch_size", [16, 64])
def test_p44_every_way_to_train_works_without_float64(batch_size: int) -> None:
    x, y = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 2
    fragment = torch.arange(40) // 20
    model, twin = (mlp(3, 2, seed=0) for _ in range(2))
    d = sum(parameter.numel() for parameter in model.parameters())
    how = {"likelihood": "classes", "steps": 12, "lr": 0.05, "batch_size": batch_size, "seed": 1, "strength": 0.1}
    how |= {"penalty": PENALTIES["kl"], "patience": 3}
    with MpsLike(), one_thread():
        anchor = Anchor(torch.zeros(d).to(MPS), torch.ones(d).to(MPS))
        log = train(move(model), x.to(MPS), y.to(MPS), fragment=fragment.to(MPS), anchor=anchor, **how)
        predicted = predict(model, x.to(MPS)).cpu()
    other = train(twin, x, y, fragment=fragment, anchor=Anchor(torch.zeros(d), torch.ones(d)), **how)
    torch.testing.assert_close(torch.tensor(log.loss), torch.tensor(other.loss), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(predicted, predict(twin, x), rtol=1e-4, atol=1e-5)


def test_a_convolution_is_penalised_without_float64() -> None:
    x, y = torch.randn(8, 1, 16, 16, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 2
    with MpsLike(), one_thread():
        log = train(
            move(lenet(1, 16, 2, seed=0)),
            x.to(MPS),
            y.to(MPS),
            likelihood="classes",
            steps=2,
            lr=0.01,
            batch_size=8,
            seed=0,
            strength=0.1,
            penalty=PENALTIES["kl"],
            fragment=(torch.arange(8) // 4).to(MPS),
        )
    assert min(log.penalty) > 0


def test_tf32_is_on_inside_only_if_asked_for_and_back_afterwards() -> None:
    flags = torch.backends.cuda.matmul, torch.backends.cudnn
    before = [flag.allow_tf32 for flag in flags]
    with precision("tf32"):
        assert [flag.allow_tf32 for flag in flags] == [True, True]
        with precision("float32"):
            assert [flag.allow_tf32 for flag in flags] == [False, False]
        assert [flag.allow_tf32 for flag in flags] == [True, True]
    with pytest.raises(KeyError), precision("tf32"):
        raise KeyError
    assert [flag.allow_tf32 for flag in flags] == before


def test_bfloat16_concerns_the_forward_pass_alone() -> None:
    layer, x = nn.Linear(2, 2), torch.ones(1, 2)
    with forward_pass("bfloat16", x.device):
        assert layer(x).dtype is torch.bfloat16
    with forward_pass("tf32", x.device):
        assert layer(x).dtype is torch.float32
    assert devices.sum_dtype(x.device) is torch.float64
