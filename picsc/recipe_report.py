"""What `picsc run` found, as plain values: one row per data set and way to cut it, beside the paper's number.

Accuracies are fractions in [0, 1], log-losses nats per row; None where there is no number, with the reason beside it.
Nothing here imports torch, pandas or a renderer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from picsc.cv_report import Interval
from picsc.fed_report import FedDifference
from picsc.reports import Verdict, strict


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
class RecipeRow:
    """One data set cut in one way."""

    data: str
    """As the recipe names it."""
    rows: int | None
    """None when the data could not be used."""
    pieces: int | None
    """Number of pieces or clients, asked for or made; None when it is not known, since the data could not be cut."""
    sha256: str
    """Of the data."""
    scores: tuple[Score, ...]
    """In the order of `picsc.settings.METHODS` or `FED_METHODS`; empty for an audit."""
    printed: float | None
    """The paper's number for `RecipeTable.method`, as a fraction."""
    difference: float | None
    """Our accuracy of that method minus the paper's."""
    verdict: Verdict | None
    """Of an audit."""
    shifted: int | None
    """Pieces that an audit calls shifted."""
    counted: bool
    """Whether the row takes part in means and tests over data sets: known version, and a number for every method."""
    failed: int
    """Models without a result."""
    reason: str
    """Why there is nothing to show, or why the row is not counted."""
    clients: str = ""
    """How clients were asked for: `natural clients`, `10 clients, dirichlet`; empty for other verbs than `fed`."""
    federation: Federation | None = None

    @property
    def block(self) -> str | int | None:
        """What rows of one mean have in common: how clients were asked for, else the number of pieces."""
        return self.clients or self.pieces


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """PIcsC minus another method, paired over data sets."""

    against: str
    sets: int
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
class OverSets:
    """All counted rows of one block."""

    pieces: int | None
    """None where data sets have different numbers of clients."""
    sets: int
    scores: tuple[Score, ...]
    """Means over data sets."""
    printed: float | None
    """Mean of the paper's numbers; None unless it has one for each of these sets."""
    difference: float | None
    tests: tuple[PairedDifference, ...]
    """Of picsc against every other method, in their order."""
    clients: str = ""
    """As in `RecipeRow`."""

    @property
    def block(self) -> str | int | None:
        """As in `RecipeRow`."""
        return self.clients or self.pieces


@dataclass(frozen=True, slots=True)
class RecipeTable:
    """What one recipe found."""

    title: str
    recipe: str
    """File it was read from."""
    sha256: str
    """Of that file."""
    verb: Literal["audit", "cv", "fed"]
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
        """Rows and models without a result; the command exits 1 when this is not 0."""
        rows = [row for table in self.tables for row in table.rows]
        return sum(row.failed for row in rows) + sum(row.rows is None for row in rows)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        tables = [asdict(table) for table in self.tables]
        return strict({"schema": self.schema, "tables": tables, "test": self.test, "manifest": self.manifest})
