"""Reports of cross-validation built by hand."""

from __future__ import annotations

from dataclasses import replace

from picsc.reports.common import Difference, Interval, MajorityClass
from picsc.reports.cv import CvReport, Loss, MethodReport, Unit
from tests.factories.audit import audit_report
from tests.factories.differences import adjusted


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
        balanced_accuracy=0.875,
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
        balanced_accuracy=0.875,
        auc=0.97,
    )
    return replace(plain, **changes)


DIVERGED = unit(
    1,
    "batch 2",
    None,
    reason="diverged at epoch 3 with lambda 0.1 and learning rate 0.02",
    log_loss=None,
    auc=None,
    balanced_accuracy=None,
    diverged=3,
)


UNMERGED = method_report("picsc, unmerged", tuple(0.89 + i / 1000 for i in range(20)), interval=None, log_loss=1.0)


def cv_report(**changes: object) -> CvReport:
    """Twenty batches with every kind of row, unless fields are given."""
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
        majority=MajorityClass("benign", 0.6274),
        manifest={"versions": {"python": "3.12.0", "picsc": "0.1.0"}, "seed": 7},
    )
    report = replace(report, methods=adjusted(report.methods))
    return replace(report, **changes)
