"""picsc: measure and correct partition-induced covariate shift (the paper's PIcsC).

The public verbs are `audit`, `cross_validate`, `compare` and `federate`; each returns the report that its command
prints. `picsc.settings`, `.reports`, `.datasets`, `.fragments`, `.fisher`, `.equations` and `.weighting` are stable as
well; everything else may move. Packages, from the verbs down; arrows point down only:

- `__main__`: `python -m picsc`, the command
- `pytest_plugin`: the fixture `picsc_audit`, which fails a test where the data have shifted
- `recipes`: experiments as YAML files
- `federated`: federated training, and the audit of clients
- `auditing`: the audit: cut, design, test, attribute, report
- `comparison`: PIcsC beside importance weighting
- `estimators`: models and splitters for scikit-learn
- `pytorch`: the correction in somebody's own PyTorch loop
- `cross_validation`: standard against corrected cross-validation
- `saved_models`: trained models of tables that leave picsc
- `training`: networks, Algorithm 1, Algorithm 2, trainers
- `fisher`: diagonal Fisher information, layer by layer
- `equations`: the paper's formulas, one function an equation
- `fragments`: row numbers of the pieces
- `simulation`: shifts made on purpose
- `datasets`: files, columns, images, texts, data sets by name
- `weighting`: importance weights: IW, uLSIF, RuLSIF, KMM, DIW
- `runtime`: devices, processes, the folder of a run
- `evaluation`: metrics and paired tests
- `settings`: every setting, and the layers it may come from
- `reports`: the report of each verb
- `notebooks`: reports as pandas frames and matplotlib figures
- `phrases`: counts, shares and lists in messages
- `errors`: errors by what the user can do about them
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.auditing.audit import audit, audit_dataset
    from picsc.comparison.compare import compare, compare_dataset
    from picsc.cross_validation.cross_validate import cross_validate, cross_validate_dataset
    from picsc.errors import DataError, NumericsError, PicscError, SettingsError
    from picsc.estimators.models import PicscClassifier, PicscRegressor
    from picsc.estimators.splitters import BatchSplit, DOBSCVSplit, MSSCVSplit, TimeSplit
    from picsc.estimators.weights import ImportanceWeightedScorer, ShiftWeighter, importance_weighted_score
    from picsc.federated.audit_clients import audit_clients
    from picsc.federated.federate import federate, federate_dataset
    from picsc.pytorch.anchor import Anchor
    from picsc.pytorch.diagonal_fisher import diagonal_fisher
    from picsc.pytorch.fisher_penalty import fisher_penalty
    from picsc.pytorch.posterior_mean import PosteriorMean
    from picsc.pytorch.shift_trigger import ShiftDecision, ShiftTrigger
    from picsc.reports.audit import AuditReport
    from picsc.reports.compare import CompareReport
    from picsc.reports.cv import CvReport
    from picsc.reports.fed import FedAuditReport, FedReport
    from picsc.saved_models.folder import load_model
    from picsc.settings import AuditSettings, CompareSettings, CvSettings, FedSettings

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
    "ImportanceWeightedScorer": "estimators.weights",
    "ShiftWeighter": "estimators.weights",
    "importance_weighted_score": "estimators.weights",
    "PicscClassifier": "estimators.models",
    "PicscRegressor": "estimators.models",
    "BatchSplit": "estimators.splitters",
    "DOBSCVSplit": "estimators.splitters",
    "MSSCVSplit": "estimators.splitters",
    "TimeSplit": "estimators.splitters",
    "Anchor": "pytorch.anchor",
    "diagonal_fisher": "pytorch.diagonal_fisher",
    "fisher_penalty": "pytorch.fisher_penalty",
    "PosteriorMean": "pytorch.posterior_mean",
    "ShiftDecision": "pytorch.shift_trigger",
    "ShiftTrigger": "pytorch.shift_trigger",
    "load_model": "saved_models.folder",
    "AuditReport": "reports.audit",
    "CompareReport": "reports.compare",
    "CvReport": "reports.cv",
    "FedAuditReport": "reports.fed",
    "FedReport": "reports.fed",
    "AuditSettings": "settings",
    "CompareSettings": "settings",
    "CvSettings": "settings",
    "FedSettings": "settings",
    "PicscError": "errors",
    "SettingsError": "errors",
    "DataError": "errors",
    "NumericsError": "errors",
}

__all__ = [
    "Anchor",
    "AuditReport",
    "AuditSettings",
    "BatchSplit",
    "CompareReport",
    "CompareSettings",
    "CvReport",
    "CvSettings",
    "DOBSCVSplit",
    "DataError",
    "FedAuditReport",
    "FedReport",
    "FedSettings",
    "ImportanceWeightedScorer",
    "MSSCVSplit",
    "NumericsError",
    "PicscClassifier",
    "PicscError",
    "PicscRegressor",
    "PosteriorMean",
    "SettingsError",
    "ShiftDecision",
    "ShiftTrigger",
    "ShiftWeighter",
    "TimeSplit",
    "audit",
    "audit_clients",
    "audit_dataset",
    "compare",
    "compare_dataset",
    "cross_validate",
    "cross_validate_dataset",
    "diagonal_fisher",
    "federate",
    "federate_dataset",
    "fisher_penalty",
    "importance_weighted_score",
    "load_model",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import picsc` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'picsc' has no attribute {name!r}")
    return getattr(import_module(f"picsc.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
