"""Predictions of a saved model for the rows of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from picsc.datasets.files.read import read_frame
from picsc.datasets.new_rows import new_rows
from picsc.errors import DataError, SettingsError
from picsc.reports.predict import PredictReport
from picsc.runtime.threads import one_thread
from picsc.saved_models.folder import digest_of, load_model
from picsc.saved_models.input_shift import input_shift


def predict_file(folder: str | Path, source: str | Path, *, audit: bool = False) -> PredictReport:
    """Predict the rows of a file of any format that picsc reads.

    Args:
        folder: of a saved model.
        source: path of the file; `-` is standard input. Its columns may be in any order, and columns that the model
            does not know are ignored, such as the labels.
        audit: compare the new rows with the training rows, too.

    Raises:
        SettingsError: an audit of a model that has no counts of its training rows.
        DataError: the model or the file cannot be read, or the file lacks a column of the model.
    """
    model = load_model(folder)
    training = model.training_rows
    if audit and training is None:
        raise SettingsError(
            f"--audit: the model in {folder} has no counts of its training rows, which came in batches; leave it out"
        )
    read = model.known.read.model_copy(update={"format": None, "sheet": None, "target": None, "no_target": True})
    file = read_frame(source, read)
    where = "standard input" if str(source) == "-" else str(source)
    if not len(file.frame):
        raise DataError(f"{where} has no rows to predict")
    comma = any(choice.name == "decimal" and choice.value == "comma" for choice in file.reading.choices)
    # labels of the new rows are nothing that a model need know
    labelled = model.target.name in file.frame.columns and model.target.name not in model.columns
    frame = file.frame.drop(columns=model.target.name) if labelled else file.frame
    table, findings = new_rows(frame, model.known, where=where, decimal="," if comma else None)
    with one_thread():
        outputs = model.outputs(table)
    classes = model.target.classes
    return PredictReport(
        model=str(folder),
        model_sha256=digest_of(folder),
        source=where,
        source_sha256=file.sha256,
        target=model.target.name,
        classes=classes,
        predictions=tuple(model.predicted(outputs).tolist()),
        probabilities=tuple(map(tuple, np.exp(outputs).tolist())) if classes else (),
        findings=tuple(findings),
        shift=input_shift(training, table) if audit and training is not None else None,
    )
