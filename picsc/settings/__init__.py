"""Every knob of every verb, validated once, before anything heavy is imported.

- `audit`: the settings of `picsc audit`
- `base`: what all settings have in common, and building them with all their problems at once
- `by_keyword`: settings from the keywords of a Python verb
- `choices`: names that a setting may have, in the order of the reports
- `compare`: the settings of `picsc compare`
- `cutting`: how one table is cut into pieces: folds, batches, groups, time, and clients that exist or are invented
- `cv`: the settings of `picsc cv`
- `fed`: the settings of `picsc fed`
- `generate`: generated files: what repeats the settings is written from their fields
- `keywords`: the settings as keywords of the Python verbs, generated
- `layers`: settings from several places: what stands higher wins, and each value knows where it comes from. Torch-free
- `option`: how a setting is asked for on the command line and from Python, declared on its field
- `problems`: what pydantic found wrong, as places, values and bounds in a person's words: one problem per value, all at
  once
- `pyproject`: `[tool.picsc]` of pyproject.toml: settings of a whole project. Torch-free
- `reading`: how one table is read
- `recipe`: what a recipe may hold apart from the settings of its verb. Torch-free
- `recipe_schema`: the JSON Schema of recipes, for editors
- `spelling`: settings as a file spells them: other spellings made alike, and problems with a line and a
  suggestion
- `training`: how models are trained, and the corrected training
"""

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


VerbSettings = AuditSettings | CvSettings | FedSettings | CompareSettings
KINDS: dict[str, type[VerbSettings]] = {
    "audit": AuditSettings,
    "cv": CvSettings,
    "compare": CompareSettings,
    "fed": FedSettings,
}
"""By verb."""
