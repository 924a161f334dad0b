"""A model of all rows by one method of a cross-validation, with its settings, for use on new rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from picsc.cross_validation.cross_validate import Prepared, prepare
from picsc.cross_validation.methods import ISOTROPIC, MERGED, RUNNING, UNMERGED
from picsc.cross_validation.splits import fragmented
from picsc.cross_validation.summary import recommended
from picsc.datasets.data import Data
from picsc.datasets.rows import Rows
from picsc.datasets.table import Dataset
from picsc.errors import DataError, NumericsError, SettingsError
from picsc.fragments import cut
from picsc.phrases import counted
from picsc.reports.common import metric_word
from picsc.reports.cv import CvReport, MethodReport
from picsc.runtime.threads import one_thread
from picsc.saved_models.card import CardFacts, card_text
from picsc.saved_models.model import TableModel, model_of
from picsc.settings import CvSettings
from picsc.settings.choices import SavedMethod
from picsc.training.jobs import TrainingJob
from picsc.training.methods import Correction, MethodModel, train_jobs
from picsc.training.sequence_methods import SequenceModel, final_models
from picsc.training.sequences import FragmentSequences
from picsc.training.table_trainer import TableTrainer


@dataclass(frozen=True, slots=True)
class _MethodTraining:
    """How a method trains its model of all rows."""

    correction: Correction
    along: bool
    """True where the model is carried along the pieces with either algorithm; False where only a correction of
    Algorithm 2 carries it."""
    model: SequenceModel | None = None
    """Model of a sequence; None is the one that the method is scored by."""


_TRAINING: Mapping[str, _MethodTraining] = {
    "st-cv": _MethodTraining("none", along=False),
    "picsc": _MethodTraining("penalty", along=False),
    "weight-decay": _MethodTraining("decay", along=False),
    "carried": _MethodTraining("none", along=True, model="last"),
    "average": _MethodTraining("none", along=True, model="mean"),
    MERGED: _MethodTraining("none", along=True, model="merged"),
    RUNNING: _MethodTraining("none", along=True, model="running"),
    ISOTROPIC: _MethodTraining("isotropic", along=True),
    UNMERGED: _MethodTraining("penalty", along=True, model="last"),
}


@dataclass(frozen=True, slots=True)
class Refitted:
    """A model of all rows."""

    model: TableModel
    method: str
    recommended: bool
    """True for the method that the report advises to train with."""
    card: str
    """Its model card."""


def check_refit(data: Data) -> None:
    """Refuse, before the comparison, data whose models cannot be saved.

    Raises:
        SettingsError: they are no table.
    """
    if data.kind != "table":
        raise SettingsError(f"{data.name}: --save-model saves models of tables; leave it out for {data.kind}")


def refit(data: Data, settings: CvSettings, report: CvReport, method: SavedMethod | None = None) -> Refitted:
    """Train one method on all labelled rows, with lambda or weight decay chosen on them as it was on every part.

    Args:
        data: the table that was cross-validated.
        settings: of that run.
        report: of that run, for the method and the model card.
        method: one of `picsc.settings.choices.SAVED_METHODS`; None is the one that the report recommends.

    Raises:
        SettingsError: the data are no table.
        DataError: no method has a result.
        NumericsError: training left the finite numbers.
    """
    check_refit(data)
    name = method or recommended(report.methods)
    if name is None:
        raise DataError(f"{data.name}: no model is saved, because no method has a result; name one with --save-method")
    with one_thread():
        prepared = prepare(data, settings)
        table, trainer = prepared.table, prepared.experiment.setup.trainer
        assert isinstance(trainer, TableTrainer)  # noqa: S101 - that of a table
        pieces = [fragment.rows for fragment in cut(table, settings.cut, seed=settings.seed).fragments]
        found = _trained(prepared, [piece for piece in pieces if len(piece)], _TRAINING[name], settings)
    if found.failed or found.network is None:
        raise NumericsError(f"the {name} model of all rows left the finite numbers in epoch {found.failed}: lower --lr")
    model = model_of(found.network, table, settings.read, hidden=trainer.hidden, numbered=_numbered(data, table))
    card = card_text(model, _facts(report, name, found, table, given=method is not None))
    return Refitted(model, name, method is None, card)


def _trained(prepared: Prepared, pieces: list[Rows], training: _MethodTraining, settings: CvSettings) -> MethodModel:
    setup, nothing = prepared.experiment.setup, np.empty(0, np.int64)
    rows, fragment = fragmented(pieces, nothing)
    job = TrainingJob(rows, fragment, nothing, settings.seed)
    if not training.along and (setup.algorithm == 1 or training.correction == "none"):
        return train_jobs(setup, [job], training.correction)[0]
    if settings.foldwise:
        sequences = FragmentSequences.of_jobs([job])
    else:
        sequences = FragmentSequences([pieces], None, [nothing], [settings.seed], tests_all=not settings.cut.forward)
    return final_models(setup, sequences, training.correction, training.model)[0]


def _numbered(data: Data, table: Dataset) -> bool:
    """True if the classes are whole numbers in the data."""
    target = table.target
    if target is None or target.kind != "classes" or data.kind != "table":
        return False
    stored = data.raws.get(target.name)
    return (stored is None or not stored.coded) and all(_is_whole(level) for level in target.levels)


def _is_whole(word: str) -> bool:
    return word.removeprefix("-").isdecimal() and str(int(word)) == word


def _facts(report: CvReport, name: str, found: MethodModel, table: Dataset, *, given: bool) -> CardFacts:
    """The model card's content: what the report has measured, without any polish."""
    by_name = {each.method: each for each in report.methods}
    score = metric_word(report.data.metric)
    strength = [] if np.isnan(found.strength) else [f"lambda or weight decay {found.strength:g}"]
    why = "named with --save-method" if given else "recommended by the report"
    figures = [("method", score, "95 % interval", "log-loss", "minus st-cv (p)")]
    figures += [(f"{each.method}{' (this one)' * (each.method == name)}", *_figures(each)) for each in report.methods]
    foldwise = report.protocol == "foldwise"
    tested = "each piece tested by a model of all others" if foldwise else "models of pieces, tested on other rows"
    remarks = [
        f"{tested}, {counted(report.repeats, 'repeat')}; this model has learned from all rows, and was tested on none",
        *report.lines,
    ]
    if name not in by_name:
        remarks.append(f"{name} is not among the methods of the report")
    if report.majority is not None:
        remarks.append(f"the most frequent class alone has {100 * report.majority.share:.1f} %")
    remarks += [f"{each.severity}: {each.message}" for each in report.findings]
    versions = report.manifest.get("versions")
    return CardFacts(
        f"{name} on {report.data.name}",
        f"{report.data.name} ({report.data.source})",
        report.data.sha256,
        table.n,
        [f"method: {name}, {why}", f"pieces: {report.pieces}", *strength, f"test: {report.test}"],
        figures,
        remarks,
        {key: value for key, value in report.settings.items() if value is not None},
        versions if isinstance(versions, dict) else None,
    )


def _figures(method: MethodReport) -> tuple[str, str, str, str]:
    interval = "-"
    if method.interval is not None:
        interval = f"{100 * method.interval.low:.1f} to {100 * method.interval.high:.1f} %"
    plain = method.against("st-cv")
    against = "-"
    if plain is not None and plain.accuracy is not None:
        p = "" if plain.accuracy_p is None else f" (p {plain.accuracy_p:.2g})"
        against = f"{100 * plain.accuracy:+.1f} points{p}"
    mean = "no result" if method.mean is None else f"{100 * method.mean:.1f} %"
    return mean, interval, "-" if method.log_loss is None else f"{method.log_loss:.3f}", against
