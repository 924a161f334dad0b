"""Reports built by hand, for tests of what reads reports: renderers, formats and exit codes."""

from __future__ import annotations

from dataclasses import replace

from picsc.reports.audit import AuditReport, AuditReports, FragmentReport, NullInfo, Unaudited
from picsc.reports.columns import ColumnShift
from picsc.reports.common import Choice, ColumnInfo, DataInfo, Finding, Interval, Reading, Verdict
from picsc.reports.distributions import ColumnDistribution, ColumnEffects, PieceCounts
from picsc.reports.effects import ModelFit


def column_shift(
    name: str, statistic: float | None, p: float | None = 0.001, *, kind: str = "numeric", **changes: object
) -> ColumnShift:
    return replace(ColumnShift(name=name, kind=kind, statistic=statistic, p_adjusted=p, kl=0.25), **changes)


def fragment(name: str, verdict: Verdict = "ok", **changes: object) -> FragmentReport:
    ok = FragmentReport(
        name=name,
        rows=57,
        verdict=verdict,
        reason="",
        cell="neither",
        fisher_gap=0.0312,
        fisher_gap_relative=0.11,
        fisher_kl=0.42,
        score=3.5,
        kl=0.81234,
        label_kl=0.0001,
        missing_kl=0.0,
        tau=0.02534,
        tau_quantile=0.09,
        domain_auc=0.512,
        p_data=0.4124,
        p_model=0.731,
        p_adjusted=1.0,
        effect_data=0.04,
        effect_model=0.0,
        smallest_effect=0.31,
        columns=(column_shift("mean radius", 0.08, 0.9),),
        p_data_adjusted=0.974,
        p_model_adjusted=1.0,
        statistic_data="columns",
        statistic_model="score",
    )
    return replace(ok, **changes)


SHIFTED = fragment(
    "fold 3",
    "shift",
    cell="both",
    reason="mean of worst concave points 0.93 sd higher (KS 0.52 [0.40, 0.61]), p 0.001; 5 more moved; the model cares "
    "(Fisher gap, effect 3.10, p 0.001); the reference model is right in 84.0 % of this piece and in 91.2 % of the "
    "rest (-7.2 points [-18.8, 1.5])",
    model_fit=ModelFit("accuracy", 0.84, 0.912, -0.072, Interval(-0.188, 0.015), 0.21, Interval(-0.02, 0.44)),
    fisher_gap=1234.5,
    kl=12.3456,
    tau=15240.7,
    p_data=0.001,
    p_model=0.0004,
    p_adjusted=0.0008,
    p_data_adjusted=0.002,
    p_model_adjusted=0.0008,
    effect_data=0.5161,
    columns=(
        column_shift(
            "worst concave points",
            0.5161,
            interval=Interval(0.402, 0.611),
            mean_difference=0.0612,
            mean_interval=Interval(0.0431, 0.0793),
            effect_in_sd=0.931,
            effect_in_sd_interval=Interval(0.655, 1.206),
            sd_ratio=1.12,
            sd_ratio_interval=Interval(0.91, 1.38),
        ),
        column_shift("β→γ", 0.41234),  # noqa: RUF001 - Greek is meant
        column_shift("mean [red]texture", 0.3),
        column_shift(
            "smoothness",
            0.12,
            kind="missing",
            interval=Interval(0.041, 0.228),
            points=12.0,
            points_interval=Interval(4.1, 22.8),
        ),
        column_shift("area error", 0.11),
        column_shift("compactness", 0.08, 0.65, kl=253.4, p_kl=0.003),
        column_shift("symmetry", 0.05, 0.2),
    ),
)
MODEL_ONLY = fragment(
    "fold 4",
    "shift",
    cell="model only",
    reason="label shift: P(diagnosis) differs by 0.31, p 0.004",
    p_model=0.002,
    p_adjusted=0.004,
    p_model_adjusted=0.004,
    fisher_gap=1.2e-7,
)
TOO_SMALL = fragment(
    "fold 5",
    "inconclusive",
    rows=8,
    reason="n=8 < n_min",
    cell=None,
    fisher_gap=None,
    kl=None,
    tau=None,
    p_data=None,
    p_model=None,
    p_adjusted=None,
    p_data_adjusted=None,
    p_model_adjusted=None,
    statistic_data=None,
    statistic_model=None,
    columns=(),
)
UNTESTED = replace(TOO_SMALL, name="batch 1", rows=57, verdict="not tested", reason="first piece: nothing before it")


DISTRIBUTIONS = (
    ColumnDistribution(
        "worst concave points",
        "numeric",
        (0.05, 0.1, 0.15),
        (),
        0,
        (PieceCounts("fold 3", (4, 10, 20, 22), 1, (60, 70, 30, 19), 0),),
    ),
    ColumnDistribution(
        "β→γ",  # noqa: RUF001
        "categorical",
        (),
        ("[red]a[/red]", "b"),
        3,
        (PieceCounts("fold 3", (40, 10, 7), 0, (100, 70, 6), 3),),
    ),
)
COLUMN_EFFECTS = (ColumnEffects("worst concave points", "numeric", (0.04, 0.07, 0.5161, 0.05, None)),)


def audit_report(*fragments: FragmentReport, **changes: object) -> AuditReport:
    """A report of a small table with every kind of row, unless fields are given."""
    report = AuditReport(
        verdict="shift",
        summary=(
            "shift: 2 of 5 pieces of tumours differ from the rest of the table",
            "worst: fold 3 (57 rows), worst concave points moved by 0.516, and the model's Fisher information with it",
            "next: shuffle before cutting (--shuffle), or look at worst concave points in fold 3",
        ),
        level=0.05,
        min_effect=0.05,
        reference="rest",
        pieces="5 stratified folds, unshuffled",
        null=NullInfo(kind="permutation", unit="rows within classes", draws=999, rows=236),
        data=DataInfo(
            name="tumours.csv",
            source="tumours.csv",
            rows=236,
            target="diagnosis",
            target_chosen="--target",
            task="classification",
            classes=2,
            columns=(
                ColumnInfo("worst concave points", "numeric", 0, None, True, ""),
                ColumnInfo("β→γ", "categorical", 3, 7, True, "2 rare levels pooled into (other)"),  # noqa: RUF001
                ColumnInfo("id", "identifier", 0, None, False, "a different value in every row"),
            ),
            sha256="0" * 64,
        ),
        findings=(
            Finding(
                "duplicate-rows",
                "warning",
                "12 rows of fold 3 are also in other folds, which makes test scores look better than they are",
                "remove the duplicates, or keep them together with --group COL",
                ("fold 3",),
            ),
            Finding("identifier-left-out", "note", "column id is left out: it has a different value in every row."),
        ),
        fragments=fragments or (fragment("fold 1"), fragment("fold 2"), SHIFTED, MODEL_ONLY, TOO_SMALL),
        settings={"read": {"target": "diagnosis", "drop": ()}, "cut": {"folds": 5}, "reference": None, "seed": 7},
        manifest={"picsc": "0.1.0", "loss": float("nan")},
        distributions=() if fragments else DISTRIBUTIONS,
        column_effects=() if fragments else COLUMN_EFFECTS,
    )
    return replace(report, **changes)


def reading(file_format: str = "csv", compression: str = "", **choices: str) -> Reading:
    """The way a file was read; a choice is `value, how`."""
    pairs = {name: text.split(", ", 1) for name, text in choices.items()}
    return Reading(file_format, compression, tuple(Choice(name, value, how) for name, (value, how) in pairs.items()))


USUAL = reading(
    encoding="utf-8, the default", delimiter=",, the first 20 lines agree", quote="double, the default",
    decimal="point, the default", header="yes, the default",
)  # fmt: skip
ODD = reading("csv", "gzip", encoding="cp1252, not UTF-8", delimiter=";, the first 20 lines agree", header="no, told")


def file_report(source: str, *fragments: FragmentReport, **changes: object) -> AuditReport:
    """A report on a file, whose verdict is that of its pieces."""
    data = replace(audit_report().data, name=source, source=source, reading=USUAL)
    found = {piece.verdict for piece in fragments}
    verdict = next((v for v in ("shift", "inconclusive", "ok") if v in found), "ok")
    summary = (f"{verdict}: as the pieces of {source} say", "worst: this one", "next: look at it")
    given: dict[str, object] = {"data": data, "verdict": verdict, "summary": summary, "findings": (), **changes}
    return audit_report(*fragments, **given)


def audit_reports() -> AuditReports:
    """Three files: one with all kinds of pieces and a baseline, one that is ok, one that could not be audited."""
    known = replace(MODEL_ONLY, standing="known", first_row=172)
    first = file_report(
        "data/tumours.csv",
        fragment("fold 1", first_row=1),
        fragment("fold 2", first_row=58, reason="real but small, below --min-effect 0.05: age moved, KS 0.02, p 0.01"),
        replace(SHIFTED, standing="worse", first_row=115),
        known,
        TOO_SMALL,
        UNTESTED,
        findings=audit_report().findings,
        baseline="picsc-baseline.json",
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "seed": 7},
    )
    odd = file_report("data/odd.csv.gz", fragment("fold 1", first_row=1))
    second = replace(odd, data=replace(odd.data, reading=ODD))
    missing = Unaudited("data/a,b|c.csv", "data/a,b|c.csv: no such file")
    return AuditReports((first, second), (missing,))
