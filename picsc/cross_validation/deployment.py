"""The estimate to trust for the rows that a model will be used on, by `--deploy`.

How far each estimate is from the truth is measured by `benchmarks/cross_validation_estimates.py`. Letters: n rows,
r repeats, k folds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from picsc.cross_validation.deployment_file import DeploymentFile, weights_for
from picsc.cross_validation.experiment import Experiment
from picsc.cross_validation.row_scores import by_row, fold_jobs, nested_scores, scores_of_jobs
from picsc.cross_validation.splits import Repeat, repeats
from picsc.datasets.table import Dataset
from picsc.errors import DataError
from picsc.evaluation.grouped_rows import grouped_t
from picsc.evaluation.judging import linearised
from picsc.evaluation.means import nan_mean
from picsc.evaluation.nested_cv import FEWEST_FOLDS, nested_cv
from picsc.evaluation.paired_tests import Paired, future_t, resampled_t, score_interval
from picsc.evaluation.weighted_risk import weighted_score
from picsc.fragments import cut
from picsc.fragments.groups import groups_of, of_other_groups
from picsc.reports.common import Finding, Metric
from picsc.reports.cv import DeploymentEstimate
from picsc.runtime.run_folder import RunFolder
from picsc.settings import CutSettings, CvSettings, Weighting
from picsc.training.jobs import TrainingJob

Floats = NDArray[np.float64]
FOLDS = 10
"""Folds of an estimate where the pieces are no folds."""
WEIGHTS_BY: tuple[Weighting, ...] = ("ulsif", "iw")
"""Weightings for a file, the second where the first finds no weights: those whose intervals cover the truth as often as
they should and are the narrowest in `benchmarks/cross_validation_estimates.py`."""
FEW = 30
"""Effective rows below which the estimate for a file is warned about."""
_RESAMPLED, _OVER_GROUPS = "corrected resampled t-interval", "t-interval over groups"


@dataclass(frozen=True, slots=True)
class _Found:
    """A number before it has words."""

    score: Paired | None
    estimate: str
    interval_of: str
    rows: int
    effective_rows: float | None = None
    reason: str = ""


def estimate_for_deployment(
    data: Dataset, settings: CvSettings, experiment: Experiment, folder: RunFolder, file: DeploymentFile | None
) -> tuple[DeploymentEstimate | None, tuple[Finding, ...]]:
    """The estimate that the settings ask for, and findings on it; None without `--deploy`.

    Reading: its models are those of standard training. Its splits are its own, whatever cuts the data into pieces: a
        repeat of folds that the experiment has too has the same models.

    Args:
        data: n labelled rows.
        settings: name the rows of the deployment.
        experiment: setup of training and the number of repeats.
        folder: keeps finished parts.
        file: covariates of the deployment file, where the settings name one.

    Raises:
        DataError: the data cannot be split so.
    """
    if settings.deploy is None:
        return None, ()
    if settings.deploy == "future":
        found, who = _future(data, settings, experiment, folder), "later rows"
    elif settings.deploy == "new-groups":
        found, who = _new_groups(data, settings, experiment, folder), f"new values of {settings.cut.group}"
    elif file is None:
        found, who = _same(data, settings, experiment, folder), "rows like these"
    else:
        found, who = _file(data, settings, experiment, folder, file), f"rows like those of {file.name}"
    name = settings.deploy if file is None else file.name
    return _worded(found, name, who, experiment.metric), _findings(found, name)


def _folds(data: Dataset, settings: CvSettings, experiment: Experiment, *, groups: bool) -> tuple[Repeat, ...]:
    """Random folds of all rows, of whole groups or with classes as even as can be."""
    k, own = settings.cut.folds or FOLDS, settings.cut
    if groups:
        codes = groups_of(data, own)
        count = 0 if codes is None else len(np.unique(codes))
        if count < 2:
            raise DataError(f"{data.name}: --deploy new-groups needs at least 2 groups, not {count}; see --group")
        asked = CutSettings(folds=min(k, count), shuffle=True, group=own.group, group_missing=own.group_missing)
    else:
        asked = CutSettings(folds=min(k, data.n), shuffle=True)
    alone = settings.model_copy(update={"cut": asked, "keep_rare": False, "deploy": None})
    return tuple(repeats(data, alone, len(experiment.repeats), np.empty(0, np.int64)))


def _cross_validated(
    data: Dataset, plan: tuple[Repeat, ...], experiment: Experiment, folder: RunFolder
) -> tuple[Floats, Floats]:
    """Scores of rows, (r, n), and their means over folds, (r, k); rows count as much as their weights say."""
    jobs = fold_jobs(plan)
    scores = scores_of_jobs(experiment, folder, "deploy", jobs)
    means = _means(experiment, jobs, scores).reshape(len(plan), -1)
    return by_row(plan, scores, data.n), means


def _means(experiment: Experiment, jobs: list[TrainingJob], scores: list[Floats]) -> Floats:
    """Mean score of each job's test rows."""
    weights = [experiment.judging.weights_of(job.test) for job in jobs]
    return np.array([nan_mean(linearised(each, w)) for each, w in zip(scores, weights, strict=True)])


def _words(plan: tuple[Repeat, ...], kind: str) -> str:
    times = "" if len(plan) == 1 else f"{len(plan)} x "
    return f"{times}{len(plan[0].pieces)}-fold cross-validation, {kind}"


def _same(data: Dataset, settings: CvSettings, experiment: Experiment, folder: RunFolder) -> _Found:
    plan = _folds(data, settings, experiment, groups=False)
    rows, means = _cross_validated(data, plan, experiment, folder)
    weights = experiment.judging.weights
    kind = "shuffled" if plan[0].strata is None else "shuffled and stratified"
    words = _words(plan, kind)
    if settings.deploy_interval == "nested" and len(plan[0].pieces) >= FEWEST_FOLDS:
        nested = nested_scores(experiment, folder, "deploy-nested", plan, rows)
        if weights is not None:
            inner = linearised(np.moveaxis(nested.inner, -1, 1), weights)
            nested = replace(nested, outer=linearised(nested.outer, weights), inner=np.moveaxis(inner, 1, -1))
        return _Found(nested_cv(nested), f"nested {words}", "nested cross-validation", data.n)
    codes = groups_of(data, settings.cut)
    if codes is not None:  # rows of one group go together, whatever folds they are in
        return _Found(grouped_t(linearised(rows, weights), codes, len(plan[0].pieces)), words, _OVER_GROUPS, data.n)
    tested = np.array([[len(piece) for piece in repeat.pieces] for repeat in plan])
    return _Found(resampled_t(means, tested, data.n - tested), words, _RESAMPLED, data.n)


def _new_groups(data: Dataset, settings: CvSettings, experiment: Experiment, folder: RunFolder) -> _Found:
    plan = _folds(data, settings, experiment, groups=True)
    rows, _ = _cross_validated(data, plan, experiment, folder)
    codes = plan[0].groups
    assert codes is not None  # noqa: S101 - the settings have a column of groups
    words = _words(plan, f"whole groups of {settings.cut.group}")
    rows = linearised(rows, experiment.judging.weights)
    return _Found(grouped_t(rows, codes, len(plan[0].pieces)), words, _OVER_GROUPS, data.n)


def _future(data: Dataset, settings: CvSettings, experiment: Experiment, folder: RunFolder) -> _Found:
    pieces = [fragment.rows for fragment in cut(data, settings.cut, seed=settings.seed).fragments]
    codes = groups_of(data, settings.cut)
    jobs: list[TrainingJob] = []
    for repeat in experiment.repeats:
        for t in range(1, len(pieces)):
            train = of_other_groups(np.concatenate(pieces[:t]), codes, pieces[t])
            if len(train) < 2:
                raise DataError(
                    f"{data.name}: {len(train)} rows before piece {t + 1} of {len(pieces)} are of other groups; "
                    "use fewer --cuts, or leave out --group"
                )
            jobs.append(TrainingJob(train, np.zeros(len(train), np.int64), pieces[t], repeat.seed))
    scores = scores_of_jobs(experiment, folder, "deploy", jobs)
    means = _means(experiment, jobs, scores).reshape(len(experiment.repeats), -1)
    words = f"{len(pieces) - 1} forward splits along {settings.cut.time}, each tested by models of the past"
    over_time = np.array([nan_mean(of_piece) for of_piece in means.T])
    return _Found(future_t(over_time), words, "t-interval of a future of as many pieces", sum(map(len, pieces[1:])))


def _file(
    data: Dataset, settings: CvSettings, experiment: Experiment, folder: RunFolder, file: DeploymentFile
) -> _Found:
    plan = _folds(data, settings, experiment, groups=settings.cut.group is not None)
    weights, reason, used = None, "", WEIGHTS_BY[0]
    for used in WEIGHTS_BY:
        weights, reason = weights_for(file, used, settings.seed)
        if weights is not None:
            break
    words = f"{_words(plan, 'shuffled')}, rows weighted by {used}"
    if weights is None:
        return _Found(None, words, "", data.n, reason=reason)
    rows, _ = _cross_validated(data, plan, experiment, folder)
    own = experiment.judging.weights
    found = weighted_score(rows, weights if own is None else weights * own, len(plan[0].pieces))
    return _Found(found.score, words, "weighted, corrected resampled t-interval", data.n, found.effective_rows)


def _worded(found: _Found, deploy: str, who: str, metric: Metric) -> DeploymentEstimate:
    """The estimate in a report's form."""
    within = found.score
    if within is not None and metric == "accuracy":
        within = replace(within, mean=min(1.0, max(0.0, within.mean)))
    value = None if within is None or not np.isfinite(within.mean) else float(within.mean)
    interval = None if value is None else score_interval(within, metric)
    score = "R2" if metric == "R2" else "accuracy"
    if value is None:
        reason = found.reason or "no model has a result"
        line = f"for {who} there is no estimate to trust: {reason}"
    else:
        span = "no interval" if interval is None else f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
        rows = "" if found.effective_rows is None else f", {found.effective_rows:.0f} effective rows of {found.rows}"
        line = f"for {who} trust {score} {100 * value:.1f} % {span}: {found.estimate}{rows}"
        reason = ""
    return DeploymentEstimate(
        deploy, line, found.estimate, found.interval_of, value, interval, found.rows, found.effective_rows, reason
    )


def _findings(found: _Found, name: str) -> tuple[Finding, ...]:
    """Warnings of an estimate that rests on little, or does not exist."""
    if found.effective_rows is not None and found.effective_rows < FEW:
        message = (
            f"the estimate for {name} rests on {found.effective_rows:.0f} effective rows of {found.rows}, fewer than "
            f"{FEW}: a few rows decide it"
        )
        return (Finding("few-effective-rows", "warning", message, "label some rows of that file and test on them"),)
    if found.score is None and found.reason:
        return (
            Finding(
                "no-estimate", "warning", f"--deploy {name}: {found.reason}", "label some of its rows and test on them"
            ),
        )
    return ()
