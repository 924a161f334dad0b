"""Every knob of every verb, validated once, before anything heavy is imported."""

from __future__ import annotations

from picsc.settings.auditing import AuditSettings
from picsc.settings.comparison import CompareSettings, WeighSettings
from picsc.settings.cross_validation import CvSettings
from picsc.settings.federation import FedSettings
from picsc.settings.names import (
    COMPARE_METHODS,
    FED_METHODS,
    METHODS,
    PAPERS_METHODS,
    REFERENCES,
    WEIGHTINGS,
    CompareMethod,
    Decimal,
    Delimiter,
    DeviceName,
    FedMethod,
    FileFormat,
    GroupMissing,
    Merge,
    Method,
    ModelName,
    PartitionName,
    PenaltyName,
    Precision,
    Quote,
    Reference,
    Splitter,
    Task,
    Weighting,
    ZeroBased,
)
from picsc.settings.pieces import WAYS, CutSettings, PartitionSettings
from picsc.settings.reading import ReadSettings
from picsc.settings.training import PenaltySettings, TrainSettings
from picsc.settings.validation import Settings, validated

__all__ = [
    "COMPARE_METHODS",
    "FED_METHODS",
    "METHODS",
    "PAPERS_METHODS",
    "REFERENCES",
    "WAYS",
    "WEIGHTINGS",
    "AuditSettings",
    "CompareMethod",
    "CompareSettings",
    "CutSettings",
    "CvSettings",
    "Decimal",
    "Delimiter",
    "DeviceName",
    "FedMethod",
    "FedSettings",
    "FileFormat",
    "GroupMissing",
    "Merge",
    "Method",
    "ModelName",
    "PartitionName",
    "PartitionSettings",
    "PenaltyName",
    "PenaltySettings",
    "Precision",
    "Quote",
    "ReadSettings",
    "Reference",
    "Settings",
    "Splitter",
    "Task",
    "TrainSettings",
    "WeighSettings",
    "Weighting",
    "ZeroBased",
    "validated",
]
