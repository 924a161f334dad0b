"""Reports: the results of the verbs as plain values, without torch.

- `audit`: reports of audits: one per table, and those of all files of one call
- `columns`: columns of a piece compared with its reference: tests, sizes, and both in words
- `common`: parts of several reports: findings, data, intervals and differences
- `compare`: the report of `picsc compare`
- `cv`: the report of `picsc cv`
- `data`: the report of `picsc data show` on one file
- `distributions`: the columns that an audit names first: sizes by piece, counts of a piece and its reference
- `effects`: the smallest effects that count as a shift, and the fit of the reference model
- `fed`: the reports of `picsc fed`: a federation, and an audit of clients by their summaries
- `metrics`: metrics by name of one method and of one model
- `predict`: the report of `picsc predict`: predictions for new rows
- `pages`: reports as one file of HTML, with tables and pictures
- `recipes`: the report of `picsc run`: one row per data set and way to cut it, next to the paper's number
- `saved`: saved reports, from their JSON back to the report
- `shown`: the looks of a report in a notebook: a page, frames and figures
"""

from __future__ import annotations

from picsc.reports.audit import AuditReport, AuditReports
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport
from picsc.reports.data import DataReport
from picsc.reports.fed import FedAuditReport, FedReport
from picsc.reports.predict import PredictReport
from picsc.reports.recipes import RecipeReport
from picsc.reports.saved import load_report

Report = (
    AuditReport
    | AuditReports
    | CvReport
    | CompareReport
    | RecipeReport
    | FedReport
    | FedAuditReport
    | DataReport
    | PredictReport
)
"""The result of any verb."""

__all__ = [
    "AuditReport",
    "AuditReports",
    "CompareReport",
    "CvReport",
    "DataReport",
    "FedAuditReport",
    "FedReport",
    "PredictReport",
    "RecipeReport",
    "Report",
    "load_report",
]
