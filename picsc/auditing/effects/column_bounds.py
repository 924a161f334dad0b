"""Settings of single columns: the names that they give exist, and leave something to test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc.datasets.columns.names import check_known
from picsc.errors import DataError, SettingsError
from picsc.settings.column_patterns import without_a_column

if TYPE_CHECKING:
    from picsc.datasets.data import Data
    from picsc.datasets.table import Dataset
    from picsc.settings import AuditSettings


def tested_names(dataset: Dataset) -> tuple[str, ...]:
    """Names of the columns that have a test: the covariates, and columns left out, whose missing rates are tested."""
    return (*(column.name for column in dataset.columns), *(column.name for column in dataset.left_out))


def check_column_settings(data: Data, settings: AuditSettings) -> None:
    """Check `monitor` and `min_effect_of` against the columns that there are.

    Args:
        data: n rows.
        settings: of the audit.

    Raises:
        SettingsError: the data are images, which have no columns.
        DataError: a name or pattern is that of no column, or every column is monitored.
    """
    if settings.equivalence is not None and data.kind != "table":
        raise SettingsError(f"--equivalence asks about the columns of a table; {data.name} holds {data.kind}")
    if not settings.column_bounds:
        return
    if data.kind != "table":
        raise SettingsError(f"--monitor and --min-effect-of name columns of a table; {data.name} holds {data.kind}")
    names = tested_names(data)
    pairs = tuple(pair.rpartition("=")[0].strip() for pair in settings.min_effect_of)
    for option, patterns in (("--monitor", settings.monitor), ("--min-effect-of", pairs)):
        check_known(without_a_column(patterns, names), names, option=option, where=data.name)
    covariates = [column.name for column in data.columns]
    if len(settings.monitored_among(covariates)) == len(covariates):
        raise DataError(f"{data.name}: --monitor names every column, so that none is left for a verdict; name fewer")
