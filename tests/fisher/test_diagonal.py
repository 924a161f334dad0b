from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from picsc.errors import DataError, NumericsError
from picsc.fisher.diagonal import empirical_fisher, expected_fisher, fragment_fishers, row_scores
from picsc.runtime.threads import one_thread
from picsc.training.networks import lenet, mlp
from tests.reference import expected_fisher_by_row, fisher_by_row, scores_by_row


@pytest.fixture(autouse=True, scope="module")
def _one_core() -> Iterator[None]:
    """Small operations on a busy machine wait for a second thread far longer than they take."""
    with one_thread():
        yield


N = 7


class Shared(nn.Module):
    """One layer called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.last = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.inner(self.inner(x).tanh()).tanh())


class Tied(nn.Module):
    """One matrix as embedding and as output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.last = nn.Embedding(3, 4), nn.Linear(4, 3)
        self.last.weight = self.embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.embedding(x % 3).sum(1).tanh())


class Borrowed(nn.Module):
    """A layer whose weight is also used outside it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.last = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last((self.inner(x).tanh() @ self.inner.weight).tanh())


class Sequence(nn.Module):
    """Linear layers over (n, t, f)."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.last = nn.Linear(4, 5), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.inner(x).tanh().mean(1))


class TimeFirst(nn.Module):
    """A linear layer that sees (t, n, f): with as many positions as rows, shapes alone do not show which is which."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.last = nn.Linear(4, 5), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.inner(x.transpose(0, 1)).tanh().mean(0))


class Reader(nn.Module):
    """Tokens to logits."""

    def __init__(self, embedding: nn.Module) -> None:
        super().__init__()
        self.embedding, self.last = embedding, nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        read = self.embedding(x)
        return self.last(read.tanh().reshape(len(x), -1, 4).mean(1))


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.memory, self.last = kind(4, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.memory(x)[0][:, -1])


class Idle(nn.Module):
    """A parameter that no output depends on, and a frozen one."""

    def __init__(self) -> None:
        super().__init__()
        self.unused, self.first, self.last = nn.Linear(2, 2), nn.Linear(4, 4), nn.Linear(4, 3)
        self.first.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x).tanh())


def convolution(**how: object) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(4, 6, **how), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, 3)
    )


def normalised() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3))
    model[1].running_mean.uniform_(-1, 1)
    model[1].running_var.uniform_(0.5, 2)
    return model.eval()


def normalised_images(norm: nn.Module) -> nn.Module:
    """A normalisation with a scale and a shift that are not 1 and 0."""
    for tensor in (norm.weight, norm.bias, *norm.buffers()):
        if tensor.is_floating_point():
            tensor.data.uniform_(0.5, 2)
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), norm, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 3)
    ).eval()


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...] | str]] = {
    "mlp": (lambda: mlp(4, 3, seed=0), (4,)),
    "lenet": (lambda: lenet(1, 16, 3, seed=0), (1, 16, 16)),
    "shared layer": (Shared, (4,)),
    "tied embedding": (Tied, "tokens"),
    "borrowed weight": (Borrowed, (4,)),
    "sequence": (Sequence, (5, 4)),
    "sequence as long as the batch": (TimeFirst, (N, 4)),
    "two positions first": (TimeFirst, (2, 4)),
    "embedding": (lambda: Reader(nn.Embedding(9, 4)), "tokens"),
    "embedding with padding": (lambda: Reader(nn.Embedding(9, 4, padding_idx=2)), "tokens"),
    "bag of maxima": (lambda: Reader(nn.EmbeddingBag(9, 4, mode="max")), "tokens"),
    "bag of sums": (lambda: Reader(nn.EmbeddingBag(9, 4, mode="sum")), "tokens"),
    "bag of means with padding": (lambda: Reader(nn.EmbeddingBag(9, 4, mode="mean", padding_idx=2)), "tokens"),
    "layer norm": (lambda: nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5), nn.Tanh(), nn.Linear(5, 3)), (4,)),
    "batch norm in eval mode": (normalised, (4,)),
    "batch norm of images": (lambda: normalised_images(nn.BatchNorm2d(4)), (2, 6, 5)),
    "group norm": (lambda: normalised_images(nn.GroupNorm(2, 4)), (2, 6, 5)),
    "layer norm over all of a row": (lambda: normalised_images(nn.LayerNorm((4, 4, 3))), (2, 6, 5)),
    "layer norm of positions": (
        lambda: nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4, bias=False), Sequence()),
        (5, 4),
    ),
    "gru": (lambda: Recurrent(nn.GRU), (5, 4)),
    "lstm": (lambda: Recurrent(nn.LSTM), (5, 4)),
    "attention": (
        lambda: nn.Sequential(nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), Sequence()),
        (5, 4),
    ),
    "idle and frozen": (Idle, (4,)),
    "strides and padding": (lambda: convolution(kernel_size=3, stride=2, padding=1), (4, 9, 10)),
    "odd kernel": (lambda: convolution(kernel_size=(3, 5), stride=(2, 1), padding=(0, 3), dilation=(2, 1)), (4, 9, 10)),
    "groups": (
        lambda: convolution(kernel_size=(2, 3), stride=(3, 2), dilation=(2, 2), groups=2, bias=False),
        (4, 9, 10),
    ),
    "padding by name": (lambda: convolution(kernel_size=3, padding="same"), (4, 9, 10)),
}


def case(name: str, dtype: torch.dtype = torch.float64, n: int = N) -> tuple[nn.Module, Tensor, Tensor]:
    make, shape = MODELS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = make().to(dtype)
        x = torch.randint(9, (n, 6)) if shape == "tokens" else torch.randn(n, *shape, dtype=dtype)
        y = torch.randint(3, (n,))
    return model, x, y


def close(actual: Tensor, expected: Tensor, relative: float = 1e-12) -> None:
    """Equal within `relative` of each entry, or of the largest for entries that nearly cancel."""
    largest = float(expected.abs().max())
    torch.testing.assert_close(actual.double(), expected.double(), rtol=relative, atol=relative * largest)


def test_softmax_regression_closed_form() -> None:
    """For logits W x + b, entry (j, f) is mean_i (1[y_i = j] - p_ij)^2 x_if^2."""
    model, x, y = case("mlp", n=50)
    model = nn.Linear(4, 3).double()
    residual = torch.eye(3, dtype=torch.float64)[y] - model(x).softmax(1)
    weight = (residual[:, :, None] ** 2 * x[:, None, :] ** 2).mean(0)
    expected = torch.cat([weight.flatten(), (residual**2).mean(0)]).detach()
    torch.testing.assert_close(empirical_fisher(model, x, y), expected, rtol=1e-12, atol=0)


def test_linear_regression_closed_form() -> None:
    """For a Gaussian around w x + b with variance 1, entry f is mean_i (y_i - m_i)^2 x_if^2."""
    x = torch.randn(50, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y, model = x.sum(1), nn.Linear(4, 1).double()
    squared = (y - model(x)[:, 0]).detach() ** 2
    expected = torch.cat([(squared[:, None] * x**2).mean(0), squared.mean()[None]])
    torch.testing.assert_close(empirical_fisher(model, x, y, likelihood="numbers"), expected, rtol=1e-12, atol=0)


def test_opposite_labels_do_not_cancel() -> None:
    """Two equal inputs with opposite labels: the mean gradient is 0, the Fisher information is not."""
    model = nn.Linear(1, 2, bias=False).double()
    nn.init.zeros_(model.weight)
    x, y = torch.tensor([[2.0], [2.0]], dtype=torch.float64), torch.tensor([0, 1])
    assert empirical_fisher(model, x, y).tolist() == [1.0, 1.0]  # (1 - 1/2)^2 * 2^2
    assert row_scores(model, x, y).mean(0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", MODELS)
def test_every_row_as_if_it_were_alone(name: str) -> None:
    model, x, y = case(name)
    model.requires_grad_()  # for the twin; see the test of frozen parameters
    expected = scores_by_row(model, x, y)
    close(row_scores(model, x, y), expected)
    close(empirical_fisher(model, x, y), expected.square().mean(0))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_chunks_do_not_matter(name: str, chunk: int) -> None:
    model, x, y = case(name)
    close(empirical_fisher(model, x, y, chunk=chunk), empirical_fisher(model, x, y))
    close(row_scores(model, x, y, chunk=chunk), row_scores(model, x, y))


@pytest.mark.parametrize("name", MODELS)
def test_squared_scores_average_to_the_fisher(name: str) -> None:
    model, x, y = case(name)
    close(row_scores(model, x, y).square().mean(0), empirical_fisher(model, x, y))


@pytest.mark.parametrize("name", ["mlp", "lenet", "embedding", "shared layer"])
def test_single_precision(name: str) -> None:
    model, x, y = case(name, torch.float32, n=300)
    fisher = empirical_fisher(model, x, y)
    assert fisher.dtype == torch.float64
    close(fisher, fisher_by_row(model, x, y), 1e-6)
    close(empirical_fisher(model, x, y, chunk=17), fisher, 1e-6)
    close(empirical_fisher(model, x.flip(0), y.flip(0)), fisher, 1e-6)


def test_many_rows_cross_every_block_boundary() -> None:
    model, x, y = mlp(4, 3, seed=0, dtype=torch.float64), *case("mlp", n=70_001)[1:]
    halves = empirical_fisher(model, x[:40_000], y[:40_000]), empirical_fisher(model, x[40_000:], y[40_000:])
    close(empirical_fisher(model, x, y), (40_000 * halves[0] + 30_001 * halves[1]) / 70_001)


@pytest.mark.parametrize("name", MODELS)
def test_row_order_does_not_matter(name: str) -> None:
    model, x, y = case(name)
    close(empirical_fisher(model, x.flip(0), y.flip(0)), empirical_fisher(model, x, y))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("chunk", [None, 2])
def test_fragments_equal_one_call_each(name: str, chunk: int | None) -> None:
    model, x, y = case(name)
    fragment = torch.tensor([2, 0, 1, 2, 0, 2, 2])
    fishers = fragment_fishers(model, x, y, fragment, 3, chunk=chunk)
    for j in range(3):
        rows = fragment == j
        close(fishers[j], empirical_fisher(model, x[rows], y[rows]))


def test_numbers_row_by_row() -> None:
    x = case("mlp")[1]
    model, y = mlp(4, 1, seed=0, dtype=torch.float64), x.prod(1)
    expected = scores_by_row(model, x, y, "numbers")
    flat = nn.Sequential(model, nn.Flatten(0))  # means of shape (n,)
    close(row_scores(model, x, y, likelihood="numbers"), expected)
    close(row_scores(flat, x, y, likelihood="numbers"), expected)


class FisherOf(nn.Module):
    """Makes the Fisher information a function of parameters that can be handed in."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, y: Tensor, fragment: Tensor) -> Tensor:
        return fragment_fishers(self.model, x, y, fragment, 2, create_graph=True, chunk=3)


@pytest.mark.parametrize(
    "name",
    [
        *("mlp", "shared layer", "sequence", "bag of means with padding", "groups", "layer norm", "group norm"),
        *("layer norm of positions", "batch norm in eval mode", "batch norm of images"),
    ],
)
def test_differentiable_in_theta(name: str) -> None:
    model, x, y = case(name, n=4)
    of = FisherOf(model)
    names, theta = zip(*[(k, p.detach().clone().requires_grad_()) for k, p in of.named_parameters()], strict=True)
    fragment = torch.tensor([0, 1, 1, 0])

    def fisher(*parameters: Tensor) -> Tensor:
        return functional_call(of, dict(zip(names, parameters, strict=True)), (x, y, fragment))

    assert torch.autograd.gradcheck(fisher, theta)


def test_the_gradient_reaches_the_models_own_parameters() -> None:
    model, x, y = case("mlp")
    trace = empirical_fisher(model, x, y, create_graph=True).sum()
    gradients = torch.autograd.grad(trace, list(model.parameters()))
    step = 1e-6
    with torch.no_grad():
        model[0].weight[1, 2] += step
        up = empirical_fisher(model, x, y).sum()
        model[0].weight[1, 2] -= 2 * step
        down = empirical_fisher(model, x, y).sum()
    torch.testing.assert_close(gradients[0][1, 2], (up - down) / (2 * step), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["mlp", "lenet", "sequence", "tied embedding", "layer norm"])
def test_expected_fisher_sums_over_classes(name: str) -> None:
    model, x, _ = case(name)
    close(expected_fisher(model, x, chunk=3), expected_fisher_by_row(model, x, 3))


def test_expected_fisher_of_softmax_regression_closed_form() -> None:
    """Entry (j, f) is mean_i p_ij (1 - p_ij) x_if^2."""
    x = case("mlp", n=50)[1]
    model = nn.Linear(4, 3).double()
    p = model(x).softmax(1).detach()
    variance = p * (1 - p)
    weight = (variance[:, :, None] * x[:, None, :] ** 2).mean(0)
    torch.testing.assert_close(
        expected_fisher(model, x), torch.cat([weight.flatten(), variance.mean(0)]), rtol=1e-12, atol=0
    )


def test_expected_fisher_is_the_curvature_of_kl() -> None:
    """KL(theta || theta + h e_p) = h^2 F_pp / 2 + O(h^3); the cubic term cancels between h and -h."""
    model, x, _ = case("shared layer")
    theta, fisher, h = nn.utils.parameters_to_vector(model.parameters()).detach(), expected_fisher(model, x), 1e-3
    before = model(x).log_softmax(1).detach()

    def kl(p: int, step: float) -> Tensor:
        moved = theta.clone()
        moved[p] += step
        nn.utils.vector_to_parameters(moved, model.parameters())
        return (before.exp() * (before - model(x).log_softmax(1).detach())).sum(1).mean()

    curvature = torch.stack([(kl(p, h) + kl(p, -h)) / h**2 for p in range(len(theta))])
    torch.testing.assert_close(fisher, curvature, rtol=1e-4, atol=1e-8)


def test_expected_fisher_of_numbers_is_the_mean_squared_slope() -> None:
    x = case("mlp", n=50)[1]
    expected = torch.cat([(x**2).mean(0), torch.ones(1, dtype=torch.float64)])
    torch.testing.assert_close(
        expected_fisher(nn.Linear(4, 1).double(), x, likelihood="numbers"), expected, rtol=1e-12, atol=0
    )


def test_an_unused_parameter_has_none_and_a_frozen_one_has_its_own() -> None:
    model, x, y = case("idle and frozen")
    fisher = empirical_fisher(model, x, y)
    assert fisher[:6].tolist() == [0.0] * 6
    assert bool((fisher[6:26] > 0).all())
    assert [p.requires_grad for p in model.first.parameters()] == [False, False]


def test_nothing_of_the_model_is_changed() -> None:
    model, x, y = case("mlp")
    model.train()
    generator, before = torch.get_rng_state(), nn.utils.parameters_to_vector(model.parameters()).clone()
    empirical_fisher(model, x, y)
    expected_fisher(model, x)
    assert torch.equal(nn.utils.parameters_to_vector(model.parameters()), before)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(module.training and not module._forward_hooks for module in model.modules())
    assert torch.equal(torch.get_rng_state(), generator)


@pytest.mark.parametrize("name", MODELS)
def test_it_works_where_gradients_are_switched_off(name: str) -> None:
    model, x, y = case(name)
    with torch.no_grad():
        inside = empirical_fisher(model, x, y)
    assert torch.equal(inside, empirical_fisher(model, x, y))


def test_batch_norm_in_training_mode_is_refused_by_name() -> None:
    _, x, y = case("mlp")
    model = normalised().double().train()
    with pytest.raises(NumericsError, match=r"layer '1' \(BatchNorm1d\) mixes rows .* model\.eval\(\)"):
        empirical_fisher(model, x, y)
    unaccustomed = nn.Sequential(nn.BatchNorm1d(4, track_running_stats=False), nn.Linear(4, 3)).double().eval()
    with pytest.raises(NumericsError, match=r"layer '0' .* mixes rows"):
        row_scores(unaccustomed, x, y)


def test_active_dropout_is_refused_by_name() -> None:
    _, x, y = case("mlp")
    model = nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5), nn.Linear(5, 3)).double()
    with pytest.raises(NumericsError, match=r"layer '1' \(Dropout\) drops units at random"):
        empirical_fisher(model, x, y)
    close(empirical_fisher(model.eval(), x, y), fisher_by_row(model, x, y))


def test_a_layer_that_sees_no_rows_is_refused() -> None:
    class Pooled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last = nn.Linear(4, 3), nn.Linear(4, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.last(x) + (self.inner(x[:2]).mean(0) if len(x) > 2 else self.inner(x))

    _, x, y = case("mlp")
    with pytest.raises(NumericsError, match="one entry per row in a batch of 7"):
        empirical_fisher(Pooled().double(), x, y)


def test_infinite_results_name_the_parameter() -> None:
    model, x, y = case("mlp")
    with torch.no_grad():
        model[2].weight[0, 0] = float("nan")
    with pytest.raises(NumericsError, match=r"Fisher information of parameter '0\.weight' is not finite"):
        empirical_fisher(model, x, y)
    x[0, 0] = float("inf")
    with pytest.raises(NumericsError, match="scores of parameter"):
        row_scores(case("mlp")[0], x, y)


def test_data_that_do_not_fit_are_refused() -> None:
    model, x, y = case("mlp")
    with pytest.raises(DataError, match=r"no rows is undefined \(n = 0\)"):
        empirical_fisher(model, x[:0], y[:0])
    with pytest.raises(DataError, match=r"x has 7 rows and y has shape \(6,\)"):
        empirical_fisher(model, x, y[1:])
    with pytest.raises(DataError, match="labels run from 0 to 3: a model with 3 outputs needs 0 to 2"):
        empirical_fisher(model, x, torch.tensor([0, 1, 2, 3, 0, 1, 2]))
    with pytest.raises(DataError, match="labels run from -1 to 2"):
        empirical_fisher(model, x, torch.tensor([0, 1, 2, -1, 0, 1, 2]))
    with pytest.raises(DataError, match=r"shape \(2, 3\) for 2 rows: numbers need one mean per row"):
        empirical_fisher(model, x, y.double(), likelihood="numbers")
    with pytest.raises(DataError, match=r"shape \(2, 1\) for 2 rows: classes need one logit per class"):
        empirical_fisher(mlp(4, 1, seed=0, dtype=torch.float64), x, y)


def test_fragments_that_do_not_fit_are_refused() -> None:
    model, x, y = case("mlp")
    fragment = torch.tensor([0, 0, 2, 2, 0, 2, 2])
    with pytest.raises(DataError, match="fragment 1 of 3 has no rows"):
        fragment_fishers(model, x, y, fragment, 3)
    with pytest.raises(DataError, match="run from 0 to 2: need 0 to 1 for 2 fragments"):
        fragment_fishers(model, x, y, fragment, 2)
    with pytest.raises(DataError, match=r"fragment has shape \(6,\)"):
        fragment_fishers(model, x, y, fragment[1:], 3)
