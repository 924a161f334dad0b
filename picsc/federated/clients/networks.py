"""Clients with any PyTorch network: one model trains at a time, several clients on as many threads.

Letters: N rows of all clients, k clients of the round, a models of each client, d parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from picsc.datasets.encoding import Covariates, of_numbers
from picsc.equations.likelihood import Likelihood, summed_log_likelihood
from picsc.errors import NumericsError
from picsc.federated.client_summary import Summary, described, summarise
from picsc.federated.clients.evaluation import ClientScores, TestRows, client_scores
from picsc.federated.clients.local_round import InProcess
from picsc.federated.clients.local_steps import LocalRecipe, local_steps
from picsc.federated.clients.local_terms import LocalTerms, Trained
from picsc.federated.small_cells import label_counts
from picsc.fisher.diagonal import empirical_fisher, row_scores
from picsc.training.divergence import has_diverged, largest_loss
from picsc.training.optimizers import Pull, proximal_step, sgd_length

PASS_ROWS = 256
"""Rows per pass that does not train."""
SUMMARY_ROWS = 512
"""Most rows of a client that its summary is computed from, drawn at random: gradients of single rows are costly."""
SCORE_FLOATS = 4_000_000
"""Floats of squared scores of single rows held at once."""


@dataclass(frozen=True, slots=True)
class ClientModules(InProcess):
    """The rows of all clients, and a function that makes their network."""

    take: Callable[[NDArray[np.int64]], Tensor]
    """Function from row numbers to the model's inputs, on its device."""
    y: Tensor
    """Class codes, (N,), on the models' device."""
    classes: int
    """Number of classes."""
    train: tuple[NDArray[np.int64], ...]
    """Numbers of the rows that each client trains on."""
    test: TestRows
    model: Callable[[int], nn.Module]
    """Function from a seed to a model with its initial weights."""
    recipe: LocalRecipe
    fisher_rows: int | None = None
    """Most rows of a client that its Fisher information is computed from, drawn at random; None uses all."""
    workers: int = 1
    """Number of threads; never changes a result."""
    fewest: int = 1
    """Fewest rows of a cell that is sent, see `picsc.federated.small_cells`."""
    likelihood: Likelihood = "classes"

    @property
    def rows(self) -> Tensor:
        """Number of training rows of each client, (K,)."""
        return torch.tensor([len(rows) for rows in self.train])

    @property
    def device(self) -> torch.device:
        """Device of the models."""
        return self.y.device

    @property
    def covariates(self) -> Covariates:
        """Kinds of the features in summaries: the activations before the last layer, all numeric."""
        return of_numbers(_last_dense(self.model(0)).in_features)

    @property
    def features(self) -> int:
        """0: these networks have no encoded features."""
        return 0

    def start(self, seed: int) -> Tensor:
        """Initial parameters, (d,)."""
        return parameters_to_vector(self.model(seed).parameters()).detach()

    def fit(
        self,
        clients: NDArray[np.int64],
        theta: Tensor,
        terms: LocalTerms,
        lr: Tensor,
        *,
        seed: int,
        round_number: int,
    ) -> Trained:
        """Train every model of every client; see `picsc.federated.clients.protocol.Clients`."""
        steps, sorting = local_steps(
            [self.train[i] for i in clients], self.recipe, seed=seed, round_number=round_number
        )
        k, (a, d) = len(clients), theta.shape[1:]
        trained, diverged = theta.new_empty(k, a, d), torch.zeros(k, a, dtype=torch.bool, device=theta.device)
        rates = lr.tolist()

        def one(place: int) -> None:
            at = int(sorting[place])
            model = self.model(0)
            try:
                for i in range(a):
                    initial = theta[at if len(theta) > 1 else 0, i]
                    own = [None if part is None else part[at if len(part) > 1 else 0, i] for part in terms]
                    trained[at, i], diverged[at, i] = self._trained(
                        model, initial, own, rates[i], steps.of_client(place)
                    )
            except Exception as error:
                error.add_note(f"in client {clients[at] + 1} of {len(self.train)}, round {round_number + 1}")
                raise

        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(one, range(k)))
        count = np.empty(k, np.int64)
        count[sorting] = steps.count
        return Trained(trained, torch.from_numpy(count), lr, diverged)

    def _trained(
        self,
        model: nn.Module,
        initial: Tensor,
        terms: list[Tensor | None],
        lr: float,
        minibatches: Iterator[NDArray[np.int64]],
    ) -> tuple[Tensor, Tensor]:
        """One client's model after its local steps, (d,), and true, (), where its loss is beyond all reason."""
        recipe = self.recipe
        parameters = _loaded(model, initial)
        proximal_weight, proximal_center, correction, preconditioner = (
            None if part is None else _by_parameter(part, parameters) for part in terms
        )
        velocity = [torch.zeros_like(each) for each in parameters] if recipe.momentum else None
        rows = np.empty(0, np.int64)
        for step, rows in enumerate(minibatches):
            loss = -summed_log_likelihood(model(self.take(rows)), self.y[rows], self.likelihood) / len(rows)
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                for i, (w, raw) in enumerate(zip(parameters, gradients, strict=True)):
                    g = raw
                    if recipe.weight_decay:
                        g = g.add(w, alpha=recipe.weight_decay)
                    if velocity is not None:
                        g = velocity[i].mul_(recipe.momentum).add_(g)
                    if correction is not None:
                        g = g + correction[i]
                    if preconditioner is not None:
                        g = g * preconditioner[i]
                    w.sub_(g, alpha=lr)
                    if proximal_weight is not None and proximal_center is not None:
                        length = lr * sgd_length(recipe.momentum, step + 1)
                        scaled = length if preconditioner is None else length * preconditioner[i]
                        proximal_step(w, Pull(proximal_center[i], proximal_weight[i]), scaled)
        vector = torch.cat([each.detach().reshape(-1) for each in parameters])
        with torch.no_grad():
            y = self.y[rows]
            loss = -summed_log_likelihood(model(self.take(rows)), y, self.likelihood) / max(1, len(rows))
            return vector, has_diverged(loss, largest_loss(y, None, self.likelihood, self.classes))

    def fisher(self, clients: NDArray[np.int64], theta: Tensor) -> Tensor:
        """Diagonal empirical Fisher of each client's rows; see `picsc.federated.clients.protocol.Clients`."""
        found = torch.empty_like(theta)

        def one(j: int) -> None:
            rows = self._rows_of(int(clients[j]), self.fisher_rows)
            x, y = self.take(rows), self.y[rows]
            for i in range(theta.shape[1]):
                model = self._at(theta[j, i])
                finite = bool(theta[j, i].isfinite().all())
                found[j, i] = empirical_fisher(model, x, y) if finite else torch.nan

        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(one, range(len(clients))))
        return found

    def summaries(self, client: int, theta: Tensor, *, seed: int) -> tuple[Summary | None, ...]:
        """The summaries that a client sends of its rows; see `picsc.federated.clients.protocol.Clients`."""
        return tuple(self._summary(client, each, seed) for each in theta)

    def _summary(self, client: int, theta: Tensor, seed: int) -> Summary | None:
        rows = self._rows_of(client, min(SUMMARY_ROWS, self.fisher_rows or SUMMARY_ROWS))
        model = self._at(theta)
        at_once = max(1, min(PASS_ROWS, SCORE_FLOATS // theta.numel()))
        parts = np.array_split(rows, -(-len(rows) // at_once))
        squares = (row_scores(model, self.take(part), self.y[part]).square_() for part in parts)
        counts = label_counts(self.y[rows], self.classes, self.fewest)
        activations = self._activations(model, rows)
        same = described(activations, self.covariates, seed=seed, label_counts=counts, fewest=self.fewest)
        try:
            return summarise(same, squares)
        except NumericsError:
            return None

    @torch.no_grad()
    def test_outputs(self, theta: Tensor) -> Tensor:
        """Log-probabilities of global models, (a, d), for the test rows, (a, T, c)."""
        rows = self.test.rows.cpu().numpy()
        outputs = torch.empty(len(theta), len(rows), self.classes, device=theta.device)
        for start in range(0, len(rows), PASS_ROWS):
            x = self.take(rows[start : start + PASS_ROWS])
            for i, each in enumerate(theta):
                outputs[i, start : start + PASS_ROWS] = self._at(each)(x).log_softmax(1)
        return outputs

    def evaluate(self, theta: Tensor) -> ClientScores:
        """Scores of global models, (a, d), for every client."""
        rows = self.test.rows.cpu().numpy()
        return client_scores(self.test_outputs(theta), self.y[rows], self.test, self.likelihood)

    def _at(self, theta: Tensor) -> nn.Module:
        model = self.model(0)
        vector_to_parameters(theta, model.parameters())
        return model

    def _rows_of(self, client: int, most: int | None) -> NDArray[np.int64]:
        rows = self.train[client]
        if most is None or len(rows) <= most:
            return rows
        return np.sort(np.random.default_rng(client).choice(rows, most, replace=False))

    @torch.no_grad()
    def _activations(self, model: nn.Module, rows: NDArray[np.int64]) -> Tensor:
        """Inputs of the last layer, (n, u)."""
        seen: list[Tensor] = []
        hook = _last_dense(model).register_forward_hook(lambda _layer, args, _out: seen.append(args[0]))
        with hook:
            for start in range(0, len(rows), PASS_ROWS):
                model(self.take(rows[start : start + PASS_ROWS]))
        return torch.cat(seen)


def _last_dense(model: nn.Module) -> nn.Linear:
    return [layer for layer in model.modules() if isinstance(layer, nn.Linear)][-1]


def _by_parameter(vector: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """A vector (d,) as views in the parameters' shapes."""
    parts = torch.split(vector, [each.numel() for each in parameters])
    return [part.view(each.shape) for part, each in zip(parts, parameters, strict=True)]


def _loaded(model: nn.Module, theta: Tensor) -> list[nn.Parameter]:
    """The parameters of a model, set to a copy of theta; kernels of convolutions have channels innermost.

    On processors a LeNet then trains in half the time, as long as its images are laid out the same way.
    """
    parameters = list(model.parameters())
    for parameter, piece in zip(parameters, _by_parameter(theta, parameters), strict=True):
        layout = torch.channels_last if parameter.ndim == 4 else torch.contiguous_format
        parameter.data = piece.clone(memory_format=layout)
    return parameters
