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
                history, models or findings of other reports, as far as they have them. None is the first of these.

        Raises:
            SettingsError: the report has no table of this name; the message lists those that it has.
        """
        from picsc.notebooks.frames import to_frame

        return to_frame(self, table)


class Drawn(Framed):
    """A report with a figure as well."""

    __slots__ = ()

    def plot(self) -> Figure:
        """The figure that says most of the report, which `--plot FILE` of the command writes too.

        Of an audit, effects by column and piece. Of methods, scores with intervals; where models learn one piece after
        another, what they know of every piece. Of a federation, rounds and scores by client. Of recipes, differences by
        lambda, noise, number of pieces or data set.

        Raises:
            SettingsError: matplotlib is missing; install `picsc[plots]`.
        """
        from picsc.notebooks.figures import plot

        return plot(self)
