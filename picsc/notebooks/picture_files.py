"""Figures as files: PNG and SVG whose bytes are the same for the same report and the same matplotlib."""

from __future__ import annotations

import io
import warnings
from typing import Any, Literal

from picsc.notebooks.canvas import need_matplotlib
from picsc.notebooks.figures import plot

Kind = Literal["png", "svg"]
_DOTS = 150
"""Dots of a PNG an inch."""


def picture(report: Any, kind: Kind) -> bytes:
    """The figure of a report as a file, whatever style the user has set for matplotlib; without date and program.

    Args:
        report: the result of a verb.
        kind: of file.

    Raises:
        SettingsError: matplotlib is missing, or the report has nothing to draw.
    """
    need_matplotlib()
    import matplotlib as mpl

    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    file = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # letters that the font lacks are shown as boxes
        mpl.rcdefaults()
        mpl.rcParams["svg.hashsalt"] = "picsc"  # otherwise names inside of SVG are drawn at random
        mpl.rcParams["svg.fonttype"] = "path"  # letters as shapes, so that every viewer shows the same
        plot(report).savefig(file, format=kind, dpi=_DOTS, metadata=metadata)
    return file.getvalue()
