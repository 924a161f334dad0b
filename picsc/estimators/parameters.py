"""Parameters of the estimators: settings of `picsc cv` under their own names, and the few that are none."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state

from picsc.estimators.batches import BatchTraining
from picsc.estimators.inputs import UnusableParameterError
from picsc.runtime.devices import pick_device
from picsc.settings import CvSettings
from picsc.settings.by_keyword import from_keywords
from picsc.training.defaults import recipe_of

_OWN = {"hidden", "random_state"}
"""Parameters that are no settings of `picsc cv`."""


class Parameters(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator with these parameters."""

    def __init__(
        self,
        *,
        hidden: int = 4,
        strength: float | Literal["auto", "posterior"] = "auto",
        penalty: Literal["kl", "frobenius", "trace"] = "kl",
        warmup: float = 0.5,
        alpha: float = 0.9,
        gamma: float | None = None,
        when_quiet: Literal["train", "skip"] = "train",
        merge: Literal["fisher", "mean", "none"] | None = None,
        folds: int = 5,
        epochs: int | None = None,
        steps: int | None = None,
        lr: float | None = None,
        batch_size: int | None = None,
        optimizer: Literal["adam", "sgd"] = "adam",
        momentum: float = 0.9,
        patience: int | None = None,
        device: Literal["auto", "cpu", "cuda", "mps"] = "auto",
        categorical: Sequence[Hashable] = (),
        numeric: Sequence[Hashable] = (),
        drop: Sequence[Hashable] = (),
        keep: Sequence[Hashable] = (),
        date_format: Sequence[str] = (),
        random_state: Any = 0,
    ) -> None:
        """Store the parameters; they are checked when the model is fitted.

        Args:
            hidden: hidden units of the network.
            strength: lambda, the weight of the penalty between fragments; `auto` chooses it by inner cross-validation
                on the training rows. Along batches `auto` is 0.1, and `posterior` gives the anchor the weight of the
                rows seen.
            penalty: divergence between fragments, of `fit`.
            warmup: share of the steps over which lambda rises from 0, of `fit`.
            alpha: weight of the past in the smoothed Fisher information, of `partial_fit`.
            gamma: threshold of tau, of `partial_fit`; None calibrates it.
            when_quiet: treatment of batches that are not shifted, of `partial_fit`.
            merge: model that `partial_fit` gives: the Fisher-weighted running mean (None and `fisher`), the plain mean
                or the last one.
            folds: number of fragments that `fit` makes where it is given none: stratified folds, shuffled.
            epochs: passes over the rows; None is 200 where one step sees all rows, else 20.
            steps: updates instead of epochs; of each batch in `partial_fit`.
            lr: learning rate; None is 0.02.
            batch_size: rows per step; None is all of up to 10,000 rows, 1,024 of more.
            optimizer: adam or sgd.
            momentum: of sgd.
            patience: epochs without a better loss on a tenth of the rows before training stops.
            device: processor that trains.
            categorical: columns to treat as categories.
            numeric: columns to treat as numbers.
            drop: columns to leave out.
            keep: columns that take part although they count or name the rows.
            date_format: formats of dates, COL=FORMAT or FORMAT.
            random_state: seed of initial weights and all draws; None takes a new one at every fit.
        """
        self.hidden = hidden
        self.strength = strength
        self.penalty = penalty
        self.warmup = warmup
        self.alpha = alpha
        self.gamma = gamma
        self.when_quiet = when_quiet
        self.merge = merge
        self.folds = folds
        self.epochs = epochs
        self.steps = steps
        self.lr = lr
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.momentum = momentum
        self.patience = patience
        self.device = device
        self.categorical = categorical
        self.numeric = numeric
        self.drop = drop
        self.keep = keep
        self.date_format = date_format
        self.random_state = random_state

    def _settings(self, *, algorithm: Literal[1, 2]) -> CvSettings:
        """The parameters as settings of `picsc cv`."""
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}
        if not _is_count(self.hidden):
            raise UnusableParameterError(f"hidden={self.hidden!r}: must be a whole number of at least 1")
        if str(self.merge) == "running":
            raise UnusableParameterError("merge='running' is chosen on all batches, which partial_fit does not have")
        seed = seed_of(self.random_state)
        return from_keywords(CvSettings, "cv", {**given, "seed": seed, "algorithm": algorithm})

    def _batch_training(self, settings: CvSettings, n: int) -> BatchTraining:
        recipe = recipe_of(settings.train, n, "table")
        if recipe.steps is not None:
            recipe = replace(recipe, steps=2 * recipe.steps)  # shared out among the two batches that are held
        return BatchTraining(settings, recipe, pick_device(settings.train.device).device, self.hidden)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The tags of scikit-learn 1.5."""
        return {"allow_nan": True, "X_types": ["2darray", "string", "categorical"]}


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


def seed_of(random_state: object) -> int:
    """The seed that a random state stands for: a number itself, a generator's next one, or for None a new one."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    drawn = np.random.RandomState() if random_state is None else check_random_state(random_state)
    return int(drawn.randint(2**31 - 1))
