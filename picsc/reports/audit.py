"""Reports of audits: one per table, and those of all files of one call."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Literal

from picsc.phrases import counted
from picsc.reports.columns import ColumnShift
from picsc.reports.common import DataInfo, Finding, Verdict, brief, strict
from picsc.reports.distributions import ColumnDistribution, ColumnEffects
from picsc.reports.effects import ModelFit, SmallestEffects
from picsc.reports.shown import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell = Literal["neither", "data only", "model only", "both"]
"""The questions that a piece answers with yes: has the data moved, and does it matter to the model?"""

Standing = Literal["new", "worse", "known"]
"""A shift that the baseline does not have (new), has with a smaller effect (worse), or has (known)."""


SCHEMA_CODES = ("column-lost", "column-new", "column-kind-changed", "levels-new")
"""Codes of the findings that `--strict-schema` fails: columns are not those of the reference file."""


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
    """ok, shift, inconclusive (the test is undecided), not tested (there is nothing to compare the piece with), or
    error (there is no result)."""
    reason: str
    """Why the verdict is not ok, in one line, with the p-value of what it names; empty for ok."""
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
    """Bernoulli KL divergence of missing values summed over columns and the target, in nats."""
    tau: float | None
    """fisher_gap * kl (Eq. 14), in nats squared per squared parameter unit."""
    tau_quantile: float | None
    """The (1 - level) quantile of tau under the null, at the size of this piece."""
    domain_auc: float | None
    """Area under the ROC curve by which rows of the piece are told from those of its reference, each row left out of
    what it is compared with, in [0, 1]; 0.5 is no shift."""
    p_data: float | None
    """p-value in (0, 1] of the question whether the data moved: over the columns and data statistics of this piece."""
    p_model: float | None
    """p-value in (0, 1] of the question whether it matters to the model: over Fisher gap, Fisher KL, score and the
    target's distribution of this piece."""
    p_adjusted: float | None
    """The smaller of p_data and p_model, corrected over both questions and all pieces."""
    effect_data: float | None
    """Largest difference in probability among the statistics and columns that are significant, in [0, 1]; where none
    is, that of `statistic_data`. Each is compared with the smallest effect of its kind, see `min_effects`."""
    effect_model: float | None
    """The same for the model: excess of the relative Fisher gap, or of the standardised score, over the null, or the
    difference of the target's distribution. Each is compared with the smallest effect of its kind."""
    smallest_effect: float | None
    """Smallest KS distance that the test would find in this piece with 80 % power, in [0, 1]."""
    columns: tuple[ColumnShift, ...]
    """Columns of the piece compared with the reference: those that moved by --min-effect, then others that moved, then
    the rest; each group with the strongest evidence first."""
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
    p_data_adjusted: float | None = None
    """p_data, corrected over both questions and all pieces; the verdict follows it."""
    p_model_adjusted: float | None = None
    """p_model, corrected over both questions and all pieces; the verdict follows it."""
    statistic_data: str | None = None
    """The statistic that speaks for the data question, the one with the most evidence: columns, joint distribution, or
    covariate KL; trend where a column moves steadily over all pieces to this last one."""
    statistic_model: str | None = None
    """The same for the model question: score, Fisher gap, Fisher KL, target, or trend where the target's distribution
    moves steadily."""
    classifier_columns: tuple[str, ...] = ()
    """The columns whose relation to the others matters most, where it alone shows that the data moved: without one of
    them it tells the piece from its reference less well."""
    model_fit: ModelFit | None = None
    """How well the reference model predicts the piece and its reference; None without a target, or without a label on
    one side."""

    @property
    def statistics(self) -> tuple[str | None, str | None]:
        """The statistics that speak for the data question and for the model question."""
        return self.statistic_data, self.statistic_model

    @property
    def size(self) -> tuple[float, float]:
        """Sorts the largest effect last: that on the data, then that on the model, as far as the answer is yes.

        The two are on different scales: a difference of probabilities is at most 1, a relative one may be 10.
        """
        data, model = self.effect_data or 0.0, self.effect_model or 0.0
        return 0.0 if self.cell == "model only" else data, 0.0 if self.cell == "data only" else model

    @property
    def strength(self) -> tuple[float, float]:
        """Sorts the strongest evidence first: the smallest p, then the largest effect."""
        p = 1.0 if self.p_adjusted is None else self.p_adjusted
        return p, -max(self.effect_data or 0.0, self.effect_model or 0.0)

    @property
    def in_words(self) -> str:
        """`fold 3 - mean of age 0.5 sd higher (KS 0.20), p 0.001`, or `fold 3, p 0.31` where there is no reason."""
        p = "" if self.p_adjusted is None else f", p {self.p_adjusted:.3g}"
        return f"{self.name} - {self.reason}" if self.reason else f"{self.name}{p}"

    def significant(self, question: Literal["data", "model"], level: float) -> bool:
        """True if the difference is beyond chance, however small."""
        p = self.p_data_adjusted if question == "data" else self.p_model_adjusted
        return p is not None and p <= level

    def moved(self, level: float) -> tuple[ColumnShift, ...]:
        """The covariates that moved, in the order of `columns`; the target is none of them."""
        return tuple(column for column in self.columns if column.kind != "target" and column.moved(level))


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
class AuditReport(Drawn):
    """The audit of one table.

    Example:
        >>> import numpy as np
        >>> import picsc
        >>> rows = np.random.default_rng(0).normal(size=(100, 2))
        >>> rows[50:] += 2
        >>> report = picsc.audit(rows, batches=2, draws=199)
        >>> report.shifted[0].name, report.as_dict()["verdict"]
        ('batch 2', 'shift')
        >>> print(report.summary[0])
        shift: 1 of 2 pieces (2 batches in row order) differ from the piece before
    """

    verdict: Verdict
    """The verdict of the whole table; shift if any of its pieces is shifted."""
    summary: tuple[str, str, str]
    """Three lines: the verdict; the worst piece and why; the next step."""
    level: float
    """Family-wise level of the tests, in (0, 1)."""
    min_effect: float
    """Smallest distance that is called a shift, `min_effects.distance`."""
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
    min_effects: SmallestEffects = field(default_factory=SmallestEffects)
    """Smallest effects that are called a shift, by kind."""
    distributions: tuple[ColumnDistribution, ...] = ()
    """Counts of the columns that moved most, or came nearest to it, in the pieces concerned; empty for images."""
    column_effects: tuple[ColumnEffects, ...] = ()
    """Sizes of the leading columns in every piece, those that moved first; empty for images."""

    schema = "picsc.audit/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (self.verdict, counted(self.data.rows, "row"), counted(len(self.fragments), "piece")),
            self.summary,
        )

    def plot_columns(self) -> Figure:
        """A figure of the distributions of the leading columns, each piece beside its reference.

        Raises:
            SettingsError: matplotlib is missing; install `picsc[plots]`.
        """
        from picsc.notebooks.figures import plot_columns

        return plot_columns(self)

    @property
    def shifted(self) -> tuple[FragmentReport, ...]:
        """The pieces whose verdict is `shift`."""
        return tuple(fragment for fragment in self.fragments if fragment.verdict == "shift")

    @property
    def untested(self) -> tuple[FragmentReport, ...]:
        """The pieces that have no reference."""
        return tuple(fragment for fragment in self.fragments if fragment.verdict == "not tested")

    @property
    def failing(self) -> tuple[FragmentReport, ...]:
        """The shifted pieces that no baseline knows."""
        return tuple(fragment for fragment in self.shifted if fragment.standing != "known")

    @property
    def schema_changes(self) -> tuple[Finding, ...]:
        """The findings on columns that are not those of the reference file."""
        return tuple(finding for finding in self.findings if finding.code in SCHEMA_CODES)

    @property
    def schema_failures(self) -> tuple[Finding, ...]:
        """The findings on columns that `--strict-schema` fails; none where it is not set."""
        return self.schema_changes if self.settings.get("strict_schema") else ()

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values; a change of a key bumps `schema`. Numbers are finite or None."""
        body = {each.name: getattr(self, each.name) for each in fields(self)}
        body["null"], body["data"] = asdict(self.null), asdict(self.data)
        body["min_effects"] = self.min_effects.as_dict()
        body["balance"] = None if self.balance is None else asdict(self.balance)
        body["distributions"] = [asdict(column) for column in self.distributions]
        body["column_effects"] = [asdict(column) for column in self.column_effects]
        body["findings"] = [asdict(finding) for finding in self.findings]
        body["fragments"] = [asdict(fragment) for fragment in self.fragments]
        return strict({"schema": self.schema, **body})


@dataclass(frozen=True, slots=True)
class Unaudited:
    """One file of several that could not be audited, or is too short for `--min-table-rows`."""

    source: str
    """Path of the file as given."""
    reason: str
    """Why it was not audited, in one sentence."""


@dataclass(frozen=True, slots=True)
class AuditReports(Drawn):
    """The audits of several files."""

    reports: tuple[AuditReport, ...]
    """One audit per file, in the order of the call."""
    unaudited: tuple[Unaudited, ...]
    """The files that could not be audited."""
    skipped: tuple[Unaudited, ...] = ()
    """The files that have fewer rows than the caller wants to audit; they are no error."""

    schema = "picsc.audits/1"

    def __repr__(self) -> str:
        """A few lines; `as_dict` has everything."""
        return brief(
            self,
            (self.verdict, counted(len(self.reports), "table")),
            [f"{report.data.name}: {report.summary[0]}" for report in self.reports],
        )

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all; error where a file could not be audited, not tested where all were skipped."""
        found = {report.verdict for report in self.reports}
        order: tuple[Verdict, ...] = ("shift", "inconclusive", "ok", "equivalent")
        return "error" if self.unaudited else next((verdict for verdict in order if verdict in found), "not tested")

    def as_dict(self) -> dict[str, object]:
        """Plain JSON values, one `picsc.audit/1` per report."""
        return {
            "schema": self.schema,
            "verdict": self.verdict,
            "reports": [report.as_dict() for report in self.reports],
            "unaudited": [asdict(each) for each in self.unaudited],
            "skipped": [asdict(each) for each in self.skipped],
        }
