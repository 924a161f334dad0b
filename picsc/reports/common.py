"""Plain values that reports are made of, and the report of an audit: read by formats, exit code and Python users.

Nothing here computes a statistic, and nothing here imports torch, pandas or a format. A number that does not exist is
None, never NaN; the reason is given next to it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Literal

Verdict = Literal["ok", "shift", "inconclusive", "error"]
"""The result of the tests of a piece: error means that there is none."""
Cell = Literal["neither", "data only", "model only", "both"]
"""The questions that a piece answers with yes: has the data moved, and does it matter to the model?"""
Severity = Literal["note", "warning", "error"]
"""Weight of a finding: no action is needed, the result may be distorted, or it is wrong or impossible."""
Standing = Literal["new", "worse", "known"]
"""A shift that the baseline does not have (new), has with a smaller effect (worse), or has (known)."""


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


@dataclass(frozen=True, slots=True)
class ColumnShift:
    """One column of one piece compared with its reference."""

    name: str
    """Name of the column."""
    kind: str
    """Side of the column that is compared: numeric, categorical, boolean, datetime or text for its values, missing for
    its missing rate, target for the target's values."""
    statistic: float | None
    """Size of the difference, in [0, 1]: KS distance for numbers, total variation distance for levels, difference of
    rates for missing. None where it could not be computed."""
    p_adjusted: float | None
    """Permutation p-value in (0, 1], corrected over all columns and pieces of this audit by the maximum statistic; None
    where there is no test."""
    kl: float | None
    """KL(piece || reference) of this column, in nats; None where it could not be computed."""
    note: str = ""
    """The difference in words: `new category 'z' (15.0 % of rows)`, `no overlap with the reference`; empty where the
    statistic says it all."""


@dataclass(frozen=True, slots=True)
class FragmentReport:
    """One piece F_i of the data set compared with its reference. Shifts are directed: KL(piece || reference).

    A number is None where it could not be computed; `reason` then says why.
    """

    name: str
    """Name of the piece: `fold 3`, or its value in the column that cuts."""
    rows: int
    """Number of rows of the piece."""
    verdict: Verdict
    """ok, shift, inconclusive (the test is undecided), or error (there is no test)."""
    reason: str
    """Why the verdict is not ok, in one line; empty for ok."""
    cell: Cell | None
    """The one of the two questions, on the data and on the model, that is answered with yes; None without a test."""
    fisher_gap: float | None
    """||I_i - I_ref||_F (Eq. 14, first factor), in nats per squared parameter unit."""
    fisher_gap_relative: float | None
    """||I_i - I_ref||_F / ||I_ref||_F, without a unit."""
    fisher_kl: float | None
    """KL divergence of the Cramér-Rao Gaussians at one theta (Eq. 5), in nats."""
    score: float | None
    """g' (I + delta)^-1 g, without a unit: g is the mean gradient of the piece minus its reference's, I the Fisher
    information of all rows."""
    kl: float | None
    """KL(piece || reference) of the covariates summed over columns (Eq. 8), in nats."""
    label_kl: float | None
    """KL(piece || reference) of the target's distribution, in nats; None without a target."""
    missing_kl: float | None
    """Bernoulli KL divergence of missing values summed over columns, in nats."""
    tau: float | None
    """fisher_gap * kl (Eq. 14), in nats squared per squared parameter unit."""
    tau_quantile: float | None
    """The (1 - level) quantile of tau under the null, at the size of this piece."""
    domain_auc: float | None
    """Held-out area under the ROC curve of a classifier that tells the rows of the piece from those of its reference,
    in [0, 1]; 0.5 is no shift."""
    p_data: float | None
    """p-value in (0, 1] of the question whether the data moved: over the columns and data statistics of this piece."""
    p_model: float | None
    """p-value in (0, 1] of the question whether it matters to the model: over Fisher gap, Fisher KL, score and the
    target's distribution of this piece."""
    p_adjusted: float | None
    """The smaller of p_data and p_model, corrected over both questions and all pieces."""
    effect_data: float | None
    """Largest difference in probability that was found, in [0, 1]; compared with --min-effect."""
    effect_model: float | None
    """Excess of the relative Fisher gap, or of the standardised score, over the null; compared with --min-effect."""
    smallest_effect: float | None
    """Smallest KS distance that the test would find in this piece with 80 % power, in [0, 1]."""
    columns: tuple[ColumnShift, ...]
    """All columns of the piece compared with the reference, strongest difference first."""
    first_row: int | None = None
    """Number of the data row that the piece begins with, 1 for the first; None for a piece without rows."""
    noise_data: float | None = None
    """The (1 - level) quantile of effect_data under the null at the size of this piece: the effect that chance alone
    makes."""
    noise_model: float | None = None
    """The (1 - level) quantile of effect_model under the null at the size of this piece."""
    standing: Standing | None = None
    """Comparison of the shift of this piece with the baseline; None for a piece that is not shifted, and without a
    baseline."""

    @property
    def strength(self) -> tuple[float, float]:
        """Sorts the strongest evidence first: the smallest p, then the largest effect."""
        p = 1.0 if self.p_adjusted is None else self.p_adjusted
        return p, -max(self.effect_data or 0.0, self.effect_model or 0.0)

    @property
    def in_words(self) -> str:
        """`fold 3 - age moved, KS 0.31, p 0.001`, as far as the parts exist."""
        why = f" - {self.reason}" if self.reason else ""
        p = "" if self.p_adjusted is None else f", p {self.p_adjusted:.3g}"
        return f"{self.name}{why}{p}"


@dataclass(frozen=True, slots=True)
class NullInfo:
    """The null distribution that p-values come from."""

    kind: str
    """`permutation`, or `permutation-subsampled` where a part of the rows took part."""
    unit: str
    """The unit that is permuted: `rows`, `rows within classes`, `groups`, `blocks of 24 rows`."""
    draws: int
    """Number of permutations that were drawn."""
    rows: int
    """Number of rows that took part in the draws."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Likeness of the folds, compared with random folds of the same rows."""

    kl: float
    """Covariate KL divergence of a piece from its reference, mean over columns and pieces, in nats."""
    expected: float
    """Median of the same number under the null, in nats."""
    p_less: float
    """Share of the null's draws, the observed one included, that are at least as alike: (1 + #) / (B + 1), in (0,
    1]."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The audit of one table."""

    verdict: Verdict
    """The verdict of the whole table; shift if any of its pieces is shifted."""
    summary: tuple[str, str, str]
    """Three lines: the verdict; the worst piece and why; the next step."""
    level: float
    """Family-wise level of the tests, in (0, 1)."""
    min_effect: float
    """Smallest effect that is called a shift; effect_data and effect_model are compared with it."""
    reference: str
    """The rows that each piece is compared with, in words: the other pieces, or another table."""
    pieces: str
    """The cut of the table, in words: `10 stratified folds, unshuffled`."""
    null: NullInfo
    """The null distribution that p-values come from."""
    data: DataInfo
    """The table."""
    findings: tuple[Finding, ...]
    """Things about the data that a person should know."""
    fragments: tuple[FragmentReport, ...]
    """The pieces in the order of the cut."""
    settings: dict[str, object]
    """All settings as resolved, by name."""
    manifest: dict[str, object]
    """The versions, the seed and the digests that the same numbers need."""
    balance: Balance | None = None
    """Likeness of the folds; None where the pieces are no folds."""
    baseline: str | None = None
    """File of the baseline that shifts were compared with; None without a baseline."""

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
    """Path of the file as given."""
    reason: str
    """Why it could not be audited, in one sentence."""


@dataclass(frozen=True, slots=True)
class AuditReports:
    """The audits of several files."""

    reports: tuple[AuditReport, ...]
    """One audit per file, in the order of the call."""
    unaudited: tuple[Unaudited, ...]
    """The files that could not be audited."""

    schema = "picsc.audits/1"

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all files; error where a file could not be audited."""
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
    """A 95 % interval, in the unit of the number that it belongs to."""

    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""


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
