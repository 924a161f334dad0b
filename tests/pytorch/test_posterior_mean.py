import pytest
import torch
from torch import nn

import picsc


def test_the_mean_is_weighted_by_the_fisher_information_and_forgets_the_past() -> None:
    torch.manual_seed(0)
    model = nn.Linear(2, 2).double()
    merged, plain = picsc.PosteriorMean(model, decay=0.5), picsc.PosteriorMean(model, decay=1, fisher_weighted=False)
    thetas, precisions = [], []
    for _ in range(3):
        with torch.no_grad():
            model.weight.normal_()
        fisher = {name: torch.rand_like(parameter) for name, parameter in model.named_parameters()}
        merged.update(fisher)
        plain.update(fisher)
        thetas.append(model.weight.detach().clone())
        precisions.append(fisher["weight"] + 0.01)
    weights = [precision * 0.5 ** (2 - t) for t, precision in enumerate(precisions)]
    expected = sum(w * theta for w, theta in zip(weights, thetas, strict=True)) / sum(weights)
    torch.testing.assert_close(merged.mean["weight"], expected)
    torch.testing.assert_close(plain.mean["weight"], torch.stack(thetas).mean(0))
    with merged.applied():
        torch.testing.assert_close(model.weight.detach(), expected)
    assert torch.equal(model.weight, thetas[-1])
    again = picsc.PosteriorMean(model)
    again.load_state_dict(merged.state_dict())
    assert again.fragments == 3
    assert torch.equal(again.mass["bias"], merged.mass["bias"])


def test_no_mean_before_the_first_fragment() -> None:
    merged = picsc.PosteriorMean(nn.Linear(2, 2))
    with pytest.raises(picsc.DataError, match="there is no mean yet"), merged.applied():
        pass
    with pytest.raises(picsc.DataError, match="has no entry for 'weight', 'bias'"):
        merged.update({})
    with pytest.raises(picsc.SettingsError, match="decay=2"):
        picsc.PosteriorMean(nn.Linear(2, 2), decay=2)
