"""Names of methods as in the paper's tables."""

from __future__ import annotations

PAPERS_NAMES = {"st-cv": "st-CV", "iw": "IW", "iwcv": "IWCV", "kmm": "KMM", "diw": "DIW", "picsc": "PIcsC"}
"""The columns of the paper's table of E5, which are `picsc.settings.PAPERS_METHODS`, by their names there."""
