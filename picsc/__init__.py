"""picsc: measure and correct partition-induced covariate shift (the paper's PIcsC).

The public verbs are `audit`, `cross_validate`, `compare` and `federate`; each returns the report that its command
prints. Modules, from the verbs down:

- `recipes_run`, `recipes`, `over_sets`, `recipe_report`: experiments as files, and tests over data sets
- `cross_validation`, `cv_methods`, `cv_summary`, `cv_report`: methods, their results, one report
- `comparison`, `compare_methods`, `compare_summary`, `compare_report`: PIcsC beside importance weighting
- `trials`, `weighed`, `importance_cv`, `selection_bias`, `label_noise`: who judges, weights, risk, shifts made
- `weighting`, `dynamic_weights`, `covariate_space`: weights as functions, weights at every step, what weights look at
- `federating`, `federated_auditing`, `fed_summary`, `fed_report`: federated algorithms, and the audit by summaries
- `federation`, `federated_algorithms`, `federated_data`: the rounds, the algorithms as pieces, who holds which rows
- `client_mlps`, `client_modules`, `client_summary`, `client_verdict`: what clients do, what they say, how it is judged
- `table_backend`, `module_backend`, `selection`, `resampling`: what trains on which kind of data, on which rows
- `sequence`, `trigger`, `covariates`: Algorithm 2
- `stacked_training`, `stacked_mlp`, `stack`: many small networks at once
- `auditing`, `verdict`, `advice`, `image_table`: cut, test, judge, and say what to do
- `shift_test`, `statistic_draws`, `label_draws`, `multiplicity`, `nulls`: statistics, their null, family-wise error
- `column_shift`, `model_shift`, `domain_classifier`, `divergence`: the statistics
- `engine`, `objective`, `fragment_penalty`: training of one larger network
- `fisher`, `models`, `penalty`: Fisher information, the paper's networks, Eq. 7, 15 and 16
- `scoring`, `paired`, `run_folder`, `parallel`: scores, tests, finished parts, processes
- `fragments`, `datasets`: row numbers of the pieces, tables in
- `settings`, `reports`, `errors`: plain values in, plain values out
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from picsc.auditing import audit, audit_dataset
    from picsc.compare_report import CompareReport
    from picsc.comparison import compare, compare_dataset
    from picsc.cross_validation import cross_validate, cross_validate_dataset
    from picsc.cv_report import CvReport
    from picsc.errors import DataError, NumericsError, PicscError, SettingsError
    from picsc.fed_report import FedAuditReport, FedReport
    from picsc.federated_auditing import audit_clients
    from picsc.federating import federate, federate_dataset
    from picsc.reports import AuditReport

_HOMES = {
    "audit": "auditing",
    "audit_dataset": "auditing",
    "compare": "comparison",
    "compare_dataset": "comparison",
    "cross_validate": "cross_validation",
    "cross_validate_dataset": "cross_validation",
    "audit_clients": "federated_auditing",
    "federate": "federating",
    "federate_dataset": "federating",
    "AuditReport": "reports",
    "CompareReport": "compare_report",
    "CvReport": "cv_report",
    "FedAuditReport": "fed_report",
    "FedReport": "fed_report",
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
