"""What a verb hands back: plain values, no torch.

- `common`: what a verb found, as plain values: the one object that every renderer, the exit code and Python users read
- `compare`: what `picsc compare` found, as plain values
- `cv`: what `picsc cv` found, as plain values; the counterpart of `picsc.reports.common` for cross-validation
- `data`: what `picsc data show` says of one file: plain values, as in `picsc.reports.common`
- `fed`: what `picsc fed` found, as plain values
- `recipes`: what `picsc run` found, as plain values: one row per data set and way to cut it, beside the paper's number
"""

from __future__ import annotations

from picsc.reports.common import AuditReport, AuditReports
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport
from picsc.reports.data import DataReport
from picsc.reports.fed import FedAuditReport, FedReport
from picsc.reports.recipes import RecipeReport

Report = AuditReport | AuditReports | CvReport | CompareReport | RecipeReport | FedReport | FedAuditReport | DataReport
"""Whatever a verb hands back."""

__all__ = [
    "AuditReport",
    "AuditReports",
    "CompareReport",
    "CvReport",
    "DataReport",
    "FedAuditReport",
    "FedReport",
    "RecipeReport",
    "Report",
]
