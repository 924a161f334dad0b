"""The trainer of estimators: models with scikit-learn's fit and predict, which have no gradients.

Letters: l jobs, n rows, c classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from picsc.datasets.encoding import fit
from picsc.datasets.rows import Rows
from picsc.errors import DataError, SettingsError
from picsc.evaluation.target_units import TargetUnits
from picsc.training.jobs import TrainedModels, TrainingJob
from picsc.training.own.named import NO_GRADIENTS, OwnModel
from picsc.training.table_trainer import TableTrainer

SMALLEST = float(np.finfo(np.float64).eps)
"""Smallest probability of a class, as scikit-learn's log-loss clips them."""


@dataclass(frozen=True, slots=True)
class EstimatorTrainer:
    """Estimators on one table whose rows all have a label; implements `picsc.training.jobs.Trainer`."""

    table: TableTrainer
    """The table, its weights and its groups."""
    own: OwnModel

    @property
    def lr(self) -> float:
        """Estimators have no learning rate."""
        return 0.0

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Group of each row; see `picsc.training.jobs.Trainer`."""
        return self.table.groups

    @property
    def counts(self) -> NDArray[np.float64] | None:
        """How much each row counts; see `picsc.training.jobs.Trainer`."""
        return self.table.counts

    def targets(self, rows: Rows) -> NDArray[np.int64] | NDArray[np.float64]:
        """Class codes, or numbers in standard deviations; see `picsc.training.jobs.Trainer`."""
        return self.table.targets(rows)

    def updates(self, rows: int) -> int:
        """Estimators count no updates: all have the same number."""
        del rows
        return 1

    def train_jobs(
        self, jobs: Sequence[TrainingJob], strengths: NDArray[np.float64], decays: NDArray[np.float64]
    ) -> Iterator[TrainedModels]:
        """Fit one estimator per job; see `picsc.training.jobs.Trainer`.

        Raises:
            SettingsError: a penalty, weight decay or weights that the estimator does not take.
            DataError: it cannot be fitted on the rows of a job.
        """
        for i, job in enumerate(jobs):
            if strengths[i].any() or decays[i].any() or job.target_rows is not None:
                raise SettingsError(f"--model {self.own.name}: {NO_GRADIENTS}")
            outputs = self._predicted(job).astype(np.float32)
            yield TrainedModels(outputs[None], np.zeros(1, np.int64), np.zeros(1))

    def sequence_trainer(self, *_: object, **__: object) -> NoReturn:
        """Estimators are not carried along sequences.

        Raises:
            SettingsError: always.
        """
        raise SettingsError(f"--model {self.own.name}: {NO_GRADIENTS}")

    def _predicted(self, job: TrainingJob) -> NDArray[np.float64]:
        """Log-probabilities (n, c) of the test rows, or their numbers in the units of `targets`."""
        dataset, problems = self.table.dataset, self.table.problems
        assert dataset.target is not None  # noqa: S101 - the verb refuses tables without one
        encoder = fit(dataset, job.train)
        x, tested = (encoder.transform(dataset, rows).matrix.astype(np.float64) for rows in (job.train, job.test))
        values = dataset.target.values[job.train]
        numbers = problems.likelihood == "numbers"
        y = values.astype(np.float64 if numbers else np.int64)
        if not numbers and len(np.unique(y)) == 1:
            return self._logs(np.ones((len(tested), 1)), np.unique(y))
        if not len(tested):
            return np.empty((0,) if numbers else (0, problems.outputs))
        model = self.own.made(seed=job.seed, inputs=x.shape[1], outputs=problems.outputs)
        self._check(model, numbers=numbers)
        try:
            model.fit(x, y, **self._weighted(model, job))
            if not numbers:
                return self._logs(np.asarray(model.predict_proba(tested), np.float64), np.asarray(model.classes_))
            predicted = np.asarray(model.predict(tested), np.float64).reshape(len(tested))
        except (ValueError, TypeError, AttributeError, np.linalg.LinAlgError) as error:
            said = " ".join(str(error).split())
            raise DataError(
                f"--model {self.own.name}: it cannot be fitted on {len(x)} rows of {x.shape[1]} encoded columns: {said}"
            ) from error
        return TargetUnits.of(dataset.target.values).scaled(predicted)

    def _logs(self, shares: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[np.float64]:
        """Log-probabilities of all classes of the table, from those of the classes that were learned."""
        found = np.zeros((len(shares), self.table.problems.outputs))
        found[:, classes.astype(np.intp)] = shares
        return np.log(np.clip(found, SMALLEST, 1.0))

    def _check(self, model: Any, *, numbers: bool) -> None:
        """Refuse an estimator of the other kind of target."""
        if not numbers and not hasattr(model, "predict_proba"):
            raise SettingsError(
                f"--model {self.own.name}: it has no predict_proba, and log-loss needs probabilities: choose a "
                "classifier that gives them, or wrap it in sklearn.calibration.CalibratedClassifierCV"
            )
        if numbers and hasattr(model, "predict_proba"):
            raise SettingsError(
                f"--model {self.own.name}: it is a classifier, and the target holds numbers: choose a regressor, or "
                "give --task classification"
            )

    def _weighted(self, model: BaseEstimator, job: TrainingJob) -> dict[str, NDArray[np.float64]]:
        """The weights of the training rows as an argument of fit; nothing where all have the same."""
        weights = self.table.problems.row_weights(job.train, job.weight)
        if weights is None:
            return {}
        if not has_fit_parameter(model, "sample_weight"):
            raise SettingsError(
                f"--model {self.own.name}: its fit takes no sample_weight, and rows have weights here: choose another "
                "estimator, or leave out the weights"
            )
        return {"sample_weight": weights}
