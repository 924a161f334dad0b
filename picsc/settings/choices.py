"""Names that a setting may have, in the order of the reports."""

from __future__ import annotations

from typing import Literal

Task = Literal["auto", "classification", "regression"]
Method = Literal["st-cv", "picsc", "weight-decay", "carried", "average", "subsample"]
METHODS: tuple[Method, ...] = ("st-cv", "picsc", "weight-decay", "carried", "average", "subsample")
"""In the order of the report. All but the first two are controls, and always run."""
SavedMethod = Literal["st-cv", "picsc", "weight-decay", "carried", "average"]
SAVED_METHODS: tuple[SavedMethod, ...] = ("st-cv", "picsc", "weight-decay", "carried", "average")
"""Methods whose models of all rows can be saved."""
DEPLOYMENTS = ("same", "new-groups", "future")
"""Rows that a model will be used on, as far as no file holds them."""
DeployInterval = Literal["resampled", "nested"]
PenaltyName = Literal["kl", "frobenius", "trace"]
BatchShift = Literal["rotate", "return", "labels", "permute", "noise"]
ImageModel = Literal["auto", "lenet", "mlp"]
Merge = Literal["fisher", "mean", "running", "none"]
DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["float32", "tf32", "bfloat16"]
Splitter = Literal["kfold", "stratified", "group", "stratified-group", "dob-scv", "ms-scv"]
PartitionName = Literal["iid", "dirichlet", "classes", "quantity", "noise"]
FedInputs = Literal["natural", "standard", "auto"]
FedMethod = Literal["fedavg", "fedprox", "scaffold", "fedcurv", "fisher-mean", "picsc-scaffold", "picsc"]
FED_METHODS: tuple[FedMethod, ...] = (
    "fedavg", "fedprox", "scaffold", "fedcurv", "fisher-mean", "picsc-scaffold", "picsc",
)  # fmt: skip
"""In the order of the report. `picsc` is Algorithm 2: Eq. 14 to 16 and nothing else. Its controls are FedCurv,
Fisher-weighted aggregation alone, and Algorithm 2 on top of SCAFFOLD with steps in the metric of the Fisher
information."""
CompareMethod = Literal[
    "st-cv", "iw", "iwcv", "kmm", "diw", "picsc", "ulsif", "rulsif", "true-ratio", "cv-choice", "pooled",
    "weight-decay", "carried", "picsc-random", "dob-scv",
]  # fmt: skip
COMPARE_METHODS: tuple[CompareMethod, ...] = (
    "st-cv", "iw", "iwcv", "kmm", "diw", "picsc", "ulsif", "rulsif", "true-ratio", "cv-choice", "pooled",
    "weight-decay", "carried", "picsc-random", "dob-scv",
)  # fmt: skip
"""In the order of the report: the paper's six, two more weightings, then what each is controlled by."""
PAPERS_METHODS: tuple[CompareMethod, ...] = COMPARE_METHODS[:6]
"""The columns of the paper's table of E5."""
Weighting = Literal["iw", "ulsif", "rulsif", "kmm"]
WEIGHTINGS: tuple[Weighting, ...] = ("iw", "ulsif", "rulsif", "kmm")
"""Methods that weight rows before training, whose names are those of `picsc.weighting`."""
ModelName = Literal["auto", "mlp", "lenet", "bag", "lstm"]
FileFormat = Literal["csv", "tsv", "parquet", "arrow", "arff", "keel", "libsvm", "jsonl", "npz", "xlsx"]
"""Formats of files; csv is delimited text whatever its delimiter, arrow is also feather."""
Delimiter = Literal[",", ";", "tab", "|", "space"]
Quote = Literal["double", "single", "none"]
Decimal = Literal["point", "comma"]
DATE_NUMBERS = (
    "yyyymmdd", "yyyymm", "yyyymmddHHMM", "yyyymmddHHMMSS",
    "epoch", "epoch-ms", "epoch-us", "epoch-ns", "excel", "excel-1904",
)  # fmt: skip
"""Ways of writing dates as numbers, as `--date-format` names them."""
ZeroBased = Literal["auto", "yes", "no"]
GroupMissing = Literal["refuse", "own", "together"]
Reference = str
"""One of `REFERENCES`, or the path of a file."""
REFERENCES = ("rest", "previous", "first")
"""References that are no file."""
