"""Every knob of every verb, validated once, before anything heavy is imported."""

from __future__ import annotations

from picsc.settings.audit import AuditSettings
from picsc.settings.base import Settings, validated
from picsc.settings.choices import (
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
from picsc.settings.compare import CompareSettings, WeighSettings
from picsc.settings.cutting import WAYS, CutSettings, PartitionSettings
from picsc.settings.cv import CvSettings
from picsc.settings.fed import FedSettings
from picsc.settings.reading import ReadSettings
from picsc.settings.training import PenaltySettings, TrainSettings

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
