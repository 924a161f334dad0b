"""The figure of a report in matplotlib: `report.plot()` of Python, and `--plot FILE` of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from picsc.errors import SettingsError
from picsc.notebooks.audits import plot_clients, plot_distributions, plot_effects, plot_files
from picsc.notebooks.experiments import plot_recipes
from picsc.notebooks.methods import plot_methods, plot_rounds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIGURES = {
    "picsc.audit": plot_effects,
    "picsc.audits": plot_files,
    "picsc.cv": plot_methods,
    "picsc.compare": plot_methods,
    "picsc.fed": plot_rounds,
    "picsc.fed-audit": plot_clients,
    "picsc.recipes": plot_recipes,
}
"""By the beginning of a report's schema."""


def plot(report: Any) -> Figure:
    """The figure that says most of a report.

    Of an audit: effects by column and piece. Of methods: their scores with intervals, and along pieces what is
    forgotten. Of a federation: rounds, and scores by client. Of recipes: see `picsc.notebooks.experiments`.

    Raises:
        SettingsError: matplotlib is missing, or the report has nothing to draw.
    """
    schema = report.schema
    kind = schema.partition("/")[0]
    if kind not in _FIGURES:
        raise SettingsError(f"a report of {schema} has no figure; write it with --output instead")
    return _FIGURES[kind](report)


def plot_columns(report: Any) -> Figure:
    """The distributions of an audit's leading columns, each piece beside its reference.

    Raises:
        SettingsError: matplotlib is missing.
    """
    return plot_distributions(report)
