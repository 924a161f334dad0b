"""Cross-validations as comma-separated values: one line per model, numbers in full, empty fields for None."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picsc_cli.formats.csv.writer import written_models

if TYPE_CHECKING:
    from picsc.reports.cv import CvReport


def cv_csv(report: CvReport) -> str:
    """One row per unit: data set, method, then the fields of `Unit`. Accuracies are fractions, log-losses nats.

    The estimate for deployment is one more row: its method is `deploy: NAME`, and its reason the whole sentence.
    """
    from picsc.reports.cv import Unit

    found = report.deployment
    if found is None:
        return written_models(report, Unit)
    values = {"fragment": found.estimate, "rows": found.rows, "accuracy": found.value, "reason": found.line}
    return written_models(report, Unit, ((f"deploy: {found.deploy}", values),))
