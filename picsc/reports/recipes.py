"""The report of `picsc run` as plain values: one row per data set and way to cut it, next to the paper's number.

Accuracies are fractions in [0, 1], log-losses nats per row; None where there is no number, with the reason next to it.
Fields named `accuracy` hold R² where the target is numeric, as `metric` says; no mean or test mixes the two.
Nothing here imports torch, pandas or a format.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from picsc.phrases import counted
from picsc.reports.common import Difference, Interval, Metric, Verdict, brief, metric_word, strict
from picsc.reports.compare import Delta, Risk
from picsc.reports.cv import Lifelong
from picsc.reports.fed import FedDifference
from picsc.reports.shown import Drawn


@dataclass(frozen=True, slots=True)
class Score:
    """One method on one data set, or its mean over data sets."""

    method: str
    """Name of the method."""
    accuracy: float | None
    """Mean accuracy over pieces and repeats, a fraction; None without a result."""
    log_loss: float | None
    """Mean log-loss over pieces and repeats, in nats per row; None without a result."""
    interval: Interval | None = None
    """95 % interval of the accuracy on one data set; None where it cannot be computed, and of means over data sets."""
    whole: float | None = None
    """Accuracy of the model of the whole training set, mean over repeats, a fraction; None where there is none, and of
    means over data sets."""
    lifelong: Lifelong | None = None
    """With `verb: cv`, what models that learn one piece after another know of all pieces; None elsewhere."""


@dataclass(frozen=True, slots=True)
class ClientScore:
    """One method's accuracy over the clients of one data set, next to the paper's number."""

    method: str
    """Name of the method."""
    std_clients: float | None
    """Standard deviation of the accuracy over clients, mean over seeds, a fraction; None without a result."""
    std_seeds: float | None
    """Standard deviation over seeds of the mean over clients, a fraction; None for one seed."""
    worst: float | None
    """Accuracy of the client with the lowest one, a fraction; None without a result."""
    worst_client: str
    """Name of that client; empty without a result."""
    printed: float | None
    """The paper's mean over clients, as a fraction; None where it has none."""
    difference: float | None
    """Our accuracy minus the paper's, a fraction; None where one is missing."""


@dataclass(frozen=True, slots=True)
class Federation:
    """The part of a row that only `picsc fed` has."""

    partition: str
    """The origin of the clients, in words."""
    model: str
    """Kind, size and number of parameters of the model, in words."""
    repeats: int
    """Number of seeds."""
    scores: tuple[ClientScore, ...]
    """One score per method, in the order of `RecipeRow.scores`."""
    differences: tuple[FedDifference, ...]
    """picsc minus every other method, paired over seeds."""
    test: str
    """The method of their p-values and intervals, in words."""

    def against(self, method: str) -> FedDifference | None:
        """The difference from a method; None where it was not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class CompareScore:
    """The certainty of one method's accuracy on the targets of one data set, next to the paper's number."""

    method: str
    """Name of the method."""
    interval: Interval | None
    """95 % interval of the mean accuracy; None where it cannot be computed."""
    ess: float | None
    """Effective sample size as a share of the training rows, in (0, 1]; None where all rows have the same weight."""
    models: int
    """Number of models that were trained or refused."""
    failed: int
    """Number of those models without a number; the method's accuracy is a mean over the others."""
    reason: str
    """Why the first of those has none: `refused: ...`; empty where all have one."""
    printed: float | None
    """The paper's accuracy, as a fraction; None where it has none."""
    difference: float | None
    """Our accuracy minus the paper's, a fraction; None where one is missing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The part of a row that only `picsc compare` has."""

    words: str
    """The origin of training and target rows, in words."""
    repeats: int
    """Number of repeats."""
    separation: float | None
    """Area under the ROC curve of a classifier that tells training from target rows, mean over targets, in [0, 1]; None
    where no method estimates weights."""
    scores: tuple[CompareScore, ...]
    """One score per method, in the order of `RecipeRow.scores`."""
    differences: tuple[Difference, ...]
    """picsc minus every other method, paired."""
    deltas: tuple[Delta, ...]
    """The differences between methods that the paper prints, from our numbers."""
    printed_deltas: tuple[Delta, ...]
    """The same differences from the paper's accuracies; one that lacks an accuracy is left out."""
    risks: tuple[Risk, ...]
    """Quality of cross-validation's estimates of the plain model on the target; empty where it was not asked."""
    test: str
    """The method of the p-values and intervals, in words."""

    def score(self, method: str) -> CompareScore | None:
        """One method's score; None where it was not run."""
        return next((each for each in self.scores if each.method == method), None)

    def against(self, method: str) -> Difference | None:
        """The difference from a method; None where it was not compared."""
        return next((each for each in self.differences if each.against == method), None)

    def risk(self, by: str) -> Risk | None:
        """The estimates with one kind of weights; None where they were not made."""
        return next((each for each in self.risks if each.by == by), None)


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """One data set cut in one way."""

    data: str
    """The data set, named as in the recipe."""
    rows: int | None
    """Number of rows that were used; None when the data could not be used."""
    pieces: int | None
    """Number of pieces, clients or targets that were made, or asked for when the data could not be used; None when it
    is not known."""
    sha256: str
    """SHA-256 of the data; empty when they could not be used."""
    scores: tuple[Score, ...]
    """One score per method in the order of `picsc.settings.METHODS`, `FED_METHODS` or `COMPARE_METHODS`; empty for an
    audit."""
    printed: float | None
    """The paper's number for `RecipeTable.method`, as a fraction; None where it has none."""
    difference: float | None
    """Our accuracy of that method minus the paper's, a fraction; None where one is missing."""
    verdict: Verdict | None
    """Verdict of an audit; None for other verbs."""
    shifted: int | None
    """Number of pieces that an audit calls shifted; None for other verbs."""
    counted: bool
    """True if the row takes part in means and tests over data sets: its version is known, every method has a number.

    With `verb: compare` for any method: a refused weighting is an answer, and only its own mean and tests go without
    the data set.
    """
    failed: int
    """Number of models without a result."""
    reason: str
    """Why there is nothing to show, or why the row is not counted; empty where it is."""
    clients: str = ""
    """The clients that were asked for: `natural clients`, `10 clients, dirichlet`; empty where there are none."""
    federation: Federation | None = None
    """The part that only `picsc fed` has; None for other verbs."""
    target: str = ""
    """The target that was asked for: `a part of the rows`, `each of 10 folds`; empty for other verbs than `compare`."""
    comparison: Comparison | None = None
    """The part that only `picsc compare` has; None for other verbs."""
    metric: Metric = "accuracy"
    """The score of every method: accuracy of classes, R² of numbers."""
    strength: float | None = None
    """The lambda of this row, where `grids` runs several; None elsewhere."""
    cut: str = ""
    """The pieces that were asked for, in words: `10 folds`, `by site`."""
    names: tuple[str, ...] = ()
    """With `verb: cv`, names of the pieces in the order of training; empty for other verbs."""
    differences: tuple[Difference, ...] = ()
    """With `verb: cv`, picsc minus every other method on this data set, paired; empty for other verbs."""

    @property
    def block(self) -> str | int | None:
        """The value that rows of one mean share: how clients or targets were asked for, else pieces and lambda."""
        return self.clients or self.target or _pieces(self.pieces, self.strength)

    def score(self, method: str) -> Score | None:
        """One method's score; None where it was not run."""
        return next((each for each in self.scores if each.method == method), None)

    def against(self, method: str) -> Difference | None:
        """The difference from a method; None where it was not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """picsc minus another method, paired over data sets."""

    against: str
    """The other method."""
    sets: int
    """Number of data sets that have a number of both methods."""
    accuracy: float
    """Mean over data sets of the difference of accuracies, as a fraction; positive is better."""
    accuracy_interval: Interval | None
    """95 % interval of it, from Student's t; None for fewer than three data sets."""
    accuracy_p: float | None
    """p-value of the two-sided Wilcoxon signed-rank test; None for fewer than two data sets."""
    log_loss: float
    """Mean over data sets of the difference of log-losses, in nats per row; negative is better."""
    log_loss_interval: Interval | None
    """95 % interval of it, from Student's t; None for fewer than three data sets."""
    log_loss_p: float | None
    """p-value of the two-sided Wilcoxon signed-rank test; None for fewer than two data sets."""
    accuracy_p_holm: float | None = None
    """`accuracy_p` adjusted by Holm's method over all methods that this one is compared with, in (0, 1]; None where
    there is no p-value."""
    log_loss_p_holm: float | None = None
    """`log_loss_p` adjusted the same way; None where there is no p-value."""


@dataclass(frozen=True, slots=True)
class Foretold:
    """Quality of the estimates that cross-validation makes with one kind of weights, over data sets."""

    by: str
    """The weights of the tested rows, as in `picsc.reports.compare.Risk`."""
    measure: Literal["error", "bias"]
    """error: mean distance of single estimates from the result on the target. bias: distance of the mean estimate from
    the mean result."""
    sets: int
    """Number of data sets with this number and the unweighted one."""
    log_loss_error: float
    """Mean of the distances of the log-loss over these sets, in nats."""
    log_loss_closer: int
    """Number of sets whose distance is smaller than the unweighted one."""
    accuracy_error: float
    """Mean of the distances of the accuracy over these sets, a fraction."""
    accuracy_closer: int
    """Number of sets whose distance is smaller than the unweighted one."""


@dataclass(frozen=True, slots=True)
class OverSets:
    """Means and tests over all counted rows of one block and one metric."""

    pieces: int | None
    """Number of pieces, clients or targets; None where data sets have different numbers of them."""
    sets: int
    """Number of data sets that count."""
    scores: tuple[Score, ...]
    """Means over data sets; None where a set has no number, since a mean over fewer sets could not be compared with
    others."""
    printed: float | None
    """Mean of the paper's numbers, a fraction; None unless it has one for each of these sets."""
    difference: float | None
    """Mean of our accuracy minus the paper's, a fraction; None where one is missing."""
    tests: tuple[PairedDifference, ...]
    """picsc minus every other method, in their order."""
    clients: str = ""
    """The clients that were asked for: `natural clients`, `10 clients, dirichlet`; empty where there are none."""
    target: str = ""
    """The target that was asked for: `a part of the rows`, `each of 10 folds`; empty for other verbs than `compare`."""
    foretold: tuple[Foretold, ...] = ()
    """Quality of the estimates that cross-validation makes; empty where no row has `Comparison.risks`."""
    metric: Metric = "accuracy"
    """The score of its rows, as in `RecipeRow.metric`."""
    strength: float | None = None
    """The lambda of these rows, where `grids` runs several; None elsewhere."""

    @property
    def block(self) -> str | int | None:
        """The value that its rows have in common, as in `RecipeRow.block`."""
        return self.clients or self.target or _pieces(self.pieces, self.strength)


def _pieces(pieces: int | None, strength: float | None) -> str | int | None:
    """The number of pieces, with the lambda where there are several."""
    return pieces if strength is None else f"{pieces}, lambda {strength:g}"


@dataclass(frozen=True, slots=True)
class RecipeTable:
    """The results of one recipe."""

    title: str
    """Title of the recipe."""
    recipe: str
    """Name of the file that it was read from."""
    sha256: str
    """SHA-256 of that file."""
    verb: Literal["audit", "cv", "compare", "fed"]
    """The verb that was run."""
    paper: str
    """The paper's table whose numbers are shown; empty when there is none."""
    method: str
    """The method of those numbers; empty when there are none."""
    version: str
    """Which version of the data is used, in words; empty where the recipe does not say."""
    rows: tuple[RecipeRow, ...]
    """One row per data set and way to cut it: by block, then in the recipe's order."""
    over_sets: tuple[OverSets, ...]
    """Means and tests over data sets, one per block and metric with a row that counts."""
    settings: dict[str, object]
    """The settings that are the same for all rows, by name."""

    @property
    def metric_words(self) -> str:
        """The score of its rows in words: `accuracy`, `R²`, or `accuracy or R²` where they differ."""
        return " or ".join(metric_word(metric) for metric in dict.fromkeys(row.metric for row in self.rows))


@dataclass(frozen=True, slots=True)
class RecipeReport(Drawn):
    """The results of all recipes of one call."""

    tables: tuple[RecipeTable, ...]
    """One table per recipe, in the order of the call."""
    test: str
    """The method of the p-values and intervals over data sets, in words."""
    manifest: dict[str, object]
    """The versions that the same numbers need."""

    schema = "picsc.recipes/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (counted(len(self.tables), "recipe"),),
            [f"{table.title}: {counted(len(table.rows), 'row')}" for table in self.tables],
        )

    @property
    def failed(self) -> int:
        """Rows and models without a result; the command exits with 1 when this is not 0, or `shifted` is not."""
        rows = [row for table in self.tables for row in table.rows]
        return sum(row.failed for row in rows) + sum(row.rows is None for row in rows)

    @property
    def shifted(self) -> int:
        """Data sets that an audit calls shifted."""
        return sum(row.verdict == "shift" for table in self.tables for row in table.rows)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        tables = [asdict(table) for table in self.tables]
        return strict({"schema": self.schema, "tables": tables, "test": self.test, "manifest": self.manifest})
