"""Reports built by hand, for tests of what reads reports: renderers, formats and exit codes."""

from __future__ import annotations

from dataclasses import replace

from picsc.reports.common import (
    AuditReport,
    AuditReports,
    Choice,
    ColumnInfo,
    ColumnShift,
    DataInfo,
    Finding,
    FragmentReport,
    NullInfo,
    Reading,
    Unaudited,
    Verdict,
)
from picsc.reports.cv import CvReport, Difference, Interval, Loss, MethodReport, Unit
from picsc.reports.recipes import OverSets, PairedDifference, RecipeReport, RecipeRow, RecipeTable, Score


def column_shift(
    name: str, statistic: float | None, p: float | None = 0.001, *, kind: str = "numeric", note: str = ""
) -> ColumnShift:
    return ColumnShift(name=name, kind=kind, statistic=statistic, p_adjusted=p, kl=0.25, note=note)


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
    )
    return replace(ok, **changes)


SHIFTED = fragment(
    "fold 3",
    "shift",
    cell="both",
    reason="worst concave points and 4 more moved, KS 0.52",
    fisher_gap=1234.5,
    kl=12.3456,
    tau=15240.7,
    p_data=0.001,
    p_model=0.0004,
    p_adjusted=0.0008,
    columns=(
        column_shift("worst concave points", 0.5161),
        column_shift("β→γ", 0.41234),  # noqa: RUF001 - Greek is meant
        column_shift("mean [red]texture", 0.3),
        column_shift("smoothness", 0.12, kind="missing"),
        column_shift("area error", 0.11),
        column_shift("symmetry", 0.05, 0.2),
    ),
)
MODEL_ONLY = fragment(
    "fold 4",
    "shift",
    cell="model only",
    reason="label shift: P(diagnosis) differs by 0.31",
    p_model=0.002,
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
    columns=(),
)


def audit_report(*fragments: FragmentReport, **changes: object) -> AuditReport:
    """A report of a small table with every kind of row, unless told otherwise."""
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
    )
    return replace(report, **changes)


def reading(file_format: str = "csv", compression: str = "", **choices: str) -> Reading:
    """How a file was read; a choice is `value, how`."""
    pairs = {name: told.split(", ", 1) for name, told in choices.items()}
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
        fragment("fold 2", first_row=58, reason="real but small: effect 0.02 < --min-effect 0.05"),
        replace(SHIFTED, standing="worse", first_row=115),
        known,
        TOO_SMALL,
        findings=audit_report().findings,
        baseline="picsc-baseline.json",
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "seed": 7},
    )
    odd = file_report("data/odd.csv.gz", fragment("fold 1", first_row=1))
    second = replace(odd, data=replace(odd.data, reading=ODD))
    missing = Unaudited("data/a,b|c.csv", "data/a,b|c.csv: no such file")
    return AuditReports((first, second), (missing,))


def unit(repeat: int, piece: str, accuracy: float | None, **changes: object) -> Unit:
    fine = Unit(
        repeat=repeat,
        fragment=piece,
        rows=480,
        accuracy=accuracy,
        log_loss=0.3125,
        auc=0.97,
        weighted_accuracy=None,
        reason="",
        strength=None,
        penalty_share=None,
        flagged=None,
        tau=None,
        gamma=None,
    )
    return replace(fine, **changes)


def difference(against: str, accuracy: float, p: float | None, log_loss: float = -0.05) -> Difference:
    return Difference(against, accuracy, Interval(accuracy - 0.01, accuracy + 0.01), p, log_loss, p)


def method_report(method: str, accuracies: tuple[float | None, ...], **changes: object) -> MethodReport:
    there = [accuracy for accuracy in accuracies if accuracy is not None]
    plain = MethodReport(
        method=method,
        words=f"what {method} is",
        whole=0.948,
        whole_log_loss=0.2,
        fragments=accuracies,
        mean=sum(there) / len(there),
        variance=0.4912,
        interval=Interval(0.8801, 0.9012),
        log_loss=0.3125,
        weighted_accuracy=None,
        strengths=(),
        penalty_share=None,
        flagged=None,
        failed=0,
        differences=() if method == "st-cv" else (difference("st-cv", 0.0123, 0.0312),),
        units=tuple(unit(1, f"batch {i + 1}", accuracy) for i, accuracy in enumerate(accuracies)),
    )
    return replace(plain, **changes)


DIVERGED = unit(1, "batch 2", None, reason="diverged at epoch 3 with lambda 0.1 and learning rate 0.02", log_loss=None)
UNMERGED = method_report("picsc, unmerged", tuple(0.89 + i / 1000 for i in range(20)), interval=None, log_loss=1.0)


def cv_report(**changes: object) -> CvReport:
    """Twenty batches with every kind of row, unless told otherwise."""
    accuracies = tuple(0.88 + i / 1000 for i in range(20))
    controls = {"weight-decay": 0.0004, "carried": 0.25, "average": 1.0, "subsample": 0.731}
    report = CvReport(
        protocol="batchwise",
        algorithm=2,
        summary=(
            "picsc: 90.0 % on average, 1.2 points above st-cv (p 0.0312)",
            "strongest control: carried, 89.9 %; picsc is 0.1 points above it (p 0.25)",
            "next: with this little left to gain, take the carried parameters and leave the penalty out",
        ),
        data=replace(audit_report().data, rows=9600, columns=()),
        pieces="20 batches",
        fragments=tuple(f"batch {i + 1}" for i in range(20)),
        repeats=2,
        test="corrected resampled t-test over 20 pieces and 2 repeats",
        methods=(
            method_report("st-cv", accuracies, whole_log_loss=None),
            method_report(
                "picsc",
                tuple(accuracy + 0.0123 for accuracy in accuracies),
                strengths=(0.001, 0.04, 0.1),
                penalty_share=0.173,
                flagged=(3, 38),
                differences=(
                    difference("st-cv", 0.0123, 0.0312, -0.3912),
                    *(difference(name, 0.001, p) for name, p in controls.items()),
                ),
                units=tuple(
                    unit(r, f"batch {i + 1}", a, strength=0.1, penalty_share=0.2, flagged=i > 17, tau=0.5, gamma=0.4)
                    for r in (1, 2)
                    for i, a in enumerate(accuracies)
                ),
            ),
            UNMERGED,
            method_report(
                "weight-decay", (0.9, None, *accuracies[2:]), strengths=(0.01,), failed=1, units=(DIVERGED,), whole=None
            ),
            *(
                method_report(name, accuracies, differences=(difference("st-cv", -0.02, 0.5, 0.1),))
                for name in ("carried", "average", "subsample")
            ),
        ),
        loss=Loss(0.031, 0.026, 0.005, Interval(-0.001, 0.011)),
        findings=audit_report().findings,
        settings={"read": {"target": "diagnosis"}, "cut": {"batches": 20}, "algorithm": None, "seed": 7},
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "seed": 7},
    )
    return replace(report, **changes)


def recipe_row(data: str, pieces: int, gain: float, **changes: object) -> RecipeRow:
    """Six methods; picsc is `gain` above st-cv and the paper 0.5 points above picsc."""
    names = ("picsc", "weight-decay", "carried", "average", "subsample")
    others = tuple(Score(name, 0.8 + gain / (i + 1), 0.5 - gain / (i + 1)) for i, name in enumerate(names))
    scores = (Score("st-cv", 0.8, 0.5), *others)
    fine = RecipeRow(
        data=data,
        rows=1000,
        pieces=pieces,
        sha256="1" * 64,
        scores=scores,
        printed=0.805 + gain,
        difference=-0.005,
        verdict=None,
        shifted=None,
        counted=True,
        failed=0,
        reason="",
    )
    return replace(fine, **changes)


def recipe_means(pieces: int) -> OverSets:
    scores = recipe_row("", pieces, 0.012).scores
    tests = tuple(
        PairedDifference(score.method, 3, gain, Interval(gain - 0.01, gain + 0.01), 0.0312, -0.1, None, 0.0004)
        for score, gain in zip((scores[0], *scores[2:]), (0.012, 0.0, -0.004, 0.02, 0.03), strict=True)
    )
    return OverSets(pieces, 3, scores, 0.817, -0.005, tests)


def recipe_report(**changes: object) -> RecipeReport:
    """Two numbers of pieces, a data set that was not run and one that does not count."""
    unknown = "the paper's version of this data set is not known"
    rows = (
        *(recipe_row(name, 5, gain) for name, gain in (("mammographic", 0.02), ("sonar", 0.01), ("wdbc", -0.003))),
        recipe_row("bupa", 5, 0.1, counted=False, reason=unknown),
        *(recipe_row(name, 10, gain) for name, gain in (("mammographic", 0.01), ("sonar", 0.0), ("wdbc", 0.004))),
        recipe_row("bupa", 10, 0.1, counted=False, reason=unknown, printed=None, difference=None, failed=2),
        replace(
            recipe_row("a_very_long_name_of_data", 10, 0.0, counted=False, reason="there is no data set of that name"),
            rows=None,
            scores=(),
            printed=None,
            difference=None,
            sha256="",
        ),
    )
    over = tuple(recipe_means(pieces) for pieces in (5, 10))
    table = RecipeTable(
        title="Corrected cross-validation by folds",
        recipe="e4-tables.yaml",
        sha256="2" * 64,
        verb="cv",
        paper="E4, fold-wise",
        method="picsc",
        version="tables as OpenML has them",
        rows=rows,
        over_sets=over,
        settings={"penalty": {"strength": 0.1}, "seed": 0},
    )
    report = RecipeReport((table,), "signed-rank over data sets", {"versions": {"python": "3.12.0", "picsc": "0.1.0"}})
    return replace(report, **changes)
