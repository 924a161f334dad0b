"""The looks of a report in a notebook: a page, frames and figures, which every report has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Framed:
    """A report with a page and frames. Whatever draws is loaded when it is asked for."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The page that `--output html` writes, as a part of a notebook."""
        from picsc.reports.pages.write import body_html

        return body_html(self)

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """One table of the report as a pandas frame; columns are named as the fields of the report.

        Args:
            table: pieces, columns or findings of audits; methods, differences, pieces, targets, clients, rounds,
                models or findings of other reports, as far as they have them. None is the first of these.

        Raises:
            SettingsError: the report has no table of this name; the message lists those that it has.
        """
        from picsc.notebooks.frames import to_frame

        return to_frame(self, table)


class Drawn(Framed):
    """A report with a figure as well."""

    __slots__ = ()

    def plot(self) -> Figure:
        """A figure: of an audit the effects by column and piece, of others the scores of methods or rounds.

        Raises:
            SettingsError: matplotlib is missing; install `picsc[plots]`.
        """
        from picsc.notebooks.figures import plot

        return plot(self)
