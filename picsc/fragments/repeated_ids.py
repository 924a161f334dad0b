"""Identifiers that repeat: columns that name whom a row is about, with several rows each, in a cut without groups.

Rows of one patient or user resemble each other. Where they lie in several folds, a model is tested on people it knows,
and a permutation of single rows is no fair comparison.
"""

from __future__ import annotations

import re

import numpy as np

from picsc.datasets.table import Column, Dataset
from picsc.fragments.pieces import Cut
from picsc.phrases import listed
from picsc.reports.common import Finding

_WHO = (
    "account|animal|author|card|case|client|customer|device|driver|family|household|individual|machine|member|"
    "participant|patient|people|person|player|respondent|sensor|session|speaker|student|subject|user|vehicle|writer"
)
_ID = r"id|ids|uid|uuid|guid|key|code|no|nr|num|number"
_NAME = re.compile(
    rf"(?:^|[\W_])(?:id|uid|uuid|guid)$|(?:^|[\W_])(?:{_WHO})s?(?:[\W_]*(?:{_ID}))?[\W_]*$", re.IGNORECASE
)
_CAMEL = re.compile(r"[a-z](?:I[dD]|U[uU]?[iI][dD])$")
FEWEST_VALUES, ROWS_EACH = 5, 2.0
"""Fewest different values, and fewest rows for each on average, of a column that is proposed as groups."""


def repeated_ids(dataset: Dataset, cut: Cut) -> list[Finding]:
    """Propose columns that look like repeated identifiers as groups.

    Args:
        dataset: the table.
        cut: its pieces.

    Returns:
        One note; [] where pieces are cut by groups or by a column's values, or no column looks like that.
    """
    if cut.units is not None or cut.settings.column is not None or cut.settings.group is not None:
        return []
    held = [(column.name, _values(column)) for column in dataset.columns if _looks_like_id(column.name)]
    named = [(name, values) for name, values in held if FEWEST_VALUES <= values <= dataset.n / ROWS_EACH]
    if not named:
        return []
    described = [f"{name!r} ({values:,} values, about {dataset.n / values:.0f} rows each)" for name, values in named]
    return [
        Finding(
            "repeated-id",
            "note",
            f"{listed(described)} may say whom a row is about, and rows of one value lie in several pieces",
            f"if so, keep its rows together: --group {named[0][0]}",
        )
    ]


def _looks_like_id(name: str) -> bool:
    return bool(_NAME.search(name) or _CAMEL.search(name))


def _values(column: Column) -> int:
    """Number of different values; 0 for a column of fractions, dates and texts."""
    if column.coded:
        return len(column.levels) - bool(column.pooled) + len(column.pooled)
    if column.kind != "numeric":
        return 0
    present = column.values[~np.isnan(column.values)]
    return len(np.unique(present)) if np.array_equal(present, np.floor(present)) else 0
