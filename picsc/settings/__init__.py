"""Every setting of every verb, validated once, before anything heavy is imported.

- `audit`: the settings of `picsc audit`
- `base`: the base class of settings, and their construction with all problems reported at once
- `by_keyword`: settings from the keywords of a Python verb
- `choices`: the names that settings choose from, such as splitters and methods, in the order of the reports
- `column_patterns`: columns by name or by pattern
- `column_tables`: the table `columns` of a file, as the settings that it stands for
- `compare`: the settings of `picsc compare`
- `cutting`: the settings of pieces: folds, batches, groups, time and clients
- `cv`: the settings of `picsc cv`
- `fed`: the settings of `picsc fed`
- `fields`: fields that several settings have: numbers with their bounds, seed, jobs, device
- `generate`: the generator of files that repeat the settings: options, keywords, schema, documentation
- `in_python`: sentences about options as sentences about the keywords of a Python verb
- `keywords`: the settings as keywords of the Python verbs, generated
- `layers`: defaults, pyproject.toml, recipe and options, joined so that the higher one wins
- `option`: a setting's names and help on the command line and in Python, declared on its field
- `own_model`: the settings of the model: the paper's networks, or one of the user's own
- `problems`: problems that pydantic found, in plain words
- `pyproject`: settings of a whole project, from `[tool.picsc]` of pyproject.toml
- `reading`: the settings of reading one table
- `recipe`: keys of a recipe that are no settings of its verb
- `recipe_schema`: the JSON Schema of recipes, for editors
- `spelling`: settings as files spell them, and problems with a line and a suggestion
- `training`: the settings of training, and of corrected training
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
