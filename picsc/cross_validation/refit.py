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
from picsc.errors import DataError, NumericsError
from picsc.fragments import cut
from picsc.phrases import counted
from picsc.reports.cv import CvReport, MethodReport
from picsc.runtime.threads import one_thread
from picsc.saved_models.card import card_text
from picsc.saved_models.model import model_of
from picsc.saved_models.refitted import Refitted, check_savable, of_whole_numbers
from picsc.saved_models.study_card import MethodFigures, Study, Trained, study_facts
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


def check_refit(data: Data, settings: CvSettings) -> None:
    """Refuse, before the comparison, data and models that cannot be saved.

    Args:
        data: to cross-validate.
        settings: of the run.

    Raises:
        SettingsError: the data are no table, or the model is the user's own.
    """
    check_savable(data, settings.train.model if settings.train.own else None)


def refit(data: Data, settings: CvSettings, report: CvReport, method: SavedMethod | None = None) -> Refitted:
    """Train one method on all labelled rows, with lambda or weight decay chosen on them as it was on every part.

    Args:
        data: the table that was cross-validated.
        settings: of that run.
        report: of that run, for the method and the model card.
        method: one of `picsc.settings.choices.SAVED_METHODS`; None is the one that the report recommends.

    Raises:
        SettingsError: the data are no table, or the model is the user's own.
        DataError: no method has a result.
        NumericsError: training left the finite numbers.
    """
    check_refit(data, settings)
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
    model = model_of(
        found.network, table, settings.read, hidden=trainer.hidden, numbered=of_whole_numbers(data, table.target)
    )
    strength = [] if np.isnan(found.strength) else [f"lambda or weight decay {found.strength:g}"]
    trained = Trained(name, method is not None, table.n, [f"pieces: {report.pieces}", *strength])
    card = card_text(model, study_facts(_study(report), trained))
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


def _study(report: CvReport) -> Study:
    """What a model card says of the report."""
    foldwise = report.protocol == "foldwise"
    tested = "each piece tested by a model of all others" if foldwise else "models of pieces, tested on other rows"
    repeats = counted(report.repeats, "repeat")
    return Study(
        report,
        "st-cv",
        [_figures(each) for each in report.methods],
        f"{tested}, {repeats}; this model has learned from all rows, and was tested on none",
    )


def _figures(method: MethodReport) -> MethodFigures:
    plain = method.against("st-cv")
    difference, p = (None, None) if plain is None else (plain.accuracy, plain.accuracy_p)
    return MethodFigures(method.method, method.mean, method.interval, method.log_loss, difference, p)
