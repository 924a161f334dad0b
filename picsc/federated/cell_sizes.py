"""The bounds below which a cell is too small to be sent, see `picsc.federated.small_cells`. Loads nothing heavy."""

from __future__ import annotations

FEWEST_IN_CELL = 5
"""Fewest rows of a cell that is sent; of clients that may have fewer rows, their fewest."""
FEW_VALUES = 3
"""Most values of a numeric column whose counts follow from number, mean and variance."""


def fewest_in_cell(min_client_rows: int) -> int:
    """Fewest rows of a cell that is sent, for clients of at least so many rows."""
    return min(FEWEST_IN_CELL, min_client_rows)
