"""Names of the files that the ServerApp leaves in its folder."""

from __future__ import annotations

REPORT = "report.json"
"""The report of `picsc fed`."""
RUNS = "runs.npz"
"""All runs as arrays."""
ERROR = "error.txt"
"""Why there is no report, in one sentence."""
PROGRESS = "progress.txt"
"""One line about each step."""
FINISHED = "run"
"""Folder of finished rounds, from which a run can go on."""
