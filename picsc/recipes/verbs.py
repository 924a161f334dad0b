"""The verbs of recipes: one record per verb, with the settings, the run, the checks and the rows that are its own.

Adding a verb to recipes is one record here, next to its settings in `picsc.settings.KINDS`. Torch-free until one is
run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from picsc.recipes import asked, grids, rows, tasks, verb_checks
from picsc.recipes.asked import Asked
from picsc.recipes.tasks import Place, Task
from picsc.reports import AuditReport, CompareReport, CvReport, FedReport
from picsc.reports.recipes import RecipeRow
from picsc.settings import METHODS, AuditSettings, CompareSettings, CvSettings, FedSettings, VerbSettings
from picsc.settings.problems import Problem
from picsc.settings.recipe import Entry, Recipe

S = TypeVar("S", AuditSettings, CvSettings, FedSettings, CompareSettings)
R = TypeVar("R", AuditReport, CvReport, FedReport, CompareReport)


@dataclass(frozen=True, slots=True)
class Verb(Generic[S, R]):
    """Everything that recipes need to know of one verb."""

    name: str
    """The word that a recipe's `verb` holds."""
    settings: type[S]
    """The class of its settings."""
    report: type[R]
    """The class of its report."""
    run: Callable[[Task, S, Place], R]
    """Runs it on one data set; the settings are those of the task."""
    checks: Callable[[Recipe, S, Path | None], Iterable[Problem]]
    """Finds contradictions that only this verb has; the folder is what files are relative to, None to ignore them."""
    of_entry: Callable[[S, Entry, Path], S]
    """Settings with what the entry of one data set says; the folder is what files are relative to."""
    asked: Callable[[S], Asked]
    """The pieces that its settings ask for, in words."""
    row: Callable[[RecipeRow, Recipe, R], RecipeRow]
    """Fills in what its report adds to the row of a data set."""
    columns_in: Literal["cut", "clients"]
    """The table of its settings that `by` of an entry belongs to."""
    methods: Callable[[S], tuple[str, ...]] = lambda _: METHODS
    """The methods that are run, among which the paper's method must be."""
    printed_by_method: bool = False
    """True if the paper's numbers of a data set are given by method, False if by number of pieces."""
    takes_folders: bool = False
    """True if a data set may be a folder: texts and images of clients come in folders."""
    shuffles_folds: bool = False
    """True if folds of a grid are shuffled unless the recipe says otherwise."""


AUDIT = Verb(
    name="audit",
    settings=AuditSettings,
    report=AuditReport,
    run=tasks.run_audit,
    checks=verb_checks.of_audit,
    of_entry=grids.as_it_is,
    asked=asked.of_audit,
    row=rows.audited,
    columns_in="cut",
)
CV = Verb(
    name="cv",
    settings=CvSettings,
    report=CvReport,
    run=tasks.run_cv,
    checks=verb_checks.of_cv,
    of_entry=grids.as_it_is,
    asked=asked.of_cv,
    row=rows.cross_validated,
    columns_in="cut",
)
FED = Verb(
    name="fed",
    settings=FedSettings,
    report=FedReport,
    run=tasks.run_fed,
    checks=verb_checks.of_fed,
    of_entry=grids.with_own_clients,
    asked=asked.of_fed,
    row=rows.federated,
    columns_in="clients",
    methods=lambda settings: settings.methods,
    printed_by_method=True,
    takes_folders=True,
)
COMPARE = Verb(
    name="compare",
    settings=CompareSettings,
    report=CompareReport,
    run=tasks.run_compare,
    checks=verb_checks.of_compare,
    of_entry=grids.with_own_target,
    asked=asked.of_compare,
    row=rows.compared,
    columns_in="cut",
    methods=lambda settings: settings.methods,
    printed_by_method=True,
    takes_folders=True,
    shuffles_folds=True,
)

VERBS: tuple[Verb[Any, Any], ...] = (AUDIT, CV, COMPARE, FED)
BY_NAME: dict[str, Verb[Any, Any]] = {verb.name: verb for verb in VERBS}
_BY_SETTINGS: dict[type[VerbSettings], Verb[Any, Any]] = {verb.settings: verb for verb in VERBS}


def verb_of(settings: VerbSettings) -> Verb[Any, Any]:
    """The verb whose settings these are."""
    return _BY_SETTINGS[type(settings)]
