from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.distributions import Bernoulli, Categorical, Normal

from picsc.errors import DataError, SettingsError
from picsc.pytorch.likelihoods import bernoulli, categorical, check_values, gaussian, likelihood_of


def test_they_are_the_log_densities_of_these_distributions() -> None:
    torch.manual_seed(0)
    logits, classes = torch.randn(5, 3), torch.randint(3, (5,))
    torch.testing.assert_close(categorical(logits, classes), Categorical(logits=logits).log_prob(classes))
    yes = torch.randint(2, (5, 3))
    torch.testing.assert_close(bernoulli(logits, yes), Bernoulli(logits=logits).log_prob(yes.float()).sum(1))
    numbers = torch.randn(5, 1)
    density = Normal(logits[:, :1], 1.0).log_prob(numbers).sum(1) + 0.5 * torch.log(torch.tensor(2 * torch.pi))
    torch.testing.assert_close(gaussian(logits[:, 0], numbers), density)


@pytest.mark.parametrize(
    ("of", "output", "labels", "sentence"),
    [
        (categorical, torch.ones(4, 3), torch.ones(4), "labels that are whole"),
        (categorical, torch.ones(4, 1), torch.ones(4, dtype=torch.int64), "needs one logit per class"),
        (bernoulli, torch.ones(4, 2), torch.ones(4), "likelihood='bernoulli' needs one output per label"),
        (gaussian, torch.ones(3), torch.ones(4), "likelihood='gaussian' needs one output per label"),
    ],
)
def test_shapes_that_do_not_fit(
    of: Callable[[Tensor, Tensor], Tensor], output: Tensor, labels: Tensor, sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        of(output, labels)


def test_labels_that_cannot_be() -> None:
    with pytest.raises(DataError, match="labels run from -1 to 2: a model with 3 outputs needs 0 to 2"):
        check_values("categorical", torch.ones(3, 3), torch.tensor([-1, 2, -100]))
    check_values("categorical", torch.ones(3, 3), torch.tensor([0, 2, -100]))
    with pytest.raises(DataError, match="needs labels that are 0 or 1"):
        check_values("bernoulli", torch.ones(3), torch.tensor([0.0, 0.5, 1.0]))
    with pytest.raises(SettingsError, match="likelihood='poisson': must be one of 'categorical'"):
        likelihood_of("poisson")  # type: ignore[arg-type]
