"""Reports of comparisons built by hand, for tests of what reads them."""

from __future__ import annotations

from dataclasses import replace

from picsc.reports.common import Difference, Interval, MajorityClass
from picsc.reports.compare import (
    CompareMethodReport,
    CompareReport,
    CompareUnit,
    Delta,
    Measured,
    Risk,
    TargetInfo,
    Weights,
)
from tests.factories.audit import audit_report
from tests.factories.differences import adjusted

TARGETS = (
    TargetInfo("site=cleveland", train=617, adapt=151, labelled=30, judge=152, separation=0.9412),
    TargetInfo("site=[red]veterans[/red]_long_beach", train=720, adapt=100, labelled=20, judge=100, separation=0.731),
    TargetInfo("site=switzerland", train=797, adapt=61, labelled=12, judge=62, separation=None),
)
REPEATS = 2
REFUSED = "refused: the effective sample size is 3.1 % of 617 rows, below --floor 0.05; flatten with --exponent"


def compare_unit(repeat: int, target: str, accuracy: float | None, **changes: object) -> CompareUnit:
    fine = CompareUnit(
        repeat=repeat,
        target=target,
        rows=617,
        accuracy=accuracy,
        log_loss=0.4125,
        auc=0.87,
        reason="",
        ess=None,
        largest=None,
        strength=None,
        exponent=None,
        balanced_accuracy=0.775,
    )
    return replace(fine, **changes)


def above(against: str, accuracy: float | None, p: float | None, log_loss: float | None = -0.0512) -> Difference:
    interval = None if accuracy is None else Interval(accuracy - 0.0213, accuracy + 0.0213)
    return Difference(against, accuracy, interval, p, log_loss, p)


def compare_method(method: str, accuracies: tuple[float | None, ...], **changes: object) -> CompareMethodReport:
    there = [accuracy for accuracy in accuracies if accuracy is not None]
    mean = sum(there) / len(there) if there else None
    names = [target.name for target in TARGETS[: len(accuracies)]]
    plain = CompareMethodReport(
        method=method,
        words=f"what {method} is",
        accuracy=mean,
        interval=None if mean is None else Interval(mean - 0.0188, mean + 0.0211),
        log_loss=0.4125,
        targets=accuracies,
        weights=None,
        memory=0,
        strengths=(),
        exponents=(),
        failed=0,
        differences=() if method == "st-cv" else (above("st-cv", 0.0123, 0.0312),),
        units=tuple(
            compare_unit(repeat, name, accuracy)
            for repeat in range(1, REPEATS + 1)
            for name, accuracy in zip(names, accuracies, strict=True)
        ),
        balanced_accuracy=0.775,
        auc=0.87,
    )
    return replace(plain, **changes)


def compare_report(**changes: object) -> CompareReport:
    """Three hospitals in turn with every kind of row, unless fields are given."""
    nothing = {"log_loss": None, "auc": None, "balanced_accuracy": None}
    refused = tuple(
        compare_unit(repeat, TARGETS[0].name, None, reason=REFUSED, refused=True, **nothing) for repeat in (1, 2)
    )
    reason = "diverged at epoch 3 with weight decay 0.01 and learning rate 0.02"
    diverged = compare_unit(2, TARGETS[2].name, None, reason=reason, diverged=3, **nothing)
    others = {"st-cv": 0.0004, "iw": 0.25, "kmm": 0.731, "diw": 1.0}
    report = CompareReport(
        setting="in turn",
        summary=(
            "picsc: 80.6 % against 78.8 % of st-cv, +1.8 points (p 0.0004); log-loss 0.36 against 0.41",
            "strongest other method: iw, 80.0 %; picsc is 0.6 points above it (p 0.25)",
            "next: picsc helps on these targets; iw does nearly as well where it is not refused",
        ),
        data=replace(audit_report().data, name="heart-disease", rows=920, columns=()),
        words="3 pieces by site, each the target of all others",
        targets=TARGETS,
        repeats=REPEATS,
        test="corrected resampled t-test over 3 targets and 2 repeats",
        methods=(
            compare_method("st-cv", (0.8123, 0.7512, 0.8012)),
            compare_method(
                "iw",
                (0.8251, 0.7634, 0.8123),
                weights=Weights(0.4123, 0.0712, 23.456),
                memory=1_234_567,
                differences=(above("st-cv", 0.0123, 0.0312),),
                units=tuple(
                    compare_unit(r, target.name, 0.8, ess=0.4, largest=23.4, exponent=1.0)
                    for r in (1, 2)
                    for target in TARGETS
                ),
            ),
            compare_method(
                "iwcv", (0.8, 0.75, 0.79), weights=Weights(0.7, 0.2, 9.0), memory=1_234_567, exponents=(0.25, 0.5, 1.0)
            ),
            compare_method(
                "kmm",
                (None, 0.7312, 0.7711),
                weights=Weights(0.0712, 0.0512, 987.6),
                memory=1_949_000_000,
                failed=2,
                differences=(above("st-cv", -0.0251, 0.0123, 0.08),),
                units=(*refused, *(compare_unit(r, t.name, 0.75) for r in (1, 2) for t in TARGETS[1:])),
            ),
            compare_method("diw", (0.8, 0.7, 0.8), memory=12_345, differences=(above("st-cv", -0.0216, None),)),
            compare_method(
                "picsc",
                (0.8351, 0.7712, 0.8123),
                log_loss=0.3612,
                strengths=(0.01, 0.1),
                differences=tuple(above(name, 0.0179, p) for name, p in others.items()),
            ),
            compare_method("weight-decay", (0.8, 0.75, None), strengths=(0.01,), failed=1, units=(diverged,)),
            compare_method(
                "picsc-random",
                (1.0, 1.0, 1.0),
                interval=Interval(0.995, 1.0),
                strengths=(0.1,),
                differences=(above("st-cv", 0.2118, 0.0001),),
            ),
        ),
        majority=MajorityClass("sick", 0.5533),
        deltas=(
            Delta("Δ1", "picsc", "st-cv", 0.0179, 0.0222, "picsc"),
            Delta("Δ2", "picsc", "diw", 0.0395, 0.0515, "diw"),
        ),
        risks=(
            Risk("unweighted", 0.8812, 0.3012, 0.0931, 0.1109, 0.0911, -0.1101),
            Risk("iw", 0.8211, None, 0.0341, None, 0.0321, None),
        ),
        findings=audit_report().findings,
        settings={"read": {"target": "diagnosis"}, "cut": {"by": "site"}, "train_on": (), "algorithm": 1, "seed": 7},
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "seed": 7},
    )
    report = replace(report, methods=adjusted(report.methods))
    return replace(report, **changes)


def one_target(**changes: object) -> CompareReport:
    """One random target and two methods."""
    report = compare_report(
        setting="integral",
        words="a random fifth of the rows is the target",
        targets=(TargetInfo("random part", train=455, adapt=57, labelled=10, judge=57, separation=0.5123),),
        methods=(
            compare_method("st-cv", (0.9512,)),
            compare_method("picsc", (0.9634,), differences=(above("st-cv", 0.0122, 0.25),)),
        ),
        deltas=(Delta("Δ1", "picsc", "st-cv", 0.0122, None, "picsc"),),
        risks=(),
        findings=(),
    )
    report = replace(report, methods=adjusted(report.methods))
    return replace(report, **changes)


def timed(report: CompareReport) -> CompareReport:
    """With what every method took."""
    seconds = (0.3142, 12.3456, 1234.5)
    return replace(
        report,
        measured=tuple(Measured(m.method, seconds[i % len(seconds)]) for i, m in enumerate(report.methods)),
    )
