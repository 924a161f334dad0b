"""What a verb found, as plain values: the one object that every renderer, the exit code and Python users read.

Nothing here computes a statistic, and nothing here imports torch, pandas or a renderer. A number that does not exist is
None, never NaN; the reason stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Literal

Verdict = Literal["ok", "shift", "inconclusive", "error"]
Cell = Literal["neither", "data only", "model only", "both"]
"""Which of the two questions, "did the data move" and "does the model care", a piece answers with yes."""
Severity = Literal["note", "warning", "error"]
Standing = Literal["new", "worse", "known"]
"""A shift that the baseline does not have, has by less than what is found now, or has."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the split validator, the reader or the audit wants a person to know."""

    code: str
    """Stable, in kebab-case, for machines: `duplicate-rows`, `one-class-piece`, `identifier-left-out`, ..."""
    severity: Severity
    message: str
    """What is so, with counts."""
    advice: str = ""
    """What to do about it; empty when there is nothing to do."""
    fragments: tuple[str, ...] = ()
    """Names of the pieces concerned; empty means the whole table."""


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One column of the table as it was understood."""

    name: str
    kind: str
    """numeric, categorical, boolean, datetime, text, identifier, empty or constant."""
    missing: int
    """Rows without a value."""
    levels: int | None
    """Distinct levels after pooling, for categorical and boolean columns."""
    used: bool
    note: str
    """Why it is left out, or what was pooled."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that had to be known to read a file."""

    name: str
    """As the option that sets it: encoding, delimiter, quote, decimal, header, zero-based, features, sheet; remarks and
    columns, which none sets, are there where something was passed over."""
    value: str
    how: str
    """`told`, `the default`, or how it was found: `byte order mark`, `the first 20 lines agree`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file was read."""

    format: str
    """One of `picsc.settings.FileFormat`."""
    compression: str
    """gzip or zstd; empty without."""
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class DataInfo:
    """The table an audit was run on."""

    name: str
    source: str
    rows: int
    target: str | None
    target_chosen: str
    """How the target was found: `--target`, `named 'class'`, `last column`, or `none`."""
    task: Literal["classification", "regression", "unlabelled"]
    classes: int | None
    columns: tuple[ColumnInfo, ...]
    sha256: str
    """Of the bytes read, or of the values for data that came from memory."""
    reading: Reading | None = None
    """None for data that came from no file."""


@dataclass(frozen=True, slots=True)
class ColumnShift:
    """One column of one piece against its reference."""

    name: str
    kind: str
    """numeric, categorical, boolean, datetime, text, missing (the column's missing rate) or target."""
    statistic: float | None
    """KS distance for numbers; total variation distance for levels; difference of rates for missing. In [0, 1]."""
    p_adjusted: float | None
    """Corrected over all columns and pieces of this audit by the permutation maximum."""
    kl: float | None
    """KL(piece || reference) of this column, nats."""
    note: str = ""
    """In words: `new category 'z' (15.0 % of rows)`, `no overlap with the reference`, ..."""


@dataclass(frozen=True, slots=True)
class FragmentReport:
    """One piece F_i of the data set against its reference. Shifts are directed: KL(piece || reference)."""

    name: str
    rows: int
    verdict: Verdict
    reason: str
    cell: Cell | None
    """None when the piece could not be judged."""
    fisher_gap: float | None
    """||I_i - I_ref||_F (Eq. 14, first factor), nats per squared parameter unit."""
    fisher_gap_relative: float | None
    """||I_i - I_ref||_F / ||I_ref||_F."""
    fisher_kl: float | None
    """KL of the Cramér-Rao Gaussians at one theta (Eq. 5), nats."""
    score: float | None
    """g' (I + delta)^-1 g, g the mean gradient of the piece minus its reference's, I of all rows; no unit."""
    kl: float | None
    """Covariate KL summed over columns (Eq. 8), nats."""
    label_kl: float | None
    """KL of the target's distribution, nats."""
    missing_kl: float | None
    """Bernoulli KL of missingness summed over columns, nats."""
    tau: float | None
    """fisher_gap * kl (Eq. 14)."""
    tau_quantile: float | None
    """The (1 - level) quantile of tau under the null, at this piece's size."""
    domain_auc: float | None
    """Held-out area under the ROC curve of a classifier that tells the piece from its reference; 0.5 is no shift."""
    p_data: float | None
    """Did the data move? Over columns and data statistics of this piece."""
    p_model: float | None
    """Does the model care? Over Fisher gap, Fisher KL, score and the target's distribution of this piece."""
    p_adjusted: float | None
    """The smaller of both, corrected over both questions and all pieces."""
    effect_data: float | None
    """Largest difference in probability found, in [0, 1]; compared with --min-effect."""
    effect_model: float | None
    """Excess of the relative Fisher gap or of the standardised score over the null; compared with --min-effect."""
    smallest_effect: float | None
    """Smallest KS distance that this piece would show with 80 % power."""
    columns: tuple[ColumnShift, ...]
    """Strongest first."""
    first_row: int | None = None
    """Data row that the piece begins with, 1 the first; None for a piece without rows."""
    noise_data: float | None = None
    """(1 - level) quantile of the largest data effect under the null at this piece's size: what chance alone makes."""
    noise_model: float | None = None
    """The same of the model effect."""
    standing: Standing | None = None
    """Against the baseline, for a shifted piece; None without a baseline."""

    @property
    def strength(self) -> tuple[float, float]:
        """Sorts the strongest evidence first: the smallest p, then the largest effect."""
        p = 1.0 if self.p_adjusted is None else self.p_adjusted
        return p, -max(self.effect_data or 0.0, self.effect_model or 0.0)

    @property
    def in_words(self) -> str:
        """`fold 3 - age moved, KS 0.31, p 0.001`; what there is of it."""
        why = f" - {self.reason}" if self.reason else ""
        p = "" if self.p_adjusted is None else f", p {self.p_adjusted:.3g}"
        return f"{self.name}{why}{p}"


@dataclass(frozen=True, slots=True)
class NullInfo:
    """How p-values were calibrated."""

    kind: str
    """`permutation` or `permutation-subsampled`."""
    unit: str
    """What is permuted: `rows`, `rows within classes`, `groups`, `blocks of 24 rows`."""
    draws: int
    rows: int
    """Rows that took part in the draws."""


@dataclass(frozen=True, slots=True)
class Balance:
    """How alike the folds are, beside what the null makes of the same rows."""

    kl: float
    """Covariate KL of a piece against its reference, mean over columns and pieces, nats."""
    expected: float
    """Its median under the null."""
    p_less: float
    """Share of the null's draws, and the observed one, that are at least as alike: (1 + #) / (B + 1)."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The audit of one table."""

    verdict: Verdict
    summary: tuple[str, str, str]
    """Verdict; the worst piece and why; what to do next."""
    level: float
    min_effect: float
    reference: str
    pieces: str
    """How the table was cut, in words: `10 stratified folds, unshuffled`."""
    null: NullInfo
    data: DataInfo
    findings: tuple[Finding, ...]
    fragments: tuple[FragmentReport, ...]
    settings: dict[str, object]
    manifest: dict[str, object]
    balance: Balance | None = None
    """None where the pieces are no folds."""
    baseline: str | None = None
    """File of the baseline that shifts were compared with."""

    schema = "picsc.audit/1"

    @property
    def shifted(self) -> tuple[FragmentReport, ...]:
        """The pieces whose verdict is `shift`."""
        return tuple(fragment for fragment in self.fragments if fragment.verdict == "shift")

    @property
    def failing(self) -> tuple[FragmentReport, ...]:
        """The shifted pieces that no baseline knows."""
        return tuple(fragment for fragment in self.shifted if fragment.standing != "known")

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        body = {field.name: getattr(self, field.name) for field in fields(self)}
        body["null"], body["data"] = asdict(self.null), asdict(self.data)
        body["balance"] = None if self.balance is None else asdict(self.balance)
        body["findings"] = [asdict(finding) for finding in self.findings]
        body["fragments"] = [asdict(fragment) for fragment in self.fragments]
        return strict({"schema": self.schema, **body})


@dataclass(frozen=True, slots=True)
class Unaudited:
    """One file of several that could not be audited."""

    source: str
    reason: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class AuditReports:
    """The audits of several files."""

    reports: tuple[AuditReport, ...]
    """In the order of the call."""
    unaudited: tuple[Unaudited, ...]

    schema = "picsc.audits/1"

    @property
    def verdict(self) -> Verdict:
        """The worst of all; error where a file could not be audited."""
        found = {report.verdict for report in self.reports}
        order: tuple[Verdict, ...] = ("shift", "inconclusive", "ok")
        return "error" if self.unaudited else next(verdict for verdict in order if verdict in found)

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values, one `picsc.audit/1` per report."""
        unaudited = [asdict(each) for each in self.unaudited]
        reports = [report.as_dict() for report in self.reports]
        return {"schema": self.schema, "verdict": self.verdict, "reports": reports, "unaudited": unaudited}


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
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A method minus another one, paired."""

    against: str
    """The other method."""
    accuracy: float | None
    """Difference of mean accuracies, as a fraction; None where no unit has both."""
    accuracy_interval: Interval | None
    accuracy_p: float | None
    """Two-sided paired test; None where there is nothing to pair."""
    log_loss: float | None
    log_loss_p: float | None
