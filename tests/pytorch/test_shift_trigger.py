from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import picsc
from picsc.datasets.encoding import of_numbers
from picsc.equations.covariate_kl import part_kl
from picsc.equations.trigger import calibrated_threshold, part_gaps, random_halves, tau
from picsc.fisher.diagonal import row_scores
from picsc.pytorch import sketch
from picsc.runtime.threads import one_thread
from tests.pytorch.cases import case


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    with one_thread():
        yield


def rows(n: int, seed: int, mean: float = 0.0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=generator) + mean
    return x, (x.sum(1) + torch.randn(n, generator=generator) > 3 * mean).long()


def loader(x: Tensor, y: Tensor, **how: object) -> DataLoader[tuple[Tensor, ...]]:
    return DataLoader(TensorDataset(x, y), batch_size=16, **how)  # type: ignore[arg-type]


def network(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


def test_tau_and_gamma_are_those_of_the_paper_at_the_parameters_from_before_both_fragments() -> None:
    model = network()
    trigger = picsc.ShiftTrigger(model)
    old, new = rows(50, 0), rows(40, 1, 0.7)
    assert trigger.compare(loader(*old)) == picsc.ShiftDecision(False, None, None)
    with torch.no_grad():
        model[0].weight.normal_()  # the first fragment is learned
    learned = model[0].weight.clone()
    found = trigger.compare(loader(*new))
    assert torch.equal(model[0].weight, learned)
    start = network()
    x, y = torch.cat([new[0], old[0]]), torch.cat([new[1], old[1]])
    parts = random_halves(40, 90, seed=1)
    kl = part_kl(start[:-1](x).detach(), parts, of_numbers(5))
    expected = calibrated_threshold(tau(part_gaps([row_scores(start, x, y).square()], parts), kl))
    assert found.tau == pytest.approx(expected.tau, rel=1e-5)
    assert found.gamma == pytest.approx(expected.gamma, rel=1e-5)
    assert found.shifted
    assert trigger.fragments == 2


def test_a_sketch_decides_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    def decisions() -> list[picsc.ShiftDecision]:
        trigger = picsc.ShiftTrigger(network())
        return [trigger.compare(loader(*rows(60, seed, mean))) for seed, mean in enumerate((0.0, 0.0, 1.0))]

    exact = decisions()
    monkeypatch.setattr(sketch, "EXACT", 0)
    sketched = decisions()
    assert [each.shifted for each in sketched] == [each.shifted for each in exact] == [False, False, True]
    assert sketched[2].tau == pytest.approx(exact[2].tau, rel=1e-5)  # 32 parameters do not collide in 16,384 entries
    monkeypatch.setattr(sketch, "ENTRIES", 7)
    assert decisions()[2].shifted


def test_a_sketch_keeps_norms() -> None:
    wide = torch.randn(3, 60_000, generator=torch.Generator().manual_seed(0)).square()
    short = sketch.Sketch([50_000, 3_000_000], seed=0)
    found = short.of([wide[:, :50_000], torch.nn.functional.pad(wide[:, 50_000:], (0, 2_990_000))])
    assert found.shape == (3, sketch.ENTRIES)
    torch.testing.assert_close((found[0] - found[1]).norm(), (wide[0] - wide[1]).norm(), rtol=0.03, atol=0)


def test_the_level_holds_where_nothing_is_shifted() -> None:
    """200 fragments; 10 alarms are expected, and more than 22 have a probability of 0.0003."""
    trigger = picsc.ShiftTrigger(network())
    decisions = [trigger.compare([rows(12, seed)]) for seed in range(201)]
    assert sum(decision.shifted for decision in decisions) <= 22


def test_other_models_have_features_too() -> None:
    for name in ("resnet", "transformer block", "lstm"):
        model, batch = case(name)
        trigger = picsc.ShiftTrigger(model)
        trigger.compare([batch])
        decision = trigger.compare([batch])
        assert not decision.shifted, name
        assert decision.tau == pytest.approx(0, abs=1e-6)
    model, batch = case("resnet")
    trigger = picsc.ShiftTrigger(model, features="stages.0.conv2")
    trigger.compare([batch])
    assert not trigger.compare([batch]).shifted


def test_what_cannot_be_compared_is_refused() -> None:
    trigger = picsc.ShiftTrigger(network())
    with pytest.raises(picsc.DataError, match="of type list_iterator can be read once only"):
        trigger.compare(iter([rows(20, 0)]))
    with pytest.raises(picsc.SettingsError, match=r"features='3'.*'0', '1', '2'"):
        picsc.ShiftTrigger(network(), features="3")
    with pytest.raises(picsc.SettingsError, match=r"has no nn\.Linear"):
        picsc.ShiftTrigger(nn.Conv1d(1, 2, 3))
    with pytest.raises(picsc.SettingsError, match="level=1"):
        picsc.ShiftTrigger(network(), level=1)
    trigger.compare([rows(20, 0)])
    with pytest.raises(picsc.DataError, match="a fragment has 1 rows"):
        trigger.compare([rows(1, 0)])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_device_decides_alike_under_autocast() -> None:
    first = picsc.ShiftTrigger(network())
    other = picsc.ShiftTrigger(network().cuda())
    for seed, mean in enumerate((0.0, 1.0)):
        fragment = loader(*rows(60, seed, mean))
        with torch.autocast("cuda"):
            decision = other.compare(fragment)
        expected = first.compare(fragment)
    assert decision.shifted is expected.shifted is True
    assert decision.tau == pytest.approx(expected.tau, rel=1e-3)
