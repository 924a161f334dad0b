"""The facts of a model card that come from the report of a study: what it measured, without any polish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from picsc.reports.common import Interval, metric_word
from picsc.reports.compare import CompareReport
from picsc.reports.cv import CvReport
from picsc.reports.fed import FedReport
from picsc.saved_models.card import CardFacts


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """The figures of one method of a study."""

    method: str
    score: float | None
    """Accuracy or R², a fraction; None without a result."""
    interval: Interval | None
    log_loss: float | None
    """Nats per row."""
    difference: float | None
    """Its score minus that of the plain method, a fraction; None where the two were not compared."""
    p: float | None
    """p-value of that difference; None where there is no test."""


@dataclass(frozen=True, slots=True)
class Study:
    """A report, and what a card says of it."""

    report: CvReport | CompareReport | FedReport
    plain: str
    """The method that the others are compared with."""
    methods: Sequence[MethodFigures]
    tested: str
    """How the figures came about, and what the saved model has to do with them."""


@dataclass(frozen=True, slots=True)
class Trained:
    """How the saved model was trained."""

    method: str
    given: bool
    """True if the user named the method."""
    rows: int
    """Training rows."""
    how: Sequence[str]
    """One sentence each."""
    why: str = "recommended by the report"
    """Why the report decided on the method, unless the user named it."""


def study_facts(study: Study, trained: Trained) -> CardFacts:
    """The content of a model card.

    Args:
        study: what was measured.
        trained: the model that is saved.
    """
    report, name = study.report, trained.method
    why = "named with --save-method" if trained.given else trained.why
    score = metric_word(report.data.metric)
    figures: list[tuple[str, ...]] = [("method", score, "95 % interval", "log-loss", f"minus {study.plain} (p)")]
    figures += [(f"{each.method}{' (this one)' * (each.method == name)}", *_cells(each)) for each in study.methods]
    remarks = [study.tested, *report.lines]
    if name not in {each.method for each in study.methods}:
        remarks.append(f"{name} is not among the methods of the report")
    if report.majority is not None:
        remarks.append(f"the most frequent class alone has {100 * report.majority.share:.1f} %")
    remarks += [f"{each.severity}: {each.message}" for each in report.findings]
    versions = report.manifest.get("versions")
    return CardFacts(
        f"{name} on {report.data.name}",
        f"{report.data.name} ({report.data.source})",
        report.data.sha256,
        trained.rows,
        [f"method: {name}, {why}", *trained.how, f"test: {report.test}"],
        figures,
        remarks,
        {key: value for key, value in report.settings.items() if value is not None},
        versions if isinstance(versions, dict) else None,
    )


def _cells(method: MethodFigures) -> tuple[str, str, str, str]:
    interval = "-"
    if method.interval is not None:
        interval = f"{100 * method.interval.low:.1f} to {100 * method.interval.high:.1f} %"
    against = "-"
    if method.difference is not None:
        p = "" if method.p is None else f" (p {method.p:.2g})"
        against = f"{100 * method.difference:+.1f} points{p}"
    mean = "no result" if method.score is None else f"{100 * method.score:.1f} %"
    return mean, interval, "-" if method.log_loss is None else f"{method.log_loss:.3f}", against
