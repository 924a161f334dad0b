"""Clients whose networks have one hidden layer: all clients of a round train at once.

Letters: N rows of all clients, k clients of the round, a models of each client, d parameters, f features, h hidden
units, o readouts, b rows of a minibatch, T test rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from picsc.datasets.encoding import Covariates
from picsc.equations.likelihood import Likelihood
from picsc.errors import NumericsError, SettingsError
from picsc.federated.client_summary import Summary, described, summarise
from picsc.federated.clients.evaluation import ClientScores, TestRows, client_scores
from picsc.federated.clients.local_round import InProcess
from picsc.federated.clients.local_steps import LocalRecipe, Steps, local_steps
from picsc.federated.clients.local_terms import LocalTerms, Trained
from picsc.federated.clients.whitening import pooled_moments, whitening_matrix
from picsc.federated.small_cells import label_counts, sent_products
from picsc.training.batched.gradients import fragment_fishers, squared_scores, task_gradient
from picsc.training.batched.layout import Stack, readouts_of
from picsc.training.batched.mlp import Weights, flatten, mean_loss, predicted, unflatten
from picsc.training.divergence import has_diverged, largest_loss
from picsc.training.networks import mlp
from picsc.training.optimizers import Pull, proximal_step, sgd_length

AT_ONCE = 4_000_000
"""Parameters of all models of clients that are trained at once; gradients and local terms take as much again."""
ACTIVATIONS = 4_000_000
"""Floats of hidden units held at once in passes that do not train."""
MOST_FEATURES = 512
"""Largest number of features that is whitened: a client sends second moments of this number squared."""


@dataclass(frozen=True, slots=True)
class ClientMlps(InProcess):
    """The rows of all clients, and the shape of their networks."""

    x: Tensor
    """Encoded features, (N, f + 1), the constant last."""
    y: Tensor
    """Class codes, or numbers in standard deviations of the training rows, (N,)."""
    train: tuple[NDArray[np.int64], ...]
    """Numbers of the rows that each client trains on."""
    test: TestRows
    likelihood: Likelihood
    outputs: int
    """Number of classes; 1 for numbers."""
    hidden: int
    """Number of hidden units."""
    recipe: LocalRecipe
    covariates: Covariates
    """Kinds of the features."""
    told: tuple[NDArray[np.int64], ...] = ()
    """Numbers of the rows that each client's summaries and second moments are of; () is those that it trains on."""
    plain: Tensor | None = None
    """The features that summaries and second moments are of, where `x` has whitened ones, (N, f + 1); None is `x`."""
    fewest: int = 1
    """Fewest rows of a cell that is sent, see `picsc.federated.small_cells`."""
    unit: float = 1.0
    """One of `y` in the unit in which numbers are scored, standard deviations over all rows of the data set."""
    numbers: NDArray[np.int64] | None = None
    """Number of each row among the rows of all clients, (N,), where only those of one client are here."""
    whitening: Tensor | None = None
    """(f, f) by which the features were multiplied; None where they were not."""

    @property
    def rows(self) -> Tensor:
        """Number of training rows of each client, (K,)."""
        return torch.tensor([len(rows) for rows in self.train])

    @property
    def features(self) -> int:
        """The number f."""
        return self.x.shape[1] - 1

    @property
    def device(self) -> torch.device:
        """Device of the models."""
        return self.x.device

    def start(self, seed: int) -> Tensor:
        """Initial parameters, (d,)."""
        return initial_parameters(self.features, self.outputs, self.hidden, seed=seed).to(self.x.device)

    def whitened(self) -> ClientMlps:
        """The same clients with whitened features; summaries stay those of the features as they were.

        Raises:
            SettingsError: there are more than `MOST_FEATURES` features.
        """
        if self.features > MOST_FEATURES:
            raise SettingsError(
                f"--whiten: the columns of this table are {self.features} encoded features: need {MOST_FEATURES} or "
                "fewer; leave out --whiten, or take --inputs natural"
            )
        moments = pooled_moments(self.second_moments(client) for client in range(len(self.train)))
        whitening = whitening_matrix(moments)
        whitened = torch.cat([self.x[:, :-1] @ whitening, self.x[:, -1:]], 1)
        return replace(self, x=whitened, plain=self.x, whitening=whitening)

    def on_plain_features(self, theta: Tensor) -> Tensor:
        """Parameters that do on the features as they were what others do on those that are trained on, (d,).

        Args:
            theta: of one model, (d,).
        """
        if self.whitening is None:
            return theta
        weights = self.hidden * self.features  # of the first layer, whose constants follow
        folded = theta[:weights].view(self.hidden, self.features).double() @ self.whitening.T.double()
        return torch.cat([folded.to(theta.dtype).flatten(), theta[weights:]])

    def second_moments(self, client: int) -> tuple[Tensor, Tensor]:
        """All that a client sends for whitening.

        Args:
            client: its number.

        Returns:
            Sums of products of its features, and the number of rows of each sum, (f, f) each and symmetric; both 0
            where a product is not sent.
        """
        x = self._told(client).double()
        sent = sent_products(x, self.covariates, self.fewest).to(x.device)
        return (x.T @ x) * sent, sent * float(len(x))

    def _rows_told(self, client: int) -> Tensor:
        return torch.from_numpy((self.told or self.train)[client])

    def _told(self, client: int) -> Tensor:
        """The features of a client's rows that summaries and second moments are of, (n, f)."""
        return (self.x if self.plain is None else self.plain)[self._rows_told(client), :-1]

    @torch.no_grad()
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
        a, d = theta.shape[1:]
        at_once = max(1, AT_ONCE // (a * d))
        trained, steps, diverged = [], [], []
        for start in range(0, len(clients), at_once):
            part = slice(start, start + at_once)
            found = self._fit_part(
                clients[part],
                theta if theta.shape[0] == 1 else theta[part],
                terms.for_clients(part),
                lr,
                local_steps(
                    [self.train[i] for i in clients[part]],
                    self.recipe,
                    seed=seed,
                    round_number=round_number,
                    numbers=self.numbers,
                ),
            )
            trained.append(found[0])
            steps.append(found[1])
            diverged.append(found[2])
        return Trained(torch.cat(trained), torch.cat(steps), lr, torch.cat(diverged))

    def _fit_part(
        self,
        clients: NDArray[np.int64],
        theta: Tensor,
        terms: LocalTerms,
        lr: Tensor,
        minibatches: tuple[Steps, NDArray[np.int64]],
    ) -> tuple[Tensor, Tensor, Tensor]:
        steps, sorting = minibatches
        k, (a, d) = len(clients), theta.shape[1:]

        def sorted_weights(values: Tensor | None) -> Weights | None:
            if values is None:
                return None
            each = values.expand(k, a, d) if values.shape[0] == 1 else values[sorting]
            return unflatten(each, self.features, self.hidden, self.outputs)

        initial = sorted_weights(theta)
        assert initial is not None  # noqa: S101 - for the type checker
        weights = Weights(*(part.clone() for part in initial))
        self._loop(weights, steps, tuple(sorted_weights(part) for part in terms), lr)
        back = np.argsort(sorting)
        seen = self._minibatch(*steps.at(0))
        largest = largest_loss(seen.y, seen.weight, seen.likelihood, seen.outputs, (-2, -1))
        diverged = has_diverged(mean_loss(weights, seen), largest)
        return flatten(weights)[back], torch.from_numpy(steps.count[back]), diverged[back]

    def _loop(self, weights: Weights, steps: Steps, terms: Sequence[Weights | None], lr: Tensor) -> None:
        """All local steps, in place; clients drop out as they are done."""
        proximal_weight, proximal_center, correction, preconditioner = terms
        recipe = self.recipe
        gradient = Weights(*(torch.zeros_like(part) for part in weights))
        velocity = Weights(*(torch.zeros_like(part) for part in weights)) if recipe.momentum else None
        rate = lr.view(1, -1, 1, 1)
        for step in range(int(steps.count[0])):
            rows, share = steps.at(step)
            m = len(rows)
            active = Weights(weights.hidden[:m], weights.out[:m])
            into = Weights(gradient.hidden[:m], gradient.out[:m])
            task_gradient(active, self._minibatch(rows, share), into)
            for i, (w, raw) in enumerate(zip(active, into, strict=True)):
                g = raw
                if recipe.weight_decay:
                    g.add_(w, alpha=recipe.weight_decay)
                if velocity is not None:
                    g = velocity[i][:m].mul_(recipe.momentum).add_(g)
                if correction is not None:
                    g = g + correction[i][:m]
                if preconditioner is not None:
                    g = g * preconditioner[i][:m]
                w.sub_(g * rate)
                if proximal_weight is not None and proximal_center is not None:
                    length = rate * sgd_length(recipe.momentum, step + 1)
                    if preconditioner is not None:
                        length = length * preconditioner[i][:m]
                    proximal_step(w, Pull(proximal_center[i][:m], proximal_weight[i][:m]), length)

    def _minibatch(self, rows: Tensor, share: Tensor) -> Stack:
        """Rows (m, b) of m clients as m training problems of one tile each."""
        m, b = rows.shape
        device = self.x.device
        weight = share.to(device).view(m, 1, 1, b)
        mask = (weight > 0).to(weight.dtype)
        rows = rows.to(device)
        return Stack(
            x=self.x[rows].mT,
            y=self._readout_targets(self.y[rows])[:, None],
            mask=mask,
            weight=weight,
            share=weight.new_full((m, 1, 1), 1 / b),
            likelihood=self.likelihood,
            outputs=self.outputs,
        )

    def _readout_targets(self, y: Tensor) -> Tensor:
        """(m, b) to (m, o, b): the target itself, or one-hot."""
        if readouts_of(self.likelihood, self.outputs) == 1:
            return y[:, None].float()
        return (y[:, None] == torch.arange(self.outputs, device=y.device)[:, None]).float()

    @torch.no_grad()
    def fisher(self, clients: NDArray[np.int64], theta: Tensor) -> Tensor:
        """Diagonal empirical Fisher of each client's rows; see `picsc.federated.clients.protocol.Clients`."""
        a, d = theta.shape[1:]
        found = theta.new_zeros(len(clients), a, d)
        for j, client in enumerate(clients):
            at = unflatten(theta[j : j + 1], self.features, self.hidden, self.outputs)
            rows = torch.from_numpy(self.train[client])
            for part in torch.split(rows, max(1, ACTIVATIONS // (a * self.hidden))):
                fishers = fragment_fishers(at, self._minibatch(part[None], torch.full((1, len(part)), 1 / len(part))))
                found[j] += flatten(Weights(*(each[:, 0] for each in fishers)))[0] * (len(part) / len(rows))
        return found

    @torch.no_grad()
    def summaries(self, client: int, theta: Tensor, *, seed: int) -> tuple[Summary | None, ...]:
        """The summaries that a client sends of its rows; see `picsc.federated.clients.protocol.Clients`."""
        rows = self._rows_told(client)
        counts = label_counts(self.y[rows], self.outputs, self.fewest) if self.likelihood == "classes" else None
        same = described(self._told(client), self.covariates, seed=seed, label_counts=counts, fewest=self.fewest)

        def squares(one: Tensor) -> Iterator[Tensor]:
            at = unflatten(one[None, None], self.features, self.hidden, self.outputs)
            for part in torch.split(rows, max(1, ACTIVATIONS // one.numel())):
                yield squared_scores(at, self._minibatch(part[None], torch.full((1, len(part)), 1 / len(part))))

        found: list[Summary | None] = []
        for one in theta:
            try:
                found.append(summarise(same, squares(one)))
            except NumericsError:
                found.append(None)
        return tuple(found)

    @torch.no_grad()
    def test_outputs(self, theta: Tensor) -> Tensor:
        """Predictions of global models, (a, d), for the test rows: (a, T, c), or (a, T) in the unit of `y`."""
        at = unflatten(theta[None], self.features, self.hidden, self.outputs)
        parts = torch.split(self.test.rows, max(1, ACTIVATIONS // (len(theta) * self.hidden)))
        return torch.cat([predicted(at, self.x[part], self.likelihood) for part in parts], 1)

    @torch.no_grad()
    def evaluate(self, theta: Tensor) -> ClientScores:
        """Scores of global models, (a, d), for every client."""
        outputs = self.test_outputs(theta)
        y = self.y[self.test.rows]
        if self.likelihood == "numbers":
            outputs, y = outputs * self.unit, y * self.unit
        return client_scores(outputs, y, self.test, self.likelihood)


def initial_parameters(features: int, outputs: int, hidden: int, *, seed: int) -> Tensor:
    """The parameters that every client starts from, (d,).

    Args:
        features: f.
        outputs: number of classes; 1 for numbers.
        hidden: number of hidden units.
        seed: of the draw.
    """
    return parameters_to_vector(mlp(features, outputs, hidden, seed=seed).parameters()).detach()
