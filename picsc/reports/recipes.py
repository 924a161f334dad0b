"""What `picsc run` found, as plain values: one row per data set and way to cut it, beside the paper's number.

Accuracies are fractions in [0, 1], log-losses nats per row; None where there is no number, with the reason beside it.
Nothing here imports torch, pandas or a renderer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from picsc.reports.common import Difference, Interval, Verdict, strict
from picsc.reports.compare import Delta, Risk
from picsc.reports.fed import FedDifference


@dataclass(frozen=True, slots=True)
class Score:
    """One method on one data set, or its mean over data sets."""

    method: str
    accuracy: float | None
    """Mean over pieces and repeats."""
    log_loss: float | None


@dataclass(frozen=True, slots=True)
class ClientScore:
    """One method's accuracy over the clients of one data set, beside the paper's number."""

    method: str
    std_clients: float | None
    """Standard deviation over clients, mean over seeds."""
    std_seeds: float | None
    """Of the mean over clients."""
    worst: float | None
    worst_client: str
    printed: float | None
    """The paper's mean over clients, as a fraction."""
    difference: float | None
    """Our accuracy minus the paper's."""


@dataclass(frozen=True, slots=True)
class Federation:
    """What `picsc fed` found on one data set beyond accuracies and log-losses."""

    partition: str
    """How the clients came about, in words."""
    model: str
    repeats: int
    """Seeds."""
    scores: tuple[ClientScore, ...]
    """In the order of `RecipeRow.scores`."""
    differences: tuple[FedDifference, ...]
    """Of picsc, minus every other method, paired over seeds."""
    test: str
    """How their p-values and intervals were made, in words."""

    def against(self, method: str) -> FedDifference | None:
        """The difference from a method; None where it was not compared."""
        return next((each for each in self.differences if each.against == method), None)


@dataclass(frozen=True, slots=True)
class CompareScore:
    """How sure one method's accuracy on the targets of one data set is, beside the paper's number."""

    method: str
    interval: Interval | None
    """Of the mean accuracy."""
    ess: float | None
    """Effective sample size as a share of the training rows; None where all rows weigh alike."""
    models: int
    failed: int
    """Of them without a number; the method's accuracy is a mean over the others."""
    reason: str
    """Why the first of those has none: `refused: ...`."""
    printed: float | None
    """The paper's accuracy, as a fraction."""
    difference: float | None
    """Our accuracy minus the paper's."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `picsc compare` found on one data set beyond accuracies and log-losses."""

    words: str
    """How training and target rows came about."""
    repeats: int
    separation: float | None
    """Area under the ROC curve of a classifier that tells training from target rows, mean over targets."""
    scores: tuple[CompareScore, ...]
    """In the order of `RecipeRow.scores`."""
    differences: tuple[Difference, ...]
    """Of picsc, minus every other method, paired."""
    deltas: tuple[Delta, ...]
    """Those that the paper prints."""
    printed_deltas: tuple[Delta, ...]
    """The same of the paper's accuracies; a delta without all of its accuracies is left out."""
    risks: tuple[Risk, ...]
    """How well cross-validation foretells the plain model's result on the target; empty where it was not asked."""
    test: str
    """How p-values and intervals were made, in words."""

    def score(self, method: str) -> CompareScore | None:
        """One method's score; None where it was not run."""
        return next((each for each in self.scores if each.method == method), None)

    def against(self, method: str) -> Difference | None:
        """The difference from a method; None where it was not compared."""
        return next((each for each in self.differences if each.against == method), None)

    def risk(self, by: str) -> Risk | None:
        """One way to foretell; None where it was not tried."""
        return next((each for each in self.risks if each.by == by), None)


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """One data set cut in one way."""

    data: str
    """As the recipe names it."""
    rows: int | None
    """None when the data could not be used."""
    pieces: int | None
    """Number of pieces, clients or targets, asked for or made; None when it is not known, since the data could not be
    cut."""
    sha256: str
    """Of the data."""
    scores: tuple[Score, ...]
    """In the order of `picsc.settings.METHODS`, `FED_METHODS` or `COMPARE_METHODS`; empty for an audit."""
    printed: float | None
    """The paper's number for `RecipeTable.method`, as a fraction."""
    difference: float | None
    """Our accuracy of that method minus the paper's."""
    verdict: Verdict | None
    """Of an audit."""
    shifted: int | None
    """Pieces that an audit calls shifted."""
    counted: bool
    """Whether the row takes part in means and tests over data sets: known version, and a number for every method.

    With `verb: compare` for any method: a refused weighting is an answer, and only its own mean and tests go without
    the data set.
    """
    failed: int
    """Models without a result."""
    reason: str
    """Why there is nothing to show, or why the row is not counted."""
    clients: str = ""
    """How clients were asked for: `natural clients`, `10 clients, dirichlet`; empty where there are none."""
    federation: Federation | None = None
    target: str = ""
    """How the target was asked for: `a part of the rows`, `each of 10 folds`; empty for other verbs than `compare`."""
    comparison: Comparison | None = None

    @property
    def block(self) -> str | int | None:
        """What rows of one mean have in common: how clients or the target were asked for, else the number of pieces."""
        return self.clients or self.target or self.pieces


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """PIcsC minus another method, paired over data sets."""

    against: str
    sets: int
    """Data sets that have a number of both."""
    accuracy: float
    """Mean over data sets of the difference of accuracies, as a fraction."""
    accuracy_interval: Interval | None
    """95 %, from Student's t; None for fewer than two data sets."""
    accuracy_p: float | None
    """Two-sided Wilcoxon signed-rank test."""
    log_loss: float
    log_loss_interval: Interval | None
    log_loss_p: float | None


@dataclass(frozen=True, slots=True)
class Foretold:
    """How well cross-validation foretells the target over data sets, with tested rows weighed in one way."""

    by: str
    """As in `picsc.reports.compare.Risk`."""
    measure: Literal["error", "bias"]
    """Mean distance of single estimates from what came out, or distance of the mean estimate from its mean."""
    sets: int
    """Data sets with this number and the unweighted one."""
    log_loss_error: float
    """Mean over these sets, nats."""
    log_loss_closer: int
    """Sets whose number is smaller than the unweighted one."""
    accuracy_error: float
    """A fraction."""
    accuracy_closer: int


@dataclass(frozen=True, slots=True)
class OverSets:
    """All counted rows of one block."""

    pieces: int | None
    """None where data sets have different numbers of clients or targets."""
    sets: int
    scores: tuple[Score, ...]
    """Means over data sets; None where a set has no number, since a mean over fewer could not stand beside others."""
    printed: float | None
    """Mean of the paper's numbers; None unless it has one for each of these sets."""
    difference: float | None
    tests: tuple[PairedDifference, ...]
    """Of picsc against every other method, in their order."""
    clients: str = ""
    """As in `RecipeRow`."""
    target: str = ""
    """As in `RecipeRow`."""
    foretold: tuple[Foretold, ...] = ()
    """Empty where no row has `Comparison.risks`."""

    @property
    def block(self) -> str | int | None:
        """As in `RecipeRow`."""
        return self.clients or self.target or self.pieces


@dataclass(frozen=True, slots=True)
class RecipeTable:
    """What one recipe found."""

    title: str
    recipe: str
    """File it was read from."""
    sha256: str
    """Of that file."""
    verb: Literal["audit", "cv", "fed", "compare"]
    paper: str
    """The paper's table whose numbers are shown; empty when there is none."""
    method: str
    """The method of those numbers; empty when there are none."""
    version: str
    """Which version of the data is used, in words."""
    rows: tuple[RecipeRow, ...]
    """By block, then in the recipe's order."""
    over_sets: tuple[OverSets, ...]
    settings: dict[str, object]


@dataclass(frozen=True, slots=True)
class RecipeReport:
    """What all recipes of one call found."""

    tables: tuple[RecipeTable, ...]
    test: str
    """How p-values and intervals over data sets were made, in words."""
    manifest: dict[str, object]

    schema = "picsc.recipes/1"

    @property
    def failed(self) -> int:
        """Rows and models without a result; the command exits 1 when this is not 0, or `shifted` is not."""
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
