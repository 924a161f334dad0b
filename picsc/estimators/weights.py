"""`ShiftWeighter`: weights of training rows for target rows, and scores of a model on them. Letters: n and m rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring

from picsc.datasets.encoding import LARGEST, fit
from picsc.datasets.memory import Frame, from_memory
from picsc.datasets.rows import stack
from picsc.datasets.together import read_together
from picsc.estimators.inputs import Floats, UnusableParameterError, as_value_errors, usable_rows
from picsc.estimators.parameters import seed_of
from picsc.runtime.threads import one_thread
from picsc.settings import ReadSettings
from picsc.settings.base import validated
from picsc.settings.compare import WeighSettings
from picsc.weighting import WEIGHTINGS, WeightingOptions, diagnose, flattened, refuse, separation, weights_by
from picsc.weighting.logistic import log_ratio
from picsc.weighting.standardised import standardised

Weighting = Literal["iw", "ulsif", "rulsif", "kmm"]
_STEP = 65_536


class ShiftWeighter(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Weights under which training rows stand for target rows, for the `sample_weight` of any estimator.

    Attributes:
        weights_: (n,), not negative, of mean 1.
        effective_rows_: Kish's effective sample size, in rows: n for equal weights.
        effective_share_: the same as a share of n.
        largest_: the largest weight.
        separation_: area under the ROC curve of a classifier between training and target rows: 0.5 if they are alike,
            1 if they do not overlap.

    Example:
        >>> import numpy as np
        >>> from picsc import ShiftWeighter
        >>> training = np.random.default_rng(0).normal(size=(300, 2))
        >>> target = np.random.default_rng(1).normal(size=(300, 2)) + [0.5, 0]
        >>> weighter = ShiftWeighter("kmm").fit(training, target)
        >>> bool((weighter.weights_ * training[:, 0]).mean() > 0.25)
        True
    """

    def __init__(
        self,
        method: Weighting = "kmm",
        *,
        exponent: float = 1.0,
        floor: float = 0.05,
        relative: float = 0.5,
        bound: float = 1000.0,
        ridge: float | Literal["auto"] = "auto",
        categorical: Sequence[Hashable] = (),
        numeric: Sequence[Hashable] = (),
        random_state: Any = 0,
    ) -> None:
        """Store the parameters; they are checked when weights are fitted.

        Args:
            method: iw (logistic regression), ulsif, rulsif (bounded) or kmm (kernel mean matching).
            exponent: power that flattens the weights, in [0, 1].
            floor: least effective sample size, as a share of the rows; below it weights are refused, and with 0 never.
            relative: share of the target in the denominator of rulsif.
            bound: largest weight of kmm.
            ridge: of kmm, towards weights of 1; auto is as much as the target rows' own noise allows.
            categorical: columns to treat as categories.
            numeric: columns to treat as numbers.
            random_state: seed of all draws; None takes a new one.
        """
        self.method = method
        self.exponent = exponent
        self.floor = floor
        self.relative = relative
        self.bound = bound
        self.ridge = ridge
        self.categorical = categorical
        self.numeric = numeric
        self.random_state = random_state

    def fit(self, X: Frame | ArrayLike, X_target: Frame | ArrayLike) -> Self:
        """Weight training rows.

        Kinds of columns are decided on the rows of both, and no label is seen.

        Args:
            X: training rows, a frame with columns of any kind, or an array (n, f).
            X_target: target rows with the same columns, at least 2.

        Raises:
            ValueError: the rows cannot be compared, or too few training rows carry the weights.
        """
        if self.method not in WEIGHTINGS:
            raise UnusableParameterError(f"method={self.method!r}: must be one of {', '.join(WEIGHTINGS)}")
        with as_value_errors(), one_thread():
            settings = validated(
                WeighSettings,
                exponent=self.exponent,
                floor=self.floor,
                relative=self.relative,
                bound=self.bound,
                ridge=self.ridge,
            )
            seed = seed_of(self.random_state)
            x, z = self._covariates(X, X_target)
            ratios = log_ratio(x, z, seed=seed)
            options = WeightingOptions(
                settings.relative, settings.bound, None if settings.ridge == "auto" else settings.ridge
            )
            found = weights_by(self.method, x, z, seed=seed, options=options, ratio=ratios[0])
            weights = flattened(found, settings.exponent)
            self.separation_ = separation(x, z, seed=seed, ratios=ratios)
            auc = self.separation_ if settings.floor else None
            refuse(weights, floor=settings.floor, name=self.method, auc=auc)
            spread = diagnose(weights)
            self.weights_: Floats = weights.double().numpy()
            self.effective_rows_, self.effective_share_, self.largest_ = spread.ess, spread.share, spread.largest
        return self

    def fit_weights(self, X: Frame | ArrayLike, X_target: Frame | ArrayLike) -> Floats:
        """The weights of training rows, (n,): `fit(X, X_target).weights_`."""
        return self.fit(X, X_target).weights_

    def _covariates(self, X: Any, X_target: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Encoded rows of both, in the units of the training rows."""
        names = {"categorical": tuple(map(str, self.categorical)), "numeric": tuple(map(str, self.numeric))}
        read = validated(ReadSettings, no_target=True, **names)
        ours = from_memory(usable_rows(X), None, read, name="X")
        theirs = from_memory(usable_rows(X_target), None, read, name="X_target")
        ours, theirs = read_together(ours, theirs, read)
        both = stack(ours, theirs)
        rows = np.arange(both.n)
        encoder = fit(both, rows[: ours.n])
        x, z = (torch.from_numpy(encoder.transform(both, part).matrix) for part in (rows[: ours.n], rows[ours.n :]))
        return standardised(x, z, _STEP, most=LARGEST)


class ImportanceWeightedScorer:
    """A scorer for scikit-learn's `scoring=`: every test row is weighted so that the test rows stand for target rows.

    Source: Sugiyama, Krauledat and Mueller, "Covariate shift adaptation by importance weighted cross validation", JMLR
        8, 2007.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_val_score
        >>> from picsc import ImportanceWeightedScorer
        >>> x, y = load_iris(return_X_y=True)
        >>> scorer = ImportanceWeightedScorer(x[50:])  # the rows that the model is for
        >>> len(cross_val_score(LogisticRegression(max_iter=500), x, y, cv=3, scoring=scorer))
        3
    """

    def __init__(self, X_target: Any, scoring: Any = None, weighter: ShiftWeighter | None = None) -> None:
        """Store what is scored by.

        Args:
            X_target: rows that the model will be used on; their labels are not needed.
            scoring: a name or a scorer of scikit-learn that takes weights; None is the estimator's own score.
            weighter: estimates the weights; None is `ShiftWeighter()`.
        """
        self.X_target = X_target
        self.scoring = scoring
        self.weighter = weighter

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """The weighted score of a model on test rows.

        Raises:
            ValueError: too few of the test rows carry the weights.
        """
        weighter = ShiftWeighter() if self.weighter is None else clone(self.weighter)
        weights: NDArray[np.float64] = weighter.fit_weights(X, self.X_target)
        return float(check_scoring(estimator, scoring=self.scoring)(estimator, X, y, sample_weight=weights))


def importance_weighted_score(
    estimator: Any,
    X: Any,
    y: Any,
    X_target: Any,
    *,
    scoring: Any = None,
    weighter: ShiftWeighter | None = None,
) -> float:
    """The score of a fitted model on labelled rows that are weighted to stand for target rows.

    Args:
        estimator: a fitted model, which has not seen these rows.
        X: labelled rows.
        y: their labels, (n,).
        X_target: rows that the model will be used on.
        scoring: as for `ImportanceWeightedScorer`.
        weighter: as there.

    Raises:
        ValueError: too few of the rows carry the weights.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from picsc import importance_weighted_score
        >>> x, y = load_iris(return_X_y=True)
        >>> model = LogisticRegression(max_iter=500).fit(x[::2], y[::2])
        >>> score = importance_weighted_score(model, x[1::2], y[1::2], X_target=x[75:])
        >>> 0.8 < score <= 1
        True
    """
    return ImportanceWeightedScorer(X_target, scoring, weighter)(estimator, X, y)
