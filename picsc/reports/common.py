"""Plain values that several reports are made of: findings, columns, data, intervals and differences.

Nothing here computes a statistic, and nothing here imports torch, pandas or a format. A number that does not exist is
None, never NaN; the reason is given next to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "equivalent", "shift", "inconclusive", "not tested", "error"]
"""The result of the tests of a piece: not tested means that the piece has no reference, such as the first batch, error
that there is no result although there should be one."""
Metric = Literal["accuracy", "R2"]
"""The score that methods are compared by: accuracy of classes, or R², the share of a number's variance explained, which
is 1 minus the squared errors over the squared distances from the mean of the same test rows."""
Severity = Literal["note", "warning", "error"]
"""Weight of a finding: no action is needed, the result may be distorted, or it is wrong or impossible."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about the data that a person should know: from the reader, the split validator or the audit."""

    code: str
    """Stable name in kebab-case, for machines: `duplicate-rows`, `one-class-piece`, `identifier-left-out`, ..."""
    severity: Severity
    """Weight of the finding: a note needs no action, a warning may distort the result, an error makes it wrong or
    impossible."""
    message: str
    """The fact, with counts."""
    advice: str = ""
    """The step that would mend it; empty when there is nothing to do."""
    fragments: tuple[str, ...] = ()
    """Names of the pieces concerned; empty means the whole table."""


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One column of the table as it was understood."""

    name: str
    """Name of the column in the file."""
    kind: str
    """One of numeric, categorical, boolean, datetime, text, identifier, empty and constant."""
    missing: int
    """Number of rows without a value."""
    levels: int | None
    """Number of distinct levels after pooling, for categorical and boolean columns; None for the others."""
    used: bool
    """True if the column is a covariate or the target; False if it is left out."""
    note: str
    """The reason why the column is left out, or the levels that were pooled; empty where there is neither."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that had to be known to read a file."""

    name: str
    """Named as the option that sets it: encoding, delimiter, quote, decimal, header, zero-based, features, sheet.
    Remarks and columns, which no option sets, are there where something was passed over."""
    value: str
    """The value that was used, as the option takes it."""
    how: str
    """`told` for an option, `the default`, or how the value was found: `byte order mark`, `the first 20 lines
    agree`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The way a file was read."""

    format: str
    """Format of the file, one of `picsc.settings.FileFormat`."""
    compression: str
    """gzip or zstd; empty for a file that is not compressed."""
    choices: tuple[Choice, ...]
    """Everything that had to be known to read it, in the order in which it was decided."""


@dataclass(frozen=True, slots=True)
class DataInfo:
    """The table that a verb was run on."""

    name: str
    """Name of the data set: of the file without its folder, or of a set by name."""
    source: str
    """Path of the file as given, or where else the data came from."""
    rows: int
    """Number of rows that were used."""
    target: str | None
    """Name of the column that the model predicts; None without a target."""
    target_chosen: str
    """The way the target was found: `--target`, `named 'class'`, `last column`, or `none`."""
    task: Literal["classification", "regression", "unlabelled"]
    """The kind of the target: classes, numbers, or none."""
    classes: int | None
    """Number of classes of the target; None for numbers and without a target."""
    columns: tuple[ColumnInfo, ...]
    """All columns in the order of the file, those that are left out included."""
    sha256: str
    """SHA-256 of the bytes that were read, or of the values for data that came from memory."""
    reading: Reading | None = None
    """The way the file was read; None for data that came from no file."""

    @property
    def metric(self) -> Metric:
        """The score of models on this table, which reports keep under the name `accuracy` whichever it is."""
        return "R2" if self.task == "regression" else "accuracy"


def metric_word(metric: Metric) -> str:
    """The name of a score as tables and sentences show it: `accuracy` or `R²`."""
    return "R²" if metric == "R2" else metric


def brief(report: object, facts: Sequence[str], lines: Sequence[str]) -> str:
    """A report as the interpreter shows it: its class, some facts, and a few lines; `as_dict` has everything.

    Args:
        report: of any class.
        facts: such as `150 rows` and `3 pieces`.
        lines: of the summary.
    """
    shown = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..." for line in lines[:_LINES]]
    more = [f"and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
    return "\n  ".join([f"<{type(report).__name__}: {', '.join(facts)}>", *shown, *more])


_LINES, _WIDTH = 8, 160
"""Most lines, and most characters of a line, of a report that is shown in brief."""


def finite(value: float) -> float | None:
    """The value, or None for NaN and infinity, which strict JSON cannot hold."""
    return float(value) if math.isfinite(value) else None


def strict(values: dict[str, object]) -> dict[str, object]:
    """The values in JSON's own types only: tuples become lists, NaN and infinity become None."""
    return {key: _strict(item) for key, item in values.items()}


def _strict(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, float):
        return finite(value)
    return value


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval, in the unit of the number that it belongs to."""

    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""


@dataclass(frozen=True, slots=True)
class MajorityClass:
    """What a model would score that always predicts the most frequent class."""

    name: str
    """Name of the class that is the most frequent one in the data set."""
    share: float
    """Its share of the rows that test the models, a fraction: the accuracy to beat. Means are over the same units as
    those of accuracies."""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A method that the model of the run does not have."""

    method: str
    """Name of the method."""
    value: float | None
    """None: there is no score."""
    reason: str
    """Why there is none, in one sentence."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One method minus another one, paired."""

    against: str
    """The other method."""
    accuracy: float | None
    """Difference of mean accuracies, as a fraction; positive is better. None where no unit has both."""
    accuracy_interval: Interval | None
    """95 % interval of that difference; None where there is nothing to pair."""
    accuracy_p: float | None
    """p-value of the two-sided paired test, in (0, 1]; None where there is nothing to pair."""
    log_loss: float | None
    """Difference of mean log-losses, in nats per row; negative is better. None where no unit has both."""
    log_loss_p: float | None
    """p-value of the same test of the log-losses; None where there is nothing to pair."""
    accuracy_p_holm: float | None = None
    """`accuracy_p` adjusted by Holm's method over all methods that this one is compared with, in (0, 1]; None where
    there is no p-value."""
    log_loss_p_holm: float | None = None
    """`log_loss_p` adjusted the same way; None where there is no p-value."""
