"""picsc: measure and correct partition-induced covariate shift (the paper's PIcsC).

The public verbs are `audit`, `cross_validate`, `compare` and `federate`; each returns the report that its command
prints. Packages, from the verbs down:

- `recipes`: experiments as YAML files
- `federated`, `auditing`, `comparison`, `cross_validation`: one package a verb
- `training`: networks, Algorithm 1, Algorithm 2
- `fisher`, `equations`: Fisher information, and the paper's formulas
- `fragments`, `simulation`, `datasets`, `weighting`: pieces, shifts made on purpose, data in, importance weights
- `runtime`, `evaluation`: devices and processes; metrics and paired tests
- `settings`, `reports`, `errors`: plain values in, plain values out
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.auditing.audit import audit, audit_dataset
    from picsc.comparison.compare import compare, compare_dataset
    from picsc.cross_validation.cross_validate import cross_validate, cross_validate_dataset
    from picsc.errors import DataError, NumericsError, PicscError, SettingsError
    from picsc.federated.audit_clients import audit_clients
    from picsc.federated.federate import federate, federate_dataset
    from picsc.reports.common import AuditReport
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedAuditReport, FedReport

_HOMES = {
    "audit": "auditing.audit",
    "audit_dataset": "auditing.audit",
    "compare": "comparison.compare",
    "compare_dataset": "comparison.compare",
    "cross_validate": "cross_validation.cross_validate",
    "cross_validate_dataset": "cross_validation.cross_validate",
    "audit_clients": "federated.audit_clients",
    "federate": "federated.federate",
    "federate_dataset": "federated.federate",
    "AuditReport": "reports.common",
    "CompareReport": "reports.compare",
    "CvReport": "reports.cv",
    "FedAuditReport": "reports.fed",
    "FedReport": "reports.fed",
    "PicscError": "errors",
    "SettingsError": "errors",
    "DataError": "errors",
    "NumericsError": "errors",
}

__all__ = [
    "AuditReport",
    "CompareReport",
    "CvReport",
    "DataError",
    "FedAuditReport",
    "FedReport",
    "NumericsError",
    "PicscError",
    "SettingsError",
    "audit",
    "audit_clients",
    "audit_dataset",
    "compare",
    "compare_dataset",
    "cross_validate",
    "cross_validate_dataset",
    "federate",
    "federate_dataset",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import picsc` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'picsc' has no attribute {name!r}")
    return getattr(import_module(f"picsc.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
