"""A device without float64 gives the same as the CPU."""

import torch
from torch import nn

import picsc
from tests.mps_like import MPS, MpsLike, move


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def test_every_public_name_works_on_a_device_without_float64() -> None:
    torch.manual_seed(0)
    old, fold = (torch.randn(30, 3), torch.randint(2, (30,))), torch.arange(30) % 2
    new = (old[0] + 2, old[1])
    plain = network()
    fisher, penalty = picsc.diagonal_fisher(plain, [old]), picsc.fisher_penalty(plain, old, fold)
    trigger = picsc.ShiftTrigger(plain)
    decisions = [trigger.compare([rows]) for rows in (old, new)]
    with MpsLike():
        model = move(network())
        found = picsc.diagonal_fisher(model, [old])
        assert {values.device for values in found.values()} == {MPS}
        for name, values in found.items():
            torch.testing.assert_close(values.cpu(), fisher[name])
        value = picsc.fisher_penalty(model, old, fold)
        torch.testing.assert_close(value.detach().cpu(), penalty.detach())
        trigger = picsc.ShiftTrigger(model)
        again = [trigger.compare([rows]) for rows in (old, new)]
        assert [each.shifted for each in again] == [each.shifted for each in decisions] == [False, True]
        anchor, merged = picsc.Anchor(model), picsc.PosteriorMean(model)
        anchor.move(found)
        assert anchor.penalty().item() == 0
        merged.update(found)
        with merged.applied():
            model(old[0].to(MPS))
